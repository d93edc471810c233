/* What was heard of a turn. */
#include "harness/heard.h"

#include <signal.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/proc.h"
#include "harness/suite.h"

static void on_started(perch_agent_turn *turn, void *data)
{
	(void)turn;
	buf_append_text(&((struct heard *)data)->log, "start ");
}

static void on_partial(perch_agent_turn *turn, void *data, const char *text, size_t len)
{
	struct heard *heard = data;
	ck_assert_uint_eq(strlen(text), len);
	if (heard->partials++ < 20)
		buf_printf(&heard->log, "p(%s) ", text);
	if (heard->cancels_at_partial)
		perch_agent_turn_cancel(turn, SIGINT);
}

static void on_session(perch_agent_turn *turn, void *data, const char *id)
{
	(void)turn;
	buf_printf(&((struct heard *)data)->log, "s(%s) ", id);
}

static void on_warning(perch_agent_turn *turn, void *data, const char *text)
{
	(void)turn;
	(void)text;
	buf_append_text(&((struct heard *)data)->log, "w ");
}

static void on_error(perch_agent_turn *turn, void *data, const char *code, const char *text)
{
	(void)turn;
	buf_printf(&((struct heard *)data)->log, "!%s:%s ", code, text);
}

static void on_reply(perch_agent_turn *turn, void *data, const char *text, size_t len)
{
	(void)turn;
	(void)len;
	buf_printf(&((struct heard *)data)->log, "=%s ", text);
}

static void on_permission(
	perch_agent_turn *turn, void *data, const perch_agent_permission *permission)
{
	struct heard *heard = data;
	buf_printf(&heard->log, "?(%s,%s,%s) ", permission->request_id, permission->tool_name,
		permission->input);
	if (permission->description[0])
		buf_printf(&heard->log, "(%s) ", permission->description);
	if (heard->permits >= 0)
		perch_agent_turn_permit(turn, permission->request_id, heard->permits, "because");
}

static void on_thinking(perch_agent_turn *turn, void *data, const char *text, size_t len)
{
	(void)turn;
	ck_assert_uint_eq(strlen(text), len);
	buf_printf(&((struct heard *)data)->log, "~%s ", text);
}

static void on_usage(perch_agent_turn *turn, void *data, const char *json, size_t len)
{
	(void)turn;
	ck_assert_uint_eq(strlen(json), len);
	buf_printf(&((struct heard *)data)->log, "%%%s ", json);
}

static void on_end(perch_agent_turn *turn, void *data, const perch_agent_end *end)
{
	ck_assert_str_eq(end->hint, ""); /* no sandbox, nothing denied */
	(void)turn;
	struct heard *heard = data;
	buf_printf(&heard->log, "#%d [%s]", end->exit_code, end->session_id);
	heard->end = *end;
	heard->has_ended = true;
}

static const perch_agent_events events = {
	.size = sizeof(events),
	.started = on_started,
	.partial = on_partial,
	.session = on_session,
	.warning = on_warning,
	.error = on_error,
	.reply = on_reply,
	.permission = on_permission,
	.end = on_end,
	.thinking = on_thinking,
	.usage = on_usage,
};

const char *heard_log(struct heard *heard)
{
	buf_terminate(&heard->log);
	return heard->log.data;
}

perch_agent_profile *heard_load(const char *text)
{
	static const char *folder;
	folder = folder ? folder : folder_new();
	folder_write("bot.yaml", text);
	perch_agent_profile *profile;
	perch_err err = { 0 };
	int r = perch_agent_profile_load(folder_path("bot.yaml"), &profile, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return profile;
}

perch_agent_turn_options heard_options(
	const perch_agent_profile *profile, struct heard *heard, const char *message)
{
	perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
	options.profile = profile;
	options.message = message;
	options.message_len = strlen(message);
	options.events = &events;
	options.data = heard;
	return options;
}

perch_agent_turn *heard_start(perch_host *host, const perch_agent_turn_options *options)
{
	perch_agent_turn *turn;
	perch_err err = { 0 };
	int r = perch_agent_turn_start(host, options, &turn, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return turn;
}

void heard_profile(const char *profile_text, const char *message, struct heard *heard)
{
	perch_host *host = proc_host();
	perch_agent_profile *profile = heard_load(profile_text);
	const perch_agent_turn_options options = heard_options(profile, heard, message);
	perch_agent_turn *turn = heard_start(host, &options);
	ck_assert_uint_eq(heard->log.len, 0);
	proc_until(host, &heard->has_ended);
	perch_agent_turn_free(turn);
	perch_agent_profile_free(profile);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}
