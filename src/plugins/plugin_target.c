/* The target of a run: a command, the plugin it belongs to, and the rights of that. */
#include "plugins/plugin_target.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/paths.h"
#include "plugins/plugin_calls.h"
#include "base/shell_word.h"
#include "registry/approval.h"

/* The approval decides: a manifest that asks for more since then is refused. Without a record there
 * is nothing to compare with. */
static int plugin_target_check_approval(struct plugin_target *target,
	const struct manifest *manifest, struct arena *arena, perch_err *err)
{
	const char *name = target->command.owner->name;
	int r = grants_read(GRANT_PLUGIN, name, arena, &target->grant, err);
	if (r < 0 || !target->grant.has_approval)
		return r;
	char excess[APPROVAL_EXCESS_MAX];
	approval_excess(&target->grant.approval, manifest, excess);
	if (!excess[0])
		return 0;
	return err_set(err, -EPERM,
		"the plugin '%s' is not what was approved: %s. To approve that: perch plugins allow %s "
		"--manifest",
		name, excess, name);
}

/* Reading stops at the first mistake; an author wants to know them all. */
static int plugin_target_read_manifest(const struct registry_entry *owner, struct arena *arena,
	struct manifest *ret_manifest, perch_err *err)
{
	perch_err inner = { 0 };
	int r = manifest_read(owner->directory, arena, ret_manifest, &inner);
	if (r != PERCH_ESYNTAX)
		return r < 0 ? err_set(err, r, "%s", inner.text) : 0;
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	shell_advice(advice, shell_word(owner->directory, word),
		"; every mistake in it: perch plugins validate %s", word);
	err_set_advised(err, r, advice, "%s", inner.text);
	if (err) {
		err->line = inner.line;
		err->column = inner.column;
	}
	return r;
}

int plugin_target_inspect(struct plugin_target *target, struct arena *arena, perch_err *err)
{
	const struct registry_entry *owner = target->command.owner;
	if (!owner)
		return 0;
	int r = plugin_target_read_manifest(owner, arena, &target->manifest, err);
	bool is_missing = r == -ENOENT;
	if (r == 0)
		r = manifest_check_protocol(&target->manifest, err);
	target->is_protocol = r == 0 && target->manifest.protocol[0];
	if (r == 0 || is_missing)
		r = plugin_target_check_approval(target, is_missing ? NULL : &target->manifest, arena, err);
	const struct capabilities none = { 0 };
	target->force = capabilities_in_force(
		owner->has_capabilities ? &owner->granted : &none, &target->manifest.wishes);
	if (r == 0 && target->is_protocol)
		target->cache = confinement_cache(owner->name, arena);
	if (r == 0 && target->is_protocol && target->force.exec)
		target->calls_bin = plugin_calls_bin(arena);
	target->grant_by = arena_join(arena, "perch plugins allow ", owner->name, " --grant ", NULL);
	return r < 0 || target->grant_by ? r : err_no_memory(err);
}

/* ---- one that need not be installed ------------------------------------------ */

static const char *plugin_target_program_of(const struct plugin_target *target,
	const char *directory, const char *command, struct arena *arena, perch_err *err)
{
	const struct manifest *manifest = &target->manifest;
	for (size_t i = 0; i < manifest->command_count; i++) {
		if (strcmp(manifest->commands[i].name, command) != 0)
			continue;
		const char *path = arena_join(arena, directory, "/", manifest->commands[i].binary, NULL);
		if (!path)
			err_no_memory(err);
		return path;
	}
	err_set(err, -ENOENT, "the plugin '%s' in %s has no command '%s'", manifest->name, directory,
		command);
	return NULL;
}

static const struct registry_entry *plugin_target_loose_entry(
	const struct plugin_target *target, const char *directory, struct arena *arena)
{
	struct registry_entry *entry = arena_alloc(arena, sizeof(*entry));
	if (entry)
		*entry = (struct registry_entry){ .name = target->manifest.name, .directory = directory };
	return entry;
}

int plugin_target_at(const char *directory, const char *command, const struct capabilities *granted,
	struct arena *arena, struct plugin_target *target, perch_err *err)
{
	_cleanup_free_ char *config = NULL;
	perch_err inner = { 0 };
	int r = paths_user(PATH_CONFIG, "fledge", &config, err);
	if (r == 0)
		r = manifest_read(directory, arena, &target->manifest, err);
	if (r == 0)
		r = manifest_check_protocol(&target->manifest, err);
	if (r < 0)
		return r;
	const char *path = plugin_target_program_of(target, directory, command, arena, &inner);
	if (!path)
		return err_set(err, inner.code, "%s", inner.text);
	target->registry.config = arena_dup(arena, str_from(config));
	target->command = (struct registry_command){ path, path,
		plugin_target_loose_entry(target, directory, arena) };
	target->is_protocol = target->manifest.protocol[0];
	target->force = capabilities_in_force(granted, &target->manifest.wishes);
	return target->registry.config && target->command.owner ? 0 : err_no_memory(err);
}

/* ---- what a run gets ----------------------------------------------------------- */

bool plugin_target_is_confined(const struct plugin_target *target)
{
	return target->is_protocol || target->grant.widening.is_on;
}

struct confinement plugin_target_confinement(
	const struct plugin_target *target, const char *project)
{
	struct confinement confinement = confinement_by(&target->force);
	confinement.config = target->registry.config;
	confinement.project = project;
	confinement.directory = target->command.owner ? target->command.owner->directory : "";
	confinement.manifest = &target->manifest;
	confinement.widening = &target->grant.widening;
	confinement.cache = target->cache;
	confinement.calls_bin = target->calls_bin;
	confinement.shares_group = !target->is_protocol;
	return confinement;
}

/* Names the user or the command that can solve the problem. */
static int plugin_target_add_advice(
	struct plugin_target *target, struct arena *arena, perch_err *err)
{
	const struct registry_entry *owner = target->command.owner;
	if (!owner)
		return 0;
	target->note = arena_join(
		arena, target->note, "; perch plugins allow ", owner->name, " --write . allows it", NULL);
	return target->note ? 0 : err_no_memory(err);
}

int plugin_target_confine(struct plugin_target *target, perch_host *host,
	const struct confinement *confinement, struct arena *arena, perch_err *err)
{
	struct confinement with_note = *confinement;
	with_note.ret_note = &target->note;
	int r = confinement_open(host, &with_note, arena, &target->sandbox, err);
	return r < 0 || !target->note ? r : plugin_target_add_advice(target, arena, err);
}

/* A program of no plugin has none of these. */
static bool plugin_target_keeps(const char *variable)
{
	return !str_is(environment_name(variable), "FLEDGE_PLUGIN_DIR");
}

const char *const *plugin_target_environment(
	const struct plugin_target *target, bool asks, struct arena *arena)
{
	const struct registry_entry *owner = target->command.owner;
	const char *extra[5] = { NULL };
	size_t count = 0;
	if (owner) {
		extra[count] = arena_join(arena, "FLEDGE_PLUGIN_DIR=", owner->directory, NULL);
		if (!extra[count++])
			return NULL;
	}
	if (owner && target->sandbox) {
		extra[count] = arena_join(arena, CALLS_INSIDE "=", owner->name,
			list_count(target->grant.callees) ? " calls" : "", NULL);
		if (!extra[count++])
			return NULL;
	}
	if (target->sandbox && target->calls_bin) {
		const char *path = getenv("PATH");
		extra[count] =
			arena_join(arena, "PATH=", target->calls_bin, path ? ":" : "", path ? path : "", NULL);
		if (!extra[count++])
			return NULL;
	}
	if (!asks)
		extra[count++] = "FLEDGE_NON_INTERACTIVE=1";
	const char *const *base =
		environment_build(arena, (const char *const *)environ, plugin_target_keeps, NULL);
	if (!base)
		return NULL;
	if (target->is_protocol || target->sandbox)
		return confinement_environment_of(
			base, &target->grant.widening, target->cache, target->sandbox, extra, arena);
	return environment_build(arena, base, NULL, extra);
}

void plugin_target_describe(const struct plugin_target *target, struct fledge_run_options *options)
{
	const struct registry_entry *owner = target->command.owner;
	options->path = target->command.path;
	options->plugin_dir = owner ? owner->directory : "";
	options->granted = target->force;
	options->grant_by = target->grant_by;
	options->wishes = target->manifest.wishes;
	if (target->is_protocol) {
		options->plugin_name = target->manifest.name;
		options->plugin_version = target->manifest.version;
	}
	if (target->sandbox) {
		options->confine = sandbox_confine(target->sandbox);
		options->layers = sandbox_layers(target->sandbox);
	}
}

void plugin_target_close(struct plugin_target *target)
{
	sandbox_close(target->sandbox);
	target->sandbox = NULL;
}
