/* Installing: the second half, after the user has said yes. */
#include "plugins/install_parts.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "plugins/build.h"
#include "plugins/hooks.h"
#include "registry/approval.h"

static const char *install_finish_here(struct arena *arena)
{
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	return hook_repository(cwd ? cwd : "/", arena);
}

/* ---- building ------------------------------------------------------------ */

static int install_finish_refuse_build(
	const struct candidate *candidate, int status, struct str log, perch_err *err)
{
	struct str program = { 0 };
	if (status == EXIT_NOT_FOUND)
		program = build_missing_program(log);
	const char *package = build_package(program);
	_cleanup_(buf_free) struct buf why = { 0 };
	if (program.len)
		buf_printf(&why, ": the program '%.*s' was not found: install it%s%s%s",
			utf8_quoted(program), program.data, package[0] ? " (Debian: apt install " : "", package,
			package[0] ? ")" : "");
	if (candidate->log[0])
		buf_printf(&why, "%s see %s", program.len ? ";" : ":", candidate->log);
	return err_set(err, -EIO, "the build failed with status %d (%s)%s", status, candidate->build,
		buf_terminate(&why) == 0 ? why.data : "");
}

static int install_finish_build(struct candidate *candidate, perch_err *err)
{
	_cleanup_(buf_free) struct buf log = { 0 };
	const struct hook hook = {
		.name = "build",
		.text = candidate->build,
		.plugin = candidate->manifest.name,
		.directory = candidate->directory,
		.config = candidate->registry.config,
		.repository = candidate->directory,
		.has_network = true, /* a build may download */
		.widening = &candidate->grant.widening,
		.shows_output = true,
		.log = &log,
	};
	int r = hook_run(candidate->workshop, &hook, err);
	if (r == 0 || r == -ECANCELED)
		return r;
	_cleanup_free_ char *path = NULL;
	if (build_keep_log(hook.plugin, log.data, log.len, &path) == 0)
		candidate->log = arena_dup(&candidate->arena, str_from(path));
	if (!candidate->log)
		candidate->log = "";
	if (r < 0)
		return r;
	return install_finish_refuse_build(candidate, r, (struct str){ log.data, log.len }, err);
}

/* ---- the records --------------------------------------------------------- */

static const char *install_finish_today(struct arena *arena)
{
	time_t now = time(NULL);
	struct tm date;
	char text[32];
	if (!gmtime_r(&now, &date) || !strftime(text, sizeof(text), "%Y-%m-%d", &date))
		return "";
	return arena_dup(arena, str_from(text));
}

static const char *const *install_finish_command_names(
	const struct manifest *manifest, struct arena *arena)
{
	const char **names = arena_alloc(arena, (manifest->command_count + 1) * sizeof(*names));
	for (size_t i = 0; names && i < manifest->command_count; i++)
		names[i] = manifest->commands[i].name;
	if (names)
		names[manifest->command_count] = NULL;
	return names;
}

static int install_finish_make_entry(struct candidate *candidate,
	const struct capabilities *granted, struct registry_entry *entry, perch_err *err)
{
	const struct manifest *manifest = &candidate->manifest;
	_cleanup_free_ char *place = str_join(candidate->registry.plugins, "/", manifest->name, NULL);
	*entry = (struct registry_entry){
		.name = manifest->name,
		.source = candidate->source.location,
		.version = manifest->version,
		.installed = install_finish_today(&candidate->arena),
		.pinned_ref = candidate->source.ref,
		.commit = candidate->commit,
		.runtime = manifest->runtime,
		.commands = install_finish_command_names(manifest, &candidate->arena),
		.has_capabilities = true,
		.granted = *granted,
		.directory = place ? arena_dup(&candidate->arena, str_from(place)) : NULL,
	};
	entry->granted.filesystem = manifest->wishes.filesystem;
	return entry->installed && entry->commands && entry->directory ? 0 : err_no_memory(err);
}

/* What the user has granted before stays granted. */
static int install_finish_describe(
	struct candidate *candidate, const struct registry_entry *entry, perch_err *err)
{
	static const char *const any[] = { GRANT_ANY_PLUGIN, NULL };
	struct grant grant = candidate->grant;
	grant.has_approval = true;
	if (entry->granted.plugins && !list_has(grant.callees, GRANT_ANY_PLUGIN))
		grant.callees = any;
	if (approval_of(&candidate->manifest, &candidate->arena, &grant.approval) < 0)
		return err_no_memory(err);
	return stage_describe(&candidate->stage, entry, &grant, &candidate->manifest, err);
}

/* ---- into its place ------------------------------------------------------ */

static int install_finish_run_post_install(
	struct candidate *candidate, const struct registry_entry *entry, perch_err *err)
{
	const struct manifest *manifest = &candidate->manifest;
	_cleanup_(buf_free) struct buf log = { 0 };
	if (!manifest->hooks.post_install[0])
		return 0;
	const struct capabilities force = capabilities_in_force(&entry->granted, &manifest->wishes);
	const struct hook hook = {
		.name = "post_install",
		.text = manifest->hooks.post_install,
		.plugin = manifest->name,
		.directory = entry->directory,
		.config = candidate->registry.config,
		.repository = install_finish_here(&candidate->arena),
		.has_network = capabilities_reach_network(&force),
		.widening = &candidate->grant.widening,
		.shows_output = true,
		.log = &log,
	};
	if (!hook.repository)
		return err_no_memory(err);
	int r = hook_run(candidate->workshop, &hook, err);
	return r <= 0 ? r : err_set(err, -EIO, "the post_install hook failed with status %d", r);
}

/* Another process may have installed something since we looked. */
static int install_finish_check_again(struct candidate *candidate, perch_err *err)
{
	struct registry now;
	int r = registry_read(&candidate->arena, &now, err);
	return r < 0 ? r : candidate_check_names(candidate, &now, true, err);
}

static int install_finish_put_into_place(
	struct candidate *candidate, const struct registry_entry *entry, perch_err *err)
{
	_cleanup_fd_ int lock = stage_lock(&candidate->registry, candidate->workshop, err);
	if (lock < 0)
		return lock;
	int r = install_finish_check_again(candidate, err);
	if (r < 0)
		return r;
	r = stage_swap(&candidate->registry, &candidate->stage, entry->name, err);
	if (r == 0)
		r = install_finish_run_post_install(candidate, entry, err);
	stage_point("hooked");
	if (r < 0) {
		perch_err second = { 0 };
		if (stage_undo(&candidate->stage, &second) < 0)
			workshop_tell(
				candidate->workshop, PERCH_SHOWN_WARNING, "%s: perch doctor", second.text);
		return r;
	}
	return stage_commit(&candidate->registry, &candidate->stage, err);
}

int candidate_install(struct candidate *candidate, const struct capabilities *granted,
	struct registry_entry *ret_entry, perch_err *err)
{
	struct registry_entry entry;
	int r = candidate->build[0] ? install_finish_build(candidate, err) : 0;
	stage_point("built");
	if (r == 0)
		r = candidate_check_programs(candidate, err);
	if (r == 0)
		r = install_finish_make_entry(candidate, granted, &entry, err);
	if (r == 0)
		r = install_finish_describe(candidate, &entry, err);
	stage_point("described");
	if (r == 0)
		r = install_finish_put_into_place(candidate, &entry, err);
	if (r < 0)
		return r;
	*ret_entry = entry;
	return 0;
}
