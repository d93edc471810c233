/* profile: every key, every default, and every mistake with its place. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/profile.h"
#include "base/buf.h"
#include "base/clock.h"
#include "data/yaml.h"
#include "harness/oom.h"
#include "harness/proc.h"

static int parse(
	const char *text, struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	return agent_profile_parse("/bots/one/bot.yaml", str_from(text), arena, profile, err);
}

static void must_parse(const char *text, struct arena *arena, struct agent_profile *profile)
{
	perch_err err = { 0 };
	int r = parse(text, arena, profile, &err);
	ck_assert_msg(r == 0, "%s: %s", text, err.text);
}

START_TEST(defaults)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	must_parse("command: ./agent\n", &arena, &p);
	ck_assert_str_eq(p.path, "/bots/one/bot.yaml");
	ck_assert_str_eq(p.directory, "/bots/one");
	ck_assert_int_eq(p.dialect, AGENT_0_1);
	ck_assert_str_eq(p.command, "./agent");
	ck_assert(!p.has_args && !p.args[0] && !p.message_on_stdin && !p.env[0]);
	ck_assert_str_eq(p.cwd, "");
	ck_assert(!p.has_env_allowlist && !p.permission && !p.is_sandboxed);
	ck_assert_uint_eq(p.timeout_ns, 1800 * NSEC_PER_SEC);
	ck_assert_uint_eq(p.idle_timeout_ns, 0);
	ck_assert_uint_eq(p.kill_grace_ns, 5 * NSEC_PER_SEC);
	ck_assert_uint_eq(p.max_reply_chars, 8000);
	ck_assert_str_eq(p.truncation_suffix, "\n\n…(truncated)");
	ck_assert(!p.include_stderr_in_reply && p.send_error_reply && p.streaming);
	ck_assert_str_eq(p.session_prefix, "AGENT_SESSION:");
	ck_assert_ptr_null(p.warnings[0]);
	arena_free(&arena);
}
END_TEST

static const char every_key[] = "agentproc:\n"
								"  command: ./agent --fast\n"
								"  args: [a, '{{MESSAGE}}', 3]\n"
								"  stdin: message\n"
								"  cwd: ~/work\n"
								"  env:\n"
								"    KEY: \"${KEY}\"\n"
								"    PORT: 8080\n"
								"  env_allowlist: [A, B]\n"
								"  timeout_secs: 1.5\n"
								"  idle_timeout_secs: 0.25\n"
								"  kill_grace_secs: 0\n"
								"  max_reply_chars: 10\n"
								"  truncation_suffix: '...'\n"
								"  include_stderr_in_reply: true\n"
								"  send_error_reply: false\n"
								"  streaming: false\n"
								"  session_line_prefix: 'SID='\n"
								"  protocol: 0.1\n"
								"  sandbox:\n"
								"    read: [/srv, data]\n"
								"    write: ['~/out']\n"
								"    net: none\n"
								"    env: [GH_TOKEN]\n"
								"    presets: [git]\n";

START_TEST(every_key_is_read)
{
	setenv("HOME", "/home/me", 1);
	struct arena arena = { 0 };
	struct agent_profile p;
	must_parse(every_key, &arena, &p);
	ck_assert_str_eq(p.command, "./agent --fast");
	ck_assert(p.has_args && p.message_on_stdin && p.has_env_allowlist);
	ck_assert_str_eq(p.args[1], "{{MESSAGE}}");
	ck_assert_str_eq(p.args[2], "3");
	ck_assert_ptr_null(p.args[3]);
	ck_assert_str_eq(p.cwd, "~/work");
	ck_assert_str_eq(p.env[0], "KEY=${KEY}");
	ck_assert_str_eq(p.env[1], "PORT=8080");
	ck_assert_str_eq(p.env_allowlist[1], "B");
	ck_assert_uint_eq(p.timeout_ns, 1500 * NSEC_PER_MSEC);
	ck_assert_uint_eq(p.idle_timeout_ns, 250 * NSEC_PER_MSEC);
	ck_assert_uint_eq(p.kill_grace_ns, 0);
	ck_assert_uint_eq(p.max_reply_chars, 10);
	ck_assert_str_eq(p.truncation_suffix, "...");
	ck_assert(p.include_stderr_in_reply && !p.send_error_reply && !p.streaming);
	ck_assert_str_eq(p.session_prefix, "SID=");
	ck_assert(p.is_sandboxed);
	ck_assert_str_eq(p.widening.read[0], "/srv");
	ck_assert_str_eq(p.widening.read[1], "/bots/one/data");
	ck_assert_str_eq(p.widening.write[0], "/home/me/out");
	ck_assert_int_eq(p.widening.net, WIDENING_NET_NONE);
	ck_assert_str_eq(p.widening.env[0], "GH_TOKEN");
	ck_assert_str_eq(p.widening.presets[0], "git");
	ck_assert_ptr_null(p.warnings[0]);
	arena_free(&arena);
}
END_TEST

START_TEST(a_home_must_be_known)
{
	static const char text[] = "command: a\nsandbox:\n  write: [out, '~/out']\n";
	static const char *const homes[] = { NULL, "" };
	for (size_t i = 0; i < COUNT(homes); i++) {
		struct arena arena = { 0 };
		struct agent_profile p;
		perch_err err = { 0 };
		if (homes[i])
			setenv("HOME", homes[i], 1);
		else
			unsetenv("HOME");
		ck_assert_int_eq(parse(text, &arena, &p, &err), -ENOENT);
		ck_assert_str_eq(err.text,
			"/bots/one/bot.yaml:3:16: sandbox.write has '~/out', but HOME is not set: set it, or "
			"write the whole path");
		arena_free(&arena);
	}
}
END_TEST

static const struct {
	const char *text;
	bool is_sandboxed;
	enum agent_dialect dialect;
	bool permission;
	unsigned warnings;
} variants[] = {
	{ "command: a\nsandbox: on\n", true, AGENT_0_1, false, 0 },
	{ "command: a\nsandbox: off\n", false, AGENT_0_1, false, 0 },
	{ "command: a\nsandbox: true\n", true, AGENT_0_1, false, 0 },
	{ "command: a\nsandbox: false\n", false, AGENT_0_1, false, 0 },
	{ "command: a\nsandbox: {}\n", true, AGENT_0_1, false, 0 },
	{ "command: a\nsandbox: {colour: 1}\n", true, AGENT_0_1, false, 1 },
	{ "command: a\nprotocol: \"0.4\"\n", false, AGENT_0_4, false, 0 },
	{ "command: a\nprotocol: 0.4\n", false, AGENT_0_4, false, 0 },
	{ "command: a\npermission: true\n", false, AGENT_0_4, true, 0 },
	{ "command: a\npermission: false\n", false, AGENT_0_4, false, 0 },
	{ "command: a\nexecutor: claude-code\n", false, AGENT_0_4, false, 1 },
	{ "command: a\nexecutor: x\nprotocol: '0.1'\n", false, AGENT_0_1, false, 1 },
	{ "command: a\nprotocol: '0.4'\nargs: ['{{MESSAGE}}']\n", false, AGENT_0_4, false, 1 },
	{ "command: a\ncwd:\nargs: ~\nenv: null\n", false, AGENT_0_1, false, 0 },
	{ "command: a\nname: bot\ntype: claude\n", false, AGENT_0_1, false, 1 },
	{ "name: bot\nagentproc:\n  command: a\n  colour: red\n", false, AGENT_0_1, false, 1 },
	{ "\xEF\xBB\xBF"
	  "command: a\nenv: {DEBUG: true}\n",
		false, AGENT_0_1, false, 0 },
	/* The keys of the published collection: 0.4, with the line to add. */
	{ "cli: none\ntested: official\nagentproc:\n  command: a\n", false, AGENT_0_4, false, 1 },
	{ "maintainer: me\ncommand: a\nargs: ['{{MESSAGE}}']\n", false, AGENT_0_1, false, 0 },
	{ "maintainer: me\ncommand: a\nstdin: message\n", false, AGENT_0_1, false, 0 },
	{ "name: a\ndescription: b\ntags: [c, 1]\nnotes: |\n  d\ncommand: a\n", false, AGENT_0_1, false,
		0 },
	{ "cli: c\ncli_install: i\ntested: 2026-01-01\nmaintainer: 1\nprotocol: 0.1\ncommand: a\n",
		false, AGENT_0_1, false, 0 },
	{ "command: a\nagentproc:\n  timeout_secs: 3\n", false, AGENT_0_1, false, 0 },
};

START_TEST(variants_are_understood)
{
	for (size_t i = 0; i < COUNT(variants); i++) {
		struct arena arena = { 0 };
		struct agent_profile p;
		must_parse(variants[i].text, &arena, &p);
		unsigned warnings = 0;
		while (p.warnings[warnings])
			warnings++;
		ck_assert_msg(warnings == variants[i].warnings, "%s: %u", variants[i].text, warnings);
		ck_assert_msg(p.is_sandboxed == variants[i].is_sandboxed, "%s", variants[i].text);
		ck_assert_msg(p.dialect == variants[i].dialect, "%s", variants[i].text);
		ck_assert_msg(p.permission == variants[i].permission, "%s", variants[i].text);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(an_unknown_key_is_named_with_its_place)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	must_parse("command: a\n\ncolour: red\n", &arena, &p);
	ck_assert_str_eq(p.warnings[0], "/bots/one/bot.yaml:3: unknown key 'colour' is ignored");
	must_parse("command: a\nsandox: on\n", &arena, &p);
	ck_assert_str_eq(p.warnings[0],
		"/bots/one/bot.yaml:2: unknown key 'sandox' is ignored; did you mean 'sandbox'?");
	arena_free(&arena);
}
END_TEST

START_TEST(what_a_profile_says_for_people_is_kept)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	must_parse("name: Bot\ndescription: does it\ncli: botd\ncli_install: apt install botd\n"
			   "tested: 1.0\nmaintainer: me\ntags: [a, 2]\nnotes: long\n"
			   "agentproc: {command: a, protocol: '0.4'}\n",
		&arena, &p);
	ck_assert_str_eq(p.about.name, "Bot");
	ck_assert_str_eq(p.about.description, "does it");
	ck_assert_str_eq(p.about.cli, "botd");
	ck_assert_str_eq(p.about.cli_install, "apt install botd");
	ck_assert_str_eq(p.about.tested, "1.0");
	ck_assert_str_eq(p.about.maintainer, "me");
	ck_assert_str_eq(p.about.tags[1], "2");
	ck_assert_str_eq(p.about.notes, "long");
	ck_assert_int_eq(p.evidence, DIALECT_SAID);
	arena_free(&arena);
}
END_TEST

START_TEST(the_user_may_say_the_dialect)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	perch_err err = { 0 };
	must_parse("cli: x\ncommand: a\ncolour: red\n", &arena, &p);
	ck_assert_int_eq(p.evidence, DIALECT_LIKELY);
	ck_assert_ptr_nonnull(strstr(p.warnings[1], "add the line protocol: \"0.4\""));
	ck_assert_int_eq(agent_profile_speak(&arena, &p, AGENT_0_1, &err), 0);
	ck_assert_int_eq(p.dialect, AGENT_0_1);
	ck_assert_ptr_nonnull(strstr(p.warnings[0], "colour"));
	ck_assert_ptr_null(p.warnings[1]);
	must_parse("command: a\nargs: ['{{MESSAGE}}']\n", &arena, &p);
	ck_assert_int_eq(p.evidence, DIALECT_UNSAID);
	ck_assert_int_eq(agent_profile_speak(&arena, &p, AGENT_0_4, &err), 0);
	ck_assert_ptr_nonnull(strstr(p.warnings[0], "{{MESSAGE}} means nothing"));
	arena_free(&arena);
}
END_TEST

START_TEST(an_unknown_placeholder_is_named)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	must_parse("command: '{{PROFIL_DIR}}/a'\ncwd: '{{PROFILE_DIR}}/{{NOBODY}}'\n"
			   "args: ['{{lower}} {{A B}} {{}} {{', '{{MESSAGE}}{{SESSION_NAME}}']\n"
			   "env: {A: '{{SESSION}}'}\n",
		&arena, &p);
	ck_assert_str_eq(p.warnings[0],
		"there is no placeholder {{PROFIL_DIR}}, it stays as it is: there are {{MESSAGE}}, "
		"{{SESSION_ID}}, {{SESSION_NAME}}, {{PROFILE_DIR}} and {{PERCH_DIR}}; did you mean "
		"{{PROFILE_DIR}}?");
	ck_assert_ptr_nonnull(strstr(p.warnings[1], "no placeholder {{NOBODY}}, "));
	ck_assert_ptr_null(strstr(p.warnings[1], "did you mean"));
	ck_assert_ptr_nonnull(strstr(p.warnings[2], "did you mean {{SESSION_ID}}?"));
	ck_assert_ptr_null(p.warnings[3]);
	arena_free(&arena);
}
END_TEST

/* A profile of a megabyte may be odd all over. */
START_TEST(warnings_take_as_much_memory_as_there_are)
{
	enum { KEYS = YAML_VALUES_MAX / 2 - 2, MOST_KIB = 50 * 1024 };
	struct arena arena = { 0 };
	struct buf text = { 0 };
	struct agent_profile p;
	buf_append_text(&text, "command: a\n");
	for (int i = 0; i < KEYS; i++)
		buf_printf(&text, "odd%d: 1\n", i);
	ck_assert_int_eq(buf_terminate(&text), 0);
	long before_kib = proc_peak_memory_kib();
	ck_assert_int_eq(parse(text.data, &arena, &p, NULL), 0);
	ck_assert_uint_eq(list_count(p.warnings), KEYS);
	ck_assert_ptr_nonnull(strstr(p.warnings[KEYS - 1], ":4999: unknown key 'odd4997'"));
	ck_assert_int_lt(proc_peak_memory_kib() - before_kib, MOST_KIB);
	buf_free(&text);
	arena_free(&arena);
}
END_TEST

/* The error is "/bots/one/bot.yaml:LINE:COLUMN: WORDS". */
static const struct {
	const char *text;
	int code;
	unsigned line;
	const char *words;
} mistakes[] = {
	{ "", -EINVAL, 1, "must be a mapping" },
	{ "- a\n", -EINVAL, 1, "must be a mapping" },
	{ "a: b: c\n", PERCH_ESYNTAX, 1, "bot.yaml:1:" },
	{ "command: a\ncommand: b\n", PERCH_ESYNTAX, 2, "'command' stands here a second time" },
	{ "stdin: none\n", -EINVAL, 1, "command is missing" },
	{ "stdin: none\ncomand: a\n", -EINVAL, 2,
		"bot.yaml:2:1: command is missing, and 'comand' is no key: did you mean 'command'?" },
	{ "executor: x\nCommand: a\n", -EINVAL, 2, "did you mean 'command'?" },
	{ "agentproc:\n  comand: a\n", -EINVAL, 2, "did you mean 'command'?" },
	{ "command: ''\n", -EINVAL, 1, "bot.yaml:1:10: command is empty: what is to be run?" },
	{ "args: []\nstdin: none\ncommand: '  '\n", -EINVAL, 3, "bot.yaml:3:10: command is empty" },
	{ "stdin: none\ncommand:\n", -EINVAL, 2, "command is empty" },
	{ "agentproc:\n  command: ''\n", -EINVAL, 2, "bot.yaml:2:12: command is empty" },
	{ "a: b\ncommand: a\xFF\n", PERCH_ESYNTAX, 2, "bot.yaml:2:11: " },
	{ "command: a\n# caf\xC3\xA9\n\ncwd: \xC3\xA9\x01\n", PERCH_ESYNTAX, 4, "bot.yaml:4:7: " },
	{ "executor: claude-code\n", -EINVAL, 1, "'claude-code'" },
	{ "command: [a]\n", -EINVAL, 1, "command must be a string, not a list" },
	{ "command: 5\n", -EINVAL, 1, "command must be a string, not a whole number" },
	{ "command: a\nargs: x\n", -EINVAL, 2, "args must be a list, not a string" },
	{ "command: a\nargs:\n  - b\n  - [c]\n", -EINVAL, 4, "has a list in it" },
	{ "command: a\nargs: [true]\n", -EINVAL, 2, "has true or false in it" },
	{ "command: a\nstdin: both\n", -EINVAL, 2, "stdin must be none or message, not 'both'" },
	{ "command: a\nstdin: true\n", -EINVAL, 2, "stdin must be a string" },
	{ "command: a\ncwd: 1\n", -EINVAL, 2, "cwd must be a string" },
	{ "command: a\nenv: [A=1]\n", -EINVAL, 2, "env must be a mapping" },
	{ "command: a\nenv:\n  A: [1]\n", -EINVAL, 3, "A is a list" },
	{ "command: a\nenv:\n  A: yes\n  'B=C': 1\n", -EINVAL, 4, "name that cannot be: 'B=C'" },
	{ "command: a\nenv:\n  '': 1\n", -EINVAL, 3, "name that cannot be" },
	{ "command: a\nenv: {A: ~}\n", -EINVAL, 2, "A is nothing" },
	{ "command: a\nnotes: [a]\n", -EINVAL, 2, "notes must be a string" },
	{ "command: a\ntags: a\n", -EINVAL, 2, "tags must be a list" },
	{ "command: a\nenv_allowlist: A\n", -EINVAL, 2, "env_allowlist must be a list" },
	{ "command: a\ntimeout_secs: soon\n", -EINVAL, 2, "timeout_secs must be a number" },
	{ "command: a\ntimeout_secs: -1\n", -EINVAL, 2, "timeout_secs must be from 0" },
	{ "command: a\ntimeout_secs: .inf\n", -EINVAL, 2, "timeout_secs must be from 0" },
	{ "command: a\ntimeout_secs: .nan\n", -EINVAL, 2, "timeout_secs must be from 0" },
	{ "command: a\nkill_grace_secs: '5'\n", -EINVAL, 2, "kill_grace_secs must be a number" },
	{ "command: a\nidle_timeout_secs: -0.1\n", -EINVAL, 2, "idle_timeout_secs must be from 0" },
	{ "command: a\nmax_reply_chars: 1.5\n", -EINVAL, 2, "max_reply_chars must be a whole number" },
	{ "command: a\nmax_reply_chars: -1\n", -EINVAL, 2, "max_reply_chars must be from 0" },
	{ "command: a\ntruncation_suffix: 3\n", -EINVAL, 2, "truncation_suffix must be a string" },
	{ "command: a\ninclude_stderr_in_reply: 1\n", -EINVAL, 2, "include_stderr_in_reply must be" },
	{ "command: a\nsend_error_reply: yes\n", -EINVAL, 2, "send_error_reply must be true or false" },
	{ "command: a\nstreaming: on\n", -EINVAL, 2, "streaming must be true or false" },
	{ "command: a\nsession_line_prefix: ''\n", -EINVAL, 2,
		"session_line_prefix must be the start" },
	{ "command: a\nsession_line_prefix: \"a\\n\"\n", -EINVAL, 2, "session_line_prefix" },
	{ "command: a\nprotocol: 0.2\n", -EINVAL, 2, "protocol must be \"0.1\", \"0.4\" or acp" },
	{ "command: a\nprotocol: []\n", -EINVAL, 2, "protocol must be" },
	{ "command: a\npermission: ask\n", -EINVAL, 2, "permission must be true or false" },
	{ "command: a\nexecutor: 1\n", -EINVAL, 2, "executor must be a string" },
	{ "command: a\nsandbox: maybe\n", -EINVAL, 2, "sandbox must be on, off or a mapping" },
	{ "command: a\nsandbox: [x]\n", -EINVAL, 2, "sandbox must be on, off or a mapping" },
	{ "command: a\nsandbox:\n  net: half\n", -EINVAL, 3, "sandbox.net must be none or full" },
	{ "command: a\nsandbox:\n  read: /x\n", -EINVAL, 3, "sandbox.read must be a list" },
	{ "agentproc: 1\n", -EINVAL, 1, "agentproc must be a mapping" },
	{ "agentproc:\n  command: [a]\n", -EINVAL, 2, "agentproc.command must be a string" },
	{ "command: a\nagentproc:\n  command: b\n", -EINVAL, 3, "both at the top and under" },
};

START_TEST(mistakes_name_file_line_and_key)
{
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct arena arena = { 0 };
		struct agent_profile p;
		perch_err err = { 0 };
		int r = parse(mistakes[i].text, &arena, &p, &err);
		ck_assert_msg(r == mistakes[i].code, "%s: %d %s", mistakes[i].text, r, err.text);
		ck_assert_msg(err.line == mistakes[i].line, "%s: line %u", mistakes[i].text, err.line);
		ck_assert_msg(
			strstr(err.text, mistakes[i].words) != NULL, "%s: %s", mistakes[i].text, err.text);
		ck_assert_ptr_nonnull(strstr(err.text, "/bots/one/bot.yaml:"));
		arena_free(&arena);
	}
}
END_TEST

static int parse_once(void *data)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	perch_err err = { 0 };
	int r = parse(data, &arena, &p, &err);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	static char text[sizeof(every_key) + 32];
	snprintf(text, sizeof(text), "colour: red\n%s", every_key);
	ck_assert_uint_gt(oom_every(parse_once, text), 20);
}
END_TEST

SUITE_MAIN("agent-profile", defaults, every_key_is_read, a_home_must_be_known,
	variants_are_understood, an_unknown_key_is_named_with_its_place,
	what_a_profile_says_for_people_is_kept, the_user_may_say_the_dialect,
	an_unknown_placeholder_is_named, warnings_take_as_much_memory_as_there_are,
	mistakes_name_file_line_and_key, memory_may_run_out)
