/* ACP's agent side: how messages are written. */
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "wire/acp_agent_parts.h"

/* A buffer that became larger than that is given back. */
enum { ACP_OUT_KEPT = 256 * 1024 };

perch_json_writer acp_write_begin(struct acp_agent *agent)
{
	buf_clear(&agent->out);
	return json_writer_on(&agent->out);
}

/* JSON from other programs may have line breaks between its parts, but a message is one line. */
static void acp_write_join_lines(struct buf *out)
{
	for (size_t i = 0; i < out->len; i++) {
		if (out->data[i] == '\n' || out->data[i] == '\r')
			out->data[i] = ' ';
	}
}

void acp_write_send(struct acp_agent *agent, bool is_response)
{
	struct buf *out = &agent->out;
	if (!out->failed)
		acp_write_join_lines(out);
	if (buf_append_char(out, '\n') < 0 || out->failed) {
		agent->is_broken = true;
		return;
	}
	agent->table->send(agent->data, (struct str){ out->data, out->len - 1 }, is_response);
	if (out->cap > ACP_OUT_KEPT)
		buf_free(out);
}

void acp_write_error(struct acp_agent *agent, const struct jsonrpc_id *id, int64_t code,
	struct str text, struct str data)
{
	const struct jsonrpc_id none = { .kind = JSONRPC_ID_NULL };
	perch_json_writer out = acp_write_begin(agent);
	jsonrpc_write_error(&out, id->kind == JSONRPC_ID_NONE ? &none : id, code, text, data);
	acp_write_send(agent, true);
}

void acp_refuse(struct acp_taking *taking, int64_t code, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	size_t kept = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;
	struct str words = { text, utf8_whole_prefix(text, kept) };
	acp_write_error(taking->agent, &taking->message->id, code, words, (struct str){ 0 });
}

/* ---- updates --------------------------------------------------------------- */

static perch_json_writer acp_update_begin(struct acp_session *session)
{
	perch_json_writer out = acp_write_begin(session->agent);
	jsonrpc_begin_notification(&out, "session/update");
	perch_json_write_name(&out, "params");
	perch_json_begin_object(&out);
	json_write_text(&out, "sessionId", acp_session_id(session));
	perch_json_write_name(&out, "update");
	return out;
}

static void acp_update_end(struct acp_session *session, perch_json_writer *out)
{
	perch_json_end_object(out);
	jsonrpc_end(out);
	acp_write_send(session->agent, false);
}

void acp_session_chunk(
	struct acp_session *session, enum acp_chunk kind, struct str text, struct str meta)
{
	static const char *const names[] = {
		[ACP_USER_SAYS] = "user_message_chunk",
		[ACP_AGENT_SAYS] = "agent_message_chunk",
		[ACP_AGENT_THINKS] = "agent_thought_chunk",
	};
	if (!text.len)
		return;
	perch_json_writer out = acp_update_begin(session);
	perch_json_begin_object(&out);
	json_write_text(&out, "sessionUpdate", str_from(names[kind]));
	perch_json_write_name(&out, "content");
	perch_json_begin_object(&out);
	json_write_text(&out, "type", STR("text"));
	json_write_text(&out, "text", text);
	perch_json_end_object(&out);
	if (meta.len) {
		perch_json_write_name(&out, "_meta");
		perch_json_write_raw(&out, meta.data, meta.len);
	}
	perch_json_end_object(&out);
	acp_update_end(session, &out);
}

void acp_session_update(struct acp_session *session, struct str update)
{
	perch_json_writer out = acp_update_begin(session);
	perch_json_write_raw(&out, update.data, update.len);
	acp_update_end(session, &out);
}
