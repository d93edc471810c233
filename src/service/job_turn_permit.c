/* The permissions and questions of an agent: they are questions of its job, unless the user has
 * allowed the tool for good (registry/grants.h), for its session (agent/sessions.h) or for the
 * turn. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "registry/grants.h"
#include "service/event_members.h"
#include "service/job_turn.h"

/* ---- what was allowed before --------------------------------------------- */

/* The longest name of a tool that is remembered, in bytes. */
enum { PERMIT_TOOL_MAX = 200 };

/* Whether a name fits into one line and can be shown as it is. */
static bool job_turn_is_memorable(struct str tool)
{
	bool is_plain = tool.len > 0 && tool.len <= PERMIT_TOOL_MAX;
	for (size_t i = 0; i < tool.len && is_plain; i++)
		is_plain = (unsigned char)tool.data[i] >= ' ' && tool.data[i] != 0x7F;
	return is_plain;
}

static bool job_turn_lines_have(struct str lines, struct str tool)
{
	while (lines.len) {
		if (str_eq(str_cut(&lines, '\n'), tool))
			return true;
	}
	return false;
}

static bool job_turn_is_allowed(const perch_job *job, struct str tool)
{
	const struct turn_job *turn = &job->turn;
	const char *const *good = turn->options.profile->permits;
	for (; good && *good; good++) {
		if (str_is(tool, *good))
			return true;
	}
	if (job_turn_lines_have((struct str){ turn->permits.data, turn->permits.len }, tool))
		return true;
	return turn->session && !job->request.is_new &&
		job_turn_lines_have(str_from(session_turn_found(turn->session)->permits), tool);
}

/* ---- remembering --------------------------------------------------------- */

static void job_turn_kept(void *data, const char *tool, int r, const perch_err *err)
{
	(void)tool;
	if (r < 0)
		job_turn_warn(data, "that the tool is allowed is not stored", err);
}

static int job_turn_allow_in_session(perch_job *job, const char *tool, perch_err *err)
{
	(void)err;
	if (job->turn.session)
		session_turn_permit(job->turn.session, tool, job_turn_kept, job);
	return 0;
}

static int job_turn_allow_for_good(perch_job *job, const char *tool, perch_err *err)
{
	return grants_add_tool(job->turn.options.profile->path, tool, err);
}

/* The possible answers to a permission for which the agent offers none itself. */
static const struct permit_way {
	const char *id;
	const char *name;
	const char *kind;
	int (*remember)(perch_job *job, const char *tool, perch_err *err); /* NULL = not at all */
	bool is_operators; /* only for the user whose grants they are */
} permit_ways[] = {
	{ "yes", "yes", "allow_once", NULL, false },
	{ "session", "always in this session", "allow_always", job_turn_allow_in_session, false },
	{ "always", "always, in every session of this agent", "allow_always", job_turn_allow_for_good,
		true },
	{ "no", "no", "reject_once", NULL, false },
};

static void job_turn_remember(perch_job *job, const perch_ask *ask, const char *option)
{
	perch_err err = { 0 };
	for (size_t i = 0; i < COUNT(permit_ways); i++) {
		const struct permit_way *way = &permit_ways[i];
		if (strcmp(way->id, option) != 0 || !way->remember)
			continue;
		struct buf *lines = &job->turn.permits;
		buf_append(lines, ask->subject.data, ask->subject.len);
		buf_append_char(lines, '\n');
		if (way->remember(job, ask->subject.data, &err) < 0)
			job_turn_kept(job, NULL, err.code, &err);
	}
}

/* ---- the question -------------------------------------------------------- */

enum { OFFERED_MAX = 32 };

static perch_text job_turn_text(struct str text)
{
	return (perch_text){ text.data ? text.data : "", text.len };
}

/* The agent's own options, if it has some: then what is remembered is the agent's. */
static size_t job_turn_offer_own(
	const struct agent_permission *permission, perch_ask_option options[OFFERED_MAX])
{
	size_t count = 0;
	for (; count < permission->option_count && count < OFFERED_MAX; count++) {
		const struct agent_option *own = &permission->options[count];
		options[count] = (perch_ask_option){
			.id = job_turn_text(own->id),
			.name = job_turn_text(own->name),
			.kind = job_turn_text(own->kind),
		};
	}
	return count;
}

static size_t job_turn_offer(const perch_job *job, const struct agent_permission *permission,
	perch_ask_option options[OFFERED_MAX])
{
	struct str tool = permission->tool_name;
	size_t count = 0;
	if (permission->option_count)
		return job_turn_offer_own(permission, options);
	for (size_t i = 0; i < COUNT(permit_ways); i++) {
		const struct permit_way *way = &permit_ways[i];
		if ((way->remember && !job_turn_is_memorable(tool)) ||
			(way->is_operators && !job->service->exposure.is_all))
			continue;
		options[count++] = (perch_ask_option){
			.id = { way->id, strlen(way->id) },
			.name = { way->name, strlen(way->name) },
			.kind = { way->kind, strlen(way->kind) },
		};
	}
	return count;
}

void job_turn_permission(
	void *data, struct agent_turn *agent, const struct agent_permission *permission)
{
	perch_job *job = data;
	perch_ask_option options[OFFERED_MAX];
	const perch_ask ask = {
		.kind = PERCH_ASK_PERMISSION,
		.message = { "", 0 },
		.id = { permission->request_id.data, permission->request_id.len },
		.subject = { permission->tool_name.data, permission->tool_name.len },
		.description = { permission->description.data, permission->description.len },
		.detail = { permission->input.data, permission->input.len },
		.options = options,
		.option_count = job_turn_offer(job, permission, options),
		.patience_ns = job->turn.options.profile->permission_timeout_ns,
		.call = { permission->call.data, permission->call.len },
	};
	if (job_turn_is_allowed(job, permission->tool_name))
		agent_turn_permit(agent, permission->request_id, true, STR(""));
	else if (job->request.non_interactive)
		agent_turn_permit(agent, permission->request_id, false, STR("nobody is there to be asked"));
	else if (job_ask(job, &ask, 0) < 0)
		agent_turn_permit(agent, permission->request_id, false, STR("out of memory"));
}

/* A question of the agent is one as a plugin has it. */
void job_turn_question(
	void *data, struct agent_turn *agent, struct str request_id, const perch_question *question)
{
	perch_job *job = data;
	perch_answer nobody = PERCH_ANSWER_INIT;
	const perch_ask ask = {
		.kind = event_ask_kind(question),
		.message = question->message,
		.question = question,
		.id = { request_id.data, request_id.len },
		.subject = { "", 0 },
		.description = { "", 0 },
		.detail = { "", 0 },
		.patience_ns = job->turn.options.profile->permission_timeout_ns,
	};
	nobody.cancel = true;
	nobody.message = "nobody is there to be asked";
	if (job->request.non_interactive || job_ask(job, &ask, 0) < 0)
		agent_turn_answer(agent, request_id, &nobody, NULL);
}

/* One of its options says whether it is a yes. -EINVAL: it has no such option. */
static int job_turn_choice(
	const perch_ask *ask, const perch_answer *answer, bool *ret_yes, perch_err *err)
{
	*ret_yes = answer->yes && !answer->cancel;
	if (!answer->option)
		return 0;
	for (size_t i = 0; i < ask->option_count; i++) {
		const perch_ask_option *option = &ask->options[i];
		if (strcmp(option->id.data, answer->option) != 0)
			continue;
		*ret_yes = strncmp(option->kind.data, "allow", strlen("allow")) == 0;
		return 0;
	}
	return err_set(err, -EINVAL, "that question has no option '%.60s'", answer->option);
}

static int job_turn_answer_question(
	perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err)
{
	const struct str id = { ask->ask.id.data, ask->ask.id.len };
	int r = agent_turn_answer(job->turn.turn, id, answer, err);
	if (r == 0)
		job_ask_close(job, ask);
	return r;
}

int job_turn_answer(perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err)
{
	bool is_yes = false;
	if (ask->ask.question)
		return job_turn_answer_question(job, ask, answer, err);
	int r = job_turn_choice(&ask->ask, answer, &is_yes, err);
	if (r < 0)
		return r;
	const struct str id = { ask->ask.id.data, ask->ask.id.len };
	bool is_agents = job->turn.options.profile->dialect == AGENT_ACP;
	if (is_yes && answer->option && !is_agents)
		job_turn_remember(job, &ask->ask, answer->option);
	if (is_agents && answer->option)
		agent_turn_choose(job->turn.turn, id, is_yes, str_from(answer->option));
	else
		agent_turn_permit(job->turn.turn, id, is_yes, str_from(answer->message));
	job_ask_close(job, ask);
	return 0;
}
