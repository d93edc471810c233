/* The turns of a bridge as events. */

#include "agent/bridge.h"
#include "events/turn_report.h"

static struct turn_report bridge_report_of(void *data)
{
	return (struct turn_report){ bridge_turn_data(data), bridge_turn_id(data) };
}

static void bridge_report_on_started(void *data, struct agent_turn *turn)
{
	(void)turn;
	const struct agent_turn_options *options = bridge_turn_options(data);
	struct turn_report report = bridge_report_of(data);
	turn_report_start(&report, options->profile, options->session_id, options->session_name);
	for (const char *const *warning = options->profile->warnings; *warning; warning++)
		turn_report_warning(&report, str_from(*warning));
}

static void bridge_report_on_partial(
	void *data, struct agent_turn *turn, struct str text, struct str raw)
{
	(void)turn, (void)raw;
	struct turn_report report = bridge_report_of(data);
	turn_report_partial(&report, text);
}

static void bridge_report_on_session(void *data, struct agent_turn *turn, struct str id)
{
	(void)turn;
	struct turn_report report = bridge_report_of(data);
	turn_report_session(&report, id);
}

static void bridge_report_on_warning(void *data, struct agent_turn *turn, struct str text)
{
	(void)turn;
	struct turn_report report = bridge_report_of(data);
	turn_report_warning(&report, text);
}

static void bridge_report_on_error(
	void *data, struct agent_turn *turn, const char *code, struct str text)
{
	(void)turn;
	struct turn_report report = bridge_report_of(data);
	turn_report_error(&report, code, text);
}

static void bridge_report_on_reply(void *data, struct agent_turn *turn, struct str text)
{
	(void)turn;
	struct turn_report report = bridge_report_of(data);
	turn_report_reply(&report, text);
}

static void bridge_report_on_end(void *data, struct agent_turn *turn, const perch_agent_end *end)
{
	(void)turn;
	struct turn_report report = bridge_report_of(data);
	turn_report_end(&report, end);
}

const struct agent_turn_events bridge_report_events = {
	.started = bridge_report_on_started,
	.partial = bridge_report_on_partial,
	.session = bridge_report_on_session,
	.warning = bridge_report_on_warning,
	.error = bridge_report_on_error,
	.reply = bridge_report_on_reply,
	.end = bridge_report_on_end,
};
