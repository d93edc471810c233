/* Turns with real processes, through the public API: what is heard, in which
 * order, how it ends, and that nothing stays. */
#include "harness/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness/folder.h"
#include "harness/heard.h"
#include "harness/proc.h"

#define ADVICE                                                                                     \
	"quotes in command are not read as in a shell: write it without them, and its arguments as a " \
	"list, args: [\"…\", \"…\"]"
#define PLACEHOLDERS                                                                     \
	"there is no placeholder {{PROFIL_DIR}}, it stays as it is: there are {{MESSAGE}}, " \
	"{{SESSION_ID}}, {{SESSION_NAME}}, {{PROFILE_DIR}} and {{PERCH_DIR}}; did you mean " \
	"{{PROFILE_DIR}}?"
#define SH(script) "command: sh\nargs:\n- -c\n- |\n  " script "\n"

static const struct {
	const char *profile;
	const char *log;
} turns[] = {
	{ SH("echo \"AGENT_SESSION:s-1\"; echo 'AGENT_PARTIAL:\"a \"'; echo \"$AGENT_MESSAGE\""),
		"start s(s-1) p(a ) =hi #0 [s-1]" },
	{ SH("cat; echo x"), "start =x #0 []" },
	{ "stdin: message\n" SH("cat; echo x"), "start =hix #0 []" },
	{ "stdin: message\n" SH("exec 0<&-; echo x"), "start =x #0 []" },
	{ SH("exit 3"), "start !exit:the agent failed with exit status 3 #3 []" },
	{ "send_error_reply: false\n" SH("exit 3"), "start #3 []" },
	{ SH("kill -9 $$"), "start !signal:the agent was ended by signal 9 (Killed) #137 []" },
	{ SH("echo 'AGENT_ERROR:\"bad\"'; echo AGENT_SESSION:late; exit 0"),
		"start s(late) !agent_error:bad #1 [late]" },
	{ "include_stderr_in_reply: true\n" SH("echo oops >&2; echo body"),
		"start =body\n\noops #0 []" },
	{ "include_stderr_in_reply: true\n" SH("echo oops >&2; exit 4"),
		"start !exit:the agent failed with exit status 4\n\noops #4 []" },
	{ "timeout_secs: 0.05\nkill_grace_secs: 0\n" SH("exec sleep 60"),
		"start !timeout:the agent took longer than 0.05 seconds and was stopped #124 []" },
	{ "idle_timeout_secs: 0.05\nkill_grace_secs: 0\n" SH("exec sleep 60"),
		"start !timeout:the agent said nothing for 0.05 seconds and was stopped #124 []" },
	{ "timeout_secs: 1\nkill_grace_secs: 30\n" SH(
		  "trap 'echo \"AGENT_PARTIAL:\\\"bye\\\"\"; exit 0' TERM; while :; do sleep 0.01; done"),
		"start p(bye) !timeout:the agent took longer than 1 second and was stopped #124 []" },
	{ "command: no-such-program-anywhere\n",
		"!start:no such command on PATH: 'no-such-program-anywhere' #127 []" },
	{ "command: '{{PROFIL_DIR}}/bot'\n",
		"!start:cannot run '{{PROFIL_DIR}}/bot': there is no such file; " PLACEHOLDERS " #127 []" },
	{ "command: sh\ncwd: '/{{PROFIL_DIR}}'\n",
		"!start:the agent's directory cannot be used: /{{PROFIL_DIR}}: No such file or "
		"directory; " PLACEHOLDERS " #125 []" },
	{ "command: \"'my agent' --fast\"\n",
		"!start:no such command on PATH: ''my'; " ADVICE " #127 []" },
	{ "protocol: '0.4'\ncommand: '\"my agent\"'\n",
		"!start:no such command on PATH: '\"my agent\"'; " ADVICE " #127 []" },
	{ "command: o'agent\n", "!start:no such command on PATH: 'o'agent' #127 []" },
	{ "command: sh -c 'exit 7; '\n", "start w !exit:the agent failed with exit status 2 #2 []" },
	{ "protocol: '0.4'\n" SH(
		  "read line; echo '{\"type\":\"partial\",\"text\":\"p\",\"session_id\":\"s\"}'; echo "
		  "'{\"type\":\"result\",\"text\":\"r\"}'"),
		"start s(s) p(p) #0 [s]" },
	{ "protocol: '0.4'\n" SH(
		  "read turn; echo "
		  "'{\"type\":\"partial\",\"role\":\"thinking\",\"text\":\"hm\"}'; echo "
		  "'{\"type\":\"result\",\"text\":\"a\",\"usage\":{\"input_tokens\":5}}'"),
		"start ~hm %{\"input_tokens\":5} =a #0 []" },
	{ "permission: true\n" SH(
		  "read line; echo "
		  "'{\"type\":\"permission_request\",\"request_id\":\"7\",\"tool_name\":\"sh\",\"input\":{}"
		  ",\"description\":\"to see\"}'; "
		  "read answer; case $answer in *allow*) echo '{\"type\":\"result\",\"text\":\"yes\"}';; "
		  "*) echo '{\"type\":\"result\",\"text\":\"no\"}';; esac; cat >/dev/null"),
		"start ?(7,sh,{}) (to see) =yes #0 []" },
};

START_TEST(turns_as_they_are_told)
{
	for (size_t i = 0; i < COUNT(turns); i++) {
		struct heard heard = { .permits = 1 };
		heard_profile(turns[i].profile, "hi", &heard);
		ck_assert_msg(strcmp(heard_log(&heard), turns[i].log) == 0, "%s\ngives %s\nnot   %s",
			turns[i].profile, heard_log(&heard), turns[i].log);
		buf_free(&heard.log);
	}
}
END_TEST

START_TEST(a_turn_that_cannot_start)
{
	static const struct {
		const char *profile;
		const char *message;
		int code;
	} cases[] = {
		{ "command: /etc/passwd\n", "m", 126 },
		{ "command: /no/such/file\n", "m", 127 },
		{ "command: 'true'\ncwd: /no/such/directory\n", "m", 125 },
		{ "command: 'true'\n", "", 125 },
		{ "command: sh\nargs: [-c, 'echo {{MESSAGE}}']\n", "m", 125 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct heard heard = { 0 };
		heard_profile(cases[i].profile, cases[i].message, &heard);
		ck_assert_msg(
			heard.end.exit_code == cases[i].code, "%s: %s", cases[i].profile, heard_log(&heard));
		ck_assert_int_eq(strncmp(heard_log(&heard), "!start:", 7), 0);
		ck_assert(!heard.end.success && heard.end.status == -1);
		buf_free(&heard.log);
	}
	folder_write("script", "#!/no/such/interpreter\n");
	free(folder_run("chmod +x script"));
	struct heard heard = { 0 };
	heard_profile("command: '{{PROFILE_DIR}}/script'\n", "m", &heard);
	ck_assert_int_eq(heard.end.exit_code, 126);
	buf_free(&heard.log);
}
END_TEST

START_TEST(cancelling)
{
	struct heard heard = { .cancels_at_partial = true };
	heard_profile("kill_grace_secs: 30\n" SH("echo AGENT_SESSION:kept; echo 'AGENT_PARTIAL:\"a\"'; "
											 "exec sleep 60"),
		"m", &heard);
	ck_assert_str_eq(heard_log(&heard), "start s(kept) p(a) !cancelled:cancelled #130 [kept]");
	ck_assert(heard.end.cancelled && !heard.end.timed_out);
	ck_assert_int_eq(heard.end.signal, SIGTERM);
	buf_free(&heard.log);
}
END_TEST

START_TEST(cancelling_twice_goes_up_the_ladder)
{
	perch_host *host = proc_host();
	perch_agent_profile *profile = heard_load("kill_grace_secs: 3600\n" SH(
		"trap '' TERM; echo 'AGENT_PARTIAL:\"a\"'; while :; do sleep 60; done"));
	struct heard heard = { 0 };
	const perch_agent_turn_options options = heard_options(profile, &heard, "m");
	perch_agent_turn *turn = heard_start(host, &options);
	while (!heard.partials)
		perch_host_wait(host, -1);
	perch_agent_turn_cancel(turn, SIGTERM);
	perch_host_dispatch(host);
	perch_agent_turn_cancel(turn, SIGINT);
	proc_until(host, &heard.has_ended);
	ck_assert_int_eq(heard.end.exit_code, 143);
	ck_assert_int_eq(heard.end.signal, SIGKILL);
	perch_agent_turn_free(turn);
	perch_agent_profile_free(profile);
	perch_host_free(host);
	buf_free(&heard.log);
}
END_TEST

/* Nothing of the one that is held is read; the other comes to its end meanwhile. */
START_TEST(a_turn_that_is_held)
{
	perch_host *host = proc_host();
	perch_agent_profile *profile = heard_load(SH("echo 'AGENT_PARTIAL:\"a\"'; echo b"));
	struct heard held = { 0 };
	struct heard other = { 0 };
	const perch_agent_turn_options options = heard_options(profile, &held, "m");
	const perch_agent_turn_options others = heard_options(profile, &other, "m");
	perch_agent_turn *turn = heard_start(host, &options);
	perch_agent_turn_hold(turn, true);
	perch_agent_turn *second = heard_start(host, &others);
	proc_until(host, &other.has_ended);
	ck_assert_uint_eq(held.partials, 0);
	ck_assert(!held.has_ended && other.partials == 1);
	perch_agent_turn_hold(turn, false);
	proc_until(host, &held.has_ended);
	ck_assert(held.end.success && held.partials == 1);
	perch_agent_turn_free(turn);
	perch_agent_turn_free(second);
	perch_agent_profile_free(profile);
	perch_host_free(host);
	buf_free(&held.log);
	buf_free(&other.log);
}
END_TEST

START_TEST(a_turn_may_be_given_up)
{
	perch_host *host = proc_host();
	perch_agent_profile *profile = heard_load(SH("echo 'AGENT_PARTIAL:\"a\"'; exec sleep 60"));
	struct heard heard = { 0 };
	const perch_agent_turn_options options = heard_options(profile, &heard, "m");
	perch_agent_turn *turn = heard_start(host, &options);
	while (!heard.partials)
		perch_host_wait(host, -1);
	perch_agent_turn_free(turn);
	perch_agent_turn_free(NULL);
	perch_agent_profile_free(profile);
	perch_host_free(host);
	ck_assert(!heard.has_ended);
	ck_assert_uint_eq(proc_children(), 0);
	buf_free(&heard.log);
}
END_TEST

/* What a child holds on to does not hold the turn: the sleeper would outlast us. */
START_TEST(a_background_child_does_not_hold_the_turn)
{
	struct heard heard = { 0 };
	heard_profile(SH("sleep 3600 & echo $!; echo hi"), "m", &heard);
	ck_assert_int_eq(heard.end.exit_code, 0);
	pid_t sleeper = (pid_t)atoi(heard.log.data + strlen("start ="));
	ck_assert_int_gt(sleeper, 1);
	proc_wait_gone(sleeper);
	buf_free(&heard.log);
}
END_TEST

START_TEST(permissions_left_open_are_denied_on_timeout)
{
	struct heard heard = { .permits = -1 };
	heard_profile(
		"permission: true\ntimeout_secs: 1\nkill_grace_secs: 30\n" SH(
			"trap '' TERM; read line; echo "
			"'{\"type\":\"permission_request\",\"request_id\":\"7\",\"tool_name\":\"sh\"}'; read "
			"answer; case $answer in *deny*) echo '{\"type\":\"partial\",\"text\":\"denied\"}';; "
			"esac"),
		"m", &heard);
	ck_assert_ptr_nonnull(strstr(heard_log(&heard), "?(7,sh,) p(denied) !timeout:"));
	ck_assert_int_eq(heard.end.exit_code, 124);
	buf_free(&heard.log);
}
END_TEST

/* Earlier turns of the session have used most of the time that all of them have. */
START_TEST(a_budget_of_time)
{
	perch_host *host = proc_host();
	perch_agent_profile *profile =
		heard_load("budget_secs: 3600\ntimeout_secs: 3600\n" SH("sleep 3600"));
	struct heard heard = { 0 };
	perch_agent_turn_options options = heard_options(profile, &heard, "m");
	options.spent_ns = 3600 * NSEC_PER_SEC - 10 * NSEC_PER_MSEC;
	perch_agent_turn *turn = heard_start(host, &options);
	proc_until(host, &heard.has_ended);
	ck_assert_ptr_nonnull(strstr(
		heard_log(&heard), "!timeout:the session has used up its budget_secs (3600 seconds)"));
	ck_assert_int_eq(heard.end.exit_code, 124);
	ck_assert(heard.end.timed_out);
	buf_free(&heard.log);
	perch_agent_turn_free(turn);
	perch_agent_profile_free(profile);
	perch_host_free(host);
}
END_TEST

/* While we are asked, silence is ours: of twice the time that would be idling. */
START_TEST(asking_is_not_idling)
{
	perch_host *host = proc_host();
	perch_agent_profile *profile = heard_load("permission: true\nidle_timeout_secs: 1\n" SH(
		"read line; echo "
		"'{\"type\":\"permission_request\",\"request_id\":\"7\",\"tool_name\":\"sh\"}'; read "
		"answer; echo '{\"type\":\"result\",\"text\":\"done\"}'"));
	struct heard heard = { .permits = -1 };
	const perch_agent_turn_options options = heard_options(profile, &heard, "m");
	perch_agent_turn *turn = heard_start(host, &options);
	while (!strchr(heard_log(&heard), '?'))
		perch_host_wait(host, -1);
	const uint64_t until = clock_now_ns() + 2 * NSEC_PER_SEC;
	while (clock_now_ns() < until)
		perch_host_wait(host, 10);
	perch_agent_turn_permit(turn, "7", true, NULL);
	proc_until(host, &heard.has_ended);
	ck_assert_ptr_nonnull(strstr(heard_log(&heard), "=done #0"));
	perch_agent_turn_free(turn);
	perch_agent_profile_free(profile);
	perch_host_free(host);
	buf_free(&heard.log);
}
END_TEST

/* Bytes without a newline are output, too. */
START_TEST(half_a_line_is_not_idling)
{
	struct heard heard = { 0 };
	heard_profile("idle_timeout_secs: 1\n" SH(
					  "i=0; while [ $i -lt 30 ]; do printf x; sleep 0.05; i=$((i+1)); done"),
		"m", &heard);
	ck_assert_str_eq(heard_log(&heard), "start =xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx #0 []");
	buf_free(&heard.log);
}
END_TEST

START_TEST(many_turns_at_once)
{
	enum { TURNS = 40 };
	perch_host *host = proc_host();
	perch_agent_profile *profile = heard_load(SH("echo \"$AGENT_MESSAGE\""));
	struct heard heard[TURNS] = { 0 };
	perch_agent_turn *turn[TURNS];
	char messages[TURNS][16];
	for (int i = 0; i < TURNS; i++) {
		snprintf(messages[i], sizeof(messages[i]), "%d", i);
		const perch_agent_turn_options options = heard_options(profile, &heard[i], messages[i]);
		turn[i] = heard_start(host, &options);
	}
	for (int i = 0; i < TURNS; i++) {
		char wanted[64];
		proc_until(host, &heard[i].has_ended);
		snprintf(wanted, sizeof(wanted), "start =%d #0 []", i);
		ck_assert_str_eq(heard_log(&heard[i]), wanted);
		perch_agent_turn_free(turn[i]);
		buf_free(&heard[i].log);
	}
	perch_agent_profile_free(profile);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("agent-turn", turns_as_they_are_told, a_turn_that_cannot_start, cancelling,
	cancelling_twice_goes_up_the_ladder, a_turn_that_is_held, a_turn_may_be_given_up,
	a_background_child_does_not_hold_the_turn, permissions_left_open_are_denied_on_timeout,
	a_budget_of_time, asking_is_not_idling, half_a_line_is_not_idling, many_turns_at_once)
