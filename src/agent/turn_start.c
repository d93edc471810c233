/* The start of a turn: from a profile and a message to a process. */
#include <errno.h>
#include <string.h>

#include "agent/template.h"
#include "agent/turn_parts.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "proc/ladder.h"

int turn_failure_code(const struct agent_turn *turn)
{
	const char *stage = turn->failure_text.stage;
	bool is_program = stage && (strcmp(stage, "lookup") == 0 || strcmp(stage, "exec") == 0);
	return is_program ? exit_status_of_failed_start(turn->failure) : EXIT_HOST;
}

static bool turn_start_has_input(const struct agent_turn *turn)
{
	return turn->dialect->has_turn_line || turn->options.profile->message_on_stdin;
}

static void turn_start_note_start(const struct agent_turn *turn, struct str input)
{
	agent_note_start(turn->options.trace, &turn->engine_options, turn->options.profile, input);
}

/* Queued as a whole; the pipe takes it while the output is read. An agent that
 * does not read it is no error. */
static int turn_start_send_input(struct agent_turn *turn, perch_err *err)
{
	struct buf line = { 0 };
	struct str text = turn->options.message;
	if (!turn_start_has_input(turn)) {
		turn_start_note_start(turn, (struct str){ 0 });
		return 0;
	}
	if (turn->dialect->has_turn_line) {
		if (turn_line_write(&line, &turn->options) < 0) {
			buf_free(&line);
			return err_no_memory(err);
		}
		text = (struct str){ line.data, line.len };
	}
	turn_start_note_start(turn, text);
	trace_line(turn->options.trace, TRACE_TO_PLUGIN, text.data, text.len);
	int r = text.len ? perch_child_write(turn->child, text.data, text.len) : 0;
	if (!turn->dialect->has_turn_line || !turn->options.profile->permission)
		perch_child_close_stdin(turn->child);
	buf_free(&line);
	return r == -ENOMEM ? err_no_memory(err) : 0;
}

static int turn_start_child(
	struct agent_turn *turn, const perch_child_events *events, perch_err *err)
{
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	ending_apply(ENDING_AGENT, &spec);
	memcpy(turn->ladder, spec.ladder, sizeof(turn->ladder));
	turn->ladder[1].after_ns = turn->options.profile->kill_grace_ns;
	spec.ladder = turn->ladder;
	spec.argv = turn->launch.argv;
	spec.env = turn->launch.env;
	spec.cwd = turn->launch.cwd;
	spec.confine = sandbox_confine(turn->sandbox);
	spec.background =
		turn->options.profile->keeps_background ? PERCH_BACKGROUND_KEEP : PERCH_BACKGROUND_END;
	spec.stdin_mode = turn_start_has_input(turn) ? PERCH_STDIN_PIPE : PERCH_STDIN_NULL;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.stderr_mode = PERCH_OUTPUT_BYTES;
	spec.line_limit = turn->engine_options.line_limit;
	spec.write_limit = SIZE_MAX / 2; /* a message has its own limit, answers are few */
	spec.events = events;
	spec.data = turn;
	int r = perch_child_start(turn->host, &spec, &turn->child, err);
	if (r == 0)
		r = turn_start_send_input(turn, err);
	if (r < 0) {
		perch_child_free(turn->child);
		turn->child = NULL;
	}
	return r;
}

static int turn_start_launch(struct agent_turn *turn, const perch_child_events *events)
{
	perch_err *err = &turn->failure_text;
	turn->launch = (struct launch){
		.arena = &turn->arena,
		.options = &turn->options,
		.dialect = turn->dialect,
		.own_env = turn->options.own_env,
	};
	int r = launch_begin(&turn->launch, err);
	if (r == 0 && turn->dialect->is_resident) {
		if (host_is_late(turn->host)) /* its process is there already */
			return err_set(err, -ETIME, "it is too late for a turn (was this process stopped?)");
		turn_start_note_start(turn, turn->options.message);
		return turn_seat_take(turn, err);
	}
	if (r == 0 && turn->options.profile->is_sandboxed) {
		r = launch_open_sandbox(&turn->launch, turn->host, &turn->sandbox, err);
		turn->launch.tmp = r == 0 ? sandbox_tmp(turn->sandbox) : NULL;
	}
	if (r == 0)
		r = launch_finish(&turn->launch, err);
	return r < 0 ? r : turn_start_child(turn, events, err);
}

/* The part of the profile that may be the cause; NULL = not known. */
static const char *turn_start_advice_for(
	const struct agent_turn *turn, char words[TEMPLATE_WORDS_MAX])
{
	const struct agent_profile *profile = turn->options.profile;
	const char *stage = turn->failure_text.stage;
	bool is_directory = stage && strcmp(stage, "chdir") == 0 && !turn->options.cwd;
	bool is_program = turn_failure_code(turn) != EXIT_HOST;
	const char *quotes = is_program ? command_quotes_advice(profile) : NULL;
	if (quotes || !(is_directory || is_program))
		return quotes;
	struct str template = str_from(is_directory ? profile->cwd : profile->command);
	if (template_explain_unknown(template, words))
		return words;
	bool is_missing = is_program && turn->failure == -ENOENT;
	return is_missing && command_explain_path(&turn->launch, words) ? words : NULL;
}

void turn_launch(struct agent_turn *turn, const perch_child_events *events)
{
	char words[TEMPLATE_WORDS_MAX];
	turn->failure = turn_start_launch(turn, events);
	perch_err *err = &turn->failure_text;
	const char *advice = turn->failure < 0 ? turn_start_advice_for(turn, words) : NULL;
	if (!advice)
		return;
	const char *stage = err->stage;
	err_set(err, turn->failure, "%.300s; %s", err->text, advice);
	err->stage = stage;
}
