/* include/perch/agent.h on top of the profile and the turn: options are checked,
 * and texts get a NUL behind them. */
#include "perch/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/dialect.h"
#include "agent/turn.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/sized.h"
#include "base/utf8.h"

/* ---- profiles ------------------------------------------------------------------ */

struct perch_agent_profile {
	struct arena arena;
	struct agent_profile profile;
};

int perch_agent_profile_load(const char *path, perch_agent_profile **ret_profile, perch_err *err)
{
	perch_agent_profile *profile = calloc(1, sizeof(*profile));
	if (!profile)
		return err_no_memory(err);
	int r = agent_profile_read(path, &profile->arena, &profile->profile, err);
	if (r == 0)
		r = agent_profile_grant(NULL, &profile->arena, &profile->profile, err);
	if (r < 0) {
		perch_agent_profile_free(profile);
		return r;
	}
	*ret_profile = profile;
	return 0;
}

const char *const *perch_agent_profile_warnings(const perch_agent_profile *profile)
{
	return profile->profile.warnings;
}

void perch_agent_profile_free(perch_agent_profile *profile)
{
	if (!profile)
		return;
	arena_free(&profile->arena);
	free(profile);
}

/* ---- what a turn tells ----------------------------------------------------------- */

struct perch_agent_turn {
	struct agent_turn *turn;
	perch_agent_events events;
	void *data;
	struct buf texts[4]; /* with a NUL: for one call */
};

/* NULL without memory for a copy: then the event is lost. */
static const char *agent_api_terminated(perch_agent_turn *turn, int which, struct str text)
{
	struct buf *buf = &turn->texts[which];
	buf_clear(buf);
	buf_append(buf, text.data, text.len);
	return buf_terminate(buf) < 0 ? NULL : buf->data;
}

static void agent_api_on_started(void *data, struct agent_turn *inner)
{
	(void)inner;
	perch_agent_turn *turn = data;
	if (turn->events.started)
		turn->events.started(turn, turn->data);
}

static void agent_api_on_partial(
	void *data, struct agent_turn *inner, struct str text, struct str raw)
{
	(void)inner;
	(void)raw;
	perch_agent_turn *turn = data;
	const char *copy = turn->events.partial ? agent_api_terminated(turn, 0, text) : NULL;
	if (copy)
		turn->events.partial(turn, turn->data, copy, text.len);
}

static void agent_api_on_thinking(
	void *data, struct agent_turn *inner, struct str text, struct str raw)
{
	(void)inner;
	(void)raw;
	perch_agent_turn *turn = data;
	const char *copy = turn->events.thinking ? agent_api_terminated(turn, 0, text) : NULL;
	if (copy)
		turn->events.thinking(turn, turn->data, copy, text.len);
}

static void agent_api_on_usage(void *data, struct agent_turn *inner, struct str json)
{
	(void)inner;
	perch_agent_turn *turn = data;
	const char *copy = turn->events.usage ? agent_api_terminated(turn, 0, json) : NULL;
	if (copy)
		turn->events.usage(turn, turn->data, copy, json.len);
}

static void agent_api_on_session(void *data, struct agent_turn *inner, struct str id)
{
	(void)inner;
	perch_agent_turn *turn = data;
	const char *copy = turn->events.session ? agent_api_terminated(turn, 0, id) : NULL;
	if (copy)
		turn->events.session(turn, turn->data, copy);
}

static void agent_api_on_warning(void *data, struct agent_turn *inner, struct str text)
{
	(void)inner;
	perch_agent_turn *turn = data;
	const char *copy = turn->events.warning ? agent_api_terminated(turn, 0, text) : NULL;
	if (copy)
		turn->events.warning(turn, turn->data, copy);
}

static void agent_api_on_error(
	void *data, struct agent_turn *inner, const char *code, struct str text)
{
	(void)inner;
	perch_agent_turn *turn = data;
	const char *copy = turn->events.error ? agent_api_terminated(turn, 0, text) : NULL;
	if (copy)
		turn->events.error(turn, turn->data, code, copy);
}

static void agent_api_on_reply(void *data, struct agent_turn *inner, struct str text)
{
	(void)inner;
	perch_agent_turn *turn = data;
	const char *copy = turn->events.reply ? agent_api_terminated(turn, 0, text) : NULL;
	if (copy)
		turn->events.reply(turn, turn->data, copy, text.len);
}

static void agent_api_on_permission(
	void *data, struct agent_turn *inner, const struct agent_permission *permission)
{
	perch_agent_turn *turn = data;
	const perch_agent_permission told = {
		.request_id = agent_api_terminated(turn, 0, permission->request_id),
		.tool_name = agent_api_terminated(turn, 1, permission->tool_name),
		.input = agent_api_terminated(turn, 2, permission->input),
		.description = agent_api_terminated(turn, 3, permission->description),
	};
	bool is_whole = told.request_id && told.tool_name && told.input && told.description;
	if (turn->events.permission && is_whole)
		turn->events.permission(turn, turn->data, &told);
	else
		agent_turn_permit(inner, permission->request_id, false, (struct str){ 0 });
}

static void agent_api_on_end(void *data, struct agent_turn *inner, const perch_agent_end *end)
{
	(void)inner;
	perch_agent_turn *turn = data;
	if (turn->events.end)
		turn->events.end(turn, turn->data, end);
}

static void agent_api_on_activity(
	void *data, struct agent_turn *inner, const char *what, struct str json)
{
	(void)inner;
	perch_agent_turn *turn = data;
	const char *copy = turn->events.activity ? agent_api_terminated(turn, 0, json) : NULL;
	if (copy)
		turn->events.activity(turn, turn->data, what, copy, json.len);
}

static const struct agent_turn_events inner_events = {
	.started = agent_api_on_started,
	.partial = agent_api_on_partial,
	.thinking = agent_api_on_thinking,
	.usage = agent_api_on_usage,
	.activity = agent_api_on_activity,
	.session = agent_api_on_session,
	.warning = agent_api_on_warning,
	.error = agent_api_on_error,
	.reply = agent_api_on_reply,
	.permission = agent_api_on_permission,
	.end = agent_api_on_end,
};

/* ---- turns ------------------------------------------------------------------------- */

static int agent_api_check_attachments(const perch_agent_turn_options *options, perch_err *err)
{
	for (size_t i = 0; i < options->attachment_count; i++) {
		const perch_attachment *given = &options->attachments[i];
		if ((unsigned)given->kind > PERCH_ATTACHMENT_VIDEO || !given->url)
			return err_set(err, -EINVAL, "attachments[%zu] has %s", i,
				given->url ? "a kind that does not exist" : "no url");
	}
	return 0;
}

static int agent_api_check_env(const char *const *env, perch_err *err)
{
	for (size_t i = 0; env && env[i]; i++) {
		size_t len = strcspn(env[i], "=");
		if (!len || !env[i][len])
			return err_set(err, -EINVAL, "env[%zu] must be NAME=VALUE, not '%.*s'", i,
				utf8_quoted(str_from(env[i])), env[i]);
	}
	return 0;
}

static int agent_api_check_options(const perch_agent_turn_options *options, perch_err *err)
{
	if (!options->profile || !options->events)
		return err_set(err, -EINVAL, "a turn needs a profile and events");
	const struct dialect *dialect = dialect_of(options->profile->profile.dialect);
	struct str id = str_from(options->session_id);
	if (id.len && !dialect->is_session_id(id))
		return err_set(
			err, -EINVAL, "session_id cannot be the id of a session: %s", dialect->session_id_rule);
	int r = agent_api_check_env(options->env, err);
	return r < 0 ? r : agent_api_check_attachments(options, err);
}

static struct agent_turn_options agent_api_inner_options(
	perch_agent_turn *turn, const perch_agent_turn_options *options)
{
	return (struct agent_turn_options){
		.profile = &options->profile->profile,
		.message = { options->message, options->message ? options->message_len : 0 },
		.session_id = options->session_id,
		.session_name = options->session_name,
		.from = options->from,
		.attachments = options->attachments,
		.attachment_count = options->attachment_count,
		.cwd = options->cwd,
		.env = options->env,
		.has_timeout = options->has_timeout,
		.timeout_ns = options->timeout_ns,
		.spent_ns = options->spent_ns,
		.no_stream = options->no_stream,
		.allow_shell_message = options->allow_shell_message,
		.line_limit = options->line_limit,
		.total_limit = options->total_limit,
		.events = &inner_events,
		.data = turn,
	};
}

int perch_agent_turn_start(perch_host *host, const perch_agent_turn_options *options,
	perch_agent_turn **ret_turn, perch_err *err)
{
	perch_agent_turn_options copy = PERCH_AGENT_TURN_OPTIONS_INIT;
	int r =
		sized_copy(&copy, sizeof(copy), options, SIZED_UP_TO(perch_agent_turn_options, data), err);
	if (r == 0)
		r = agent_api_check_options(&copy, err);
	if (r < 0)
		return r;
	perch_agent_turn *turn = calloc(1, sizeof(*turn));
	if (!turn)
		return err_no_memory(err);
	/* A callback that a newer program sets and this library does not know is never called. */
	sized_copy(&turn->events, sizeof(turn->events), copy.events,
		SIZED_UP_TO(perch_agent_events, end), NULL);
	turn->data = copy.data;
	const struct agent_turn_options inner = agent_api_inner_options(turn, &copy);
	r = agent_turn_start(host, &inner, &turn->turn, err);
	if (r < 0) {
		perch_agent_turn_free(turn);
		return r;
	}
	*ret_turn = turn;
	return 0;
}

void perch_agent_turn_cancel(perch_agent_turn *turn, int signal)
{
	agent_turn_cancel(turn->turn, signal);
}

void perch_agent_turn_hold(perch_agent_turn *turn, bool is_held)
{
	agent_turn_hold(turn->turn, is_held);
}

void perch_agent_turn_permit(
	perch_agent_turn *turn, const char *request_id, bool allowed, const char *message)
{
	agent_turn_permit(turn->turn, str_from(request_id), allowed, str_from(message));
}

void perch_agent_turn_free(perch_agent_turn *turn)
{
	if (!turn)
		return;
	agent_turn_free(turn->turn);
	for (size_t i = 0; i < COUNT(turn->texts); i++)
		buf_free(&turn->texts[i]);
	free(turn);
}
