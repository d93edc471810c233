/* What a run is of: the command, its plugin, its environment, its sandbox. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/environment.h"
#include "cli/granted.h"
#include "cli/session.h"
#include "plugins/confinement.h"
#include "registry/approval.h"

/* ---- may somebody be asked? ---------------------------------------------- */

static enum fledge_asking asking_of(const struct session *session)
{
	const char *given = session->cli->non_interactive;
	if (given && strcmp(given, "strict") == 0)
		return FLEDGE_DEMAND_DEFAULTS;
	if (cli_forbids_asking(session->cli) || !session->frontend->is_interactive)
		return FLEDGE_TAKE_DEFAULTS;
	return FLEDGE_ASK;
}

/* ---- what is run --------------------------------------------------------- */

/* A file of ours that is missing must not look like a command that is. */
int target_as_host_failure(int r)
{
	return r < 0 ? -EIO : r;
}

int target_find_command(struct session *session, const char *name, perch_err *err)
{
	int r = registry_read(&session->arena, &session->registry, err);
	if (r < 0)
		return target_as_host_failure(r);
	return registry_resolve(
		&session->registry, name, getenv("PATH"), &session->arena, &session->command, err);
}

/* What was approved decides what runs: a manifest that asks for more since then is
 * refused. Without a record there is nothing to compare with. */
static int check_approval(struct session *session, const struct manifest *manifest, perch_err *err)
{
	const char *name = session->command.owner->name;
	int r = grants_read(GRANT_PLUGIN, name, &session->arena, &session->grant, err);
	if (r < 0 || !session->grant.has_approval)
		return r;
	char excess[APPROVAL_EXCESS_MAX];
	approval_excess(&session->grant.approval, manifest, excess);
	if (!excess[0])
		return 0;
	return err_set(err, -EPERM,
		"the plugin '%s' is not what was approved: %s. To approve that: perch plugins allow %s "
		"--manifest",
		name, excess, name);
}

/* A command that nobody owns, or whose plugin has no manifest, is legacy. */
int target_read_manifest(struct session *session, perch_err *err)
{
	const struct registry_entry *owner = session->command.owner;
	if (!owner)
		return 0;
	int r = manifest_read(owner->directory, &session->arena, &session->manifest, err);
	bool is_missing = r == -ENOENT;
	if (r == 0)
		r = manifest_check_protocol(&session->manifest, err);
	session->is_protocol = r == 0 && session->manifest.protocol[0];
	if (r == 0 || is_missing)
		r = check_approval(session, is_missing ? NULL : &session->manifest, err);
	return target_as_host_failure(r);
}

void target_tell_registry_warnings(struct session *session)
{
	const char *const *warning = session->registry.warnings;
	for (; warning && *warning; warning++)
		session_tell(session, SHOWN_WARNING, *warning);
}

static const char *const *make_environment(struct session *session)
{
	const struct registry_entry *owner = session->command.owner;
	const char *extra[3] = { NULL };
	size_t count = 0;
	if (owner) {
		struct buf text = { 0 };
		buf_printf(&text, "FLEDGE_PLUGIN_DIR=%s", owner->directory);
		extra[count++] = arena_dup(&session->arena, (struct str){ text.data, text.len });
		buf_free(&text);
	}
	if (session->options.asking != FLEDGE_ASK)
		extra[count++] = "FLEDGE_NON_INTERACTIVE=1";
	if (!owner)
		unsetenv("FLEDGE_PLUGIN_DIR");
	if (session->is_protocol || session->sandbox)
		return confinement_environment(
			&session->grant.widening, session->cache, session->sandbox, extra, &session->arena);
	return environment_build(&session->arena, (const char *const *)environ, NULL, extra);
}

/* What it does not enforce, and what it does not let the plugin write. */
static void tell_of_sandbox(struct session *session, const char *note)
{
	const char *const *warning = session->sandbox ? sandbox_warnings(session->sandbox) : NULL;
	for (; warning && *warning; warning++)
		session_tell(session, SHOWN_WARNING, *warning);
	if (note)
		session_tell(session, SHOWN_WARNING, note);
}

/* With -v, what fails in the sandbox is explained. */
static int make_explanation(
	struct session *session, const struct confinement *confinement, perch_err *err)
{
	const struct registry_entry *owner = session->command.owner;
	if (!owner) /* nobody can be allowed more */
		return 0;
	_cleanup_free_ char *widen_by = str_join("perch plugins allow ", owner->name, " ", NULL);
	session->explain = (struct explain_context){
		.policy = &session->policy,
		.policy_name = "fledge",
		.widen_by = widen_by ? arena_dup(&session->arena, str_from(widen_by)) : NULL,
	};
	if (!session->explain.widen_by)
		return err_no_memory(err);
	session->options.explain = &session->explain;
	return confinement_policy(confinement, &session->arena, &session->policy, err);
}

/* A legacy plugin is confined only when its user says so. */
static bool is_confined(const struct session *session)
{
	return session->is_protocol || session->grant.widening.is_on;
}

/* What the plugin and its commands are confined to. */
static int make_sandbox(struct session *session, perch_err *err)
{
	struct fledge_run_options *options = &session->options;
	const char *note = NULL;
	if (session->command.owner)
		session->cache = confinement_cache(session->command.owner->name, &session->arena);
	struct confinement confinement = confinement_by(&options->granted);
	confinement.config = session->registry.config;
	confinement.project = options->directory ? options->directory : "";
	confinement.directory = options->plugin_dir;
	confinement.manifest = &session->manifest;
	confinement.widening = &session->grant.widening;
	confinement.cache = session->cache;
	confinement.shares_group = !session->is_protocol;
	confinement.ret_note = &note;
	int r = confinement_open(session->host, &confinement, &session->arena, &session->sandbox, err);
	if (r < 0)
		return r;
	options->confine = sandbox_confine(session->sandbox);
	options->layers = sandbox_layers(session->sandbox);
	tell_of_sandbox(session, note);
	return session->sandbox && session->cli->verbose ? make_explanation(session, &confinement, err)
													 : 0;
}

/* argv[0] is the path of the program, also for a legacy plugin. */
int target_prepare(struct session *session, char **argv, perch_err *err)
{
	int r = settings_read(
		session->cli, session->registry.config, &session->arena, &session->settings, err);
	if (r < 0)
		return target_as_host_failure(r);
	const struct registry_entry *owner = session->command.owner;
	struct fledge_run_options *options = &session->options;
	*options = (struct fledge_run_options){
		.command = argv[0],
		.path = session->command.path,
		.args = (const char *const *)argv + (session->is_protocol ? 1 : 0),
		.plugin_name = session->is_protocol ? session->manifest.name : argv[0],
		.plugin_version = session->is_protocol ? session->manifest.version : "",
		.plugin_dir = owner ? owner->directory : "",
		.directory = getcwd(session->directory, sizeof(session->directory)),
		.own_env = (const char *const *)environ,
		.asking = asking_of(session),
		.prompt_timeout_ns = (uint64_t)(session->settings.prompt_timeout * 1e9),
		.line_limit = (size_t)session->settings.line_limit,
		.exec_timeout_max = session->settings.exec_timeout_max,
		.shell = session->settings.shell,
		.frontend = session->frontend,
		.trace = session->trace,
	};
	if (owner && owner->has_capabilities)
		options->granted = owner->granted;
	options->granted = capabilities_in_force(&options->granted, &session->manifest.wishes);
	r = settings_answers(
		session->cli, &session->arena, &options->answers, &options->answer_count, err);
	granted_for_now(session->cli, &session->grant.widening);
	if (r == 0 && is_confined(session))
		r = make_sandbox(session, err);
	options->env = make_environment(session);
	if (r == 0 && !options->env)
		r = err_no_memory(err);
	argv[0] = (char *)session->command.path;
	return target_as_host_failure(r);
}
