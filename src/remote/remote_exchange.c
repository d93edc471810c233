/* What comes of a request over HTTP: its head decides what the body is, the end decides the rest.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "remote/remote_parts.h"
#include "wire/http_text.h"
#include "wire/http_words.h"

/* ---- ends ----------------------------------------------------------------------------- */

void remote_end(struct remote_exchange *exchange)
{
	exchange->stage = REMOTE_OVER;
	exchange->due_ns = UINT64_MAX;
}

void remote_fail(struct remote_exchange *exchange, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct str words = str_from(text);
	words.len = utf8_whole_prefix(text, words.len);
	bool was_answered = exchange->is_answered;
	exchange->is_answered = true;
	remote_end(exchange);
	if (was_answered)
		return;
	if (exchange->use == REMOTE_CALL)
		remote_write_error(exchange->remote, &exchange->id, words);
	else if (exchange->use == REMOTE_HELLO)
		remote_session_failed(exchange->remote, words);
}

/* ---- heads ---------------------------------------------------------------------------- */

static bool remote_has_authorization(const struct remote *remote)
{
	for (const char *const *header = remote->headers; header && *header; header++) {
		struct str rest = str_from(*header);
		if (http_same_word(str_cut(&rest, ':'), STR("Authorization")))
			return true;
	}
	return false;
}

/* What a person does about a status. */
static void remote_explain(struct remote_exchange *exchange, const struct remote_head *head)
{
	struct buf *why = &exchange->why;
	bool has_token = remote_has_authorization(exchange->remote);
	buf_clear(why);
	if (head->status == 401)
		buf_append_text(why,
			has_token ? ": it does not accept the token"
					  : ": it wants a token, which --token FILE gives it");
	if (head->status == 401 && head->authenticate.len)
		buf_append_text(why, "; OAuth, which it may offer, is no part of perch");
	if (head->status == 403)
		buf_append_text(why, ": what we are is not enough for it");
	if (head->status >= 300 && head->status < 400)
		buf_printf(why, ": it sends us to '%.*s', where perch does not go by itself",
			utf8_quoted(head->location), head->location.len ? head->location.data : "");
	if (head->status >= 200 && head->status < 300 && head->type.len)
		buf_printf(why, ": it answers with '%.*s', which is no message and no stream",
			utf8_quoted(head->type), head->type.data);
	else if (head->status >= 200 && head->status < 300)
		buf_append_text(why, ": it takes the request and does not answer it");
	if (exchange->is_initialize && (head->status == 404 || head->status == 405))
		buf_append_text(why, ": perhaps it speaks HTTP+SSE alone, which perch does not");
	remote_check(exchange->remote, why->failed ? -ENOMEM : 0);
}

static enum remote_stage remote_stage_of(
	const struct remote_exchange *exchange, const struct remote_head *head)
{
	struct str rest = head->type;
	struct str type = http_trim(str_cut(&rest, ';'));
	bool is_awaited = exchange->use == REMOTE_CALL || exchange->use == REMOTE_HELLO;
	bool is_body = exchange->use != REMOTE_LISTEN && !exchange->is_resumed;
	if (head->status < 200 || head->status >= 300)
		return REMOTE_REFUSED;
	if (!is_awaited && exchange->use != REMOTE_LISTEN)
		return REMOTE_SKIPPED;
	if (http_same_word(type, STR("text/event-stream")))
		return REMOTE_STREAM;
	return is_body && http_same_word(type, STR("application/json")) ? REMOTE_JSON : REMOTE_REFUSED;
}

void remote_head(struct remote_exchange *exchange, const struct remote_head *head)
{
	bool is_hello = exchange->is_initialize || exchange->use == REMOTE_HELLO;
	if (exchange->stage == REMOTE_OVER || head->status < 200)
		return;
	exchange->status = head->status;
	if (exchange->use == REMOTE_LISTEN)
		remote_session_tuned(exchange->remote);
	exchange->stage = remote_stage_of(exchange, head);
	if (exchange->stage == REMOTE_REFUSED)
		remote_explain(exchange, head);
	else if (is_hello)
		remote_session_named(exchange->remote, head->session);
}

/* ---- bodies --------------------------------------------------------------------------- */

static void remote_take_event(void *data, struct str event)
{
	struct remote_exchange *exchange = data;
	if (exchange->stage != REMOTE_STREAM)
		return;
	exchange->resumes = 0;
	remote_answer_take(exchange, event);
	if (exchange->is_answered && exchange->stage == REMOTE_STREAM)
		remote_due_in(exchange, REMOTE_LINGER_MS);
}

static void remote_keep(struct remote_exchange *exchange, struct str bytes)
{
	if (exchange->answer.len + bytes.len > MCP_LINE_MAX)
		remote_fail(exchange, "its answer has more than %d bytes", (int)MCP_LINE_MAX);
	else if (!remote_hold(exchange->remote, bytes.len))
		remote_fail(exchange, "too much is under way to a remote server");
	else if (buf_append(&exchange->answer, bytes.data, bytes.len) < 0) {
		exchange->remote->waiting -= bytes.len;
		exchange->remote->is_broken = true;
	}
}

bool remote_body(struct remote_exchange *exchange, struct str bytes)
{
	if (exchange->stage == REMOTE_STREAM) {
		int r = sse_feed(&exchange->events, bytes, remote_take_event, exchange);
		remote_check(exchange->remote, r == -ENOMEM ? r : 0);
		if (r == PERCH_ELIMIT && !exchange->is_answered)
			remote_fail(
				exchange, "an event of its answer has more than %d bytes", (int)MCP_LINE_MAX);
		if (r < 0)
			remote_end(exchange);
	} else if (exchange->stage == REMOTE_JSON) {
		remote_keep(exchange, bytes);
	} else if (exchange->stage == REMOTE_REFUSED && exchange->answer.len < REMOTE_REFUSAL_MAX) {
		size_t room = REMOTE_REFUSAL_MAX - exchange->answer.len;
		remote_keep(exchange, (struct str){ bytes.data, bytes.len < room ? bytes.len : room });
	}
	bool has_enough =
		exchange->stage == REMOTE_REFUSED && exchange->answer.len >= REMOTE_REFUSAL_MAX;
	return exchange->stage != REMOTE_OVER && !has_enough && !remote_is_broken(exchange->remote);
}

/* ---- how it ends ------------------------------------------------------------------------ */

static void remote_refused(struct remote_exchange *exchange)
{
	const struct str body = { exchange->answer.data, exchange->answer.len };
	bool is_success = exchange->status >= 200 && exchange->status < 300;
	if (exchange->use == REMOTE_CALL && body.len && !is_success && exchange->status != 401 &&
		remote_answer_refusal(exchange, body))
		return;
	const char *name = http_status_text(exchange->status);
	remote_fail(exchange, "HTTP %d%s%s%.*s", exchange->status, name[0] ? " " : "", name,
		(int)exchange->why.len, exchange->why.len ? exchange->why.data : "");
}

/* The rest of a stream is asked for, where the server numbers its events. */
static bool remote_resume(struct remote_exchange *exchange)
{
	const struct buf *last = &exchange->events.id;
	const struct sse_reader *events = &exchange->events;
	uint64_t pause_ms = events->has_retry ? events->retry_ms : REMOTE_RETRY_MS;
	bool is_possible = !exchange->is_modern && last->len && last->len <= REMOTE_SESSION_MAX &&
		remote_headers_is_plain((struct str){ last->data, last->len }) &&
		(exchange->stage == REMOTE_STREAM || exchange->is_resumed);
	if (!is_possible || exchange->resumes >= REMOTE_RESUMES_MAX)
		return false;
	exchange->resumes++;
	exchange->is_resumed = true;
	exchange->stage = REMOTE_PAUSED;
	buf_clear(&exchange->events.line);
	buf_clear(&exchange->events.data);
	remote_due_in(exchange, pause_ms < REMOTE_RETRY_MOST_MS ? pause_ms : REMOTE_RETRY_MOST_MS);
	return true;
}

/* perch waits for an answer: a call of its, or a hello of ours. */
static void remote_done_asked(struct remote_exchange *exchange, struct str why)
{
	if (exchange->stage == REMOTE_JSON && !why.len)
		remote_answer_take(exchange, (struct str){ exchange->answer.data, exchange->answer.len });
	if (exchange->is_answered)
		return;
	bool is_lost = exchange->status == 404 && exchange->has_session;
	if (exchange->stage == REMOTE_REFUSED && is_lost)
		remote_session_lost(exchange);
	else if (exchange->stage == REMOTE_REFUSED &&
		!(exchange->is_resumed && remote_resume(exchange)))
		remote_refused(exchange);
	else if (exchange->stage == REMOTE_JSON && !why.len)
		remote_fail(exchange, "what it answers is no answer to the request");
	else if (exchange->stage != REMOTE_REFUSED && exchange->stage != REMOTE_PAUSED &&
		!remote_resume(exchange))
		remote_fail(exchange,
			why.len ? "no answer: %.*s" : "the server ended the stream without an answer%.*s",
			utf8_quoted(why), why.len ? why.data : "");
}

/* The session's own stream: not every server has one, and one that breaks is begun again. */
static void remote_done_listening(struct remote_exchange *exchange, struct str why)
{
	(void)why;
	remote_session_tuned(exchange->remote);
	uint64_t pause_ms = exchange->events.has_retry ? exchange->events.retry_ms : REMOTE_RETRY_MS;
	bool is_refused = exchange->stage == REMOTE_REFUSED && exchange->status < 500;
	if (is_refused && exchange->status == 404 && exchange->has_session)
		remote_note(exchange->remote, "the server has forgotten the session");
	if (is_refused) {
		remote_end(exchange);
		return;
	}
	for (unsigned i = 0; i < exchange->resumes && pause_ms < REMOTE_RETRY_MOST_MS; i++)
		pause_ms *= 2;
	exchange->resumes++;
	exchange->stage = REMOTE_PAUSED;
	buf_clear(&exchange->events.line);
	buf_clear(&exchange->events.data);
	remote_due_in(exchange, pause_ms < REMOTE_RETRY_MOST_MS ? pause_ms : REMOTE_RETRY_MOST_MS);
}

/* Nobody waits for an answer. */
static void remote_done_noted(struct remote_exchange *exchange, struct str why)
{
	struct remote *remote = exchange->remote;
	if (exchange->stage == REMOTE_REFUSED && exchange->status == 404 && exchange->has_session) {
		remote_session_lost(exchange);
		return;
	}
	if (exchange->stage == REMOTE_REFUSED)
		remote_note(remote, "the server does not take a message: HTTP %d", exchange->status);
	else if (why.len)
		remote_note(remote, "a message did not reach the server: %.*s", utf8_quoted(why), why.data);
	if (exchange->settles || exchange->use == REMOTE_READY)
		remote_session_settled(remote);
}

static void remote_done_bye(struct remote_exchange *exchange, struct str why)
{
	(void)exchange;
	(void)why;
}

void remote_done(struct remote_exchange *exchange, struct str why)
{
	static void (*const dones[])(struct remote_exchange * exchange, struct str why) = {
		[REMOTE_CALL] = remote_done_asked,
		[REMOTE_NOTE] = remote_done_noted,
		[REMOTE_LISTEN] = remote_done_listening,
		[REMOTE_HELLO] = remote_done_asked,
		[REMOTE_READY] = remote_done_noted,
		[REMOTE_BYE] = remote_done_bye,
	};
	bool has_enough =
		exchange->stage == REMOTE_REFUSED && exchange->answer.len >= REMOTE_REFUSAL_MAX;
	exchange->is_under_way = false;
	if (exchange->stage != REMOTE_OVER)
		dones[exchange->use](exchange, has_enough ? (struct str){ "", 0 } : why);
	if (exchange->stage >= REMOTE_ASKED)
		remote_end(exchange);
}
