/* What an agent finds when it is started: its environment, attachments, the message. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/attempt.h"

/* ---- environment ---------------------------------------------------------------- */

START_TEST(the_protocols_variables_always_win)
{
	struct attempt attempt;
	attempt_open(&attempt,
		"command: a\nenv: {AGENT_SESSION_ID: mine, AGENT_IMAGE_URL: x, AGENT_OWN: y, SECRET: "
		"'<${SECRET}>', M: '{{MESSAGE}}', N: '${NONE}|${AGENT_FOO}'}\n",
		HOSTILE);
	const char *const extra[] = { "SECRET=late", "AGENT_STREAMING=9", "X=1", "X=2", NULL };
	attempt.options.env = extra;
	ck_assert_int_eq(attempt_run(&attempt), 0);
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_MESSAGE"), HOSTILE);
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_SESSION_ID"), "s-7");
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_SESSION_NAME"), "default");
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_FROM_USER"), "ann");
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_STREAMING"), "1");
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_PROTOCOL_VERSION"), "0.1");
	ck_assert_ptr_null(attempt_variable(&attempt, "AGENT_IMAGE_URL"));
	ck_assert_ptr_null(attempt_variable(&attempt, "AGENT_ATTACHMENTS"));
	ck_assert_ptr_null(attempt_variable(&attempt, "AGENT_FOO"));
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_OWN"), "y");
	ck_assert_str_eq(attempt_variable(&attempt, "SECRET"), "late");
	ck_assert_str_eq(attempt_variable(&attempt, "X"), "2");
	ck_assert_str_eq(attempt_variable(&attempt, "M"), HOSTILE);
	ck_assert_str_eq(attempt_variable(&attempt, "N"), "|");
	ck_assert_str_eq(attempt_variable(&attempt, "EMPTY"), "");
	attempt_close(&attempt);
}
END_TEST

START_TEST(streaming_may_be_off)
{
	struct attempt attempt;
	attempt_open(&attempt, "command: a\nstreaming: false\n", "m");
	ck_assert_int_eq(attempt_run(&attempt), 0);
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_STREAMING"), "0");
	attempt_close(&attempt);
	attempt_open(&attempt, "command: a\n", "m");
	attempt.options.no_stream = true;
	ck_assert_int_eq(attempt_run(&attempt), 0);
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_STREAMING"), "0");
	attempt_close(&attempt);
}
END_TEST

START_TEST(an_allowlist_leaves_the_basic_set)
{
	struct attempt attempt;
	attempt_open(
		&attempt, "command: a\nenv_allowlist: [EMPTY]\nenv: {K: '${SECRET}', H: '${HOME}'}\n", "m");
	ck_assert_int_eq(attempt_run(&attempt), 0);
	ck_assert_str_eq(attempt_variable(&attempt, "PATH"), "/usr/bin:/bin");
	ck_assert_str_eq(attempt_variable(&attempt, "LC_TIME"), "C");
	ck_assert_str_eq(attempt_variable(&attempt, "EMPTY"), "");
	ck_assert_ptr_null(attempt_variable(&attempt, "SECRET"));
	ck_assert_str_eq(attempt_variable(&attempt, "K"), "");
	ck_assert_str_eq(attempt_variable(&attempt, "H"), "/home/me");
	buf_terminate(&attempt.launch.warnings);
	ck_assert_str_eq(
		attempt.launch.warnings.data, "${SECRET} is empty: it is not in env_allowlist\n");
	attempt_close(&attempt);
}
END_TEST

START_TEST(version_0_4_has_a_small_environment)
{
	struct attempt attempt;
	attempt_open(&attempt,
		"protocol: '0.4'\ncommand: a\nenv_allowlist: [HOME]\n"
		"env: {K: '${SECRET}', H: '${HOME}', AGENT_X: 1}\n",
		"m");
	const char *const extra[] = { "E=1", "AGENT_Y=1", NULL };
	attempt.options.env = extra;
	ck_assert_int_eq(attempt_run(&attempt), 0);
	ck_assert_str_eq(attempt_variable(&attempt, "PATH"), "/usr/bin:/bin");
	ck_assert_str_eq(attempt_variable(&attempt, "E"), "1");
	ck_assert_str_eq(attempt_variable(&attempt, "K"), "");
	ck_assert_str_eq(attempt_variable(&attempt, "H"), "/home/me");
	ck_assert_ptr_null(attempt_variable(&attempt, "SECRET"));
	for (const char *const *v = attempt.launch.env; *v; v++)
		ck_assert_int_ne(strncmp(*v, "AGENT_", 6), 0);
	buf_terminate(&attempt.launch.warnings);
	ck_assert_str_eq(attempt.launch.warnings.data,
		"${SECRET} is empty: it is not in env_allowlist\n"
		"env AGENT_X is ignored: names that begin with AGENT_ are the protocol's\n"
		"env AGENT_Y is ignored: names that begin with AGENT_ are the protocol's\n");
	attempt_close(&attempt);
}
END_TEST

START_TEST(a_sandboxed_agent_gets_no_secrets)
{
	struct attempt attempt;
	attempt_open(&attempt, "command: a\nsandbox: on\n", "m");
	attempt.launch.tmp = "/private";
	ck_assert_int_eq(launch_finish(&attempt.launch, &attempt.err), 0);
	ck_assert_ptr_null(attempt_variable(&attempt, "SECRET"));
	ck_assert_str_eq(attempt_variable(&attempt, "TMPDIR"), "/private");
	attempt_close(&attempt);
	attempt_open(&attempt, "command: a\nsandbox: {env: [SECRET]}\n", "m");
	ck_assert_int_eq(launch_finish(&attempt.launch, &attempt.err), 0);
	ck_assert_str_eq(attempt_variable(&attempt, "SECRET"), "s3");
	attempt_close(&attempt);
}
END_TEST

START_TEST(attachments)
{
	const perch_attachment list[] = {
		{ PERCH_ATTACHMENT_IMAGE, "http://x/a.png", "a.png" },
		{ PERCH_ATTACHMENT_FILE, "http://x/b", "" },
		{ PERCH_ATTACHMENT_FILE, "http://x/\"c", "c" },
	};
	struct attempt attempt;
	attempt_open(&attempt, "command: a\n", "");
	attempt.options.attachments = list;
	attempt.options.attachment_count = COUNT(list);
	ck_assert_int_eq(attempt_run(&attempt), 0);
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_MESSAGE"), "");
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_IMAGE_URL"), "http://x/a.png");
	ck_assert_ptr_null(attempt_variable(&attempt, "AGENT_FILE_URL"));
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_ATTACHMENTS"),
		"[{\"type\":\"image\",\"url\":\"http://x/a.png\",\"name\":\"a.png\"},"
		"{\"type\":\"file\",\"url\":\"http://x/b\",\"name\":\"\"},"
		"{\"type\":\"file\",\"url\":\"http://x/\\\"c\",\"name\":\"c\"}]");
	attempt_close(&attempt);
	attempt_open(&attempt, "protocol: '0.4'\npermission: true\ncommand: a\n", "hi \"x\"");
	attempt.options.attachments = list;
	attempt.options.attachment_count = 1;
	struct buf line = { 0 };
	ck_assert_int_eq(turn_line_write(&line, &attempt.options), 0);
	buf_terminate(&line);
	ck_assert_str_eq(line.data,
		"{\"type\":\"turn\",\"message\":\"hi \\\"x\\\"\",\"session_id\":\"s-7\","
		"\"session_name\":\"default\",\"from_user\":\"ann\",\"attachments\":[{\"kind\":\"image\","
		"\"url\":\"http://x/a.png\",\"name\":\"a.png\"}],\"permission\":true,"
		"\"protocol_version\":\"0.4\"}\n");
	buf_free(&line);
	attempt_close(&attempt);
}
END_TEST

/* ---- messages ---------------------------------------------------------------------- */

static int run_message(const char *profile, struct str message, struct attempt *attempt)
{
	attempt_open(attempt, profile, "");
	attempt->options.message = message;
	return attempt_run(attempt);
}

START_TEST(messages_that_are_refused)
{
	struct attempt attempt;
	ck_assert_int_eq(run_message("command: a\n", STR(""), &attempt), -EINVAL);
	ck_assert_ptr_nonnull(strstr(attempt.err.text, "empty"));
	attempt_close(&attempt);
	ck_assert_int_eq(run_message("command: a\n", STR("a\0b"), &attempt), -EINVAL);
	ck_assert_ptr_nonnull(strstr(attempt.err.text, "NUL"));
	attempt_close(&attempt);
	size_t size = PERCH_AGENT_MESSAGE_MAX + 1;
	char *huge = malloc(size);
	memset(huge, 'x', size);
	ck_assert_int_eq(
		run_message("command: a\nstdin: message\n", (struct str){ huge, size }, &attempt), -EINVAL);
	ck_assert_ptr_nonnull(strstr(attempt.err.text, "16 MiB"));
	attempt_close(&attempt);
	free(huge);
}
END_TEST

START_TEST(messages_too_long_for_a_variable)
{
	static char text[AGENT_VARIABLE_MAX];
	memset(text, 'x', sizeof(text));
	struct attempt attempt;
	const size_t fits = AGENT_VARIABLE_MAX - sizeof("AGENT_MESSAGE=");
	ck_assert_int_eq(run_message("command: a\n", (struct str){ text, fits }, &attempt), 0);
	ck_assert_uint_eq(strlen(attempt_variable(&attempt, "AGENT_MESSAGE")), fits);
	attempt_close(&attempt);
	const struct str too_long = { text, fits + 1 };
	ck_assert_int_eq(run_message("command: a\n", too_long, &attempt), -EINVAL);
	ck_assert_str_eq(attempt.err.text,
		"the message is too long for a variable (131058 bytes, at most 131057): the profile needs "
		"stdin: message");
	attempt_close(&attempt);
	ck_assert_int_eq(run_message("command: a\nstdin: message\n", too_long, &attempt), 0);
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_MESSAGE"), "");
	ck_assert_str_eq(attempt_variable(&attempt, "AGENT_MESSAGE_OMITTED"), "1");
	attempt_close(&attempt);
	const struct str all = { text, sizeof(text) };
	ck_assert_int_eq(
		run_message("command: a {{MESSAGE}}\nstdin: message\n", all, &attempt), -EINVAL);
	ck_assert_str_eq(attempt.err.text,
		"an argument is too long with the message in it (131072 bytes, at most 131071): take "
		"{{MESSAGE}} out of it, the message is on stdin as well");
	attempt_close(&attempt);
	ck_assert_int_eq(run_message("command: a\nargs: ['12345678901234 {{MESSAGE}}']\n",
						 (struct str){ text, fits }, &attempt),
		-EINVAL);
	ck_assert_ptr_nonnull(strstr(attempt.err.text,
		"(131072 bytes, at most 131071): take {{MESSAGE}} out of it, and write stdin: message"));
	attempt_close(&attempt);
	static const char longer[] = "command: a\nstdin: message\nenv: {NAME: 'is {{MESSAGE}}'}\n";
	const size_t value = AGENT_VARIABLE_MAX - sizeof("NAME=is ");
	ck_assert_int_eq(run_message(longer, (struct str){ text, value }, &attempt), 0);
	attempt_close(&attempt);
	ck_assert_int_eq(run_message(longer, (struct str){ text, value + 1 }, &attempt), -EINVAL);
	ck_assert_ptr_nonnull(strstr(attempt.err.text,
		"NAME is too long with the message in it (131067 bytes, at most 131066): take"));
	attempt_close(&attempt);
	ck_assert_int_eq(run_message("protocol: '0.4'\ncommand: a\n", all, &attempt), 0);
	attempt_close(&attempt);
}
END_TEST

SUITE_MAIN("agent-environment", the_protocols_variables_always_win, streaming_may_be_off,
	an_allowlist_leaves_the_basic_set, version_0_4_has_a_small_environment,
	a_sandboxed_agent_gets_no_secrets, attachments, messages_that_are_refused,
	messages_too_long_for_a_variable)
