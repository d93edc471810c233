/* How an agent is started: templates, argv, environment, directory. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/launch.h"
#include "agent/template.h"
#include "base/environment.h"
#include "harness/oom.h"

#define HOSTILE "${HOME} {{SESSION_ID}} $& $(id) ; rm -rf"

static const char *const own_env[] = { "PATH=/usr/bin:/bin", "HOME=/home/me", "SECRET=s3",
	"AGENT_MESSAGE=old", "AGENT_FOO=old", "LC_TIME=C", "EMPTY=", NULL };

/* One launch from the text of a profile. */
struct trial {
	struct arena arena;
	struct agent_profile profile;
	struct agent_turn_options options;
	struct launch launch;
	perch_err err;
};

static void trial_open(struct trial *trial, const char *text, const char *message)
{
	*trial = (struct trial){ 0 };
	perch_err err = { 0 };
	int r =
		agent_profile_parse("/tmp/bot.yaml", str_from(text), &trial->arena, &trial->profile, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	trial->options = (struct agent_turn_options){
		.profile = &trial->profile,
		.message = str_from(message),
		.session_id = "s-7",
		.from = "ann",
	};
	trial->launch = (struct launch){
		.arena = &trial->arena,
		.options = &trial->options,
		.dialect = dialect_of(trial->profile.dialect),
		.own_env = own_env,
	};
}

static int trial_run(struct trial *trial)
{
	int r = launch_begin(&trial->launch, &trial->err);
	return r < 0 ? r : launch_finish(&trial->launch, &trial->err);
}

static void trial_close(struct trial *trial)
{
	launch_free(&trial->launch);
	arena_free(&trial->arena);
}

static const char *variable(const struct trial *trial, const char *name)
{
	const char *found = NULL;
	for (const char *const *v = trial->launch.env; *v; v++) {
		if (str_is(environment_name(*v), name)) {
			ck_assert_msg(!found, "%s is set twice", name);
			found = *v + strlen(name) + 1;
		}
	}
	return found;
}

/* ---- templates --------------------------------------------------------------- */

static const char *test_variable(void *data, struct str name)
{
	(void)data;
	return str_is(name, "A") ? "{{MESSAGE}}" : str_is(name, "HOME") ? "/h" : NULL;
}

static const struct {
	const char *template;
	bool with_variables;
	const char *result;
} templates[] = {
	{ "", true, "" },
	{ "plain $A $(id) `x` %s", true, "plain $A $(id) `x` %s" },
	{ "{{MESSAGE}}", true, HOSTILE },
	{ "<{{MESSAGE}}{{MESSAGE}}>", false, "<" HOSTILE HOSTILE ">" },
	{ "{{SESSION_ID}}/{{SESSION_NAME}}/{{PROFILE_DIR}}", false, "{{MESSAGE}}/n/${A}" },
	{ "${A}|${HOME}|${NONE}|", true, "{{MESSAGE}}|/h||" },
	{ "${A}", false, "${A}" },
	{ "${}", true, "${}" },
	{ "${1A}", true, "${1A}" },
	{ "${A", true, "${A" },
	{ "${A-x}", true, "${A-x}" },
	{ "$${A}", true, "${{MESSAGE}}" },
	{ "{{{MESSAGE}}}", true, "{" HOSTILE "}" },
	{ "{{message}} {{ MESSAGE }} {{OTHER}}", true, "{{message}} {{ MESSAGE }} {{OTHER}}" },
	{ "{{MESSAGE", true, "{{MESSAGE" },
};

START_TEST(templates_are_expanded_once)
{
	const struct template_values values = {
		.has_message = true,
		.message = STR(HOSTILE),
		.session_id = "{{MESSAGE}}",
		.session_name = "n",
		.profile_dir = "${A}",
	};
	for (size_t i = 0; i < COUNT(templates); i++) {
		struct template_values with = values;
		with.variable = templates[i].with_variables ? test_variable : NULL;
		struct buf out = { 0 };
		ck_assert_int_eq(template_expand(&out, str_from(templates[i].template), &with), 0);
		buf_terminate(&out);
		ck_assert_str_eq(out.data, templates[i].result);
		buf_free(&out);
	}
}
END_TEST

/* ---- argv --------------------------------------------------------------------- */

static const struct {
	const char *profile;
	const char *argv; /* joined by '|' */
} commands[] = {
	{ "command: echo", "echo" },
	{ "command: '  echo  a\tb '", "echo|a|b" },
	{ "command: echo {{MESSAGE}} {{SESSION_ID}}", "echo|" HOSTILE "|s-7" },
	{ "command: echo a{{MESSAGE}}b", "echo|a" HOSTILE "b" },
	{ "command: 'echo \"a b\"'", "echo|\"a|b\"" },
	{ "command: echo ${HOME}", "echo|${HOME}" },
	{ "command: '{{PROFILE_DIR}}/x y'", "/tmp/x|y" },
	{ "command: echo\nargs: []", "echo" },
	{ "command: echo -n\nargs: ['a b', '', '{{MESSAGE}}']", "echo|-n|a b||" HOSTILE },
	{ "command: echo\nargs: ['${HOME}', '{{SESSION_NAME}}']", "echo|${HOME}|default" },
	{ "command: '/tmp/none such'\nargs: [x]", "/tmp/none|such|x" },
	{ "protocol: '0.4'\ncommand: 'a b'", "a b" },
	{ "protocol: '0.4'\ncommand: a\nargs: ['{{MESSAGE}}', '{{SESSION_ID}}']", "a|{{MESSAGE}}|s-7" },
	{ "command: sh -c 'true' x {{MESSAGE}}", "sh|-c|'true'|x|" HOSTILE },
	{ "command: sh\nargs: [-c, 'echo \"$1\"', x, '{{MESSAGE}}']", "sh|-c|echo \"$1\"|x|" HOSTILE },
};

START_TEST(commands_become_argv)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		struct trial trial;
		struct buf joined = { 0 };
		trial_open(&trial, commands[i].profile, HOSTILE);
		if (i == COUNT(commands) - 2)
			trial.options.allow_shell_message = true;
		ck_assert_msg(trial_run(&trial) == 0, "%s: %s", commands[i].profile, trial.err.text);
		for (const char *const *word = trial.launch.argv; *word; word++)
			buf_printf(&joined, "%s%s", word == trial.launch.argv ? "" : "|", *word);
		buf_terminate(&joined);
		ck_assert_str_eq(joined.data, commands[i].argv);
		buf_free(&joined);
		trial_close(&trial);
	}
}
END_TEST

START_TEST(a_program_with_a_blank_is_one_word)
{
	char directory[256];
	char program[300];
	char profile[700];
	const char *tmp = getenv("TMPDIR");
	snprintf(directory, sizeof(directory), "%s/perch launch XXXXXX", tmp ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(program, sizeof(program), "%s/my agent", directory);
	ck_assert_int_eq(symlink("/bin/true", program), 0);
	for (int is_relative = 0; is_relative <= 1; is_relative++) {
		struct trial trial;
		snprintf(profile, sizeof(profile), "cwd: '%s'\ncommand: '%s/my agent'\nargs: [x]\n",
			directory, is_relative ? "." : directory);
		trial_open(&trial, profile, "m");
		ck_assert_int_eq(trial_run(&trial), 0);
		ck_assert_ptr_nonnull(strstr(trial.launch.argv[0], "my agent"));
		ck_assert_str_eq(trial.launch.argv[1], "x");
		trial_close(&trial);
	}
	/* Without args it is split all the same. */
	struct trial trial;
	snprintf(profile, sizeof(profile), "command: '%s/my agent'\n", directory);
	trial_open(&trial, profile, "m");
	ck_assert_int_eq(trial_run(&trial), 0);
	ck_assert_ptr_null(strstr(trial.launch.argv[0], "perch launch"));
	trial_close(&trial);
	unlink(program);
	rmdir(directory);
}
END_TEST

static const struct {
	const char *profile;
	bool is_refused;
} shells[] = {
	{ "command: sh\nargs: [-c, 'echo {{MESSAGE}}']", true },
	{ "command: /bin/bash\nargs: [-lc, 'echo \"{{MESSAGE}}\"']", true },
	{ "command: bash -o pipefail -c echo{{MESSAGE}}", true },
	{ "command: sh -c \"echo {{MESSAGE}}\"", true },
	{ "command: 'sh -c \"echo {{MESSAGE}}\"'", true },
	{ "command: env\nargs: [A=1, dash, -c, '{{MESSAGE}}']", true },
	{ "command: busybox sh -c {{MESSAGE}}", true },
	{ "command: sh\nargs: [-c, --, '{{MESSAGE}}']", true },
	{ "command: sh\nargs: [-c, 'echo \"$1\"', sh, '{{MESSAGE}}']", false },
	{ "command: sh\nargs: [-c, 'echo {{SESSION_ID}}']", false },
	{ "command: sh\nargs: [script.sh, '{{MESSAGE}}']", false },
	{ "command: python3\nargs: [-c, 'print(1)', '{{MESSAGE}}']", false },
	{ "command: crash\nargs: [-c, '{{MESSAGE}}']", false },
	{ "protocol: '0.4'\ncommand: sh\nargs: [-c, 'echo {{MESSAGE}}']", false },
};

START_TEST(a_shell_must_not_read_the_message)
{
	for (size_t i = 0; i < COUNT(shells); i++) {
		struct trial trial;
		trial_open(&trial, shells[i].profile, "m");
		int r = trial_run(&trial);
		ck_assert_msg((r == -EINVAL) == shells[i].is_refused, "%s", shells[i].profile);
		if (shells[i].is_refused)
			ck_assert_ptr_nonnull(strstr(trial.err.text, "--allow-shell-message"));
		perch_err err = { 0 };
		ck_assert_int_eq(command_check_shell(&trial.profile, &trial.arena, &err), r);
		trial_close(&trial);
		trial_open(&trial, shells[i].profile, "m");
		trial.options.allow_shell_message = true;
		ck_assert_int_eq(trial_run(&trial), 0);
		trial_close(&trial);
	}
}
END_TEST

/* ---- environment ---------------------------------------------------------------- */

START_TEST(the_protocols_variables_always_win)
{
	struct trial trial;
	trial_open(&trial,
		"command: a\nenv: {AGENT_SESSION_ID: mine, AGENT_IMAGE_URL: x, AGENT_OWN: y, SECRET: "
		"'<${SECRET}>', M: '{{MESSAGE}}', N: '${NONE}|${AGENT_FOO}'}\n",
		HOSTILE);
	const char *const extra[] = { "SECRET=late", "AGENT_STREAMING=9", "X=1", "X=2", NULL };
	trial.options.env = extra;
	ck_assert_int_eq(trial_run(&trial), 0);
	ck_assert_str_eq(variable(&trial, "AGENT_MESSAGE"), HOSTILE);
	ck_assert_str_eq(variable(&trial, "AGENT_SESSION_ID"), "s-7");
	ck_assert_str_eq(variable(&trial, "AGENT_SESSION_NAME"), "default");
	ck_assert_str_eq(variable(&trial, "AGENT_FROM_USER"), "ann");
	ck_assert_str_eq(variable(&trial, "AGENT_STREAMING"), "1");
	ck_assert_str_eq(variable(&trial, "AGENT_PROTOCOL_VERSION"), "0.1");
	ck_assert_ptr_null(variable(&trial, "AGENT_IMAGE_URL"));
	ck_assert_ptr_null(variable(&trial, "AGENT_ATTACHMENTS"));
	ck_assert_ptr_null(variable(&trial, "AGENT_FOO"));
	ck_assert_str_eq(variable(&trial, "AGENT_OWN"), "y");
	ck_assert_str_eq(variable(&trial, "SECRET"), "late");
	ck_assert_str_eq(variable(&trial, "X"), "2");
	ck_assert_str_eq(variable(&trial, "M"), HOSTILE);
	ck_assert_str_eq(variable(&trial, "N"), "|");
	ck_assert_str_eq(variable(&trial, "EMPTY"), "");
	trial_close(&trial);
}
END_TEST

START_TEST(streaming_may_be_off)
{
	struct trial trial;
	trial_open(&trial, "command: a\nstreaming: false\n", "m");
	ck_assert_int_eq(trial_run(&trial), 0);
	ck_assert_str_eq(variable(&trial, "AGENT_STREAMING"), "0");
	trial_close(&trial);
	trial_open(&trial, "command: a\n", "m");
	trial.options.no_stream = true;
	ck_assert_int_eq(trial_run(&trial), 0);
	ck_assert_str_eq(variable(&trial, "AGENT_STREAMING"), "0");
	trial_close(&trial);
}
END_TEST

START_TEST(an_allowlist_leaves_the_basic_set)
{
	struct trial trial;
	trial_open(&trial, "command: a\nenv_allowlist: [EMPTY]\nenv: {K: '${SECRET}'}\n", "m");
	ck_assert_int_eq(trial_run(&trial), 0);
	ck_assert_str_eq(variable(&trial, "PATH"), "/usr/bin:/bin");
	ck_assert_str_eq(variable(&trial, "LC_TIME"), "C");
	ck_assert_str_eq(variable(&trial, "EMPTY"), "");
	ck_assert_ptr_null(variable(&trial, "SECRET"));
	ck_assert_str_eq(variable(&trial, "K"), "s3");
	trial_close(&trial);
}
END_TEST

START_TEST(version_0_4_has_a_small_environment)
{
	struct trial trial;
	trial_open(&trial,
		"protocol: '0.4'\ncommand: a\nenv_allowlist: [HOME]\n"
		"env: {K: '${SECRET}', H: '${HOME}', AGENT_X: 1}\n",
		"m");
	const char *const extra[] = { "E=1", "AGENT_Y=1", NULL };
	trial.options.env = extra;
	ck_assert_int_eq(trial_run(&trial), 0);
	ck_assert_str_eq(variable(&trial, "PATH"), "/usr/bin:/bin");
	ck_assert_str_eq(variable(&trial, "E"), "1");
	ck_assert_str_eq(variable(&trial, "K"), "");
	ck_assert_str_eq(variable(&trial, "H"), "/home/me");
	ck_assert_ptr_null(variable(&trial, "SECRET"));
	for (const char *const *v = trial.launch.env; *v; v++)
		ck_assert_int_ne(strncmp(*v, "AGENT_", 6), 0);
	buf_terminate(&trial.launch.warnings);
	ck_assert_str_eq(
		trial.launch.warnings.data, "${SECRET} is empty: it is not in env_allowlist\n");
	trial_close(&trial);
}
END_TEST

START_TEST(a_sandboxed_agent_gets_no_secrets)
{
	struct trial trial;
	trial_open(&trial, "command: a\nsandbox: on\n", "m");
	trial.launch.tmp = "/private";
	ck_assert_int_eq(launch_finish(&trial.launch, &trial.err), 0);
	ck_assert_ptr_null(variable(&trial, "SECRET"));
	ck_assert_str_eq(variable(&trial, "TMPDIR"), "/private");
	trial_close(&trial);
	trial_open(&trial, "command: a\nsandbox: {env: [SECRET]}\n", "m");
	ck_assert_int_eq(launch_finish(&trial.launch, &trial.err), 0);
	ck_assert_str_eq(variable(&trial, "SECRET"), "s3");
	trial_close(&trial);
}
END_TEST

START_TEST(attachments)
{
	const struct agent_attachment list[] = {
		{ ATTACHMENT_IMAGE, "http://x/a.png", "a.png" },
		{ ATTACHMENT_FILE, "http://x/b", "" },
		{ ATTACHMENT_FILE, "http://x/\"c", "c" },
	};
	struct trial trial;
	trial_open(&trial, "command: a\n", "");
	trial.options.attachments = list;
	trial.options.attachment_count = COUNT(list);
	ck_assert_int_eq(trial_run(&trial), 0);
	ck_assert_str_eq(variable(&trial, "AGENT_MESSAGE"), "");
	ck_assert_str_eq(variable(&trial, "AGENT_IMAGE_URL"), "http://x/a.png");
	ck_assert_ptr_null(variable(&trial, "AGENT_FILE_URL"));
	ck_assert_str_eq(variable(&trial, "AGENT_ATTACHMENTS"),
		"[{\"type\":\"image\",\"url\":\"http://x/a.png\",\"name\":\"a.png\"},"
		"{\"type\":\"file\",\"url\":\"http://x/b\",\"name\":\"\"},"
		"{\"type\":\"file\",\"url\":\"http://x/\\\"c\",\"name\":\"c\"}]");
	trial_close(&trial);
	trial_open(&trial, "protocol: '0.4'\npermission: true\ncommand: a\n", "hi \"x\"");
	trial.options.attachments = list;
	trial.options.attachment_count = 1;
	struct buf line = { 0 };
	ck_assert_int_eq(turn_line_write(&line, &trial.options), 0);
	buf_terminate(&line);
	ck_assert_str_eq(line.data,
		"{\"type\":\"turn\",\"message\":\"hi \\\"x\\\"\",\"session_id\":\"s-7\","
		"\"session_name\":\"default\",\"from_user\":\"ann\",\"attachments\":[{\"kind\":\"image\","
		"\"url\":\"http://x/a.png\",\"name\":\"a.png\"}],\"permission\":true,"
		"\"protocol_version\":\"0.4\"}\n");
	buf_free(&line);
	trial_close(&trial);
}
END_TEST

/* ---- messages ---------------------------------------------------------------------- */

static int run_message(const char *profile, struct str message, struct trial *trial)
{
	trial_open(trial, profile, "");
	trial->options.message = message;
	return trial_run(trial);
}

START_TEST(messages_that_are_refused)
{
	struct trial trial;
	ck_assert_int_eq(run_message("command: a\n", STR(""), &trial), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trial.err.text, "empty"));
	trial_close(&trial);
	ck_assert_int_eq(run_message("command: a\n", STR("a\0b"), &trial), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trial.err.text, "NUL"));
	trial_close(&trial);
	size_t size = AGENT_MESSAGE_MAX + 1;
	char *huge = malloc(size);
	memset(huge, 'x', size);
	ck_assert_int_eq(
		run_message("command: a\nstdin: message\n", (struct str){ huge, size }, &trial), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trial.err.text, "16 MiB"));
	trial_close(&trial);
	free(huge);
}
END_TEST

START_TEST(messages_too_long_for_a_variable)
{
	static char text[AGENT_VARIABLE_MAX];
	memset(text, 'x', sizeof(text));
	struct trial trial;
	const size_t fits = AGENT_VARIABLE_MAX - sizeof("AGENT_MESSAGE=");
	ck_assert_int_eq(run_message("command: a\n", (struct str){ text, fits }, &trial), 0);
	ck_assert_uint_eq(strlen(variable(&trial, "AGENT_MESSAGE")), fits);
	trial_close(&trial);
	const struct str too_long = { text, fits + 1 };
	ck_assert_int_eq(run_message("command: a\n", too_long, &trial), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trial.err.text, "stdin: message"));
	trial_close(&trial);
	ck_assert_int_eq(run_message("command: a\nstdin: message\n", too_long, &trial), 0);
	ck_assert_str_eq(variable(&trial, "AGENT_MESSAGE"), "");
	ck_assert_str_eq(variable(&trial, "AGENT_MESSAGE_OMITTED"), "1");
	trial_close(&trial);
	const struct str all = { text, sizeof(text) };
	ck_assert_int_eq(run_message("command: a {{MESSAGE}}\nstdin: message\n", all, &trial), -EINVAL);
	ck_assert_ptr_nonnull(strstr(trial.err.text, "an argument is too long"));
	trial_close(&trial);
	ck_assert_int_eq(run_message("protocol: '0.4'\ncommand: a\n", all, &trial), 0);
	trial_close(&trial);
}
END_TEST

/* ---- the directory ------------------------------------------------------------------ */

START_TEST(directories)
{
	static const struct {
		const char *cwd;
		const char *wanted; /* NULL = missing */
	} cases[] = {
		{ "/tmp", "/tmp" },
		{ ".", "/tmp/." },
		{ "no-such-directory-here", NULL },
		{ "~/nothing", NULL },
		{ "bot.yaml", NULL },
		{ "{{PROFILE_DIR}}", "/tmp" },
		{ "/${NONE}tmp", "/tmp" },
		{ "${PATH}", NULL },
		{ "/dev/null", NULL },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct trial trial;
		char profile[128];
		snprintf(profile, sizeof(profile), "command: a\ncwd: '%s'\n", cases[i].cwd);
		trial_open(&trial, profile, "m");
		int r = launch_begin(&trial.launch, &trial.err);
		ck_assert_msg(
			(r == 0) == (cases[i].wanted != NULL), "%s: %s", cases[i].cwd, trial.err.text);
		if (cases[i].wanted)
			ck_assert_str_eq(trial.launch.cwd, cases[i].wanted);
		else
			ck_assert_str_eq(trial.err.stage, "chdir");
		trial_close(&trial);
	}
	struct trial trial;
	trial_open(&trial, "command: a\ncwd: '~/x'\n", "m");
	ck_assert_int_lt(launch_begin(&trial.launch, &trial.err), 0);
	ck_assert_ptr_nonnull(strstr(trial.err.text, "/home/me/x"));
	trial.options.cwd = "/";
	ck_assert_int_eq(launch_begin(&trial.launch, &trial.err), 0);
	ck_assert_str_eq(trial.launch.cwd, "/");
	trial_close(&trial);
	trial_open(&trial, "command: a\ncwd: '~/tmp/..'\n", "m");
	static const char *const homeless[] = { "PATH=/bin", NULL }, *const empty[] = { "HOME=", NULL };
	for (int i = 0; i < 2; i++) {
		trial.launch.own_env = i ? empty : homeless;
		ck_assert_int_eq(launch_begin(&trial.launch, &trial.err), -ENOENT);
		ck_assert_str_eq(trial.err.stage, "chdir");
		ck_assert_ptr_nonnull(strstr(trial.err.text, "~/tmp/..: HOME is not set: set it, or"));
	}
	trial_close(&trial);
	trial_open(&trial, "command: a\ncwd: '{{MESSAGE}}'\n", "~");
	ck_assert_int_lt(launch_begin(&trial.launch, &trial.err), 0);
	ck_assert_ptr_nonnull(strstr(trial.err.text, "/tmp/~"));
	trial_close(&trial);
}
END_TEST

static int launch_once(void *data)
{
	struct trial *trial = data;
	struct arena arena = { 0 };
	struct launch launch = trial->launch;
	launch.arena = &arena;
	int r = launch_begin(&launch, NULL);
	if (r == 0)
		r = launch_finish(&launch, NULL);
	struct buf line = { 0 };
	if (r == 0)
		r = turn_line_write(&line, &trial->options);
	buf_free(&line);
	launch_free(&launch);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	const struct agent_attachment list[] = { { ATTACHMENT_IMAGE, "http://x/a.png", "a.png" } };
	struct trial trial;
	trial_open(&trial,
		"command: 'true a {{MESSAGE}}'\nargs: ['{{SESSION_ID}}']\ncwd: '/'\nenv: {A: '${HOME}'}\n",
		HOSTILE);
	trial.options.attachments = list;
	trial.options.attachment_count = 1;
	ck_assert_uint_gt(oom_every(launch_once, &trial), 5);
	trial_close(&trial);
}
END_TEST

SUITE_MAIN("agent-launch", templates_are_expanded_once, commands_become_argv,
	a_program_with_a_blank_is_one_word, a_shell_must_not_read_the_message,
	the_protocols_variables_always_win, streaming_may_be_off, an_allowlist_leaves_the_basic_set,
	version_0_4_has_a_small_environment, a_sandboxed_agent_gets_no_secrets, attachments,
	messages_that_are_refused, messages_too_long_for_a_variable, directories, memory_may_run_out)
