/* How a turn is told. */
#include "cli/agent/agent_run.h"

#include <unistd.h>

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

void agent_tell_start(struct agent_tell *tell, const struct agent_turn_options *options)
{
	const struct turn_report report = agent_tell_report_of(tell);
	if (tell->cli->json)
		turn_report_start(&report, options->profile, options->session_id, options->session_name);
}

void agent_tell_partial(struct agent_tell *tell, struct str text, struct str raw)
{
	const struct turn_report report = agent_tell_report_of(tell);
	agent_asker_give_way(tell->asker);
	if (tell->cli->json)
		turn_report_partial(&report, text);
	else if (tell->cli->is_agentproc)
		agentproc_partial(tell->cli, tell->dialect, text, raw);
	else
		agent_print_text(&tell->print, text);
}

void agent_tell_session(struct agent_tell *tell, struct str id)
{
	const struct turn_report report = agent_tell_report_of(tell);
	if (tell->cli->json)
		turn_report_session(&report, id);
	else if (tell->cli->is_agentproc)
		agentproc_session(tell->cli, tell->dialect, id);
	else if (tell->cli->verbose)
		agent_asker_note(tell->asker, &tell->print, "session", id);
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

void agent_tell_reply(struct agent_tell *tell, struct str text)
{
	const struct turn_report report = agent_tell_report_of(tell);
	if (tell->cli->json)
		turn_report_reply(&report, text);
	else
		agent_print_reply(&tell->print, text);
}

void agent_tell_permission(struct agent_tell *tell, const struct agent_permission *permission)
{
	const struct turn_report report = agent_tell_report_of(tell);
	if (tell->cli->json)
		turn_report_permission(&report, permission);
	else
		agent_print_make_way(&tell->print);
}

void agent_tell_end(struct agent_tell *tell, const perch_agent_end *end)
{
	const struct turn_report report = agent_tell_report_of(tell);
	if (tell->cli->json) {
		turn_report_end(&report, end);
		return;
	}
	if (end->hint[0] && !tell->cli->is_agentproc)
		agent_print_hint(&tell->print, str_from(end->hint));
	agent_print_end(&tell->print);
	if (tell->cli->is_agentproc)
		agentproc_end(tell->cli, end, &tell->agentproc_error);
}

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
