/* Taking a turn: which profile, a copy of all that was asked, a place in its session. */
#include <errno.h>
#include <string.h>

#include "agent/dialect.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/paths.h"
#include "base/sized.h"
#include "proc/host.h"
#include "service/agent_files.h"
#include "service/job_turn.h"

/* ---- the profile --------------------------------------------------------- */

static int job_turn_unknown(const char *name, perch_err *err)
{
	return err_set(err, -ENOENT, "there is no agent '%.200s'", name);
}

static int job_turn_find_profile(perch_job *job, const char *given, char **ret_path, perch_err *err)
{
	const struct exposure *exposure = &job->service->exposure;
	const char *name = job->request.name;
	if (given && exposure->is_all) {
		*ret_path = str_dup(str_from(given));
		return *ret_path ? 0 : err_no_memory(err);
	}
	if (given || !name)
		return err_set(err, -EINVAL, "a turn needs the name of an agent");
	const char *file = agent_file_given(job->service->options.profiles, name);
	if (file) {
		*ret_path = str_dup(str_from(file));
		return *ret_path ? 0 : err_no_memory(err);
	}
	if (!job->keeper && !exposure_shows(exposure, PERCH_ENTRY_AGENT, name))
		return job_turn_unknown(name, err);
	int r = agent_file_path(name, ret_path, err);
	return r == -EINVAL ? job_turn_unknown(name, err) : r;
}

/* The operator's choice for this turn comes last. */
static void job_turn_confine(struct agent_profile *profile, perch_sandbox_choice choice)
{
	struct policy_widening *widening = &profile->widening;
	if (choice != PERCH_SANDBOX_AS_GRANTED) {
		widening->is_off = choice == PERCH_SANDBOX_OFF;
		widening->is_on = choice == PERCH_SANDBOX_ON;
	}
	if (widening->is_off || widening->is_on)
		profile->is_sandboxed = widening->is_on;
}

static int job_turn_speak(
	perch_job *job, struct agent_profile *profile, const char *protocol, perch_err *err)
{
	enum agent_dialect dialect;
	if (!protocol)
		return 0;
	if (!agent_dialect_find(protocol, &dialect))
		return err_set(err, -EINVAL, "there is no protocol '%.60s' of agents", protocol);
	return agent_profile_speak(&job->arena, profile, dialect, err);
}

/* perch's own programs lie beside its guard. */
static int job_turn_find_programs(perch_job *job, struct agent_profile *profile, perch_err *err)
{
	const char *guard = job->service->host->guard.path;
	const char *slash = guard ? strrchr(guard, '/') : NULL;
	if (!slash)
		return 0;
	profile->programs = arena_dup(&job->arena, (struct str){ guard, (size_t)(slash - guard) });
	return profile->programs ? 0 : err_no_memory(err);
}

/* Applies the grants to the profile, with every turn, so that what is allowed meanwhile counts from
 * the next one on. */
static int job_turn_amend(perch_job *job, const perch_job_request *given, perch_err *err)
{
	bool is_operator = job->service->exposure.is_all;
	struct agent_profile *own = arena_alloc(&job->arena, sizeof(*own));
	if (!own)
		return err_no_memory(err);
	*own = *cached_profile(job->turn.profile);
	job->turn.options.profile = own;
	int r = job_turn_speak(job, own, given->protocol, err);
	if (r == 0)
		r = job_turn_find_programs(job, own, err);
	if (r == 0)
		r = agent_profile_grant(NULL, &job->arena, own, err);
	if (r == 0)
		job_turn_confine(own, is_operator ? given->sandbox : PERCH_SANDBOX_AS_GRANTED);
	return r;
}

static int job_turn_take_profile(perch_job *job, const perch_job_request *request, perch_err *err)
{
	const char *given = request->profile;
	_cleanup_free_ char *path = NULL;
	int r = job_turn_find_profile(job, given, &path, err);
	if (r < 0)
		return r;
	r = profiles_take(&job->service->profiles, path, &job->turn.profile, err);
	if (r == -ENOENT && !given)
		return job_turn_unknown(job->request.name, err);
	if (r == 0)
		r = job_turn_amend(job, request, err);
	if (r < 0 && err)
		err->stage = "profile";
	return r;
}

/* ---- the copy ------------------------------------------------------------ */

static const char *job_turn_copy(perch_job *job, const char *text)
{
	return arena_dup(&job->arena, str_from(text));
}

static int job_turn_copy_attachments(perch_job *job, const perch_job_request *given, perch_err *err)
{
	size_t count = given->attachment_count;
	perch_attachment *copies = arena_alloc(&job->arena, count * sizeof(*copies));
	for (size_t i = 0; copies && i < count; i++) {
		const perch_attachment *one = &given->attachments[i];
		if ((unsigned)one->kind > PERCH_ATTACHMENT_VIDEO || !one->url)
			return err_set(err, -EINVAL, "attachments[%zu] has %s", i,
				one->url ? "a kind that does not exist" : "no url");
		copies[i] = (perch_attachment){
			.kind = one->kind,
			.url = job_turn_copy(job, one->url),
			.name = job_turn_copy(job, one->name ? one->name : ""),
		};
		if (!copies[i].url || !copies[i].name)
			return err_no_memory(err);
	}
	job->turn.options.attachments = copies;
	job->turn.options.attachment_count = count;
	return copies ? 0 : err_no_memory(err);
}

static int job_turn_copy_surroundings(
	perch_job *job, const perch_job_request *given, perch_err *err)
{
	struct agent_turn_options *options = &job->turn.options;
	for (size_t i = 0; given->env && given->env[i]; i++) {
		size_t len = strcspn(given->env[i], "=");
		if (!len || !given->env[i][len])
			return err_set(
				err, -EINVAL, "env[%zu] must be NAME=VALUE, not '%.100s'", i, given->env[i]);
	}
	options->env = given->env ? arena_dup_list(&job->arena, given->env) : NULL;
	options->cwd = given->cwd ? job_turn_copy(job, given->cwd) : NULL;
	options->context = given->context ? job_turn_copy(job, given->context) : NULL;
	if ((given->env && !options->env) || (given->cwd && !options->cwd) ||
		(given->context && !options->context))
		return err_no_memory(err);
	return job_turn_copy_attachments(job, given, err);
}

/* The clock, the limits and the id of the request, instead of the usual ones. */
static int job_turn_copy_turn(perch_job *job, const perch_agent_turn_options *given, perch_err *err)
{
	struct agent_turn_options *options = &job->turn.options;
	const struct dialect *dialect = dialect_of(options->profile->dialect);
	perch_agent_turn_options turn = PERCH_AGENT_TURN_OPTIONS_INIT;
	if (!given)
		return 0;
	int r =
		sized_copy(&turn, sizeof(turn), given, SIZED_UP_TO(perch_agent_turn_options, data), err);
	if (r < 0)
		return r;
	options->has_timeout = turn.has_timeout;
	options->timeout_ns = turn.timeout_ns;
	options->line_limit = turn.line_limit;
	options->total_limit = turn.total_limit;
	if (!turn.session_id || !turn.session_id[0])
		return 0;
	if (!dialect->is_session_id(str_from(turn.session_id))) {
		err_set(err, -EINVAL, "'%.64s' cannot be the id of a session: %s", turn.session_id,
			dialect->session_id_rule);
		if (err)
			err->stage = "session_id";
		return -EINVAL;
	}
	job->turn.given_id = job_turn_copy(job, turn.session_id);
	return job->turn.given_id ? 0 : err_no_memory(err);
}

static int job_turn_copy_request(perch_job *job, const perch_job_request *given, perch_err *err)
{
	struct agent_turn_options *options = &job->turn.options;
	const char *caller = given->caller.name ? given->caller.name : "";
	options->message.data =
		arena_dup(&job->arena, (struct str){ given->message, given->message_len });
	options->message.len = given->message_len;
	options->session_name = job_turn_copy(job, given->session ? given->session : "default");
	options->from = job_turn_copy(job, given->from ? given->from : caller);
	options->session_id = job->turn.given_id ? job->turn.given_id : "";
	options->no_stream = given->no_stream;
	options->allow_shell_message = given->allow_shell_message;
	job->request.is_new = given->is_new;
	job->request.shows_stderr = given->shows_stderr;
	if (!options->message.data || !options->session_name || !options->from)
		return err_no_memory(err);
	job->turn.key =
		(struct session_key){ options->profile->path, options->from, options->session_name };
	job->turn.key_hash = session_key_hash(&job->turn.key);
	return job_turn_copy_surroundings(job, given, err);
}

int job_turn_take(perch_job *job, const perch_job_request *request, perch_err *err)
{
	int r = job_turn_take_profile(job, request, err);
	if (r == 0)
		r = job_turn_copy_turn(job, request->turn, err);
	return r < 0 ? r : job_turn_copy_request(job, request, err);
}

/* ---- its place ----------------------------------------------------------- */

bool job_turn_is_behind(const perch_job *job, const perch_job *other)
{
	return other->turn.key_hash == job->turn.key_hash &&
		session_key_is(&other->turn.key, &job->turn.key);
}

/* One of the same session that is not over. */
static perch_job *job_turn_find(const perch_job *job, enum job_stage first, enum job_stage last)
{
	for (unsigned stage = (unsigned)first; stage <= (unsigned)last; stage++) {
		perch_job *other = list_first(&job->service->jobs[stage]);
		for (; other; other = list_next(other)) {
			if (other != job && other->kind == job->kind && job_turn_is_behind(job, other))
				return other;
		}
	}
	return NULL;
}

int job_turn_queue(perch_job *job, perch_err *err)
{
	perch_service *service = job->service;
	if (service->options.no_store) {
		job->stage = job_turn_find(job, JOB_BEHIND, JOB_RUNNING) ? JOB_BEHIND : JOB_READY;
		return 0;
	}
	int r = service_open_sessions(service, err);
	if (r == 0)
		r = session_turn_begin(
			service->stored.sessions, &job->turn.key, job_turn_ready, job, &job->turn.session, err);
	if (r < 0 && err)
		err->stage = "session";
	return r;
}

void job_turn_pass_on(perch_job *job)
{
	if (!job->service->options.no_store)
		return;
	perch_job *next = job_turn_find(job, JOB_BEHIND, JOB_BEHIND);
	if (next && !job_turn_find(job, JOB_READY, JOB_RUNNING))
		job_is_ready(next);
}
