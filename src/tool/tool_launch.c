/* Preparing the process of a binding, and cleaning up behind it. */
#include "tool/tool_launch.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/err.h"
#include "base/buf.h"
#include "base/fd.h"
#include "proc/host.h"
#include "sandbox/reuse/policy_memory.h"
#include "tool/secrets.h"
#include "tool/server_remote.h"
#include "tool/tool_confinement.h"

static const char DEFAULT_PATH[] = "/usr/local/bin:/usr/bin:/bin";

static void tool_launch_note_policy(
	struct launch *launch, const struct tool_binding *binding, const struct buf *cause)
{
	struct remembered *considered = policy_memory_consider(launch->host, cause, &launch->policy);
	const char *const *looked_up =
		considered ? tool_confinement_looked_up(binding, &launch->arena) : NULL;
	if (looked_up)
		policy_memory_note(launch->host, considered, &launch->policy, looked_up);
}

/* The policy is remembered, or made. */
static int tool_launch_find_policy(
	struct launch *launch, const struct tool_binding *binding, perch_err *err)
{
	_cleanup_(buf_free) struct buf cause = { 0 };
	bool has_cause = !launch->host->runs_once && tool_confinement_cause(binding, &cause) == 0;
	launch->remembered = has_cause ? policy_memory_take(launch->host, &cause) : NULL;
	if (launch->remembered) {
		launch->policy = *remembered_policy(launch->remembered);
		return 0;
	}
	int r = tool_confinement_policy(binding, &launch->arena, &launch->policy, err);
	if (r == 0 && has_cause)
		tool_launch_note_policy(launch, binding, &cause);
	return r;
}

static int tool_launch_open_sandbox(
	struct launch *launch, const struct tool_binding *binding, perch_err *err)
{
	sandbox_begin(launch->host, SANDBOX_OF_TOOL);
	int r = tool_launch_find_policy(launch, binding, err);
	if (r == 0)
		r = sandbox_open(launch->host, &launch->policy, &launch->sandbox, err);
	if (r < 0)
		return r;
	/* The policy is needed to explain a failure after the sandbox is gone. */
	launch->policy.protect = arena_dup_list(&launch->arena, sandbox_protected(launch->sandbox));
	return launch->policy.protect ? 0 : err_no_memory(err);
}

/* The private directory: the sandbox's, or one of ours. */
static int tool_launch_make_tmp(struct launch *launch, perch_err *err)
{
	launch->tmp = launch->sandbox ? sandbox_tmp(launch->sandbox) : NULL;
	if (launch->tmp)
		return 0;
	int r = private_dir_open(launch->host, &launch->private_dir, err);
	if (r == 0)
		launch->tmp = private_dir_path(launch->private_dir);
	return r;
}

/* ---- the environment ----------------------------------------------------- */

static const char *tool_launch_variable(struct arena *arena, const char *name, const char *value)
{
	return arena_join(arena, name, "=", value, NULL);
}

/* The variables of ours that the widening names. NULL without memory. */
static const char *const *tool_launch_kept_variables(
	struct arena *arena, const struct policy_widening *widening)
{
	size_t count = 0;
	while (environ[count])
		count++;
	const char **kept = arena_alloc(arena, (count + 1) * sizeof(*kept));
	size_t n = 0;
	for (size_t i = 0; kept && i < count; i++) {
		if (policy_keeps_variable(widening, environment_name(environ[i])))
			kept[n++] = environ[i];
	}
	if (kept)
		kept[n] = NULL;
	return kept;
}

/* Section 2 of the contract: these variables and no others. Those of the operator win over the
 * defaults. */
static int tool_launch_make_environment(struct launch *launch, const struct tool_binding *binding,
	const char *const *secrets, const char *const **ret_env, perch_err *err)
{
	struct arena *arena = &launch->arena;
	const char *path = getenv("PATH");
	const char *const basic[] = {
		tool_launch_variable(arena, "PATH", path ? path : DEFAULT_PATH),
		tool_launch_variable(arena, "TMPDIR", launch->tmp),
		tool_launch_variable(arena, "HOME", launch->tmp),
		"LANG=C.UTF-8",
		NULL,
	};
	const char *const *kept = tool_launch_kept_variables(arena, &binding->widening);
	if (!basic[0] || !basic[1] || !basic[2] || !kept)
		return err_no_memory(err);
	const char *const *env = environment_build(arena, basic, NULL, kept);
	env = env ? environment_build(arena, env, NULL, binding->env) : NULL;
	env = env ? environment_build(arena, env, NULL, secrets) : NULL;
	*ret_env = env;
	return env ? 0 : err_no_memory(err);
}

static const char *const *tool_launch_make_argv(
	struct launch *launch, const struct tool_binding *binding, const char *const *secrets)
{
	size_t count = 0;
	while (binding->args && binding->args[count])
		count++;
	const char **argv = arena_alloc(&launch->arena, (count + 2) * sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = binding->command;
	for (size_t i = 0; i < count; i++) {
		argv[i + 1] = secrets_fill(binding->args[i], secrets, &launch->arena);
		if (!argv[i + 1])
			return NULL;
	}
	argv[count + 1] = NULL;
	return argv;
}

/* The list must outlive the sandbox. */
static int tool_launch_copy_layers(struct launch *launch)
{
	const char *const *layers = launch->sandbox ? sandbox_layers(launch->sandbox) : NULL;
	size_t count = 0;
	while (layers && layers[count])
		count++;
	if (!count)
		return 0;
	const char **copy = arena_alloc(&launch->arena, (count + 1) * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i <= count; i++)
		copy[i] = layers[i] ? arena_dup(&launch->arena, str_from(layers[i])) : NULL;
	launch->layers = copy;
	return 0;
}

/* ---- start and end ------------------------------------------------------- */

int launch_prepare(struct launch *launch, perch_host *host, const struct tool_binding *given,
	perch_child_spec *spec, perch_err *err)
{
	_cleanup_fd_ int program = -1;
	struct tool_binding filled;
	const struct tool_binding *binding = &filled;
	launch->host = host;
	int r = server_remote_fill(given, host, &launch->arena, &filled, err);
	if (r == 0)
		r = pins_check(binding, &program, err);
	if (r == 0 && !binding->widening.is_off)
		r = tool_launch_open_sandbox(launch, binding, err);
	if (r == 0)
		r = tool_launch_make_tmp(launch, err);
	if (r < 0)
		return r;
	const char *const *secrets = NULL;
	r = server_secrets(binding, &launch->arena, &secrets, err);
	if (r == 0)
		r = tool_launch_make_environment(launch, binding, secrets, &spec->env, err);
	if (r < 0)
		return r;
	spec->argv = tool_launch_make_argv(launch, binding, secrets);
	if (!spec->argv || tool_launch_copy_layers(launch) < 0)
		return err_no_memory(err);
	spec->cwd = binding->directory && binding->directory[0] ? binding->directory : launch->tmp;
	spec->confine = launch->sandbox ? sandbox_confine(launch->sandbox) : NULL;
	if (program >= 0)
		spec->program_fd = launch->program = fd_steal(&program);
	return 0;
}

int launch_start(struct launch *launch, perch_host *host, const struct tool_binding *binding,
	const perch_child_spec *spec, perch_child **ret_child, perch_err *err)
{
	perch_child_spec whole = *spec;
	int r = launch_prepare(launch, host, binding, &whole, err);
	if (r == 0)
		r = perch_child_start(host, &whole, ret_child, err);
	launch_forget_program(launch);
	return r;
}

void launch_forget_program(struct launch *launch)
{
	if (launch->program > 0)
		close(launch->program);
	launch->program = 0;
}

bool launch_clean_some(struct launch *launch)
{
	if (launch->private_dir && !private_dir_leave_some(launch->host, launch->private_dir))
		return false;
	launch->private_dir = NULL;
	sandbox_close(launch->sandbox);
	launch->sandbox = NULL;
	return true;
}

void launch_close(struct launch *launch)
{
	while (!launch_clean_some(launch))
		;
	launch_forget_program(launch);
	remembered_release(launch->remembered);
	launch->remembered = NULL;
	arena_free(&launch->arena);
}
