/* Plugin to plugin. */
#include "plugins/plugin_calls.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/paths.h"
#include "proc/program.h"

/* ---- the variables of a call ------------------------------------------------ */

#define CHAIN "PERCH_CALL_CHAIN"
#define PROJECT "PERCH_CALL_PROJECT"
#define DIRECTORY "PERCH_CALL_DIRECTORY"
#define CALLEES "PERCH_CALL_PLUGINS"

/* No name has a slash in it. */
enum { SEPARATOR = '/' };

static const char *plugin_calls_take(struct arena *arena, const char *name)
{
	const char *value = getenv(name);
	const char *kept = arena_dup(arena, str_from(value ? value : ""));
	unsetenv(name);
	return kept;
}

static const char *const *plugin_calls_split(struct arena *arena, const char *text)
{
	size_t most = 2;
	for (const char *c = text; *c; c++)
		most += *c == SEPARATOR;
	const char **list = arena_alloc(arena, most * sizeof(*list));
	size_t count = 0;
	for (struct str rest = str_from(text); list && rest.len;) {
		list[count] = arena_dup(arena, str_cut(&rest, SEPARATOR));
		if (!list[count++])
			return NULL;
	}
	if (list)
		list[count] = NULL;
	return list;
}

static const char *plugin_calls_join(struct arena *arena, const char *const *list)
{
	const char *text = "";
	for (; text && list && *list; list++)
		text = arena_join(arena, text, text[0] ? "/" : "", *list, NULL);
	return text;
}

int plugin_caller_read(struct arena *arena, struct plugin_caller *ret_caller)
{
	struct plugin_caller caller = {
		.chain = plugin_calls_take(arena, CHAIN),
		.project = plugin_calls_take(arena, PROJECT),
		.directory = plugin_calls_take(arena, DIRECTORY),
	};
	const char *callees = plugin_calls_take(arena, CALLEES);
	caller.callees = callees ? plugin_calls_split(arena, callees) : NULL;
	if (!caller.chain || !caller.project || !caller.directory || !caller.callees)
		return -ENOMEM;
	*ret_caller = caller;
	return 0;
}

/* ---- may it? ------------------------------------------------------------------ */

static struct str plugin_calls_last(const char *chain)
{
	const char *slash = strrchr(chain, SEPARATOR);
	return str_from(slash ? slash + 1 : chain);
}

static int plugin_calls_check_chain(
	const struct plugin_caller *caller, const char *name, perch_err *err)
{
	size_t depth = 0;
	for (struct str rest = str_from(caller->chain); rest.len; depth++) {
		if (str_is(str_cut(&rest, SEPARATOR), name))
			return err_set(err, -EACCES, "the plugin '%s' is being called already: %s/%s", name,
				caller->chain, name);
	}
	return depth < CALLS_DEPTH_MAX
		? 0
		: err_set(err, -EACCES, "more than %d plugins would call each other: %s", CALLS_DEPTH_MAX,
			  caller->chain);
}

/* The project is the caller's: a callee must not be led to another one. By now we are there. */
static int plugin_calls_check_place(const struct plugin_caller *caller, perch_err *err)
{
	char here[PATH_MAX];
	if (getcwd(here, sizeof(here)) && caller->project[0] && policy_is_inside(here, caller->project))
		return 0;
	return err_set(err, -EACCES, "a plugin calls others in its project alone");
}

int plugin_caller_check(
	const struct plugin_caller *caller, const struct plugin_target *target, perch_err *err)
{
	const struct registry_entry *owner = target->command.owner;
	struct str by = plugin_calls_last(caller->chain);
	bool is_confined = plugin_target_is_confined(target) && !target->grant.widening.is_off;
	if (!owner)
		return err_set(err, -EACCES, "the command belongs to no plugin, so no plugin may call it");
	bool is_named = list_has(caller->callees, owner->name);
	if (!is_confined && !is_named)
		return err_set(err, -EACCES,
			"the plugin '%s' runs with all rights of the user, so a plugin that calls it is "
			"allowed "
			"just that: perch plugins allow %.*s --grant plugins:%s",
			owner->name, (int)by.len, by.data, owner->name);
	if (!is_named && !list_has(caller->callees, GRANT_ANY_PLUGIN))
		return err_set(err, -EACCES,
			"the plugin '%.*s' may not call '%s': perch plugins allow %.*s --grant plugins:%s",
			(int)by.len, by.data, owner->name, (int)by.len, by.data, owner->name);
	int r = plugin_calls_check_chain(caller, owner->name, err);
	return r < 0 ? r : plugin_calls_check_place(caller, err);
}

int plugin_caller_show(
	const struct plugin_caller *caller, struct arena *arena, struct plugin_target *target)
{
	const char **read = arena_alloc(arena, 2 * sizeof(*read));
	if (!read)
		return -ENOMEM;
	read[0] = caller->directory[0] ? caller->directory : NULL;
	read[1] = NULL;
	const struct policy_widening more = { .read = read };
	return policy_widening_join(arena, &more, &target->grant.widening);
}

/* ---- for its own calls ----------------------------------------------------------- */

/* The program that we are, or the system's perch. What lies beside a program that uses the library
 * may have been put there by a plugin, and this one is executed without a sandbox. */
static const char *plugin_calls_program(struct arena *arena)
{
	_cleanup_free_ char *found = NULL;
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len > 0 ? len : 0] = '\0';
	const char *slash = strrchr(self, '/');
	if (slash && strcmp(slash, "/perch") == 0)
		return access(self, X_OK) == 0 ? arena_dup(arena, str_from(self)) : NULL;
	return program_find_own("perch", &found, NULL) == 0 ? arena_dup(arena, str_from(found)) : NULL;
}

static const char *plugin_calls_resolved(struct arena *arena, const char *path)
{
	char resolved[PATH_MAX];
	return arena_dup(arena, str_from(path[0] && realpath(path, resolved) ? resolved : ""));
}

int plugin_calls_prepare(const struct plugin_target *target, const struct plugin_caller *caller,
	const char *project, struct arena *arena, struct calls_options *ret_options)
{
	const struct registry_entry *owner = target->command.owner;
	*ret_options = (struct calls_options){ 0 };
	if (!owner || !target->grant.callees || !target->grant.callees[0])
		return 0;
	const char *before = caller ? caller->chain : "";
	const char *values[] = {
		arena_join(arena, before, before[0] ? "/" : "", owner->name, NULL),
		plugin_calls_resolved(arena, project),
		plugin_calls_resolved(arena, owner->directory),
		plugin_calls_join(arena, target->grant.callees),
	};
	static const char *const names[] = { CHAIN "=", PROJECT "=", DIRECTORY "=", CALLEES "=" };
	const char *extra[COUNT(names) + 2] = { [COUNT(names)] = "FLEDGE_NON_INTERACTIVE=1" };
	for (size_t i = 0; i < COUNT(names); i++) {
		extra[i] = values[i] ? arena_join(arena, names[i], values[i], NULL) : NULL;
		if (!extra[i])
			return -ENOMEM;
	}
	ret_options->env = environment_build(arena, (const char *const *)environ, NULL, extra);
	ret_options->program = plugin_calls_program(arena);
	return ret_options->env ? 0 : -ENOMEM;
}

/* Nothing sandboxed may write there. */
const char *plugin_calls_bin(struct arena *arena)
{
	_cleanup_free_ char *directory = NULL;
	char target[PATH_MAX];
	const char *program = plugin_calls_program(arena);
	if (!program || paths_user(PATH_CACHE, "perch/calls", &directory, NULL) < 0 ||
		paths_make(directory, NULL) < 0)
		return NULL;
	_cleanup_free_ char *link = str_join(directory, "/fledge", NULL);
	ssize_t len = link ? readlink(link, target, sizeof(target) - 1) : -1;
	target[len > 0 ? len : 0] = '\0';
	if (link && strcmp(target, program) != 0) {
		char fresh[PATH_MAX];
		snprintf(fresh, sizeof(fresh), "%s.%d", link, (int)getpid());
		if (symlink(program, fresh) < 0 || rename(fresh, link) < 0)
			return NULL;
	}
	return link ? arena_dup(arena, str_from(directory)) : NULL;
}
