/* How an agent is started: templates, argv, directory. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/template.h"
#include "harness/attempt.h"
#include "harness/folder.h"
#include "harness/oom.h"

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
		struct attempt attempt;
		struct buf joined = { 0 };
		attempt_open(&attempt, commands[i].profile, HOSTILE);
		if (i == COUNT(commands) - 2)
			attempt.options.allow_shell_message = true;
		ck_assert_msg(attempt_run(&attempt) == 0, "%s: %s", commands[i].profile, attempt.err.text);
		for (const char *const *word = attempt.launch.argv; *word; word++)
			buf_printf(&joined, "%s%s", word == attempt.launch.argv ? "" : "|", *word);
		buf_terminate(&joined);
		ck_assert_str_eq(joined.data, commands[i].argv);
		buf_free(&joined);
		attempt_close(&attempt);
	}
}
END_TEST

START_TEST(a_program_with_a_blank_is_one_word)
{
	char profile[8192];
	folder_new();
	free(folder_run("mkdir 'perch launch'"));
	const char *directory = folder_path("perch launch");
	ck_assert_int_eq(symlink("/bin/true", folder_path("perch launch/my agent")), 0);
	for (int is_relative = 0; is_relative <= 1; is_relative++) {
		struct attempt attempt;
		snprintf(profile, sizeof(profile), "cwd: '%s'\ncommand: '%s/my agent'\nargs: [x]\n",
			directory, is_relative ? "." : directory);
		attempt_open(&attempt, profile, "m");
		ck_assert_int_eq(attempt_run(&attempt), 0);
		ck_assert_ptr_nonnull(strstr(attempt.launch.argv[0], "my agent"));
		ck_assert_str_eq(attempt.launch.argv[1], "x");
		attempt_close(&attempt);
	}
	/* Without args it is split all the same. */
	struct attempt attempt;
	snprintf(profile, sizeof(profile), "command: '%s/my agent'\n", directory);
	attempt_open(&attempt, profile, "m");
	ck_assert_int_eq(attempt_run(&attempt), 0);
	ck_assert_ptr_null(strstr(attempt.launch.argv[0], "perch launch"));
	attempt_close(&attempt);
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
	{ "command: sh\nargs: [-c, --, '{{MESSAGE}}']", true },
	{ "command: sh\nargs: [-c, '-', '{{MESSAGE}}']", true },
	{ "command: sh\nargs: [-c, --, '-{{MESSAGE}}']", true },
	{ "command: sh\nargs: [-co, nounset, 'echo {{MESSAGE}}']", true },
	{ "command: bash\nargs: [-co, pipefail, 'echo {{MESSAGE}}']", true },
	{ "command: bash\nargs: [-oc, pipefail, 'echo {{MESSAGE}}']", true },
	{ "command: bash\nargs: [-c, -o, pipefail, 'echo {{MESSAGE}}']", true },
	{ "command: bash\nargs: [-c, +o, posix, '{{MESSAGE}}']", true },
	{ "command: bash\nargs: [-ocO, pipefail, extglob, '{{MESSAGE}}']", true },
	{ "command: bash\nargs: [+O, extglob, -c, '{{MESSAGE}}']", true },
	{ "command: bash\nargs: [+c, '{{MESSAGE}}']", true },
	{ "command: bash\nargs: [--rcfile, /dev/null, -c, '{{MESSAGE}}']", true },
	{ "command: bash\nargs: [-rcfile, /dev/null, -c, '{{MESSAGE}}']", true },
	{ "command: bash\nargs: [--init-file, /dev/null, -ic, '{{MESSAGE}}']", true },
	{ "command: bash\nargs: [--rcfile, '{{MESSAGE}}', script.sh]", true },
	{ "command: bash\nargs: [--norc, --noprofile, -c, '{{MESSAGE}}']", true },
	{ "command: zsh\nargs: [--emulate, sh, -c, '{{MESSAGE}}']", true },
	{ "command: ash -e -c {{MESSAGE}}", true },
	{ "command: dash -ec {{MESSAGE}}", true },
	{ "command: zsh -fc {{MESSAGE}}", true },
	{ "command: ksh -oxtrace -c {{MESSAGE}}", true },
	{ "command: mksh -onotify -c {{MESSAGE}}", true },
	{ "command: tcsh -fc {{MESSAGE}}", true },
	{ "command: fish -c{{MESSAGE}}", true },
	{ "command: fish --command={{MESSAGE}}", true },
	{ "command: fish --com {{MESSAGE}}", true },
	{ "command: fish -C {{MESSAGE}} script.fish", true },
	{ "command: fish -c true -c {{MESSAGE}}", true },
	{ "command: fish {{MESSAGE}}", true },
	{ "command: sh {{MESSAGE}}", true },
	{ "command: sh -s {{MESSAGE}}", true },
	{ "command: sh -{{MESSAGE}} x", true },
	{ "command: sh\nstdin: message", true },
	{ "command: sh -s x\nstdin: message", true },
	{ "command: timeout 5 bash -e\nstdin: message", true },
	{ "command: env\nargs: [A=1, dash, -c, '{{MESSAGE}}']", true },
	{ "command: env\nargs: [-i, -u, A, A=1, dash, -c, '{{MESSAGE}}']", true },
	{ "command: env\nargs: [-S, 'sh -c {{MESSAGE}}']", true },
	{ "command: env\nargs: [-S, 'sh -c', '{{MESSAGE}}']", true },
	{ "command: env\nargs: [-S, 'sh -c', 'A={{MESSAGE}}']", true },
	{ "command: env\nargs: [-S, 'A={{MESSAGE}} prog']", true },
	{ "command: env\nargs: ['-Ssh -c {{MESSAGE}}']", true },
	{ "command: env\nargs: [-ivS, 'sh -c {{MESSAGE}}']", true },
	{ "command: env\nargs: ['--split-string=sh -c {{MESSAGE}}']", true },
	{ "command: env\nargs: [--spl, '{{MESSAGE}}']", true },
	{ "command: nice env\nargs: [-S, 'sh -c {{MESSAGE}}']", true },
	{ "command: env {{MESSAGE}}", true },
	{ "command: env A=1 fish {{MESSAGE}}", true },
	{ "command: nice -n5 fish {{MESSAGE}}", true },
	{ "command: busybox sh -c {{MESSAGE}}", true },
	{ "command: timeout -k 1 5 sh -c {{MESSAGE}}", true },
	{ "command: setsid nohup sh -c {{MESSAGE}}", true },
	{ "command: any-wrapper --x sh -c {{MESSAGE}}", true },
	{ "command: any-wrapper --lang sh bash -c {{MESSAGE}}", true },
	{ "command: sh -c 'exec-it' bash -c {{MESSAGE}}", true },
	{ "command: sh\nargs: [-c, 'echo \"$1\"', sh, '{{MESSAGE}}']", false },
	{ "command: sh\nargs: [-c, 'echo \"$1\"', x, '{{MESSAGE}}']", false },
	{ "command: sh\nargs: [-c, 'agent \"$@\"', x, --prompt, '{{MESSAGE}}']", false },
	{ "command: sh\nargs: [-c, --, 'echo \"$1\"', x, '{{MESSAGE}}']", false },
	{ "command: sh\nargs: [-co, nounset, 'echo \"$1\"', x, '{{MESSAGE}}']", false },
	{ "command: bash\nargs: [-o, pipefail, -c, 'echo \"$1\"', x, '{{MESSAGE}}']", false },
	{ "command: bash\nargs: [--noprofile, --norc, -c, 'echo \"$1\"', x, '{{MESSAGE}}']", false },
	{ "command: bash\nargs: [--rcfile, x, script.sh, '{{MESSAGE}}']", false },
	{ "command: sh\nargs: [-c, 'echo {{SESSION_ID}}']", false },
	{ "command: sh\nargs: [script.sh, '{{MESSAGE}}']", false },
	{ "command: sh\nargs: [-e, script.sh, '{{MESSAGE}}']", false },
	{ "command: bash\nargs: [script.sh, -c, '{{MESSAGE}}']", false },
	{ "command: sh -c cat\nstdin: message", false },
	{ "command: sh script.sh\nstdin: message", false },
	{ "command: fish --no-config script.fish {{MESSAGE}}", false },
	{ "command: env\nargs: ['MSG={{MESSAGE}}', sh, -c, 'echo \"$MSG\"']", false },
	{ "command: env\nargs: [-uSHELL, agent, '{{MESSAGE}}']", false },
	{ "command: env -i agent {{MESSAGE}}", false },
	{ "command: timeout 60 agent --shell bash {{MESSAGE}}", false },
	{ "command: agent --shell bash --no-commit {{MESSAGE}}", false },
	{ "command: agent env {{MESSAGE}}", false },
	{ "command: python3\nargs: [-c, 'print(1)', '{{MESSAGE}}']", false },
	{ "command: crash\nargs: [-c, '{{MESSAGE}}']", false },
	{ "protocol: '0.4'\ncommand: sh\nargs: [-c, 'echo {{MESSAGE}}']", false },
	{ "protocol: '0.4'\ncommand: sh", true },
	{ "protocol: '0.4'\ncommand: bash\nargs: [-s, x]", true },
	{ "protocol: '0.4'\ncommand: sh\nargs: [script.sh]", false },
	{ "protocol: '0.4'\ncommand: sh\nargs: [-c, 'echo {{SESSION_NAME}}']", true },
	{ "command: sh\nargs: [-c, 'echo {{SESSION_NAME}}']", true },
	{ "command: sh -c {{SESSION_NAME}}", true },
	{ "command: env\nargs: [-S, 'sh -c {{SESSION_NAME}}']", true },
	{ "command: timeout 5 sh -c {{SESSION_NAME}}", true },
	{ "command: sh\nargs: [-c, 'echo \"$1\"', sh, '{{SESSION_NAME}}']", false },
	{ "command: env\nargs: ['NAME={{SESSION_NAME}}', sh, -c, 'echo \"$NAME\"']", false },
	{ "command: sh\nargs: [script.sh, '{{SESSION_NAME}}']\nstdin: message", false },
};

START_TEST(a_shell_must_not_read_the_message)
{
	for (size_t i = 0; i < COUNT(shells); i++) {
		struct attempt attempt;
		attempt_open(&attempt, shells[i].profile, "m");
		int r = attempt_run(&attempt);
		ck_assert_msg((r == -EINVAL) == shells[i].is_refused, "%s", shells[i].profile);
		if (shells[i].is_refused)
			ck_assert_ptr_nonnull(strstr(attempt.err.text, "--allow-shell-message"));
		attempt_close(&attempt);
		attempt_open(&attempt, shells[i].profile, "m");
		attempt.options.allow_shell_message = true;
		ck_assert_int_eq(attempt_run(&attempt), 0);
		attempt_close(&attempt);
	}
}
END_TEST

START_TEST(a_guard_against_endless_options)
{
	enum { SHELLS = 100 * 1000 };
	static struct str words[2 * SHELLS + 1];
	for (size_t i = 0; i < SHELLS; i++) {
		words[2 * i] = STR("sh");
		words[2 * i + 1] = STR("-o");
	}
	struct argv_words argv = { words, 2 * SHELLS, false, template_uses_message };
	ck_assert(!shell_reads_message(&argv));
	words[argv.count++] = STR("{{MESSAGE}}");
	ck_assert(shell_reads_message(&argv));
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
		struct attempt attempt;
		char profile[128];
		snprintf(profile, sizeof(profile), "command: a\ncwd: '%s'\n", cases[i].cwd);
		attempt_open(&attempt, profile, "m");
		int r = launch_begin(&attempt.launch, &attempt.err);
		ck_assert_msg(
			(r == 0) == (cases[i].wanted != NULL), "%s: %s", cases[i].cwd, attempt.err.text);
		if (cases[i].wanted)
			ck_assert_str_eq(attempt.launch.cwd, cases[i].wanted);
		else
			ck_assert_str_eq(attempt.err.stage, "chdir");
		attempt_close(&attempt);
	}
	struct attempt attempt;
	attempt_open(&attempt, "command: a\ncwd: '~/x'\n", "m");
	ck_assert_int_lt(launch_begin(&attempt.launch, &attempt.err), 0);
	ck_assert_ptr_nonnull(strstr(attempt.err.text, "/home/me/x"));
	attempt.options.cwd = "/";
	ck_assert_int_eq(launch_begin(&attempt.launch, &attempt.err), 0);
	ck_assert_str_eq(attempt.launch.cwd, "/");
	attempt_close(&attempt);
	attempt_open(&attempt, "command: a\ncwd: '~/tmp/..'\n", "m");
	static const char *const homeless[] = { "PATH=/bin", NULL }, *const empty[] = { "HOME=", NULL };
	for (int i = 0; i < 2; i++) {
		attempt.launch.own_env = i ? empty : homeless;
		ck_assert_int_eq(launch_begin(&attempt.launch, &attempt.err), -ENOENT);
		ck_assert_str_eq(attempt.err.stage, "chdir");
		ck_assert_ptr_nonnull(strstr(attempt.err.text, "~/tmp/..: HOME is not set: set it, or"));
	}
	attempt_close(&attempt);
	attempt_open(&attempt, "command: a\ncwd: '{{MESSAGE}}'\n", "~");
	ck_assert_int_lt(launch_begin(&attempt.launch, &attempt.err), 0);
	ck_assert_ptr_nonnull(strstr(attempt.err.text, "/tmp/~"));
	attempt_close(&attempt);
}
END_TEST

static int launch_once(void *data)
{
	struct attempt *attempt = data;
	struct arena arena = { 0 };
	struct launch launch = attempt->launch;
	launch.arena = &arena;
	int r = launch_begin(&launch, NULL);
	if (r == 0)
		r = launch_finish(&launch, NULL);
	struct buf line = { 0 };
	if (r == 0)
		r = turn_line_write(&line, &attempt->options);
	buf_free(&line);
	launch_free(&launch);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	const perch_attachment list[] = { { PERCH_ATTACHMENT_IMAGE, "http://x/a.png", "a.png" } };
	struct attempt attempt;
	attempt_open(&attempt,
		"command: 'true a {{MESSAGE}}'\nargs: ['{{SESSION_ID}}']\ncwd: '/'\nenv: {A: '${HOME}'}\n",
		HOSTILE);
	attempt.options.attachments = list;
	attempt.options.attachment_count = 1;
	ck_assert_uint_gt(oom_every(launch_once, &attempt), 5);
	attempt_close(&attempt);
}
END_TEST

SUITE_MAIN("agent-launch", templates_are_expanded_once, commands_become_argv,
	a_program_with_a_blank_is_one_word, a_shell_must_not_read_the_message,
	a_guard_against_endless_options, directories, memory_may_run_out)
