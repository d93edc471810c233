/* How a turn is told. */
#include "cli/agent/agent_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "term/style.h"

static struct turn_report agent_tell_report_of(struct agent_tell *tell)
{
	return (struct turn_report){ .report = &tell->report };
}

void agent_tell_open(struct agent_tell *tell, const struct cli *cli, struct agent_asker *asker)
{
	*tell = (struct agent_tell){
		.cli = cli,
		.asker = asker,
		.outlet.source.fd = STDOUT_FILENO,
		.dialect = AGENT_0_4,
	};
	tell->report.outlet = &tell->outlet;
	agent_print_open(&tell->print, cli, &tell->outlet);
}

int agent_tell_attach(struct agent_tell *tell, struct loop *loop)
{
	int r = outlet_open(&tell->outlet, loop, STDOUT_FILENO, NULL);
	return r < 0 ? r : stderr_outlet_open(&tell->stderr_outlet, loop, &tell->outlet);
}

bool agent_tell_waits(const struct agent_tell *tell)
{
	return outlet_waiting(&tell->outlet) || stderr_outlet_waiting(&tell->stderr_outlet);
}

bool agent_tell_is_full(const struct agent_tell *tell)
{
	return tell->outlet.is_full || stderr_outlet_is_full(&tell->stderr_outlet);
}

void agent_tell_hurry(struct agent_tell *tell, uint64_t patience_ns)
{
	outlet_hurry(&tell->outlet, patience_ns);
	stderr_outlet_hurry(&tell->stderr_outlet, patience_ns);
}

void agent_tell_warning(struct agent_tell *tell, struct str text)
{
	const struct turn_report report = agent_tell_report_of(tell);
	if (tell->cli->json)
		turn_report_warning(&report, text);
	else if (!tell->cli->is_raw)
		agent_asker_note(tell->asker, &tell->print, "warning", text);
}

void agent_tell_error(struct agent_tell *tell, const char *code, struct str text)
{
	const struct turn_report report = agent_tell_report_of(tell);
	if (tell->cli->json)
		turn_report_error(&report, code, text);
	else if (!tell->cli->is_agentproc)
		agent_asker_note(tell->asker, &tell->print, "error", text);
	if (!tell->cli->is_agentproc)
		return;
	agentproc_error(tell->cli, tell->dialect, text);
	agentproc_keep_error(&tell->agentproc_error, text);
}

/* The end of its stderr often says why. */
static void agent_tell_last_words(struct agent_tell *tell, const perch_agent_end *end)
{
	struct str lines = agent_last_lines(end);
	while (lines.len)
		agent_asker_note(tell->asker, &tell->print, "stderr", str_cut(&lines, '\n'));
}

void agent_tell_end(struct agent_tell *tell, const perch_agent_end *end)
{
	const struct turn_report report = agent_tell_report_of(tell);
	if (tell->cli->json) {
		turn_report_end(&report, end);
		return;
	}
	bool is_odd = end->success ? !tell->has_said : !end->cancelled;
	if (is_odd && !tell->cli->verbose && !tell->cli->is_agentproc)
		agent_tell_last_words(tell, end);
	char spent[AGENT_SPENT_MAX];
	if (tell->cli->verbose && !tell->cli->is_agentproc && agent_spent_words(&end->usage, spent))
		agent_asker_note(tell->asker, &tell->print, "usage", str_from(spent));
	if (end->hint[0] && !tell->cli->is_agentproc)
		agent_print_hint(&tell->print, str_from(end->hint));
	agent_print_end(&tell->print);
	if (tell->cli->is_agentproc)
		agentproc_end(tell->cli, end, &tell->agentproc_error);
}

/* ---- a job's events --------------------------------------------------------------- */

static void agent_tell_piece(struct agent_tell *tell, const perch_event *event)
{
	agent_asker_give_way(tell->asker);
	if (tell->cli->is_agentproc)
		agentproc_partial(tell->cli, tell->dialect, str_of(event->text), str_of(event->raw));
	else
		agent_print_text(&tell->print, str_of(event->text));
}

static void agent_tell_stderr(struct agent_tell *tell, struct str bytes)
{
	agent_tell_flush(tell);
	agent_asker_give_way(tell->asker);
	cli_pass(stderr, bytes);
}

/* ---- thinking ------------------------------------------------------------------------ */

enum agent_thinking agent_thinking_of(const char *word)
{
	bool is_seen = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
	if (word && strcmp(word, "show") == 0)
		return THINKING_SHOW;
	bool folds = !word || strcmp(word, "fold") == 0;
	return folds && is_seen ? THINKING_FOLD : THINKING_HIDE;
}

static struct look agent_tell_look(const struct agent_tell *tell)
{
	return (struct look){ .colored = cli_wants_color(tell->cli, stderr), .utf8 = cli_is_utf8() };
}

/* One dim line, which the next words take the place of. */
static void agent_tell_fold(struct agent_tell *tell)
{
	const struct look look = agent_tell_look(tell);
	if (tell->is_folded)
		return;
	agent_asker_give_way(tell->asker);
	agent_print_make_way(&tell->print);
	fprintf(stderr, "%sthinking%s%s", style_begin(&look, STYLE_HINT),
		style_glyph(&look, GLYPH_ELLIPSIS), style_end(&look, STYLE_HINT));
	tell->is_folded = true;
}

static void agent_tell_unfold(struct agent_tell *tell)
{
	if (tell->is_folded)
		fputs("\r\033[K", stderr);
	tell->is_folded = false;
}

static void agent_tell_thought_line(struct agent_tell *tell, struct str line)
{
	const struct look look = agent_tell_look(tell);
	fputs(style_begin(&look, STYLE_HINT), stderr);
	agent_asker_note(tell->asker, &tell->print, "thinking", line);
	fputs(style_end(&look, STYLE_HINT), stderr);
}

static void agent_tell_thought(struct agent_tell *tell, const perch_event *event)
{
	struct str rest = str_trim(str_of(event->text));
	if (tell->cli->is_agentproc)
		agent_tell_piece(tell, event);
	else if (tell->thinking == THINKING_FOLD)
		agent_tell_fold(tell);
	while (tell->thinking == THINKING_SHOW && !tell->cli->is_agentproc && rest.len)
		agent_tell_thought_line(tell, str_cut(&rest, '\n'));
}

/* What it does, while somebody wants to see all. */
static void agent_tell_activity(struct agent_tell *tell, const perch_event *event)
{
	_cleanup_(buf_free) struct buf words = { 0 };
	if (tell->cli->verbose && !tell->cli->is_agentproc && agent_activity_words(event, &words))
		agent_asker_note(
			tell->asker, &tell->print, event->code, (struct str){ words.data, words.len });
}

static void agent_tell_person(struct agent_tell *tell, const perch_event *event)
{
	const struct str text = str_of(event->text);
	if (event->kind != PERCH_EVENT_THINKING)
		agent_tell_unfold(tell);
	if (event->kind == PERCH_EVENT_PARTIAL || event->kind == PERCH_EVENT_REPLY)
		tell->has_said = true;
	switch (event->kind) {
	case PERCH_EVENT_PARTIAL:
		agent_tell_piece(tell, event);
		break;
	case PERCH_EVENT_THINKING:
		agent_tell_thought(tell, event);
		break;
	case PERCH_EVENT_SESSION:
		if (tell->cli->is_agentproc)
			agentproc_session(tell->cli, tell->dialect, text);
		else if (tell->cli->verbose)
			agent_asker_note(tell->asker, &tell->print, "session", text);
		break;
	case PERCH_EVENT_ACTIVITY:
		agent_tell_activity(tell, event);
		break;
	case PERCH_EVENT_REPLY:
		agent_print_reply(&tell->print, text);
		break;
	case PERCH_EVENT_WARNING:
		agent_tell_warning(tell, text);
		break;
	case PERCH_EVENT_ERROR:
		agent_tell_error(tell, event->code, text);
		break;
	case PERCH_EVENT_ASK:
		agent_print_make_way(&tell->print);
		break;
	case PERCH_EVENT_END:
		agent_tell_end(tell, event->end->turn);
		break;
	default:
		break;
	}
}

void agent_tell_event(struct agent_tell *tell, perch_job *job, const perch_event *event)
{
	perch_text line;
	if (event->kind == PERCH_EVENT_STDERR)
		agent_tell_stderr(tell, str_of(event->text));
	else if (!tell->cli->json)
		agent_tell_person(tell, event);
	else if (perch_event_json(job, event, NULL, &line) == 0)
		report_line(&tell->report, str_of(line));
	else
		tell->report.lost++;
}

/* ------------------------------------------------------------------------------------ */

void agent_tell_flush(struct agent_tell *tell)
{
	if (tell->cli->json)
		report_flush(&tell->report);
	else
		agent_asker_print(tell->asker, &tell->print);
}

void agent_tell_close(struct agent_tell *tell)
{
	stderr_outlet_close(&tell->stderr_outlet);
	outlet_close(&tell->outlet);
	report_free(&tell->report);
	agent_print_close(&tell->print);
	buf_free(&tell->agentproc_error);
}
