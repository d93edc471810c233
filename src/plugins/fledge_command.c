/* Commands of include/perch/fledge.h: what a name stands for, before anything of it is run. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/sized.h"
#include "plugins/fledge_api_parts.h"
#include "plugins/stage.h"

DEFINE_POINTER_CLEANUP(cleanup_command, perch_fledge_command, perch_fledge_command_free)

int fledge_command_blame_host(int r, perch_err *err)
{
	if (r < 0 && err)
		err->stage = "prepare";
	return r;
}

/* For a plugin: the caller decides nothing but the arguments. */
static int fledge_command_be_called(perch_fledge_command *command, perch_err *err)
{
	int r = plugin_caller_check(&command->caller, &command->target, err);
	if (r < 0)
		return r;
	r = plugin_caller_show(&command->caller, &command->arena, &command->target);
	return r < 0 ? err_no_memory(err) : 0;
}

/* What is missing may be in an install that was interrupted. */
static int fledge_command_resolve(perch_fledge_command *command, const char *name, perch_err *err)
{
	struct registry *registry = &command->target.registry;
	struct arena *arena = &command->arena;
	const char *path = getenv("PATH");
	int r = registry_resolve(registry, name, path, arena, &command->target.command, err);
	if (r >= 0 || !stage_settle(registry))
		return r;
	if (err)
		*err = (perch_err){ 0 };
	r = registry_read(arena, registry, err);
	if (r < 0)
		return fledge_command_blame_host(r, err);
	return registry_resolve(registry, name, path, arena, &command->target.command, err);
}

static int fledge_command_look_up(perch_fledge_command *command, const char *name, perch_err *err)
{
	struct plugin_target *target = &command->target;
	struct arena *arena = &command->arena;
	int r = registry_read(arena, &target->registry, err);
	if (r < 0)
		return fledge_command_blame_host(r, err);
	r = fledge_command_resolve(command, name, err);
	if (r < 0)
		return r;
	r = plugin_target_inspect(target, arena, err);
	if (r < 0)
		return fledge_command_blame_host(r, err);
	return command->caller.chain[0] ? fledge_command_be_called(command, err) : 0;
}

/* No more than its manifest asks for. */
static int fledge_command_look_in(
	perch_fledge_command *command, const perch_fledge_options *given, perch_err *err)
{
	const char *directory = arena_dup(&command->arena, str_from(given->plugin_dir));
	if (!directory)
		return err_no_memory(err);
	struct capabilities granted = { 0 };
	for (const struct capability *one = capability_table; one->name; one++)
		capabilities_put(&granted, one, given->grants & one->grant);
	command->target.grant.widening.is_off = given->no_sandbox;
	return plugin_target_at(
		directory, given->command, &granted, &command->arena, &command->target, err);
}

static int fledge_command_identify(
	perch_fledge_command *command, const perch_fledge_options *given, perch_err *err)
{
	command->caller = (struct plugin_caller){ .chain = "", .project = "", .directory = "" };
	if (given->is_called && plugin_caller_read(&command->arena, &command->caller) < 0)
		return err_no_memory(err);
	return given->plugin_dir ? fledge_command_look_in(command, given, err)
							 : fledge_command_look_up(command, given->command, err);
}

int fledge_command_new(
	const perch_fledge_options *given, perch_fledge_command **ret_command, perch_err *err)
{
	if (!given->command)
		return err_set(err, -EINVAL, "a run needs a command and events");
	if (given->plugin_dir && given->plugin_dir[0] != '/')
		return err_set(err, -EINVAL, "plugin_dir must be absolute, not '%s'", given->plugin_dir);
	_cleanup_(cleanup_command) perch_fledge_command *command = calloc(1, sizeof(*command));
	if (!command)
		return err_no_memory(err);
	int r = fledge_command_identify(command, given, &command->why_not);
	if (r == -ENOMEM)
		return err_no_memory(err);
	command->why_not.code = r;
	const struct plugin_target *target = &command->target;
	const struct registry_entry *owner = target->command.owner;
	command->facts = (perch_fledge_facts){
		.error = r,
		.path = target->command.path,
		.plugin = owner ? owner->name : NULL,
		.shell = target->grant.shell,
		.is_legacy = !target->is_protocol,
		.is_called = command->caller.chain[0],
	};
	*ret_command = steal(&command);
	return 0;
}

int perch_fledge_find(
	const perch_fledge_options *options, perch_fledge_command **ret_command, perch_err *err)
{
	perch_fledge_options given = PERCH_FLEDGE_OPTIONS_INIT;
	int r =
		sized_copy(&given, sizeof(given), options, SIZED_UP_TO(perch_fledge_options, data), err);
	return r < 0 ? r : fledge_command_new(&given, ret_command, err);
}

const perch_fledge_facts *perch_fledge_command_facts(const perch_fledge_command *command)
{
	return &command->facts;
}

void perch_fledge_command_free(perch_fledge_command *command)
{
	if (!command)
		return;
	arena_free(&command->arena);
	free(command);
}
