/* The life of the engine of a remote server: its exchanges, time, and the end. */
#include "remote/remote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "remote/remote_parts.h"
#include "wire/mcp_upstream.h"

DEFINE_POINTER_CLEANUP(remote_cleanup, struct remote, remote_free)

void remote_check(struct remote *remote, int r)
{
	remote->is_broken = remote->is_broken || r < 0;
}

void remote_note(struct remote *remote, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	if (remote->notes++ >= REMOTE_NOTES_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct str whole = str_from(text);
	whole.len = utf8_whole_prefix(text, whole.len);
	remote->table->note(remote->data, whole);
}

void remote_write(struct remote *remote)
{
	struct buf *out = &remote->out;
	if (buf_append_char(out, '\n') < 0)
		remote->is_broken = true;
	else
		remote->table->write(remote->data, (struct str){ out->data, out->len - 1 });
}

void remote_write_error(struct remote *remote, const struct jsonrpc_id *id, struct str words)
{
	buf_clear(&remote->out);
	perch_json_writer writer = json_writer_on(&remote->out);
	jsonrpc_write_error(&writer, id, MCP_UPSTREAM_FAILED, words, (struct str){ 0 });
	remote_write(remote);
}

/* ---- exchanges ----------------------------------------------------------------- */

bool remote_hold(struct remote *remote, size_t bytes)
{
	if (bytes > REMOTE_WAITING_MAX - remote->waiting)
		return false;
	remote->waiting += bytes;
	return true;
}

void remote_due_in(struct remote_exchange *exchange, uint64_t ms)
{
	exchange->due_ns = clock_after(exchange->remote->now_ns, ms * NSEC_PER_MSEC);
}

struct remote_exchange *remote_add(
	struct remote *remote, enum remote_use use, enum remote_stage stage, struct str line)
{
	struct remote_exchange *exchange = calloc(1, sizeof(*exchange));
	if (!exchange || buf_append(&exchange->line, line.data, line.len) < 0) {
		free(exchange);
		remote->is_broken = true;
		return NULL;
	}
	exchange->remote = remote;
	exchange->use = use;
	exchange->stage = stage;
	exchange->due_ns = NEVER;
	exchange->events.limit = MCP_LINE_MAX;
	remote->waiting += line.len;
	list_append(&remote->exchanges, exchange);
	return exchange;
}

/* Its owner hears no more of it. */
static void remote_give_up(struct remote_exchange *exchange)
{
	if (exchange->is_under_way)
		exchange->remote->table->give_up(exchange->remote->data, exchange);
	exchange->is_under_way = false;
}

static void remote_free_exchange(struct remote_exchange *exchange)
{
	struct remote *remote = exchange->remote;
	remote_give_up(exchange);
	remote->waiting -= exchange->line.len + exchange->answer.len;
	list_remove(&remote->exchanges, exchange);
	buf_free(&exchange->id_text);
	buf_free(&exchange->line);
	buf_free(&exchange->headers);
	buf_free(&exchange->answer);
	buf_free(&exchange->why);
	sse_free(&exchange->events);
	free(exchange);
}

void remote_set_data(struct remote_exchange *exchange, void *data)
{
	exchange->data = data;
}

void *remote_data(const struct remote_exchange *exchange)
{
	return exchange->data;
}

/* ---- beginning --------------------------------------------------------------------- */

static const char *remote_method(const struct remote_exchange *exchange)
{
	if (exchange->use == REMOTE_BYE)
		return "DELETE";
	return exchange->use == REMOTE_LISTEN || exchange->is_resumed ? "GET" : "POST";
}

static void remote_begin(struct remote_exchange *exchange)
{
	struct remote *remote = exchange->remote;
	_cleanup_(buf_free) struct buf headers = { 0 };
	exchange->has_session = !exchange->is_modern && !exchange->is_initialize &&
		exchange->use != REMOTE_HELLO && remote->session.id.len;
	if (remote_headers_write(exchange, &headers) < 0) {
		remote->is_broken = true;
		return;
	}
	bool has_body = exchange->use != REMOTE_LISTEN && !exchange->is_resumed;
	const struct remote_request request = {
		.method = remote_method(exchange),
		.headers = { headers.data, headers.len },
		.body = { exchange->line.data, has_body ? exchange->line.len : 0 },
	};
	exchange->stage = REMOTE_ASKED;
	exchange->is_under_way = true;
	if (exchange->use == REMOTE_BYE)
		remote_due_in(exchange, REMOTE_BYE_MS);
	else if (exchange->use != REMOTE_CALL && exchange->use != REMOTE_LISTEN)
		remote_due_in(exchange, REMOTE_NOTE_MS);
	remote->table->begin(remote->data, exchange, &request);
}

void remote_settle(struct remote *remote)
{
	struct remote_exchange *next;
	for (struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = next) {
		next = list_next(exchange);
		if (exchange->stage == REMOTE_OVER)
			remote_free_exchange(exchange);
		else if (exchange->stage == REMOTE_DUE && !remote->is_broken)
			remote_begin(exchange);
	}
}

/* ---- time ------------------------------------------------------------------------------ */

static void remote_late(struct remote_exchange *exchange)
{
	exchange->due_ns = NEVER;
	if (exchange->stage == REMOTE_PAUSED) {
		exchange->stage = REMOTE_DUE;
		return;
	}
	remote_give_up(exchange);
	remote_done(exchange, STR("it takes too long"));
	remote_end(exchange);
}

void remote_tick(struct remote *remote, uint64_t now_ns)
{
	remote->now_ns = now_ns;
	if (remote->session.tuned_ns <= now_ns)
		remote_session_tuned(remote);
	for (struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = list_next(exchange)) {
		if (exchange->due_ns <= now_ns && exchange->stage != REMOTE_OVER)
			remote_late(exchange);
	}
}

uint64_t remote_deadline(const struct remote *remote)
{
	uint64_t due_ns = remote->session.tuned_ns;
	for (const struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = list_next(exchange)) {
		if (exchange->due_ns < due_ns)
			due_ns = exchange->due_ns;
	}
	return due_ns;
}

/* ---- life ------------------------------------------------------------------------------- */

void remote_leave(struct remote *remote)
{
	if (remote->is_leaving)
		return;
	remote->is_leaving = true;
	remote->session.tuned_ns = NEVER;
	for (struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = list_next(exchange))
		exchange->stage = REMOTE_OVER;
	if (remote->session.id.len && !remote->is_broken)
		remote_add(remote, REMOTE_BYE, REMOTE_DUE, (struct str){ "", 0 });
}

bool remote_is_idle(const struct remote *remote)
{
	return !remote->exchanges.count;
}

bool remote_is_broken(const struct remote *remote)
{
	return remote->is_broken || remote->is_lost;
}

int remote_new(const char *const *headers, const struct remote_table *table, void *data,
	struct remote **ret_remote)
{
	_cleanup_(remote_cleanup) struct remote *remote = calloc(1, sizeof(*remote));
	if (!remote)
		return -ENOMEM;
	remote->table = table;
	remote->data = data;
	remote->headers = headers;
	remote->session.tuned_ns = NEVER;
	if (perch_json_new(NULL, &remote->json) < 0 || perch_json_new(NULL, &remote->schema) < 0)
		return -ENOMEM;
	*ret_remote = steal(&remote);
	return 0;
}

void remote_free(struct remote *remote)
{
	if (!remote)
		return;
	struct remote_exchange *exchange;
	while ((exchange = list_first(&remote->exchanges)))
		remote_free_exchange(exchange);
	buf_free(&remote->session.hello);
	buf_free(&remote->session.id);
	buf_free(&remote->session.version);
	buf_free(&remote->out);
	perch_json_free(remote->json);
	perch_json_free(remote->schema);
	remote_params_free(remote);
	free(remote);
}
