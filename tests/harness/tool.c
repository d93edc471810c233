/* For tests with real tool plugins. */
#include "harness/tool.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness/folder.h"

perch_host *tool_begin(void)
{
	setenv("TMPDIR", folder_new(), 1);
	return proc_host();
}

void tool_finish(perch_host *host)
{
	for (int i = 0; perch_host_children(host) && i < 1000; i++)
		perch_host_wait(host, 10);
	ck_assert_uint_eq(perch_host_children(host), 0);
	perch_host_free(host);
	ck_assert_uint_eq(folder_count(getenv("TMPDIR"), "perch-tool-"), 0);
	ck_assert_uint_eq(proc_children(), 0);
}

bool tool_says(perch_text text, const char *part)
{
	return text.len && memmem(text.data, text.len, part, strlen(part));
}

const char *tool_path(void)
{
	static char path[8192];
	return path[0] ? path : proc_in_build("tool", path, sizeof(path));
}

struct tool_binding tool_bind(const char *const *args)
{
	static const char *const capabilities[] = { "tool.execute", NULL };
	return (struct tool_binding){
		.path = "",
		.name = "t.p",
		.command = tool_path(),
		.args = args,
		.directory = "",
		.protocol = TOOL_PROTOCOL,
		.capabilities = capabilities,
		.invocation_ns = 60 * NSEC_PER_SEC,
		.handshake_ns = 60 * NSEC_PER_SEC,
		.teardown_ns = 60 * NSEC_PER_SEC,
		.spare_ttl_ns = 600 * NSEC_PER_SEC,
		.widening = { .is_off = true },
	};
}

static void on_stderr(void *data, const char *bytes, size_t len)
{
	struct called *called = data;
	if (called->err.len + len < 65536)
		buf_append(&called->err, bytes, len);
}

static void on_done(void *data, struct tool_call *call)
{
	struct called *called = data;
	ck_assert(!called->is_done);
	ck_assert_ptr_eq(called->call, call);
	ck_assert_ptr_nonnull(tool_call_result(call));
	called->is_done = true;
}

struct tool_call_options tool_options(const struct tool_binding *binding, struct called *called)
{
	return (struct tool_call_options){
		.binding = binding,
		.tool = "t.x",
		.stderr_bytes = on_stderr,
		.done = on_done,
		.data = called,
	};
}

void tool_start(perch_host *host, const struct tool_call_options *options, struct called *called)
{
	*called = (struct called){ 0 };
	perch_err err = { 0 };
	ck_assert_msg(tool_call_start(host, options, &called->call, &err) == 0, "%s", err.text);
	ck_assert_msg(!called->is_done, "it was done before it had begun");
	ck_assert_ptr_null(tool_call_result(called->call));
}

const perch_tool_result *tool_wait(perch_host *host, struct called *called)
{
	proc_until(host, &called->is_done);
	return tool_call_result(called->call);
}

const perch_tool_result *tool_run(
	perch_host *host, const struct tool_binding *binding, struct called *called)
{
	struct tool_call_options options = tool_options(binding, called);
	tool_start(host, &options, called);
	return tool_wait(host, called);
}

void tool_end(struct called *called)
{
	tool_call_free(called->call);
	buf_free(&called->err);
	*called = (struct called){ 0 };
}
