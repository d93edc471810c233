/* The session of a legacy server: its name and version, the stream of its own, and another session
 * in the place of one that the server has forgotten. */
#include <errno.h>

#include "base/clock.h"
#include "remote/remote_parts.h"

static const char remote_ready_line[] =
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
static const char remote_changed_line[] =
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

static bool remote_session_is_visible(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < 0x21 || text.data[i] > 0x7e)
			return false;
	return text.len && text.len <= REMOTE_SESSION_MAX;
}

void remote_session_begin(struct remote *remote, struct str line)
{
	struct remote_session *session = &remote->session;
	buf_clear(&session->id);
	buf_clear(&session->version);
	buf_clear(&session->hello);
	session->is_settling = false;
	session->tuned_ns = NEVER;
	session->is_opening = false;
	remote_check(remote, buf_append(&session->hello, line.data, line.len));
}

void remote_session_named(struct remote *remote, struct str id)
{
	buf_clear(&remote->session.id);
	if (!id.len)
		return;
	if (remote_session_is_visible(id))
		remote_check(remote, buf_append(&remote->session.id, id.data, id.len));
	else
		remote_note(remote, "the server gives its session a name that is none");
}

void remote_session_agreed(struct remote *remote, const perch_json_value *result)
{
	const perch_json_value *version = perch_json_get(result, "protocolVersion");
	buf_clear(&remote->session.version);
	if (perch_json_type_of(version) != PERCH_JSON_STRING)
		return;
	struct str text = json_str(version);
	if (remote_session_is_visible(text))
		remote_check(remote, buf_append(&remote->session.version, text.data, text.len));
}

static bool remote_session_listens(const struct remote *remote)
{
	for (const struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = list_next(exchange)) {
		if (exchange->use == REMOTE_LISTEN && exchange->stage != REMOTE_OVER)
			return true;
	}
	return false;
}

static void remote_session_release(struct remote *remote)
{
	for (struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = list_next(exchange)) {
		if (exchange->stage == REMOTE_HELD)
			exchange->stage = REMOTE_DUE;
	}
}

void remote_session_tuned(struct remote *remote)
{
	remote->session.is_settling = false;
	remote->session.tuned_ns = NEVER;
	if (!remote->session.is_opening)
		remote_session_release(remote);
}

/* A call may have the server ask something, on a stream that was begun behind the call: what it
 * writes there before is lost. Some servers do not begin it before they have something to say. */
void remote_session_settled(struct remote *remote)
{
	remote->session.is_opening = false;
	if (remote_session_listens(remote)) {
		remote_session_tuned(remote);
		return;
	}
	remote->session.is_settling = true;
	remote->session.tuned_ns = clock_after(remote->now_ns, REMOTE_TUNE_MS * NSEC_PER_MSEC);
	remote_add(remote, REMOTE_LISTEN, REMOTE_DUE, (struct str){ "", 0 });
}

/* ---- a session that was lost ------------------------------------------------------- */

static void remote_session_reopen(struct remote *remote)
{
	struct remote_session *session = &remote->session;
	if (session->is_opening)
		return;
	session->is_opening = true;
	buf_clear(&session->id);
	for (struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = list_next(exchange)) {
		if (exchange->use == REMOTE_LISTEN)
			exchange->stage = REMOTE_OVER;
	}
	remote_note(remote, "the server has forgotten the session: a new one begins");
	remote_add(
		remote, REMOTE_HELLO, REMOTE_DUE, (struct str){ session->hello.data, session->hello.len });
}

/* It was not served, so it can be sent again; once. */
void remote_session_lost(struct remote_exchange *exchange)
{
	struct remote *remote = exchange->remote;
	bool was_served = exchange->is_resumed || exchange->is_again;
	if (was_served && exchange->use == REMOTE_CALL)
		remote_fail(exchange, "HTTP 404: the server has forgotten the session");
	if (was_served || exchange->use != REMOTE_CALL) {
		remote_end(exchange);
	} else {
		exchange->is_again = true;
		exchange->stage = REMOTE_HELD;
		remote->waiting -= exchange->answer.len;
		buf_clear(&exchange->answer);
	}
	if (!exchange->is_again || !was_served) /* a new one is not forgotten at once */
		remote_session_reopen(remote);
}

void remote_session_greeted(struct remote *remote)
{
	remote_add(remote, REMOTE_READY, REMOTE_DUE, STR(remote_ready_line));
	/* Another process may answer now: what it offers is looked at again. */
	remote->table->write(
		remote->data, (struct str){ remote_changed_line, sizeof(remote_changed_line) - 2 });
}

void remote_session_failed(struct remote *remote, struct str why)
{
	remote->session.is_opening = false;
	for (struct remote_exchange *exchange = list_first(&remote->exchanges); exchange;
		 exchange = list_next(exchange)) {
		if (exchange->stage != REMOTE_HELD)
			continue;
		if (exchange->use == REMOTE_CALL)
			remote_fail(exchange, "the server has forgotten the session, and begins no other: %.*s",
				(int)why.len, why.data);
		remote_end(exchange);
	}
	remote->is_lost = true;
}
