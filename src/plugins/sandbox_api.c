/* include/perch/sandbox.h: a policy for any program. It stands here and not in src/sandbox because
 * it protects what decides other sandboxes. */
#include "plugins/sandbox_api.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/sized.h"
#include "plugins/plugin_confinement.h"
#include "registry/grants.h"
#include "sandbox/policy/explain.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/policy/way.h"
#include "sandbox/sandbox.h"

static const char *const sandbox_api_names[] = {
	[PERCH_SANDBOX_OF_PLUGIN] = "fledge",
	[PERCH_SANDBOX_OF_TOOL] = "tool",
};

const char *perch_sandbox_base_name(perch_sandbox_base base)
{
	return sandbox_api_names[base];
}

/* ---- paths ------------------------------------------------------------------ */

/* Absolute, because a policy knows no current directory. Links and missing paths stay as they are:
 * the sandbox judges them, see policy_check_named. */
static const char *sandbox_api_absolute(
	struct arena *arena, const char *directory, const char *path)
{
	struct path_list links;
	struct way way;
	const char *joined = path[0] == '/' ? path : arena_join(arena, directory, "/", path, NULL);
	path_list_begin(&links, arena, NULL);
	if (!joined || links.failed)
		return NULL;
	bool is_plain = way_find(&way, joined, &links) == 0 && !links.count;
	way_leave(&way);
	if (links.failed || !is_plain)
		return links.failed ? NULL : joined;
	return arena_dup(arena, str_from(way.path[0] ? way.path : "/"));
}

/* NULL without memory. */
static const char *const *sandbox_api_absolute_list(
	struct arena *arena, const char *directory, const char *const *given)
{
	struct path_list list;
	path_list_begin(&list, arena, NULL);
	for (; given && *given; given++) {
		const char *path = sandbox_api_absolute(arena, directory, *given);
		list.failed |= !path;
		path_list_add(&list, path ? path : "");
	}
	return list.failed ? NULL : list.items;
}

/* A file or terminal that one of our own streams is open on can be opened by its name, too:
 * programs write to /dev/stdout. The name counts only if it still leads to the open file. */
static void sandbox_api_add_stream(struct path_list *list, int fd, int mode)
{
	char link[32];
	char path[PATH_MAX];
	struct stat opened;
	struct stat named;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	int flags = fcntl(fd, F_GETFL);
	if (len <= 0 || flags < 0 || (flags & O_ACCMODE) == (mode == O_RDONLY ? O_WRONLY : O_RDONLY))
		return;
	path[len] = '\0';
	if (fstat(fd, &opened) < 0 || !(S_ISREG(opened.st_mode) || isatty(fd)) ||
		stat(path, &named) < 0 || named.st_dev != opened.st_dev || named.st_ino != opened.st_ino)
		return;
	const char *kept = arena_dup(list->arena, str_from(path));
	list->failed |= !kept;
	path_list_add(list, kept ? kept : "");
}

/* Adds what is hidden, our streams, and the program itself, which is readable in every policy. */
static int sandbox_api_add_lists(
	perch_sandbox *own, const perch_sandbox_options *given, const char *directory)
{
	struct path_list hide, read, write;
	struct sandbox_policy *policy = &own->policy;
	path_list_begin(&hide, &own->arena, policy->hide);
	path_list_begin(&read, &own->arena, policy->read);
	path_list_begin(&write, &own->arena, policy->write);
	const char *const *hidden = sandbox_api_absolute_list(&own->arena, directory, given->hide);
	for (; hidden && *hidden; hidden++)
		path_list_add(&hide, *hidden);
	if (given->program)
		path_list_add(&read, given->program);
	if (given->has_streams) {
		sandbox_api_add_stream(&read, STDIN_FILENO, O_RDONLY);
		sandbox_api_add_stream(&write, STDOUT_FILENO, O_WRONLY);
		sandbox_api_add_stream(&write, STDERR_FILENO, O_WRONLY);
	}
	if (!hidden || hide.failed || read.failed || write.failed)
		return -ENOMEM;
	policy->hide = hide.items;
	policy->read = read.items;
	policy->write = write.items;
	return 0;
}

/* ---- the policy --------------------------------------------------------------- */

static int sandbox_api_begin_policy(perch_sandbox *own, const char *directory)
{
	const char *home = getenv("HOME");
	const struct policy_tool tool = { .home = home ? home : "", .directory = "" };
	if (own->base == PERCH_SANDBOX_OF_TOOL)
		return policy_for_tool(&own->arena, &tool, &own->policy);
	struct policy_plugin plugin = policy_plugin_of(&own->arena, home);
	plugin.project = directory;
	plugin.may_write_project = true;
	return policy_for_plugin(&own->arena, &plugin, &own->policy);
}

static int sandbox_api_widen(
	perch_sandbox *own, const perch_sandbox_options *given, const char *directory, perch_err *err)
{
	struct arena *arena = &own->arena;
	const char *home = getenv("HOME");
	own->widening = (struct policy_widening){
		.read = sandbox_api_absolute_list(arena, directory, given->read),
		.write = sandbox_api_absolute_list(arena, directory, given->write),
		.env = arena_dup_list(arena, given->env),
		.presets = arena_dup_list(arena, given->presets),
		.net = given->net == PERCH_SANDBOX_NET_FULL ? WIDENING_NET_FULL
			: given->net == PERCH_SANDBOX_NET_NONE  ? WIDENING_NET_NONE
													: WIDENING_NET_KEEP,
	};
	const struct policy_widening *widening = &own->widening;
	if (!widening->read || !widening->write || !widening->env || !widening->presets)
		return err_no_memory(err);
	return policy_widen(arena, home ? home : "", widening, &own->policy, err);
}

static uint64_t sandbox_api_limit(uint64_t given, uint64_t base)
{
	return given == UINT64_MAX ? 0 : given ? given : base;
}

static void sandbox_api_limit_all(struct sandbox_limits *limits, const perch_sandbox_limits *given)
{
	limits->memory = sandbox_api_limit(given->memory, limits->memory);
	limits->processes = sandbox_api_limit(given->processes, limits->processes);
	limits->files = sandbox_api_limit(given->files, limits->files);
	limits->size = sandbox_api_limit(given->size, limits->size);
	limits->cpu = sandbox_api_limit(given->cpu, limits->cpu);
}

/* Protects the files that decide other sandboxes: profiles, bindings and their programs. */
static int sandbox_api_protect(perch_sandbox *own, perch_err *err)
{
	const char *const *deciding = NULL;
	int r = grants_deciding(&own->arena, &deciding, err);
	if (r == 0 && policy_protect(&own->arena, deciding, &own->policy) < 0)
		r = err_no_memory(err);
	return r;
}

int sandbox_api_policy(perch_sandbox *own, const perch_sandbox_options *given, perch_err *err)
{
	char here[PATH_MAX] = "";
	const char *chosen = given->directory ? given->directory : getcwd(here, sizeof(here));
	const char *directory = arena_dup(&own->arena, str_from(chosen ? chosen : ""));
	own->base = given->base;
	own->directory = given->directory ? directory : NULL;
	if (!directory || sandbox_api_begin_policy(own, directory) < 0 ||
		sandbox_api_add_lists(own, given, directory) < 0)
		return err_no_memory(err);
	int r = sandbox_api_widen(own, given, directory, err);
	if (r == 0)
		r = sandbox_api_protect(own, err);
	sandbox_api_limit_all(&own->policy.limits, &given->limits);
	if (given->unsupported)
		own->policy.refuses_unsupported = given->unsupported == PERCH_SANDBOX_UNSUPPORTED_REFUSE;
	own->policy.is_strict = given->is_strict;
	own->policy.shares_group = given->shares_group;
	return r;
}

/* ------------------------------------------------------------------------------- */

static void sandbox_api_describe(perch_sandbox *own)
{
	struct sandbox_policy *policy = &own->policy;
	policy->protect = sandbox_protected(own->sandbox);
	own->rules = (perch_sandbox_rules){
		.reads_everything = policy->reads_everything,
		.read = policy->read,
		.write = policy->write,
		.hide = policy->hide,
		.reveal = policy->reveal,
		.protect = policy->protect,
		.env = own->widening.env,
		.has_network = policy->net == SANDBOX_NET_FULL,
		.tmp = sandbox_tmp(own->sandbox),
		.limits = { policy->limits.memory, policy->limits.processes, policy->limits.files,
			policy->limits.size, policy->limits.cpu },
		.layers = sandbox_layers(own->sandbox),
		.note = policy->note,
	};
}

static int sandbox_api_check(const perch_sandbox_options *given, perch_err *err)
{
	if ((unsigned)given->base >= COUNT(sandbox_api_names))
		return err_set(err, -EINVAL, "there is no such base: %u", (unsigned)given->base);
	if (given->directory && given->directory[0] != '/')
		return err_set(err, -EINVAL, "directory must be absolute, not '%s'", given->directory);
	if (given->program && given->program[0] != '/')
		return err_set(err, -EINVAL, "program must be absolute, not '%s'", given->program);
	return 0;
}

DEFINE_POINTER_CLEANUP(cleanup_sandbox_api, perch_sandbox, perch_sandbox_free)

int perch_sandbox_open(perch_host *host, const perch_sandbox_options *options,
	perch_sandbox **ret_sandbox, perch_err *err)
{
	perch_sandbox_options given = PERCH_SANDBOX_OPTIONS_INIT;
	int r = sized_copy(
		&given, sizeof(given), options, SIZED_UP_TO(perch_sandbox_options, shares_group), err);
	if (r == 0)
		r = sandbox_api_check(&given, err);
	if (r < 0)
		return r;
	_cleanup_(cleanup_sandbox_api) perch_sandbox *own = calloc(1, sizeof(*own));
	if (!own)
		return err_no_memory(err);
	r = sandbox_api_policy(own, &given, err);
	if (r == 0)
		r = sandbox_open(host, &own->policy, &own->sandbox, err);
	if (r < 0)
		return r;
	sandbox_api_describe(own);
	*ret_sandbox = steal(&own);
	return 0;
}

int perch_sandbox_apply(perch_sandbox *sandbox, perch_child_spec *spec)
{
	const char *tmp = sandbox->rules.tmp;
	const char *const *base = spec->env ? spec->env : (const char *const *)environ;
	const char *const *env = confinement_environment_of(
		base, &sandbox->widening, tmp, sandbox->sandbox, NULL, &sandbox->arena);
	if (!env)
		return -ENOMEM;
	spec->env = env;
	spec->confine = sandbox_confine(sandbox->sandbox);
	/* A tool may not see our directory. */
	if (!spec->cwd)
		spec->cwd = sandbox->base == PERCH_SANDBOX_OF_TOOL ? tmp : sandbox->directory;
	return 0;
}

const perch_sandbox_rules *perch_sandbox_rules_of(const perch_sandbox *sandbox)
{
	return &sandbox->rules;
}

const char *const *perch_sandbox_warnings(const perch_sandbox *sandbox)
{
	return sandbox_warnings(sandbox->sandbox);
}

const char *perch_sandbox_explain(
	perch_sandbox *sandbox, const char *program, const char *said, size_t said_len)
{
	const struct explain_context context = {
		.policy = &sandbox->policy,
		.policy_name = perch_sandbox_base_name(sandbox->base),
		.widen_by = "",
	};
	struct buf *hint = &sandbox->hint;
	buf_clear(hint);
	if (!explain_failure(&context, (struct str){ said, said ? said_len : 0 }, hint) &&
		!explain_nested(&context, program ? program : "", hint))
		return NULL;
	return buf_terminate(hint) < 0 ? NULL : hint->data;
}

void perch_sandbox_free(perch_sandbox *sandbox)
{
	if (!sandbox)
		return;
	sandbox_close(sandbox->sandbox);
	buf_free(&sandbox->hint);
	arena_free(&sandbox->arena);
	free(sandbox);
}
