/* The end of a turn: from what the agent said and how its process ended to an
 * exit code and what the user is told. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_engine_parts.h"
#include "base/clock.h"
#include "base/exit_status.h"
#include "base/utf8.h"

static struct str turn_verdict_text_of(const struct buf *buf)
{
	return (struct str){ buf->data, buf->len };
}

/* With a NUL behind it. Without memory for that it is lost. */
static struct str turn_verdict_body(struct agent_engine *engine)
{
	return buf_terminate(&engine->body) < 0 ? STR("") : turn_verdict_text_of(&engine->body);
}

/* The last of stderr behind a text, when the profile wants it. */
static void turn_verdict_append_stderr(struct buf *text, const struct agent_exit *exit)
{
	struct str tail = exit->stderr_tail;
	while (tail.len && (tail.data[tail.len - 1] == '\n' || tail.data[tail.len - 1] == '\r'))
		tail.len--;
	if (!exit->include_stderr || !tail.len)
		return;
	if (text->len)
		buf_append_text(text, "\n\n");
	utf8_append_replaced(text, tail.data, tail.len);
}

static struct buf *turn_verdict_add_error(
	struct agent_engine *engine, struct agent_verdict *verdict, const char *code)
{
	struct buf *text = &engine->said[verdict->error_count];
	verdict->errors[verdict->error_count++].code = code;
	return text;
}

static const char *const turn_verdict_timeouts[] = {
	[AGENT_CLOCK_TURN] = "the agent took longer than %g %s and was stopped",
	[AGENT_CLOCK_SILENCE] = "the agent said nothing for %g %s and was stopped",
	[AGENT_CLOCK_BUDGET] =
		"the session has used up its budget_secs (%g %s): begin a new one, or raise them",
};

static void turn_verdict_say_timeout(
	struct agent_engine *engine, const struct agent_exit *exit, struct agent_verdict *verdict)
{
	verdict->exit_code = EXIT_TIMED_OUT;
	if (!exit->send_error_reply)
		return;
	double seconds = (double)exit->timeout_ns / (double)NSEC_PER_SEC;
	buf_printf(turn_verdict_add_error(engine, verdict, "timeout"),
		turn_verdict_timeouts[exit->clock], seconds, clock_unit(exit->timeout_ns));
}

static void turn_verdict_say_exit(
	struct agent_engine *engine, const struct agent_exit *exit, struct agent_verdict *verdict)
{
	bool is_signal = exit->signal != 0;
	verdict->exit_code = is_signal ? EXIT_SIGNAL + exit->signal : exit->status;
	if (!is_signal && exit->status < 0)
		verdict->exit_code = EXIT_HOST;
	if (!exit->send_error_reply)
		return;
	struct buf *text = turn_verdict_add_error(engine, verdict, is_signal ? "signal" : "exit");
	if (is_signal)
		buf_printf(
			text, "the agent was ended by signal %d (%s)", exit->signal, strsignal(exit->signal));
	else if (exit->status < 0)
		buf_append_text(text, "how the agent ended is not known");
	else
		buf_printf(text, "the agent failed with exit status %d", exit->status);
}

static void turn_verdict_say_limit(struct agent_engine *engine, struct agent_verdict *verdict)
{
	verdict->exit_code = EXIT_FAILURE;
	bool is_line = engine->limit == LIMIT_LINE;
	buf_printf(turn_verdict_add_error(engine, verdict, "output_limit"),
		is_line ? "the agent wrote a line of more than %zu bytes and was stopped"
				: "the agent wrote more than %zu bytes and was stopped",
		is_line ? engine->options.line_limit : engine->options.total_limit);
}

/* A failed turn still reports what it has used. */
static void turn_verdict_say_tokens(struct agent_engine *engine, struct agent_verdict *verdict)
{
	verdict->exit_code = EXIT_FAILURE;
	buf_printf(turn_verdict_add_error(engine, verdict, "token_limit"),
		"the turn has used %" PRIu64 " tokens, more than max_turn_tokens of its profile allows "
		"(%" PRIu64 "), and was ended",
		engine->usage.total_tokens, engine->options.max_tokens);
}

/* The reply is cut first: text that perch adds does not count for its length. */
static void turn_verdict_make_reply(
	struct agent_engine *engine, const struct agent_exit *exit, struct agent_verdict *verdict)
{
	bool is_silent = engine->options.dialect->reply_needs_silence && engine->has_forwarded;
	struct str body = is_silent ? (struct str){ 0 } : turn_verdict_text_of(&engine->body);
	struct str suffix = engine->options.truncation_suffix;
	size_t taken;
	struct str first = body;
	if (engine->options.max_reply_chars)
		first = engine_first_chars(body, engine->options.max_reply_chars, &taken);
	buf_append(&engine->reply, first.data, first.len);
	if (first.len < body.len)
		buf_append(&engine->reply, suffix.data, suffix.len);
	turn_verdict_append_stderr(&engine->reply, exit);
	verdict->reply = turn_verdict_text_of(&engine->reply);
	verdict->has_reply = engine->reply.len > 0;
}

/* The order when several apply: an agent's own error is told in any case, but
 * the exit code is that of the first row that holds. */
static void turn_verdict_judge(
	struct agent_engine *engine, const struct agent_exit *exit, struct agent_verdict *verdict)
{
	if (engine->has_error) {
		verdict->exit_code = EXIT_FAILURE;
		buf_append(turn_verdict_add_error(engine, verdict, "agent_error"), engine->error.data,
			engine->error.len);
	}
	if (exit->timeout_ns) {
		turn_verdict_say_timeout(engine, exit, verdict);
	} else if (exit->cancelled_by) {
		verdict->exit_code = EXIT_SIGNAL + exit->cancelled_by;
		buf_append_text(turn_verdict_add_error(engine, verdict, "cancelled"), "cancelled");
	} else if (engine->is_broken) {
		verdict->exit_code = EXIT_HOST;
		buf_append_text(turn_verdict_add_error(engine, verdict, "memory"), "out of memory");
	} else if (engine->limit == LIMIT_TOKENS) {
		turn_verdict_say_tokens(engine, verdict);
	} else if (engine->limit) {
		turn_verdict_say_limit(engine, verdict);
	} else if (!engine->has_error && (exit->signal || exit->status != 0)) {
		turn_verdict_say_exit(engine, exit, verdict);
	}
}

static void turn_verdict_gather_errors(
	struct agent_engine *engine, const struct agent_exit *exit, struct agent_verdict *verdict)
{
	for (size_t i = 0; i < verdict->error_count; i++) {
		if (i + 1 == verdict->error_count)
			turn_verdict_append_stderr(&engine->said[i], exit);
		verdict->errors[i].text = turn_verdict_text_of(&engine->said[i]);
	}
}

/* Whether there was no memory for all that is to be told. */
static bool turn_verdict_has_lost_words(const struct agent_engine *engine)
{
	bool has_lost = engine->reply.failed;
	for (size_t i = 0; i < AGENT_ERRORS_MAX; i++)
		has_lost = has_lost || engine->said[i].failed;
	return has_lost;
}

void agent_engine_conclude(
	struct agent_engine *engine, const struct agent_exit *exit, struct agent_verdict *ret_verdict)
{
	struct agent_verdict verdict = { .body = turn_verdict_body(engine) };
	turn_verdict_judge(engine, exit, &verdict);
	turn_verdict_gather_errors(engine, exit, &verdict);
	if (verdict.exit_code == 0 || (engine->limit == LIMIT_TOKENS && engine->has_result))
		turn_verdict_make_reply(engine, exit, &verdict);
	if (turn_verdict_has_lost_words(engine)) {
		engine->is_broken = true;
		verdict =
			(struct agent_verdict){ .body = STR(""), .exit_code = EXIT_HOST, .error_count = 1 };
		verdict.errors[0] = (struct agent_error){ "memory", STR("out of memory") };
	}
	*ret_verdict = verdict;
}
