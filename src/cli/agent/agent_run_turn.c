/* The turn of perch agent run: its output, and what its session stores before that is told. */
#include "cli/agent/agent_run.h"

#include <string.h>

#include "base/err.h"

void agent_run_warn_of_profile(struct agent_run *run)
{
	for (const char *const *warning = run->profile.warnings; *warning; warning++)
		agent_tell_warning(&run->tell, str_from(*warning));
}

static void agent_run_on_forgotten(void *data, const char *id, int r, const perch_err *err)
{
	(void)id;
	struct agent_run *run = data;
	if (r < 0)
		agent_tell_warning(&run->tell, str_from(err->text));
}

/* Programs get the start first, people were warned before. */
static void agent_run_on_started(void *data, struct agent_turn *turn)
{
	(void)turn;
	struct agent_run *run = data;
	agent_tell_start(&run->tell, &run->options);
	if (run->cli->json)
		agent_run_warn_of_profile(run);
	if (run->words.is_new)
		agent_session_forget(&run->session, agent_run_on_forgotten, run);
}

static void agent_run_on_partial(
	void *data, struct agent_turn *turn, struct str text, struct str raw)
{
	(void)turn;
	struct agent_run *run = data;
	agent_tell_partial(&run->tell, run->profile.dialect, text, raw);
}

/* The id is stored before it is told. */
static void agent_run_on_stored(void *data, const char *id, int r, const perch_err *err)
{
	struct agent_run *run = data;
	if (r < 0)
		agent_tell_warning(&run->tell, str_from(err->text));
	if (id[0])
		agent_tell_session(&run->tell, str_from(id));
}

static void agent_run_on_session(void *data, struct agent_turn *turn, struct str id)
{
	(void)turn;
	struct agent_run *run = data;
	agent_session_said(&run->session, id, agent_run_on_stored, run);
}

static void agent_run_on_warning(void *data, struct agent_turn *turn, struct str text)
{
	(void)turn;
	struct agent_run *run = data;
	agent_tell_warning(&run->tell, text);
}

static void agent_run_on_error(
	void *data, struct agent_turn *turn, const char *code, struct str text)
{
	(void)turn;
	struct agent_run *run = data;
	agent_tell_error(&run->tell, code, text);
}

static void agent_run_on_reply(void *data, struct agent_turn *turn, struct str text)
{
	(void)turn;
	struct agent_run *run = data;
	agent_tell_reply(&run->tell, text);
}

static void agent_run_on_recorded(void *data, const char *id, int r, const perch_err *err)
{
	(void)id;
	struct agent_run *run = data;
	if (r < 0)
		agent_tell_warning(&run->tell, str_from(err->text));
	agent_tell_end(&run->tell, &run->end);
	run->is_over = true;
}

/* The end is stored before it is told. Its texts are the turn's, or stay. */
static void agent_run_tell_end(struct agent_run *run, const perch_agent_end *end, bool counts)
{
	agent_asker_end(&run->asker);
	run->is_ending = true;
	run->code = end->exit_code;
	run->end = *end;
	/* An agent that was not started has not changed the session. */
	run->stored = counts ? NULL : agent_session_id(&run->session);
	if (run->stored && !run->words.session)
		run->end.session_id = run->stored;
	agent_session_end(&run->session, counts, agent_run_on_recorded, run);
}

static void agent_run_on_end(void *data, struct agent_turn *turn, const perch_agent_end *end)
{
	(void)turn;
	bool has_run = end->status >= 0 || end->signal;
	agent_run_tell_end(data, end, has_run);
}

/* With --verbose, the text beside the reply. */
void agent_run_on_stderr(void *data, const char *bytes, size_t len)
{
	struct agent_run *run = data;
	agent_tell_flush(&run->tell);
	agent_asker_give_way(&run->asker);
	cli_pass(stderr, (struct str){ bytes, len });
}

static void agent_run_on_permission(
	void *data, struct agent_turn *turn, const struct agent_permission *permission)
{
	struct agent_run *run = data;
	agent_tell_permission(&run->tell, permission);
	run->asker.turn = turn;
	agent_asker_ask(&run->asker, permission);
}

const struct agent_turn_events agent_run_events = {
	.started = agent_run_on_started,
	.partial = agent_run_on_partial,
	.session = agent_run_on_session,
	.warning = agent_run_on_warning,
	.error = agent_run_on_error,
	.reply = agent_run_on_reply,
	.permission = agent_run_on_permission,
	.end = agent_run_on_end,
};

/* ---- the turn -------------------------------------------------------------------------- */

/* The turn ends before it could begin. */
void agent_run_end_early(struct agent_run *run, int code, const char *kind, const char *text)
{
	const perch_agent_end end = {
		.exit_code = code,
		.status = -1,
		.cancelled = strcmp(kind, "cancelled") == 0,
		.session_id = run->options.session_id,
		.hint = "",
		.reach = PERCH_REACH_GROUP,
	};
	agent_tell_error(&run->tell, kind, str_from(text));
	agent_run_tell_end(run, &end, false);
}

static void agent_run_begin_turn(struct agent_run *run, const char *stored_id)
{
	const char *id = run->words.is_new ? "" : stored_id;
	perch_err err = { 0 };
	if (!run->words.session)
		run->options.session_id = arena_dup(&run->arena, str_from(id));
	int r = run->options.session_id ? agent_turn_start(run->host, &run->options, &run->turn, &err)
									: err_no_memory(&err);
	if (r < 0)
		agent_run_end_early(run, EXIT_HOST, "start", err.text);
}

static void agent_run_session_ready(void *data, struct session_turn *turn, const char *id)
{
	struct agent_run *run = data;
	if (id)
		agent_run_begin_turn(run, id);
	else
		agent_run_end_early(run, EXIT_HOST, "session", session_turn_error(turn)->text);
}

int agent_run_begin(struct agent_run *run, perch_err *err)
{
	const struct session_key key = {
		.profile = run->profile.path,
		.from = run->options.from,
		.name = run->options.session_name,
	};
	if (run->words.no_store) {
		agent_run_begin_turn(run, "");
		return 0;
	}
	return agent_session_begin(&run->session, run->host, &key, agent_run_session_ready, run, err);
}
