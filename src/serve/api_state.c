/* How the server is, and what its operator may see. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/paths.h"
#include "base/regular.h"
#include "data/json.h"
#include "serve/api.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"

enum { API_AUDIT_BYTES = 256 * 1024 }; /* of the end of the log */

void api_health(struct exchange *exchange)
{
	exchange_answer(exchange, 200, "text/plain", STR("ok\n"), NULL, 0);
}

void api_ready(struct exchange *exchange)
{
	if (exchange->peer->serve->is_draining)
		exchange_error(exchange, 503, "draining", NULL, "the server is about to end");
	else if (exchange->peer->serve->queue_is_away)
		exchange_error(exchange, 503, "queue", NULL, "the queue is away");
	else
		exchange_answer(exchange, 200, "text/plain", STR("ready\n"), NULL, 0);
}

void api_metrics(struct exchange *exchange)
{
	const struct serve *serve = exchange->peer->serve;
	_cleanup_(buf_free) struct buf text = { 0 };
	struct metrics_now now;
	serve_now(serve, &now);
	metrics_write(&serve->metrics, &now, &text);
	if (text.failed)
		exchange_no_memory(exchange);
	else
		exchange_answer(exchange, 200, "text/plain; version=0.0.4; charset=utf-8",
			(struct str){ text.data, text.len }, NULL, 0);
}

void api_history(struct exchange *exchange)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	metrics_write_history(&exchange->peer->serve->metrics, &json);
	exchange_json(exchange, 200, &json);
}

void api_tokens(struct exchange *exchange)
{
	const struct serve *serve = exchange->peer->serve;
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "tokens");
	perch_json_begin_array(&out);
	for (struct identity *who = list_first(&serve->identities.list); who; who = list_next(who)) {
		const struct token *token = &who->token;
		if (who->is_own)
			continue; /* the user of the link: there is nothing to revoke */
		perch_json_begin_object(&out);
		json_write_text(&out, "name", str_from(token->name));
		json_write_text(&out, "role", token->is_admin ? STR("admin") : STR("user"));
		perch_json_write_name(&out, "created");
		perch_json_write_int64(&out, token->created);
		if (token->expires) {
			perch_json_write_name(&out, "expires");
			perch_json_write_int64(&out, token->expires);
		}
		perch_json_write_name(&out, "allow");
		perch_json_begin_array(&out);
		for (const char *const *item = token->allows; item && *item; item++)
			perch_json_write_string(&out, *item);
		perch_json_end_array(&out);
		perch_json_end_object(&out);
	}
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	exchange_json(exchange, 200, &json);
}

/* ---- the audit log ------------------------------------------------------------------ */

/* The last lines of it. */
static int api_read_audit(struct buf *text)
{
	_cleanup_free_ char *path = NULL;
	struct stat info;
	int r = paths_user(PATH_STATE, "perch/audit.jsonl", &path, NULL);
	if (r < 0)
		return r;
	_cleanup_fd_ int fd = regular_open(AT_FDCWD, path, O_RDONLY);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (fstat(fd, &info) < 0 || buf_reserve(text, API_AUDIT_BYTES) < 0)
		return -errno;
	off_t from = info.st_size > API_AUDIT_BYTES ? info.st_size - API_AUDIT_BYTES : 0;
	ssize_t n = pread(fd, text->data, API_AUDIT_BYTES, from);
	if (n < 0)
		return -errno;
	text->len = (size_t)n;
	const char *first = from ? memchr(text->data, '\n', text->len) : NULL;
	if (first)
		buf_consume(text, (size_t)(first - text->data) + 1);
	return 0;
}

void api_audit(struct exchange *exchange)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(buf_free) struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	int r = api_read_audit(&text);
	if (r < 0) {
		exchange_error(
			exchange, 503, "audit", NULL, "the audit log cannot be read: %s", perch_strerror(r));
		return;
	}
	struct str rest = { text.data, text.len };
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "lines");
	perch_json_begin_array(&out);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (line.len > 1 && line.data[0] == '{' && line.data[line.len - 1] == '}')
			perch_json_write_raw(&out, line.data, line.len);
	}
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	exchange_json(exchange, 200, &json);
}
