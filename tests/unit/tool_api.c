/* Tools as another program calls them: through include/perch/tool.h alone. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"
#include "harness/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perch/perch.h"
#include "sandbox/reuse/dir_cache.h"

static perch_host *host;

static void begin(void)
{
	host = tool_begin();
}

static void end(void)
{
	tool_finish(host);
}

static perch_tool_spec spec_of(const char *const *args)
{
	static const char *const capabilities[] = { "tool.execute", NULL };
	perch_tool_spec spec = PERCH_TOOL_SPEC_INIT;
	spec.name = "t.p";
	spec.command = tool_path();
	spec.args = args;
	spec.capabilities = capabilities;
	spec.no_sandbox = true;
	spec.invocation_ns = spec.handshake_ns = spec.teardown_ns = UINT64_C(60000000000);
	return spec;
}

static perch_tool_binding *bind(const char *const *args)
{
	perch_tool_spec spec = spec_of(args);
	perch_tool_binding *binding;
	perch_err err = { 0 };
	ck_assert_msg(perch_tool_binding_new(&spec, &binding, &err) == 0, "%s", err.text);
	return binding;
}

START_TEST(a_call_that_is_waited_for)
{
	begin();
	perch_tool_binding *binding = bind(TOOL("echo"));
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	request.tool = "t.x";
	request.input = "{\"n\":1.0}, and more";
	request.input_length = 9;
	perch_tool_call *call;
	perch_err err = { 0 };
	ck_assert_int_eq(perch_tool_call_run(host, binding, &request, &call, &err), 0);
	const perch_tool_result *result = perch_tool_call_result(call);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert_str_eq(perch_tool_code_name(result->code), "ok");
	ck_assert_str_eq(result->output.data, "{\"n\":1.0}");
	ck_assert_str_eq(result->plugin_id.data, "t.p");
	ck_assert_str_eq(result->plugin_version.data, "1.0.0");
	ck_assert_str_eq(result->tool.data, "t.x");
	ck_assert_str_eq(result->stage, "teardown");
	ck_assert_str_eq(result->message.data, "");
	ck_assert_str_eq(result->stderr_tail.data, "");
	ck_assert_uint_eq(result->request_id.len, 27);
	ck_assert(result->responded && result->has_exit_status && result->exit_status == 0);
	ck_assert(result->duration_ns > 0 && result->response_ns < result->duration_ns);
	ck_assert(!result->used_spare && !result->signal && !result->extra_bytes);
	perch_text json;
	ck_assert_int_eq(perch_tool_call_json(call, &json), 0);
	ck_assert_int_eq(strncmp(json.data, "{\"ok\":true,\"output\":{\"n\":1.0},", 29), 0);
	ck_assert_int_eq(json.data[json.len], 0);
	perch_tool_call_free(call);
	perch_tool_binding_free(binding);
	end();
}
END_TEST

START_TEST(the_plugins_own_error)
{
	begin();
	perch_tool_binding *binding = bind(TOOL("refuse"));
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	request.tool = "t.x";
	perch_tool_call *call;
	ck_assert_int_eq(perch_tool_call_run(host, binding, &request, &call, NULL), 0);
	const perch_tool_result *result = perch_tool_call_result(call);
	ck_assert_int_eq(result->code, PERCH_TOOL_EXECUTION_ERROR);
	ck_assert_str_eq(result->error_code.data, "E_NO");
	ck_assert_str_eq(result->error_message.data, "cannot do it");
	perch_tool_call_free(call);
	/* A handshake alone. */
	request.tool = NULL;
	ck_assert_int_eq(perch_tool_call_run(host, binding, &request, &call, NULL), 0);
	result = perch_tool_call_result(call);
	ck_assert_int_eq(result->code, PERCH_TOOL_OK);
	ck_assert_ptr_nonnull(strstr(result->manifest.data, "exposed_tools"));
	perch_tool_call_free(call);
	perch_tool_binding_free(binding);
	end();
}
END_TEST

struct heard {
	unsigned done;
	unsigned cancelled;
	size_t errors;
	int busy;
};

static void on_stderr(void *data, const char *bytes, size_t len)
{
	(void)bytes;
	((struct heard *)data)->errors += len;
}

static void on_done(perch_tool_call *call, void *data)
{
	struct heard *heard = data;
	heard->done++;
	heard->cancelled += perch_tool_call_result(call)->code == PERCH_TOOL_CANCELLED;
	perch_tool_call *other;
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	heard->busy = perch_tool_call_run(host, NULL, &request, &other, NULL);
	perch_tool_call_free(call);
}

START_TEST(calls_that_run_at_once_and_one_that_is_cancelled)
{
	begin();
	perch_tool_binding *loud = bind(TOOL("flood-stderr"));
	perch_tool_binding *silent = bind(TOOL("silent"));
	struct heard heard = { 0 };
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	request.tool = "t.x";
	request.done = on_done;
	request.stderr_bytes = on_stderr;
	request.data = &heard;
	perch_tool_call *calls[3];
	for (size_t i = 0; i < COUNT(calls); i++) {
		char tool[] = "t.x"; /* nothing of a request is needed after its start */
		request.tool = tool;
		ck_assert_int_eq(
			perch_tool_call_start(host, i ? loud : silent, &request, &calls[i], NULL), 0);
		memset(tool, '?', sizeof(tool));
		ck_assert_ptr_null(perch_tool_call_result(calls[i]));
		perch_text json;
		ck_assert_int_eq(perch_tool_call_json(calls[i], &json), -EAGAIN);
	}
	perch_tool_call_cancel(calls[0]);
	while (heard.done < COUNT(calls))
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	ck_assert_uint_eq(heard.cancelled, 1);
	ck_assert_uint_eq(heard.errors, 2 * (16 * 1024 * 1024 + 14));
	ck_assert_int_eq(heard.busy, PERCH_EBUSY);
	perch_tool_binding_free(loud);
	perch_tool_binding_free(silent);
	end();
}
END_TEST

START_TEST(a_pool_of_spares)
{
	begin();
	perch_tool_spec spec = spec_of(TOOL("echo"));
	spec.spares = 1;
	perch_tool_binding *binding;
	perch_tool_pool *pool;
	ck_assert_int_eq(perch_tool_binding_new(&spec, &binding, NULL), 0);
	ck_assert_int_eq(perch_tool_pool_new(host, &pool, NULL), 0);
	ck_assert_int_eq(perch_tool_pool_keep(pool, binding), 0);
	bool used_spare = false;
	for (int i = 0; !used_spare; i++) {
		ck_assert_int_lt(i, 3000);
		perch_host_wait(host, 10);
		perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
		request.tool = "t.x";
		perch_tool_call *call;
		ck_assert_int_eq(perch_tool_pool_call(pool, binding, &request, &call, NULL), 0);
		while (!perch_tool_call_result(call))
			perch_host_wait(host, -1);
		ck_assert_int_eq(perch_tool_call_result(call)->code, PERCH_TOOL_OK);
		used_spare = perch_tool_call_result(call)->used_spare;
		perch_tool_call_free(call);
	}
	perch_tool_pool_forget(pool, binding);
	perch_tool_pool_free(pool);
	perch_tool_pool_free(NULL);
	perch_tool_binding_free(binding);
	end();
}
END_TEST

START_TEST(a_binding_must_be_usable)
{
	static const char *const padded[] = { "a ", NULL };
	perch_tool_binding *binding = NULL;
	perch_err err = { 0 };
	perch_tool_spec spec = PERCH_TOOL_SPEC_INIT;
	ck_assert_int_eq(perch_tool_binding_new(&spec, &binding, &err), -EINVAL);
	ck_assert_uint_gt(strlen(err.text), 0);
	spec = spec_of(NULL);
	spec.capabilities = padded;
	ck_assert_int_eq(perch_tool_binding_new(&spec, &binding, &err), -EINVAL);
	ck_assert_ptr_null(binding);
	ck_assert_int_lt(perch_tool_binding_read("/no/such/binding.toml", &binding, &err), 0);
	ck_assert_int_lt(perch_tool_binding_find("no-such-binding", &binding, &err), 0);
	ck_assert_ptr_null(binding);
	perch_tool_binding_free(NULL);
	perch_tool_call_free(NULL);
}
END_TEST

/* An older caller's struct is shorter; the rest takes its default. */
START_TEST(a_shorter_struct_is_understood)
{
	begin();
	perch_tool_spec spec = spec_of(TOOL("fast"));
	spec.size = offsetof(perch_tool_spec, net);
	spec.net = (perch_tool_net)77;
	perch_tool_binding *binding;
	ck_assert_int_eq(perch_tool_binding_new(&spec, &binding, NULL), 0);
	perch_tool_request request = { .size = offsetof(perch_tool_request, stderr_bytes) };
	request.tool = "t.x";
	request.stderr_bytes = (void (*)(void *, const char *, size_t))1;
	perch_tool_call *call;
	ck_assert_int_eq(perch_tool_call_run(host, binding, &request, &call, NULL), 0);
	ck_assert_int_eq(perch_tool_call_result(call)->code, PERCH_TOOL_OK);
	perch_tool_call_free(call);
	perch_tool_binding_free(binding);
	end();
}
END_TEST

/* A plugin that fails as soon as it cannot read a file, and otherwise a bit later. */
static perch_tool_result call_reader(const perch_tool_binding *binding, char *hint, size_t size)
{
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	request.tool = "t.x";
	perch_tool_call *call;
	ck_assert_int_eq(perch_tool_call_run(host, binding, &request, &call, NULL), 0);
	perch_tool_result result = *perch_tool_call_result(call);
	snprintf(hint, size, "%s", result.hint.data);
	perch_tool_call_free(call);
	return result;
}

START_TEST(what_the_sandbox_denied_is_explained_and_what_the_user_allowed_counts)
{
	begin();
	char hint[1024];
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	folder_write("vault/file", "secret");
	char *vault = str_dup(str_from(folder_path("vault/file")));
	char text[4096];
	snprintf(text, sizeof(text),
		"name = \"t.p\"\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"cat '%s' || exit 3; exit 4\"]\n",
		vault);
	folder_write("config/perch/tools/t.p.toml", text);
	perch_tool_binding *binding;
	ck_assert_int_eq(perch_tool_binding_find("t.p", &binding, NULL), 0);
	ck_assert_int_eq(call_reader(binding, hint, sizeof(hint)).exit_status, 3);
	snprintf(text, sizeof(text), "perch tool allow t.p --read %s", vault);
	ck_assert_msg(strstr(hint, text), "%s", hint);
	perch_tool_binding_free(binding);

	snprintf(text, sizeof(text), "schema = 1\n[tool.\"t.p\"]\nread = [\"%s\"]\n", vault);
	folder_write("config/perch/grants.toml", text);
	ck_assert_int_eq(perch_tool_binding_find("t.p", &binding, NULL), 0);
	ck_assert_int_eq(call_reader(binding, hint, sizeof(hint)).exit_status, 4);
	perch_tool_binding_free(binding);
	free(vault);
	end();
}
END_TEST

static int make_binding(void *data)
{
	static const perch_tool_pin pins[] = { { "/a", "b" }, { "/c", "d" } };
	static const char *const list[] = { "x", "y", NULL };
	(void)data;
	perch_tool_spec spec = spec_of(list);
	spec.env = list;
	spec.read = list;
	spec.write = list;
	spec.keep_env = list;
	spec.presets = list;
	spec.pins = pins;
	spec.pin_count = 2;
	perch_tool_binding *binding;
	int r = perch_tool_binding_new(&spec, &binding, NULL);
	if (r == 0)
		perch_tool_binding_free(binding);
	return r;
}

/* What cannot be started for want of memory is told as such, or is a result. */
static int make_call(void *data)
{
	perch_tool_binding *binding = data;
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	request.tool = "t.x";
	perch_tool_call *call;
	int r = perch_tool_call_run(host, binding, &request, &call, NULL);
	if (r < 0)
		return r;
	perch_tool_code code = perch_tool_call_result(call)->code;
	bool is_right =
		code == PERCH_TOOL_OK || code == PERCH_TOOL_LAUNCH_FAILED || code == PERCH_TOOL_CRASHED;
	ck_assert_msg(is_right, "%s", perch_tool_code_name(code));
	perch_tool_call_free(call);
	while (perch_host_children(host))
		perch_host_wait(host, 10);
	return code == PERCH_TOOL_OK ? 0 : -ENOMEM;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_gt(oom_every(make_binding, NULL), 1);
	begin();
	perch_tool_binding *binding = bind(TOOL("echo"));
	/* What the host keeps for later, its first call makes. */
	ck_assert_int_eq(make_call(binding), 0);
	ck_assert_ptr_nonnull(dir_cache_of(host)); /* kept where rules cannot be made ahead */
	ck_assert_uint_gt(oom_every(make_call, binding), 5);
	perch_tool_binding_free(binding);
	end();
}
END_TEST

SUITE_MAIN("tool-api", a_call_that_is_waited_for, the_plugins_own_error,
	calls_that_run_at_once_and_one_that_is_cancelled, a_pool_of_spares, a_binding_must_be_usable,
	a_shorter_struct_is_understood,
	what_the_sandbox_denied_is_explained_and_what_the_user_allowed_counts,
	every_allocation_may_fail)
