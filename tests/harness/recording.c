/* Recordings of every protocol, and how they are played. */
#include "harness/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const recorded_fledge[] = {
	"*start {\"protocol\":\"fledge-v1\",\"plugin\":\"p\",\"exec\":true,\"store\":true,"
	"\"metadata\":false,\"asking\":\"ask\",\"prompt_timeout_ns\":1000000000,"
	"\"answers\":[{\"message\":\"given\",\"value\":\"yes\"}]}",
	">{\"type\":\"load\",\"id\":\"0\",\"key\":\"early\"}",
	"*result {\"ticket\":1,\"value\":null}",
	"<{\"type\":\"init\",\"protocol\":\"fledge-v1\",\"command\":\"deploy\",\"args\":[\"a\","
	"\"\\\"\"],"
	"\"project\":{\"name\":\"n\",\"root\":\"/r\",\"language\":\"go\",\"git\":{\"branch\":\"main\","
	"\"dirty\":true,\"remote\":\"origin\",\"remote_url\":\"\"}},\"plugin\":{\"name\":\"p\","
	"\"version\":\"1\",\"dir\":\"/d\"},\"fledge\":{\"version\":\"1.8.0\"},\"capabilities\":"
	"{\"exec\":true,\"store\":true,\"metadata\":false},\"host\":{\"name\":\"perch\",\"version\":"
	"\"0.0.9\"}}",
	"<{\"type\":\"response\",\"id\":\"0\",\"value\":null}",
	">{\"type\":\"exec\",\"id\":\"1\",\"command\":\"slow\"}",
	">{\"type\":\"exec\",\"id\":\"2\",\"command\":\"fast\"}",
	"*result {\"ticket\":3,\"value\":{\"code\":2}}",
	"*result {\"ticket\":2,\"value\":{\"code\":1}}",
	"<{\"type\":\"response\",\"id\":\"1\",\"value\":{\"code\":1}}",
	"<{\"type\":\"response\",\"id\":\"2\",\"value\":{\"code\":2}}",
	">{\"type\":\"prompt\",\"id\":\"3\",\"message\":\"who?\"}",
	"*answer {\"ticket\":4,\"cancelled\":false,\"text\":\"me\",\"yes\":false,\"chosen\":[]}",
	"<{\"type\":\"response\",\"id\":\"3\",\"value\":\"me\"}",
	">{\"type\":\"select\",\"id\":\"4\",\"message\":\"which?\",\"options\":[\"x\",\"y\"]}",
	"*answer {\"ticket\":5,\"cancelled\":false,\"text\":\"\",\"yes\":false,\"chosen\":[1]}",
	"<{\"type\":\"response\",\"id\":\"4\",\"value\":\"y\"}",
	">{\"type\":\"multi_select\",\"id\":\"5\",\"message\":\"all?\",\"options\":[\"x\",\"y\"]}",
	"*answer {\"ticket\":6,\"cancelled\":false,\"text\":\"\",\"yes\":false,\"chosen\":[0,1]}",
	"<{\"type\":\"response\",\"id\":\"5\",\"value\":[\"x\",\"y\"]}",
	">{\"type\":\"confirm\",\"id\":\"6\",\"message\":\"given\"}",
	"<{\"type\":\"response\",\"id\":\"6\",\"value\":true}",
	">{\"type\":\"metadata\",\"id\":\"7\",\"keys\":[\"env\"]}",
	"<{\"type\":\"response\",\"id\":\"7\",\"value\":{}}",
	">{\"type\":\"load\",\"id\":\"8\",\"key\":\"k\"}",
	"*result {\"ticket\":9,\"value\":\"****\"}",
	"!{\"type\":\"response\",\"id\":\"8\",\"value\":\"****\"}",
	">{\"type\":\"nonsense\",\"id\":9}",
	"<{\"type\":\"cancel\",\"id\":9,\"reason\":\"unsupported\"}",
	">{\"type\":\"confirm\",\"id\":\"10\",\"message\":\"now?\"}",
	"*interrupt {\"signal\":15}",
	"<{\"type\":\"cancel\",\"id\":\"10\",\"reason\":\"user_interrupt\"}",
	"*exit {\"status\":0,\"signal\":0}",
	"*end {\"exit_code\":143}",
	NULL,
};

const char *const recorded_fledge_timeout[] = {
	"*start {\"protocol\":\"fledge-v1\",\"plugin\":\"p\",\"asking\":\"ask\"}",
	"<{\"type\":\"init\",\"protocol\":\"fledge-v1\",\"command\":\"c\",\"args\":[],\"project\":null,"
	"\"plugin\":{\"name\":\"p\",\"version\":\"1\",\"dir\":\"\"},\"fledge\":{\"version\":\"1.8.0\"},"
	"\"capabilities\":{\"exec\":false,\"store\":false,\"metadata\":false},\"host\":{\"name\":"
	"\"perch\",\"version\":\"9\"}}",
	">{\"type\":\"confirm\",\"id\":1,\"message\":\"a\",\"default\":true}",
	">{\"type\":\"prompt\",\"id\":2,\"message\":\"b\"}",
	"*went_away {}",
	"<{\"type\":\"response\",\"id\":1,\"value\":true}",
	"<{\"type\":\"cancel\",\"id\":2,\"reason\":\"non_interactive\"}",
	"*exit {\"status\":0,\"signal\":0}",
	"*end {\"exit_code\":1}",
	NULL,
};

#define REQUEST                                                                      \
	"{\"type\":\"request\",\"request_id\":\"r1\",\"tool_name\":\"t.x\",\"context\":" \
	"{\"repo_root\":\"/r\"},\"input\":{\"n\":1.0}}"

const char *const recorded_tool[] = {
	"*start {\"protocol\":\"tool\",\"version\":\"rterm.plugin.v1\",\"plugin\":\"t\","
	"\"capabilities\":[],\"handshake_only\":false,\"strict\":false,\"request\":" REQUEST "}",
	"<{\"type\":\"handshake\",\"protocol_version\":\"rterm.plugin.v1\"}",
	">{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"t\",\"plugin_version\":\"1\","
	"\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"t.x\"]}}",
	"<" REQUEST,
	">{\"type\":\"response\",\"request_id\":\"r1\",\"status\":\"ok\",\"output\":[1]}",
	"*eof {}",
	"*exit {\"known\":true,\"status\":0,\"signal\":0}",
	"*verdict {\"code\":\"ok\",\"stage\":\"teardown\",\"message\":\"\",\"responded\":true,"
	"\"error_code\":\"\",\"error_message\":\"\",\"output_bytes\":3,\"extra_bytes\":0}",
	NULL,
};

const char *const recorded_tool_timeout[] = {
	"*start {\"protocol\":\"tool\",\"version\":\"v\",\"plugin\":\"t\",\"capabilities\":[],"
	"\"handshake_only\":true,\"request\":null}",
	"<{\"type\":\"handshake\",\"protocol_version\":\"v\"}",
	"*hang_up {}",
	"*clock {\"clock\":\"handshake\",\"after_ns\":2000000000}",
	"*verdict {\"code\":\"timeout\",\"stage\":\"handshake\",\"message\":\"the plugin sent no "
	"handshake within 2 s\",\"responded\":false,\"error_code\":\"\",\"error_message\":\"\","
	"\"output_bytes\":0,\"extra_bytes\":0}",
	NULL,
};

const char *const recorded_agent[] = {
	"*start {\"protocol\":\"agentproc\",\"version\":\"0.4\",\"session_prefix\":\"\",\"streaming\":"
	"true,\"permission\":true,\"max_reply_chars\":0,\"truncation_suffix\":\"\",\"line_limit\":1000,"
	"\"total_limit\":10000,\"send_error_reply\":true,\"include_stderr\":false,\"input\":"
	"\"{\\\"type\\\":\\\"turn\\\",\\\"message\\\":\\\"hi\\\",\\\"session_id\\\":\\\"\\\","
	"\\\"session_name\\\":\\\"default\\\",\\\"attachments\\\":[{\\\"kind\\\":\\\"file\\\","
	"\\\"url\\\":\\\"u\\\",\\\"name\\\":\\\"n\\\"}],\\\"permission\\\":true,"
	"\\\"protocol_version\\\":\\\"0.4\\\"}\\n\"}",
	"<{\"type\":\"turn\",\"message\":\"hi\",\"session_id\":\"\",\"session_name\":\"default\","
	"\"attachments\":[{\"kind\":\"file\",\"url\":\"u\",\"name\":\"n\"}],\"permission\":true,"
	"\"protocol_version\":\"0.4\"}",
	">{\"type\":\"partial\",\"text\":\"wait\",\"session_id\":\"s1\"}",
	"*session {\"id\":\"s1\"}",
	">{\"type\":\"permission_request\",\"request_id\":\"p1\",\"tool_name\":\"rm\",\"input\":{}}",
	"*permit {\"request_id\":\"p1\",\"allowed\":false,\"message\":\"no\"}",
	"<{\"type\":\"permission_response\",\"request_id\":\"p1\",\"behavior\":\"deny\","
	"\"message\":\"no\"}",
	">{\"type\":\"result\",\"text\":\"done\"}",
	"*exit {\"status\":3,\"signal\":0,\"stderr\":\"\"}",
	"*error {\"code\":\"exit\",\"text\":\"the agent failed with exit status 3\"}",
	"*end {\"exit_code\":3,\"partials\":1,\"partial_bytes\":4}",
	NULL,
};

const char *const recorded_agent_older[] = {
	"*start {\"protocol\":\"agentproc\",\"version\":\"0.1\",\"session_prefix\":\"AGENT_SESSION:\","
	"\"streaming\":true,\"permission\":false,\"max_reply_chars\":3,\"truncation_suffix\":\"~\","
	"\"line_limit\":1000,\"total_limit\":10000,\"send_error_reply\":true,\"include_stderr\":true,"
	"\"input\":\"hello\"}",
	"<hello",
	">abcdef",
	"*exit {\"status\":0,\"signal\":0,\"stderr\":\"oops\\n\"}",
	"*reply {\"text\":\"abc~\\n\\noops\"}",
	"*end {\"exit_code\":0,\"partials\":0,\"partial_bytes\":0}",
	NULL,
};

const char *const *const recordings[RECORDINGS] = { recorded_fledge, recorded_fledge_timeout,
	recorded_tool, recorded_tool_timeout, recorded_agent, recorded_agent_older };

/* ---- playing ----------------------------------------------------------------------- */

static void append_string(struct buf *out, const char *text)
{
	buf_append_char(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, *text);
	}
	buf_append_char(out, '"');
}

void recording_append_line(struct buf *out, const char *line)
{
	if (line[0] == '*') {
		const char *facts = strchr(line, ' ') + 1;
		buf_printf(out,
			"{\"t\":0,\"dir\":\"host\",\"event\":\"%.*s\",\"facts\":%s,\"line\":\"\"}\n",
			(int)(facts - line - 2), line + 1, facts);
		return;
	}
	buf_printf(out, "{\"t\":0,\"dir\":\"%s\",\"line\":", line[0] == '>' ? "out" : "in");
	append_string(out, line + 1);
	buf_append_text(out, line[0] == '!' ? ",\"masked\":true}\n" : "}\n");
}

void recording_append(struct buf *out, const char *const *lines)
{
	buf_append_text(out, "{\"trace\":1,\"perch\":\"0.0.9\",\"command\":\"c\",\"args\":[]}\n");
	for (; *lines; lines++)
		recording_append_line(out, *lines);
}

int recording_play_bytes(const char *bytes, size_t len, struct replay **ret_replay)
{
	struct trace_reader *reader = NULL;
	struct replay *replay = NULL;
	int r = replay_new(&replay);
	const struct trace_reader_options options = { .take = replay_take, .data = replay };
	if (r == 0)
		r = trace_reader_new(&options, &reader);
	char *copy = malloc(len + 1);
	if (r == 0 && !copy)
		r = -ENOMEM;
	if (r == 0) {
		memcpy(copy, bytes, len);
		r = trace_reader_feed(reader, copy, len);
	}
	if (r == 0)
		r = trace_reader_finish(reader);
	if (r == 0)
		r = replay_finish(replay);
	free(copy);
	trace_reader_free(reader);
	*ret_replay = replay;
	return r;
}

int recording_play(const char *const *lines, struct replay **ret_replay)
{
	struct buf text = { 0 };
	recording_append(&text, lines);
	int r = recording_play_bytes(text.data, text.len, ret_replay);
	buf_free(&text);
	return r;
}
