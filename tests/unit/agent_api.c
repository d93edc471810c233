/* include/perch/agent.h: what it refuses, with a code and words, before anything is started. */
#include "harness/suite.h"

#include <errno.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/proc.h"
#include "perch/agent.h"

START_TEST(profiles_that_cannot_be_loaded)
{
	folder_new();
	folder_write("bad.yaml", "command: [a]\n");
	folder_write("odd.yaml", "command: a\ncolour: red\n");
	perch_agent_profile *profile = NULL;
	perch_err err = { 0 };
	ck_assert_int_eq(perch_agent_profile_load(folder_path("none"), &profile, &err), -ENOENT);
	ck_assert_int_eq(perch_agent_profile_load(folder_path("bad.yaml"), &profile, &err), -EINVAL);
	ck_assert_uint_eq(err.line, 1);
	ck_assert_ptr_null(profile);
	perch_agent_profile_free(profile);
	ck_assert_int_eq(perch_agent_profile_load(folder_path("odd.yaml"), &profile, &err), 0);
	ck_assert_ptr_nonnull(strstr(perch_agent_profile_warnings(profile)[0], "colour"));
	perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
	perch_host *host = proc_host();
	perch_agent_turn *turn;
	ck_assert_int_eq(perch_agent_turn_start(host, &options, &turn, &err), -EINVAL);
	perch_host_free(host);
	perch_agent_profile_free(profile);
}
END_TEST

START_TEST(attachments_that_cannot_be)
{
	static const perch_attachment cases[][2] = {
		{ { PERCH_ATTACHMENT_IMAGE, "u", NULL }, { PERCH_ATTACHMENT_FILE, NULL, "n" } },
		{ { PERCH_ATTACHMENT_IMAGE, "u", NULL }, { PERCH_ATTACHMENT_VIDEO + 1, "u", "n" } },
		{ { PERCH_ATTACHMENT_IMAGE, "u", NULL }, { (perch_attachment_kind)-1, "u", "n" } },
	};
	perch_host *host = proc_host();
	folder_new();
	folder_write("bot.yaml", "command: 'true'\n");
	perch_agent_profile *profile = NULL;
	ck_assert_int_eq(perch_agent_profile_load(folder_path("bot.yaml"), &profile, NULL), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
		options.profile = profile;
		options.events = &(const perch_agent_events){ .size = sizeof(perch_agent_events) };
		options.message = "m";
		options.message_len = 1;
		options.attachments = cases[i];
		options.attachment_count = 2;
		perch_agent_turn *turn = NULL;
		perch_err err = { 0 };
		ck_assert_int_eq(perch_agent_turn_start(host, &options, &turn, &err), -EINVAL);
		ck_assert_ptr_nonnull(strstr(err.text, "attachments[1] has "));
		ck_assert_ptr_null(turn);
	}
	perch_agent_profile_free(profile);
	perch_host_free(host);
}
END_TEST

static const char *const env_ok[] = { "A=", "B=c=d", NULL };
static const char *const env_nothing[] = { "A=1", "NOEQ", NULL };
static const char *const env_nameless[] = { "=1", NULL };

static const struct {
	const char *profile;
	const char *session_id;
	const char *const *env;
	const char *words; /* NULL = fine */
} turns[] = {
	{ "command: 'true'\n", "a-1", env_ok, NULL },
	{ "command: 'true'\n", "\xC3\xA9", NULL, NULL },
	{ "command: 'true'\n", "a/b\n", NULL, "session_id cannot be the id of a session: an id is" },
	{ "command: 'true'\n", "a b", NULL, "without blanks" },
	{ "command: 'true'\n", "-x", NULL, "does not begin with '-'" },
	{ "command: 'true'\n", "\xFF", NULL, "of UTF-8" },
	{ "command: 'true'\nprotocol: '0.4'\n", "a b", NULL, NULL },
	{ "command: 'true'\nprotocol: '0.4'\n", "a\xFF", NULL, "of UTF-8" },
	{ "command: 'true'\nprotocol: '0.4'\n", "a\x1B", NULL, "at most 4096 bytes" },
	{ "command: 'true'\n", NULL, env_nothing, "env[1] must be NAME=VALUE, not 'NOEQ'" },
	{ "command: 'true'\n", NULL, env_nameless, "env[0] must be NAME=VALUE, not '=1'" },
};

START_TEST(ids_and_variables_that_cannot_be)
{
	folder_new();
	for (size_t i = 0; i < COUNT(turns); i++) {
		perch_host *host = proc_host();
		perch_agent_profile *profile = NULL;
		folder_write("bot.yaml", turns[i].profile);
		ck_assert_int_eq(perch_agent_profile_load(folder_path("bot.yaml"), &profile, NULL), 0);
		perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
		options.profile = profile;
		options.events = &(const perch_agent_events){ .size = sizeof(perch_agent_events) };
		options.message = "m";
		options.message_len = 1;
		options.session_id = turns[i].session_id;
		options.env = turns[i].env;
		perch_agent_turn *turn = NULL;
		perch_err err = { 0 };
		int r = perch_agent_turn_start(host, &options, &turn, &err);
		ck_assert_msg(r == (turns[i].words ? -EINVAL : 0), "%zu: %d %s", i, r, err.text);
		ck_assert_msg(!turns[i].words || strstr(err.text, turns[i].words), "%s", err.text);
		perch_agent_turn_free(turn);
		perch_agent_profile_free(profile);
		perch_host_free(host);
	}
}
END_TEST

/* ---- freed in a callback -------------------------------------------------------- */

struct owner {
	perch_agent_profile *profile;
	bool is_done;
	bool has_ended;
};

/* What the turn was given goes with it. */
static void let_go(perch_agent_turn *turn, struct owner *owner)
{
	ck_assert(!owner->is_done);
	perch_agent_turn_free(turn);
	perch_agent_profile_free(owner->profile);
	owner->is_done = true;
}

static void free_in_started(perch_agent_turn *turn, void *data)
{
	let_go(turn, data);
}

static void free_in_partial(perch_agent_turn *turn, void *data, const char *text, size_t len)
{
	ck_assert(len > 0 && text[0]);
	let_go(turn, data);
}

static void free_in_text(perch_agent_turn *turn, void *data, const char *text)
{
	ck_assert(text[0]);
	let_go(turn, data);
}

static void free_in_error(perch_agent_turn *turn, void *data, const char *code, const char *text)
{
	ck_assert(code[0] && text[0]);
	let_go(turn, data);
}

static void free_in_permission(
	perch_agent_turn *turn, void *data, const perch_agent_permission *permission)
{
	ck_assert(permission->request_id[0] && permission->tool_name && permission->input);
	let_go(turn, data);
}

static void free_in_end(perch_agent_turn *turn, void *data, const perch_agent_end *end)
{
	ck_assert_ptr_nonnull(end->body);
	let_go(turn, data);
}

static void note_end(perch_agent_turn *turn, void *data, const perch_agent_end *end)
{
	(void)turn;
	(void)end;
	struct owner *owner = data;
	ck_assert(!owner->is_done);
	owner->has_ended = true;
}

#define EVENTS(member, function)                                 \
	{                                                            \
		.size = sizeof(perch_agent_events), .member = (function) \
	}

static const perch_agent_events freeing[] = {
	EVENTS(started, free_in_started),
	EVENTS(partial, free_in_partial),
	EVENTS(session, free_in_text),
	EVENTS(warning, free_in_text),
	EVENTS(error, free_in_error),
	EVENTS(reply, free_in_partial),
	EVENTS(permission, free_in_permission),
	EVENTS(end, free_in_end),
	EVENTS(thinking, free_in_partial),
	EVENTS(usage, free_in_partial),
};

static const char *const tellers[] = {
	/* Everything but a reply, and more of it behind. */
	"protocol: '0.4'\npermission: true\ncommand: sh\nargs:\n- -c\n- |\n"
	"  for i in 1 2 3; do\n"
	"  echo junk\n"
	"  echo '{\"type\":\"partial\",\"role\":\"thinking\",\"text\":\"hm\",\"usage\":{\"a\":1}}'\n"
	"  echo '{\"type\":\"partial\",\"text\":\"a\",\"session_id\":\"s\"}'\n"
	"  echo '{\"type\":\"permission_request\",\"request_id\":\"1\",\"tool_name\":\"x\"}'\n"
	"  echo x >&2\n"
	"  done\n"
	"  echo '{\"type\":\"error\",\"message\":\"bad\"}'\n",
	"command: echo hi\n",
	"command: no-such-command-anywhere\n",
	"command: sleep 100\ntimeout_secs: 0.01\nkill_grace_secs: 0\n",
};

START_TEST(a_turn_may_be_freed_in_any_callback)
{
	size_t freed[COUNT(freeing)] = { 0 };
	folder_new();
	for (size_t i = 0; i < COUNT(freeing) * COUNT(tellers); i++) {
		perch_host *host = proc_host();
		struct owner owner = { 0 };
		folder_write("bot.yaml", tellers[i % COUNT(tellers)]);
		ck_assert_int_eq(
			perch_agent_profile_load(folder_path("bot.yaml"), &owner.profile, NULL), 0);
		perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
		options.profile = owner.profile;
		perch_agent_events events = freeing[i / COUNT(tellers)];
		events.end = events.end ? events.end : note_end;
		options.events = &events;
		options.message = "m";
		options.message_len = 1;
		options.data = &owner;
		perch_agent_turn *turn = NULL;
		ck_assert_int_eq(perch_agent_turn_start(host, &options, &turn, NULL), 0);
		while (!owner.is_done && !owner.has_ended)
			ck_assert_int_ge(perch_host_wait(host, -1), 0);
		freed[i / COUNT(tellers)] += owner.is_done;
		if (!owner.is_done)
			let_go(turn, &owner);
		perch_host_wait(host, 0);
		perch_host_free(host);
	}
	for (size_t i = 0; i < COUNT(freed); i++)
		ck_assert_msg(freed[i], "event %zu", i);
}
END_TEST

SUITE_MAIN("agent-api", profiles_that_cannot_be_loaded, attachments_that_cannot_be,
	ids_and_variables_that_cannot_be, a_turn_may_be_freed_in_any_callback)
