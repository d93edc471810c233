/* Requests to the gateway, and the jobs that it finds, without memory: each allocation fails in
 * turn. Nothing is offered, so nothing runs; who is told so is told in JSON. */
#include "harness/suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness/folder.h"
#include "harness/gateway.h"
#include "harness/oom.h"
#include "serve/jobs.h"
#include "serve/serve_parts.h"

static const struct {
	const char *line;
	const char *body;
	const char *answer; /* its first words */
	const char *words;  /* and some behind them */
} requests[] = {
	{ "GET /healthz", "", "HTTP/1.1 200", "ok" },
	{ "GET /nothing", "", "HTTP/1.1 404", "not_found" },
	{ "POST /api/turns",
		"{\"agent\":\"bot\",\"message\":\"x\",\"session\":\"s\",\"odd\":1,\"attachments\":"
		"[{\"url\":\"data:text/plain;base64,aGVsbG8=\"}]}",
		"HTTP/1.1 404", "no such agent" },
	{ "POST /api/turns", "{\"agent\":1}", "HTTP/1.1 400", "bad_request" },
	{ "POST /api/calls", "{\"tool\":\"a/b\",\"input\":{\"a\":1}}", "HTTP/1.1 404", "no such tool" },
	{ "POST /api/runs", "{\"command\":\"a\",\"args\":[\"b\"]}", "HTTP/1.1 404", "no such command" },
	{ "POST /api/runs", "{", "HTTP/1.1 400", "bad_json" },
	{ "GET /api/jobs?state=done", "", "HTTP/1.1 200", "\"jobs\":[]" },
	{ "GET /api/jobs/j00000000000000000000", "", "HTTP/1.1 404", "not_found" },
	{ "GET /api/catalog", "", "HTTP/1.1 200", "\"agents\"" },
	{ "GET /api/tokens", "", "HTTP/1.1 200", "\"tokens\"" },
	{ "GET /metrics", "", "HTTP/1.1 200", "perch_connections" },
	{ "GET /api/metrics/history", "", "HTTP/1.1 200", "samples" },
	{ "POST /v1/chat/completions",
		"{\"model\":\"bot\",\"messages\":[{\"role\":\"system\",\"content\":\"a\"},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"b\"},{\"type\":"
		"\"image_url\",\"image_url\":{\"url\":\"https://example.com/a.png\"}}]}]}",
		"HTTP/1.1 404", "model_not_found" },
	{ "POST /v1/responses", "{\"model\":\"bot\",\"input\":\"x\",\"stream\":true}", "HTTP/1.1 404",
		"model_not_found" },
	{ "GET /v1/models", "", "HTTP/1.1 200", "\"data\":[]" },
	{ "POST /api/login", "{\"once\":\"perch_no\"}", "HTTP/1.1 401", "login" },
	{ "POST /mcp",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
		"\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}}}",
		"HTTP/1.1 200", "serverInfo" },
};

static void open_folder(void)
{
	folder_new();
	setenv("HOME", folder_path("home"), 1);
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	setenv("XDG_DATA_HOME", folder_path("data"), 1);
}

/* ---- requests ------------------------------------------------------------------- */

static int ask_everything(void *data)
{
	struct gateway gateway;
	int r = gateway_open(&gateway, NULL);
	if (r < 0)
		return r;
	for (size_t i = 0; i < COUNT(requests) && r >= 0; i++) {
		_cleanup_(buf_free) struct buf answer = { 0 };
		r = gateway_ask(&gateway, requests[i].line, true, str_from(requests[i].body), &answer);
		bool is_right = !answer.failed && buf_append(&answer, "", 1) == 0 &&
			str_has_prefix((struct str){ answer.data, answer.len }, str_from(requests[i].answer)) &&
			strstr(answer.data, requests[i].words);
		if (data && !is_right)
			ck_abort_msg("%s: %s", requests[i].line, answer.len ? answer.data : "nothing");
	}
	gateway_close(&gateway);
	return r < 0 ? r : 0;
}

START_TEST(requests_without_memory)
{
	bool is_judged = true;
	open_folder();
	ck_assert_int_eq(ask_everything(&is_judged), 0);
	oom_every(ask_everything, NULL);
}
END_TEST

/* ---- jobs ------------------------------------------------------------------------ */

static int load_jobs(void *data)
{
	const struct queue_job job = { .id = STR("j00000000000000000000"),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.session = STR("s"),
		.key = STR("k"),
		.request = STR("{\"message\":\"x\"}"),
		.result = STR("{\"success\":true}"),
		.state = data ? QUEUE_WAITING : QUEUE_DONE,
		.created_ms = 1 };
	struct queue_job other = job;
	other.id = STR("../../etc");
	struct gateway gateway;
	int r = gateway_open(&gateway, NULL);
	if (r < 0)
		return r;
	const struct queue_news news = jobs_news(gateway.serve);
	const struct queue_loader loader = news.loader;
	const struct queue_event event = { 7, job.id, STR("{\"event\":\"end\"}") };
	r = loader.job(loader.data, &job);
	if (r == 0)
		r = loader.job(loader.data, &other);
	if (r == 0)
		r = loader.event(loader.data, &event);
	ck_assert_uint_le(gateway.serve->records.all.count, 1);
	gateway_close(&gateway);
	return r;
}

START_TEST(jobs_of_the_queue)
{
	bool waits = true;
	open_folder();
	oom_every(load_jobs, NULL);
	oom_every(load_jobs, &waits);
}
END_TEST

SUITE_MAIN("serve-requests", requests_without_memory, jobs_of_the_queue)
