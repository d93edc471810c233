/* perch/sandbox.h: a child of a program's own in a sandbox, by the public headers alone. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "perch/perch.h"

struct outcome {
	char said[4096];
	int exit_code;
	bool has_ended;
};

static void on_line(perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child, (void)stream;
	struct outcome *outcome = data;
	size_t len = strlen(outcome->said);
	snprintf(outcome->said + len, sizeof(outcome->said) - len, "%s\n", line->data);
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct outcome *outcome = data;
	outcome->exit_code = result->exit_code;
	outcome->has_ended = true;
}

static const perch_child_events events = {
	.size = sizeof(events),
	.line = on_line,
	.ended = on_ended,
};

/* `sh -c script` in the sandbox. */
static struct outcome run_in(perch_host *host, perch_sandbox *sandbox, const char *script)
{
	struct outcome outcome = { 0 };
	const char *const argv[] = { "sh", "-c", script, NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	perch_child *child;
	perch_err err = { 0 };
	spec.argv = argv;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_LINES;
	spec.events = &events;
	spec.data = &outcome;
	ck_assert_int_eq(perch_sandbox_apply(sandbox, &spec), 0);
	ck_assert_msg(perch_child_start(host, &spec, &child, &err) == 0, "%s", err.text);
	proc_until(host, &outcome.has_ended);
	perch_child_free(child);
	return outcome;
}

static perch_sandbox *open_sandbox(perch_host *host, const perch_sandbox_options *options)
{
	perch_sandbox *sandbox = NULL;
	perch_err err = { 0 };
	ck_assert_msg(perch_sandbox_open(host, options, &sandbox, &err) == 0, "%s", err.text);
	return sandbox;
}

static bool is_listed(const char *const *list, const char *path)
{
	for (; list && *list; list++) {
		if (strcmp(*list, path) == 0)
			return true;
	}
	return false;
}

static perch_sandbox_options options_in_project(void)
{
	perch_sandbox_options options = PERCH_SANDBOX_OPTIONS_INIT;
	folder_new();
	setenv("HOME", folder_path("home"), 1);
	folder_write("home/.ssh/id", "secret\n");
	folder_write("project/file", "here\n");
	folder_write("project/mail/letter", "dear\n");
	folder_write("outside/file", "there\n");
	static char directory[4096];
	snprintf(directory, sizeof(directory), "%s", folder_path("project"));
	options.directory = directory;
	return options;
}

START_TEST(what_a_policy_allows)
{
	perch_sandbox_options options = options_in_project();
	perch_host *host = proc_host();
	const char *const hide[] = { "mail", NULL };
	const char *const env[] = { "KEPT_TOKEN", NULL };
	options.hide = hide;
	options.env = env;
	options.net = PERCH_SANDBOX_NET_NONE;
	setenv("GIVEN_TOKEN", "x", 1);
	setenv("KEPT_TOKEN", "y", 1);
	perch_sandbox *sandbox = open_sandbox(host, &options);
	char script[16384];
	snprintf(script, sizeof(script),
		"cd '%s' && cat file; echo new >made && echo writes; cat mail/letter || echo hidden;"
		"cat '%s' || echo private; echo x >'%s' || echo outside; echo \"$GIVEN_TOKEN-$KEPT_TOKEN\"",
		options.directory, folder_path("home/.ssh/id"), folder_path("outside/new"));
	struct outcome outcome = run_in(host, sandbox, script);
	const char *said = outcome.said;
	ck_assert_msg(strstr(said, "here\nwrites\n") && strstr(said, "hidden\n") &&
			strstr(said, "private\n") && strstr(said, "outside\n") && strstr(said, "-y\n"),
		"%s", said);
	ck_assert_ptr_null(strstr(said, "dear"));
	ck_assert_ptr_null(strstr(said, "secret\n"));
	const perch_sandbox_rules *rules = perch_sandbox_rules_of(sandbox);
	ck_assert(rules->reads_everything && !rules->has_network);
	ck_assert(is_listed(rules->hide, folder_path("project/mail")));
	ck_assert(is_listed(rules->write, options.directory));
	ck_assert(is_listed(rules->env, "KEPT_TOKEN"));
	ck_assert_ptr_nonnull(rules->layers);
	perch_sandbox_free(sandbox);
	perch_host_free(host);
}
END_TEST

START_TEST(a_tools_policy_with_limits)
{
	perch_sandbox_options options = options_in_project();
	perch_host *host = proc_host();
	options.base = PERCH_SANDBOX_OF_TOOL;
	options.unsupported = PERCH_SANDBOX_UNSUPPORTED_WARN;
	options.limits.files = 64;
	options.limits.cpu = UINT64_MAX;
	perch_sandbox *sandbox = open_sandbox(host, &options);
	const perch_sandbox_rules *rules = perch_sandbox_rules_of(sandbox);
	ck_assert_str_eq(perch_sandbox_base_name(options.base), "tool");
	ck_assert(!rules->reads_everything && !rules->has_network && rules->tmp);
	ck_assert_uint_eq(rules->limits.files, 64);
	ck_assert_uint_eq(rules->limits.cpu, 0);
	ck_assert_uint_gt(rules->limits.memory, 0); /* its base's */
	struct outcome outcome = run_in(host, sandbox, "ulimit -n; pwd; echo x >own && echo writes");
	char expected[4200];
	snprintf(expected, sizeof(expected), "64\n%s\nwrites\n", rules->tmp);
	ck_assert_str_eq(outcome.said, expected);
	perch_sandbox_free(sandbox);
	perch_host_free(host);
}
END_TEST

START_TEST(what_was_denied_is_explained)
{
	perch_sandbox_options options = options_in_project();
	perch_host *host = proc_host();
	perch_sandbox *sandbox = open_sandbox(host, &options);
	char said[9000];
	snprintf(said, sizeof(said), "sh: cannot create %s: Permission denied\n",
		folder_path("outside/new"));
	const char *hint = perch_sandbox_explain(sandbox, "sh", said, strlen(said));
	ck_assert_ptr_nonnull(hint);
	ck_assert_msg(strstr(hint, "'fledge'") && strstr(hint, "--write"), "%s", hint);
	ck_assert_ptr_null(perch_sandbox_explain(sandbox, "sh", NULL, 0));
	perch_sandbox_free(sandbox);
	perch_host_free(host);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
	static const char *const presets[] = { "gti", NULL };
	static const char *const missing[] = { "no/such", NULL };
	perch_host *host = proc_host();
	perch_sandbox *sandbox = NULL;
	perch_err err = { 0 };
	perch_sandbox_options options = options_in_project();
	options.base = (perch_sandbox_base)7;
	ck_assert_int_eq(perch_sandbox_open(host, &options, &sandbox, &err), -EINVAL);
	options.base = PERCH_SANDBOX_OF_PLUGIN;
	options.program = "sh";
	ck_assert_int_eq(perch_sandbox_open(host, &options, &sandbox, &err), -EINVAL);
	options.program = NULL;
	options.presets = presets;
	ck_assert_int_eq(perch_sandbox_open(host, &options, &sandbox, &err), -EINVAL);
	ck_assert_msg(strstr(err.text, "gti"), "%s", err.text);
	options.presets = NULL;
	options.read = missing;
	ck_assert_int_eq(perch_sandbox_open(host, &options, &sandbox, &err), -ENOENT);
	options.read = NULL;
	options.size = sizeof(options) + 8; /* of a newer header, with something set */
	struct {
		perch_sandbox_options known;
		uint64_t newer;
	} longer = { options, 1 };
	longer.known.size = sizeof(longer);
	ck_assert_int_eq(perch_sandbox_open(host, &longer.known, &sandbox, &err), -EINVAL);
	perch_sandbox_free(NULL);
	perch_host_free(host);
}
END_TEST

static int open_and_apply(void *data)
{
	static const char *const write[] = { ".", NULL };
	(void)data;
	perch_host_options host_options = PERCH_HOST_OPTIONS_INIT;
	host_options.guard_path = proc_guard_path();
	perch_host *host;
	perch_sandbox_options options = PERCH_SANDBOX_OPTIONS_INIT;
	perch_sandbox *sandbox = NULL;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	options.directory = folder_path("project");
	options.write = write;
	int r = perch_host_new(&host_options, &host, NULL);
	if (r < 0)
		return r;
	r = perch_sandbox_open(host, &options, &sandbox, NULL);
	if (r == 0)
		r = perch_sandbox_apply(sandbox, &spec);
	perch_sandbox_free(sandbox);
	perch_host_free(host);
	return r;
}

START_TEST(each_allocation_may_fail)
{
	options_in_project();
	ck_assert_uint_ge(oom_every(open_and_apply, NULL), 10);
}
END_TEST

SUITE_MAIN("sandbox_public", what_a_policy_allows, a_tools_policy_with_limits,
	what_was_denied_is_explained, what_cannot_be_is_refused, each_allocation_may_fail)
