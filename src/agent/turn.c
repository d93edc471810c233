/* One turn of an agent: connects the process, the engine and the caller. */
#include "agent/turn.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/turn_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "proc/child.h"

enum { STDERR_TAIL = 4 * 1024 };

struct agent_turn *turn_enter(struct agent_turn *turn)
{
	turn->entered++;
	return turn;
}

void turn_leave(struct agent_turn *turn)
{
	if (--turn->entered == 0 && turn->is_over)
		agent_turn_free(turn);
}

/* ---- the beginning and the end, as they are told ------------------------------ */

static void turn_tell_warnings(struct agent_turn *turn)
{
	const struct buf *words = &turn_launch_of(turn)->warnings;
	struct str rest = { words->data, words->len };
	if (turn->seat && !seat_is_fresh(turn->seat))
		return;
	while (rest.len)
		TELL(turn, warning, turn, str_cut(&rest, '\n'));
	const char *const *warning = turn_sandbox(turn) ? sandbox_warnings(turn_sandbox(turn)) : NULL;
	for (; warning && *warning; warning++)
		TELL(turn, warning, turn, str_from(*warning));
}

void turn_tell_start(struct agent_turn *turn)
{
	if (turn->is_told || turn->options.is_quiet)
		return;
	turn->is_told = true;
	TELL(turn, started, turn);
	turn_tell_warnings(turn);
}

static void turn_tell_failure(struct agent_turn *turn)
{
	struct str why = str_from(turn->failure_text.text);
	int code = turn_failure_code(turn);
	trace_failure(turn->options.trace, turn->failure_text.text);
	const perch_agent_end end = {
		.exit_code = code,
		.status = -1,
		.session_id = turn->options.session_id ? turn->options.session_id : "",
		.body = "",
		.stderr_tail = "",
		.hint = turn_hint(turn, code, why),
		.reach = PERCH_REACH_GROUP,
	};
	TELL(turn, error, turn, "start", why);
	TELL(turn, end, turn, &end);
}

static void turn_begun_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct agent_turn *turn = turn_enter(TURN_OF(timer, begun));
	if (turn->failure && !turn->options.is_quiet)
		turn_tell_failure(turn);
	else
		turn_tell_start(turn);
	turn_leave(turn);
}

static const char *turn_session_of(const struct agent_turn *turn)
{
	const char *given = turn->options.session_id;
	struct str said = agent_engine_session(turn->engine);
	return said.len ? said.data : given ? given : "";
}

/* The last of stderr with a NUL behind it. Without memory for that it is lost. */
static struct str turn_stderr_tail(struct agent_turn *turn)
{
	return buf_terminate(&turn->tail.kept) < 0 ? STR("") : tail_text(&turn->tail);
}

const struct launch *turn_launch_of(const struct agent_turn *turn)
{
	const struct launch *launch = turn->seat ? seat_launch(turn->seat) : NULL;
	return launch ? launch : &turn->launch;
}

const struct sandbox *turn_sandbox(const struct agent_turn *turn)
{
	return turn->seat ? seat_sandbox(turn->seat) : turn->sandbox;
}

bool turn_is_asking(const struct agent_turn *turn)
{
	return turn->wants.count || turn->forms.count || agent_engine_is_asking(turn->engine);
}

void turn_stop(struct agent_turn *turn)
{
	if (turn->child)
		perch_child_stop(turn->child);
	else if (turn->seat)
		seat_stop(turn->seat);
	turn_seat_drop_wants(turn);
	turn_forms_drop(turn);
}

/* As long as the turn: a process that serves it may be gone earlier. */
static const char *const *turn_copy_layers(struct agent_turn *turn)
{
	const char *const *layers = agent_turn_layers(turn);
	return layers && turn->seat ? arena_dup_list(&turn->arena, layers) : layers;
}

void turn_tell_end(struct agent_turn *turn, const perch_result *result)
{
	const struct agent_profile *profile = turn->options.profile;
	const struct agent_exit exit = {
		.clock = turn->clock,
		.timeout_ns = turn->timeout_ns,
		.cancelled_by = turn->cancelled_by,
		.status = result->status_known && !result->signal ? result->exit_code : -1,
		.signal = result->signal,
		.send_error_reply = profile->send_error_reply,
		.include_stderr = profile->include_stderr_in_reply,
		.stderr_tail = turn_stderr_tail(turn),
	};
	struct agent_verdict verdict;
	agent_note_exit(turn->options.trace, &exit);
	agent_engine_conclude(turn->engine, &exit, &verdict);
	agent_note_verdict(turn->options.trace, &verdict, &turn->partials);
	const char *advice = exit.status > 0 ? command_quotes_advice(profile) : NULL;
	const perch_agent_end end = {
		.success = verdict.exit_code == 0,
		.exit_code = verdict.exit_code,
		.status = exit.status,
		.signal = result->signal,
		.timed_out = turn->timeout_ns != 0,
		.cancelled = turn->cancelled_by != 0,
		.duration_ns = result->duration_ns,
		.session_id = turn_session_of(turn),
		.body = verdict.body.data,
		.body_len = verdict.body.len,
		.stderr_tail = exit.stderr_tail.data,
		.stderr_len = exit.stderr_tail.len,
		.hint = turn_hint(turn, verdict.exit_code, exit.stderr_tail),
		.sandbox = turn_copy_layers(turn),
		.reach = result->reach,
		.background = result->background,
		.usage = *agent_engine_usage(turn->engine),
		.stop_reason = agent_engine_stop_reason(turn->engine),
	};
	if (advice)
		TELL(turn, warning, turn, str_from(advice));
	for (size_t i = 0; i < verdict.error_count; i++)
		TELL(turn, error, turn, verdict.errors[i].code, verdict.errors[i].text);
	if (verdict.exit_code == 0 && !verdict.has_reply && !turn->partials.count)
		TELL(turn, warning, turn, STR("the agent has said nothing, and exited as if all was well"));
	if (verdict.has_reply)
		TELL(turn, reply, turn, verdict.reply);
	TELL(turn, end, turn, &end);
}

/* ---- from the process ----------------------------------------------------------- */

void turn_heard(struct agent_turn *turn)
{
	turn->heard_ns = loop_now_ns(&turn->host->loop);
	turn_tell_start(turn);
}

static void turn_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)stream;
	struct agent_turn *turn = turn_enter(data);
	turn_heard(turn);
	if (!turn->is_over) {
		trace_child_line(turn->options.trace, TRACE_FROM_PLUGIN, line);
		agent_engine_line(turn->engine, line->data, line->len, line->flags & PERCH_LINE_TOO_LONG);
	}
	if (!turn->is_over && agent_engine_is_broken(turn->engine))
		perch_child_signal(child, SIGKILL);
	turn_leave(turn);
}

void turn_take_bytes(struct agent_turn *turn, const char *bytes, size_t len)
{
	turn_enter(turn);
	turn_heard(turn);
	if (!turn->is_over) {
		trace_child_bytes(turn->options.trace, bytes, len);
		tail_append(&turn->tail, bytes, len);
		if (turn->options.stderr_bytes)
			turn->options.stderr_bytes(turn->options.data, bytes, len);
	}
	turn_leave(turn);
}

static void turn_on_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)child;
	(void)stream;
	turn_take_bytes(data, bytes, len);
}

static void turn_on_exited(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	(void)result;
	struct agent_turn *turn = turn_enter(data);
	turn_tell_start(turn);
	turn_clocks_stop(turn);
	turn->has_exited = true;
	turn_leave(turn);
}

static void turn_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct agent_turn *turn = turn_enter(data);
	turn_tell_start(turn);
	turn_tell_end(turn, result);
	turn_leave(turn);
}

static const perch_child_events child_events = {
	.size = sizeof(child_events),
	.line = turn_on_line,
	.bytes = turn_on_bytes,
	.exited = turn_on_exited,
	.ended = turn_on_ended,
};

/* ---- for the caller ---------------------------------------------------------------- */

static int turn_make_engine(struct agent_turn *turn)
{
	const struct agent_turn_options *options = &turn->options;
	const struct agent_profile *profile = options->profile;
	turn->engine_options = (struct agent_engine_options){
		.dialect = turn->dialect,
		.session_prefix = str_from(profile->session_prefix),
		.is_guessed = profile->evidence == DIALECT_UNSAID,
		.is_streaming = profile->streaming && !options->no_stream,
		.has_permission = profile->permission,
		.max_reply_chars = profile->max_reply_chars,
		.max_tokens = profile->max_turn_tokens,
		.truncation_suffix = str_from(profile->truncation_suffix),
		.line_limit = options->line_limit ? options->line_limit : AGENT_LINE_LIMIT,
		.total_limit = options->total_limit ? options->total_limit : AGENT_TOTAL_LIMIT,
	};
	return agent_engine_new(&turn->engine_options, &turn_effects, turn, &turn->engine);
}

/* A stream that is paused does not end, nor does its child: so a turn that is to be quiet is. */
static void turn_hold_stream(struct agent_turn *turn, perch_stream stream, bool is_held)
{
	if (turn->child && is_held)
		perch_child_pause(turn->child, stream);
	else if (turn->child)
		perch_child_resume(turn->child, stream);
}

static void turn_hold_streams(struct agent_turn *turn)
{
	bool is_quiet = turn->options.is_quiet;
	bool shows_stderr = turn->options.stderr_bytes;
	turn_hold_stream(turn, PERCH_STDOUT, turn->is_held || is_quiet);
	turn_hold_stream(turn, PERCH_STDERR, (turn->is_held && shows_stderr) || is_quiet);
}

int agent_turn_start(perch_host *host, const struct agent_turn_options *options,
	struct agent_turn **ret_turn, perch_err *err)
{
	struct agent_turn *turn = calloc(1, sizeof(*turn));
	if (!turn)
		return err_no_memory(err);
	turn->options = *options;
	if (!turn->options.session_id)
		turn->options.session_id = "";
	if (!turn->options.own_env)
		turn->options.own_env = (const char *const *)environ;
	turn->host = host;
	turn->dialect = dialect_of(options->profile->dialect);
	turn->tail.limit = STDERR_TAIL;
	turn->begun.due = turn_begun_due;
	int r = turn_clocks_promise(turn);
	if (r == 0)
		r = turn_make_engine(turn);
	if (r < 0) {
		agent_turn_free(turn);
		return err_no_memory(err);
	}
	turn_launch(turn, &child_events);
	turn_clocks_start(turn);
	if (turn->options.is_quiet)
		turn_hold_streams(turn);
	*ret_turn = turn;
	return 0;
}

/* A turn that has timed out stays so; an agent that has exited by itself has answered. */
void agent_turn_cancel(struct agent_turn *turn, int signal)
{
	if ((!turn->child && !turn->seat) || turn->has_exited)
		return;
	if (!turn->timeout_ns && !turn->cancelled_by) {
		turn->cancelled_by = signal;
		timer_cancel(&turn->host->loop.timers, &turn->wall);
		timer_cancel(&turn->host->loop.timers, &turn->idle);
		agent_note_cancel(turn->options.trace, signal);
		agent_engine_deny_all(turn->engine, STR(AGENT_CANCELLED));
	}
	turn_stop(turn);
}

void agent_turn_hold(struct agent_turn *turn, bool is_held)
{
	turn->is_held = is_held;
	turn->heard_ns = clock_now_ns();
	turn_hold_streams(turn);
	if (turn->seat)
		seat_hold(turn->seat, is_held);
}

void agent_turn_show(struct agent_turn *turn)
{
	if (!turn || !turn->options.is_quiet)
		return;
	turn->options.is_quiet = false;
	turn->heard_ns = clock_now_ns();
	turn_hold_streams(turn);
	timer_set(&turn->host->loop.timers, &turn->begun, TIMER_LAST);
}

void agent_turn_permit(
	struct agent_turn *turn, struct str request_id, bool allowed, struct str message)
{
	turn_permit(turn, request_id, allowed, message);
	turn->heard_ns = clock_now_ns();
	if (!turn->is_over && agent_engine_is_broken(turn->engine))
		turn_stop(turn); /* the agent would wait for its answer for ever */
}

void agent_turn_choose(
	struct agent_turn *turn, struct str request_id, bool allowed, struct str option)
{
	agent_note_permit(turn->options.trace, request_id, allowed, option);
	turn_seat_permit(turn, request_id, allowed, option);
	turn->heard_ns = clock_now_ns();
}

const char *const *agent_turn_layers(const struct agent_turn *turn)
{
	const struct sandbox *sandbox = turn_sandbox(turn);
	return sandbox ? sandbox_layers(sandbox) : NULL;
}

/* The child and the clocks are gone at once; the rest when no call works with it any more. */
void agent_turn_free(struct agent_turn *turn)
{
	if (!turn)
		return;
	if (!turn->is_over)
		turn_clocks_release(turn);
	perch_child_free(turn->child);
	turn->child = NULL;
	turn->is_over = true;
	turn_seat_drop_wants(turn);
	turn_forms_drop(turn);
	seat_free(steal(&turn->seat));
	if (turn->entered)
		return;
	sandbox_close(turn->sandbox);
	agent_engine_free(turn->engine);
	launch_free(&turn->launch);
	buf_free(&turn->tail.kept);
	buf_free(&turn->hint);
	buf_free(&turn->unreached);
	arena_free(&turn->arena);
	free(turn);
}
