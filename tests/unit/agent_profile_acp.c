/* profile: what counts for agents of ACP, the MCP servers that it hands to them, and what the user
 * allowed. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent_launch.h"
#include "agent/profile.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/macros.h"
#include "data/json.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "registry/decision.h"
#include "registry/grants.h"

static int parse(
	const char *text, struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	return agent_profile_parse("/bots/one/bot.yaml", str_from(text), arena, profile, err);
}

static const char full[] = "protocol: acp\n"
						   "command: /usr/bin/agent\n"
						   "background: keep\n"
						   "acp:\n"
						   "  fs: false\n"
						   "  terminal: true\n"
						   "  elicitation: false\n"
						   "  idle_secs: 1.5\n"
						   "  max_processes: 3\n"
						   "  speed: 1\n"
						   "mcp_servers:\n"
						   "  - perch\n"
						   "  - name: files\n"
						   "    command: /usr/bin/files\n"
						   "    args: [--root, 3]\n"
						   "    env: {LEVEL: debug, EMPTY: ''}\n"
						   "    color: red\n"
						   "  - name: search\n"
						   "    url: https://search.example/mcp\n"
						   "    headers: {X-Team: blue}\n"
						   "  - {name: bare, command: /bin/bare}\n";

START_TEST(the_keys_of_acp_are_read)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	perch_err err = { 0 };
	ck_assert_msg(parse(full, &arena, &p, &err) == 0, "%s", err.text);
	ck_assert_int_eq(p.dialect, AGENT_ACP);
	ck_assert(!p.acp.fs && p.acp.terminal && !p.acp.elicitation && p.keeps_background);
	ck_assert_uint_eq(p.acp.idle_ns, 1500 * NSEC_PER_MSEC);
	ck_assert_uint_eq(p.acp.max_processes, 3);
	ck_assert_uint_eq(p.acp.server_count, 4);
	ck_assert(p.acp.servers[0].is_perch && !p.acp.servers[1].is_perch);
	ck_assert_str_eq(p.acp.servers[1].args[1], "3");
	ck_assert(p.warnings[0] && p.warnings[1] && !p.warnings[2]);
	ck_assert_ptr_nonnull(strstr(p.warnings[0], "speed"));
	ck_assert_ptr_nonnull(strstr(p.warnings[1], "color"));
	arena_free(&arena);
}
END_TEST

START_TEST(a_mistake_is_told_with_its_place)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "background: later\n", "background must be end or keep, not 'later'" },
		{ "acp: yes\n", "acp must be a mapping" },
		{ "acp:\n  fs: 1\n", "acp.fs must be" },
		{ "acp:\n  max_processes: 1.5\n", "acp.max_processes must be a whole number" },
		{ "mcp_servers: perch\n", "mcp_servers must be a list" },
		{ "mcp_servers: [perl]\n", "must be a list of mappings, or perch" },
		{ "mcp_servers: [3]\n", "must be a list of mappings, or perch" },
		{ "mcp_servers:\n  - command: /bin/x\n", "must have a name, and a command or a url" },
		{ "mcp_servers:\n  - name: x\n", "must have a name, and a command or a url" },
		{ "mcp_servers:\n  - {name: x, command: /b, url: 'https://x'}\n", "a command or a url" },
		{ "mcp_servers:\n  - {name: x, command: b}\n", "the whole path of a command, not 'b'" },
		{ "mcp_servers:\n  - {name: ''}\n", "a string that is not empty" },
		{ "mcp_servers:\n  - {name: x, command: [1]}\n", "a string that is not empty" },
		{ "mcp_servers:\n  - {name: x, command: /b, args: 1}\n", "args must be a list" },
		{ "mcp_servers:\n  - {name: x, command: /b, env: 1}\n", "env must be" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena arena = { 0 };
		struct agent_profile p;
		struct buf text = { 0 };
		perch_err err = { 0 };
		buf_printf(&text, "command: /bin/a\nprotocol: acp\n%s", cases[i].text);
		ck_assert_int_eq(buf_terminate(&text), 0);
		ck_assert_int_eq(parse(text.data, &arena, &p, &err), -EINVAL);
		ck_assert_msg(strstr(err.text, cases[i].words) && err.line >= 3, "%s: %u: %s",
			cases[i].text, err.line, err.text);
		buf_free(&text);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(a_profile_has_so_many_servers_and_no_more)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	struct buf text = { 0 };
	perch_err err = { 0 };
	buf_append_text(&text, "command: /bin/a\nprotocol: acp\nmcp_servers: [perch");
	for (int i = 1; i < 64; i++)
		buf_append_text(&text, ", perch");
	size_t len = text.len;
	buf_append_text(&text, "]\n");
	ck_assert_int_eq(buf_terminate(&text), 0);
	ck_assert_msg(parse(text.data, &arena, &p, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(p.acp.server_count, 64);
	text.len = len;
	buf_append_text(&text, ", perch]\n");
	ck_assert_int_eq(buf_terminate(&text), 0);
	ck_assert_int_eq(parse(text.data, &arena, &p, &err), -EINVAL);
	ck_assert_msg(strstr(err.text, "more than 64 servers"), "%s", err.text);
	buf_free(&text);
	arena_free(&arena);
}
END_TEST

/* ---- as JSON ----------------------------------------------------------------------- */

static void write_servers(const struct agent_profile *profile, struct arena *arena, struct buf *out)
{
	struct perch_json_writer writer = json_writer_on(out);
	perch_json_begin_array(&writer);
	launch_write_servers(&writer, profile, arena);
	perch_json_end_array(&writer);
}

/* perch's own command: beside its programs, in the bin above them, or wherever PATH has it. */
static const char *perch_for(const char *programs, struct buf *out)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	ck_assert_int_eq(
		parse("command: /a\nprotocol: acp\nmcp_servers: [perch]\n", &arena, &p, NULL), 0);
	p.programs = programs;
	buf_clear(out);
	write_servers(&p, &arena, out);
	ck_assert_int_eq(buf_terminate(out), 0);
	arena_free(&arena);
	return out->data;
}

START_TEST(servers_are_told_as_the_protocol_has_them)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	struct buf out = { 0 };
	ck_assert_int_eq(parse(full, &arena, &p, NULL), 0);
	p.programs = "/nowhere";
	write_servers(&p, &arena, &out);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq(out.data,
		"[{\"name\":\"perch\",\"command\":\"perch\",\"args\":[\"mcp\"],\"env\":[]},"
		"{\"name\":\"files\",\"command\":\"/usr/bin/files\",\"args\":[\"--root\",\"3\"],"
		"\"env\":[{\"name\":\"LEVEL\",\"value\":\"debug\"},{\"name\":\"EMPTY\",\"value\":\"\"}]},"
		"{\"type\":\"http\",\"name\":\"search\",\"url\":\"https://search.example/mcp\","
		"\"headers\":[{\"name\":\"X-Team\",\"value\":\"blue\"}]},"
		"{\"name\":\"bare\",\"command\":\"/bin/bare\",\"args\":[],\"env\":[]}]");
	arena_free(&arena);
	buf_free(&out);
}
END_TEST

START_TEST(perchs_own_server_is_the_perch_of_these_programs)
{
	struct buf out = { 0 };
	folder_new();
	folder_write_mode("lib/perch/perch", "", 0600);
	folder_write_mode("bin/perch", "", 0700);
	const char *programs = folder_path("lib/perch");
	ck_assert_ptr_nonnull(strstr(perch_for(programs, &out), "/lib/perch/../../bin/perch\""));
	ck_assert_int_eq(chmod(folder_path("lib/perch/perch"), 0700), 0);
	ck_assert_ptr_nonnull(strstr(perch_for(programs, &out), "/lib/perch/perch\""));
	ck_assert_ptr_nonnull(strstr(perch_for("/nowhere", &out), "\"command\":\"perch\""));
	buf_free(&out);
}
END_TEST

static int parse_and_write(void *data)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	struct buf out = { 0 };
	int r = parse(data, &arena, &p, NULL);
	if (r == 0) {
		p.programs = "/nowhere";
		write_servers(&p, &arena, &out);
		r = out.failed ? -ENOMEM : 0;
	}
	buf_free(&out);
	arena_free(&arena);
	return r;
}

START_TEST(memory_that_runs_out_is_told)
{
	ck_assert_uint_gt(oom_every(parse_and_write, (void *)(uintptr_t)full), 10);
}
END_TEST

/* ---- what the user allowed --------------------------------------------------------- */

static const char confined[] = "command: /bin/a\n"
							   "cwd: work/${TEAM}\n"
							   "env: {KEY: \"${SECRET}\"}\n"
							   "sandbox: {read: [/srv], net: none}\n";

/* With what was granted; 0, or what agent_profile_grant says. */
static int grant(const char *text, struct arena *arena, struct agent_profile *p, perch_err *err)
{
	int r = parse(text, arena, p, err);
	return r < 0 ? r : agent_profile_grant(NULL, arena, p, err);
}

static void approve(const char *text)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	perch_err err = { 0 };
	ck_assert_msg(grant(text, &arena, &p, &err) == 0, "%s", err.text);
	ck_assert_ptr_nonnull(p.unrecorded);
	ck_assert_int_eq(decision_record(p.unrecorded, NULL, NULL, &err), 0);
	arena_free(&arena);
}

START_TEST(a_profile_that_allows_more_than_was_approved_is_refused)
{
	static const struct {
		const char *text, *words; /* NULL = no more than before */
	} cases[] = {
		{ confined, NULL },
		{ "command: /bin/b\ncwd: work/${TEAM}\nsandbox: {net: none}\n", NULL },
		{ "command: /bin/a\ncwd: work/${TEAM}\nsandbox: {}\n", "network" },
		{ "command: /bin/a\ncwd: work/${TEAM}\nenv: {K: \"${OTHER}\"}\nsandbox: {net: none}\n",
			"OTHER" },
		{ "command: /bin/a\ncwd: /etc\nsandbox: {net: none}\n", "/etc" },
		{ "command: /bin/a\ncwd: ~/x\nsandbox: {net: none}\n", "/x" },
		{ "command: /bin/a\ncwd: other\nsandbox: {net: none}\n", "other" },
		{ "command: /bin/a\n", "sandbox" },
	};
	setenv("XDG_CONFIG_HOME", folder_new(), 1);
	setenv("HOME", "/home/ann", 1);
	approve(confined);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena arena = { 0 };
		struct agent_profile p;
		perch_err err = { 0 };
		int r = grant(cases[i].text, &arena, &p, &err);
		ck_assert_int_eq(r, cases[i].words ? -EPERM : 0);
		if (cases[i].words)
			ck_assert_msg(strstr(err.text, cases[i].words), "%s: %s", cases[i].text, err.text);
		else
			ck_assert((p.unrecorded != NULL) == (i > 0) && p.is_sandboxed);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(the_users_word_counts_more_than_the_profiles)
{
	const struct grant on = { .widening = { .is_on = true } };
	const struct grant off = { .widening = { .is_off = true } };
	struct arena arena = { 0 };
	struct agent_profile p;
	perch_err err = { 0 };
	setenv("XDG_CONFIG_HOME", folder_new(), 1);
	ck_assert_int_eq(grant("command: /bin/a\n", &arena, &p, &err), 0);
	ck_assert(!p.is_sandboxed && !p.unrecorded);
	ck_assert_ptr_nonnull(strstr(p.widen_by, "perch agent allow /bots/one/bot.yaml"));
	ck_assert_int_eq(grants_write(GRANT_AGENT, "/bots/one/bot.yaml", &on, &err), 0);
	ck_assert_int_eq(grant("command: /bin/a\n", &arena, &p, &err), 0);
	ck_assert(p.is_sandboxed && p.unrecorded);
	ck_assert_int_eq(grants_write(GRANT_AGENT, "/bots/one/bot.yaml", &off, &err), 0);
	ck_assert_int_eq(grant(confined, &arena, &p, &err), 0);
	ck_assert(!p.is_sandboxed && !p.unrecorded);
	arena_free(&arena);
}
END_TEST

static int grant_and_forget(void *data)
{
	struct arena arena = { 0 };
	struct agent_profile p;
	int r = grant(data, &arena, &p, NULL);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out_while_grants_are_looked_up)
{
	setenv("XDG_CONFIG_HOME", folder_new(), 1);
	approve(confined);
	ck_assert_uint_gt(oom_every(grant_and_forget, (void *)(uintptr_t)confined), 10);
}
END_TEST

SUITE_MAIN("agent-profile-acp", the_keys_of_acp_are_read, a_mistake_is_told_with_its_place,
	a_profile_has_so_many_servers_and_no_more, servers_are_told_as_the_protocol_has_them,
	perchs_own_server_is_the_perch_of_these_programs, memory_that_runs_out_is_told,
	a_profile_that_allows_more_than_was_approved_is_refused,
	the_users_word_counts_more_than_the_profiles, memory_may_run_out_while_grants_are_looked_up)
