/* Installing: the first half, up to the question to the user. */
#include "plugins/plugin_install.h"

#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/listing.h"
#include "data/toml.h"
#include "plugins/build.h"
#include "plugins/fetch.h"
#include "plugins/files.h"
#include "plugins/install_parts.h"
#include "plugins/link.h"

/* ---- getting it ---------------------------------------------------------- */

static int plugin_install_understand_source(struct candidate *candidate, perch_err *err)
{
	const struct registry_entry *updates = candidate->options.updates;
	struct trust_lists lists;
	const char *base = NULL;
	int r = source_base(candidate->registry.config, &candidate->arena, &base, err);
	if (r == 0)
		r = trust_read(candidate->registry.config, &candidate->arena, &lists, err);
	if (r == 0)
		r = source_parse(
			candidate->options.source, base, &candidate->arena, &candidate->source, err);
	if (r < 0)
		return r;
	if (updates) {
		candidate->source.ref = candidate->options.ref;
		candidate->source.is_repository = true;
	}
	candidate->tier = trust_of(&lists, candidate->source.location);
	return 0;
}

/* The loop runs in between: Ctrl+C arrives through it. */
static bool plugin_install_copy_is_stopped(void *data)
{
	struct workshop *workshop = data;
	perch_host_wait(workshop->host, 0);
	return workshop->is_stopped;
}

/* A snapshot is of the files, not of the repository around them, nor of what the author's own
 * plugin has stored. */
static int plugin_install_copy(struct candidate *candidate, const char *tree, perch_err *err)
{
	static const char *const skips[] = { ".git", "state.json", "state.json.lock", NULL };
	const struct copy_options options = {
		.skips = skips,
		.bytes_max = candidate->options.copy_max,
		.is_stopped = plugin_install_copy_is_stopped,
		.data = candidate->workshop,
	};
	workshop_tell(candidate->workshop, PERCH_SHOWN_PROGRESS, "copying");
	int r = copy_tree(candidate->source.location, tree, &options, err);
	workshop_tell(candidate->workshop, PERCH_SHOWN_PROGRESS_DONE, "%s", "");
	return r;
}

static int plugin_install_get(struct candidate *candidate, perch_err *err)
{
	_cleanup_free_ char *tree = stage_path(&candidate->stage, "tree");
	if (!tree)
		return err_no_memory(err);
	const struct plugin_source *source = &candidate->source;
	candidate->is_live = !source->is_repository && !candidate->options.copies;
	candidate->directory =
		arena_dup(&candidate->arena, str_from(candidate->is_live ? source->location : tree));
	if (!candidate->directory)
		return err_no_memory(err);
	if (source->is_repository)
		return fetch_clone(
			candidate->workshop, source, tree, &candidate->arena, &candidate->commit, err);
	if (candidate->options.copies)
		return plugin_install_copy(candidate, tree, err);
	if (symlink(source->location, tree) < 0)
		return err_set(err, -errno, "cannot make a link: %s", perch_strerror(-errno));
	return 0;
}

/* ---- looking at it ------------------------------------------------------- */

/* Messages about a manifest name the file as the user knows it. */
static int plugin_install_read_manifest(struct candidate *candidate, perch_err *err)
{
	_cleanup_free_ char *path = str_join(candidate->directory, "/plugin.toml", NULL);
	_cleanup_free_ char *known = str_join(candidate->source.location, "/plugin.toml", NULL);
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!path || !known)
		return err_no_memory(err);
	const char *shown = candidate->source.is_path ? known : "plugin.toml";
	char place[FILE_SHOWN_MAX];
	perch_err inner = { 0 };
	int r = file_read(path, TOML_SIZE_MAX, &text, &inner);
	if (r == -ENOENT)
		return err_set(err, r,
			"%s is no plugin: there is no plugin.toml in it; perch plugins create NAME begins one",
			file_shown(candidate->options.source, place));
	if (r < 0)
		return err_set(err, r, "cannot read %s: %s", file_shown(shown, place),
			r == -ENOTSUP ? "it is not a regular file" : perch_strerror(r));
	r = manifest_parse(shown, text.data, text.len, &candidate->arena, &candidate->manifest, err);
	return r < 0 ? r : manifest_check_protocol(&candidate->manifest, err);
}

struct walk {
	struct candidate *candidate;
	perch_err *err;
	int result;
};

static void plugin_install_found(void *data, enum file_trouble trouble, const char *path)
{
	struct walk *walk = data;
	char shown[FILE_SHOWN_MAX];
	if (trouble == FILE_LINK_LEAVES && walk->result == 0)
		walk->result = err_set(
			walk->err, -EXDEV, "the link %s leads out of the plugin", file_shown(path, shown));
}

/* Links in the user's own directory are theirs to make. */
static int plugin_install_check_links(struct candidate *candidate, perch_err *err)
{
	if (candidate->is_live)
		return 0;
	struct walk walk = { .candidate = candidate, .err = err };
	int is_incomplete = files_walk(candidate->directory, plugin_install_found, &walk);
	if (walk.result == 0 && is_incomplete)
		return err_set(err, PERCH_ELIMIT,
			"not every file of the plugin could be looked at, so a link may lead out of it: at "
			"most "
			"%d files, %d folders deep, and all of them readable",
			FILES_WALKED_MAX, FILES_DEPTH_MAX);
	return walk.result;
}

int candidate_check_programs(struct candidate *candidate, perch_err *err)
{
	char resolved[PATH_MAX];
	if (!realpath(candidate->directory, resolved))
		return err_set(err, -errno, "cannot look into the plugin: %s", perch_strerror(-errno));
	for (size_t i = 0; i < candidate->manifest.command_count; i++) {
		const struct manifest_command *command = &candidate->manifest.commands[i];
		const char *problem;
		enum program_state state = files_program(resolved, command->binary, &problem);
		char shown[FILE_SHOWN_MAX];
		char remedy[FILES_REMEDY_MAX] = "";
		if (!candidate->source.is_repository)
			files_remedy(state, candidate->source.location, command->binary, remedy);
		if (state != PROGRAM_FINE && state != PROGRAM_ODD)
			return err_set(err, -ENOEXEC, "the program %s of the command '%s' %s%s",
				file_shown(command->binary, shown), command->name, problem, remedy);
	}
	return 0;
}

/* A directory with nothing but the state of a plugin that was removed. */
static bool plugin_install_is_only_state(const char *directory)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, directory, 0);
	bool is_only = listing;
	for (const char *name; is_only && (name = listing_next(listing));)
		is_only = name[0] == '.' || str_has_prefix(str_from(name), STR("state.json"));
	return is_only;
}

int candidate_check_names(
	struct candidate *candidate, const struct registry *registry, bool is_locked, perch_err *err)
{
	const struct manifest *manifest = &candidate->manifest;
	const struct registry_entry *entry = registry_find(registry, manifest->name);
	bool force = candidate->options.force || candidate->options.updates;
	if (candidate->options.updates && strcmp(candidate->options.updates->name, manifest->name) != 0)
		return err_set(err, -EEXIST, "the plugin is now called '%s': install it under that name",
			manifest->name);
	if (entry && !force)
		return err_set(err, -EEXIST,
			"the plugin '%s' is installed already (version %s): perch plugins update %s, or "
			"--force to replace it",
			manifest->name, entry->version[0] ? entry->version : "unknown", manifest->name);
	_cleanup_free_ char *place = str_join(registry->plugins, "/", manifest->name, NULL);
	if (!place)
		return err_no_memory(err);
	struct stat status;
	char shown[FILE_SHOWN_MAX];
	bool is_checked = is_locked && !entry && !force;
	if (is_checked && lstat(place, &status) == 0 && !plugin_install_is_only_state(place))
		return err_set(err, -EEXIST,
			"%s is there already but belongs to no plugin: look at it, then use --force",
			file_shown(place, shown));
	int r = 0;
	for (size_t i = 0; i < manifest->command_count && r == 0; i++)
		r = link_check(
			registry, manifest->name, manifest->commands[i].name, candidate->options.force, err);
	return r;
}

static int plugin_install_look(struct candidate *candidate, perch_err *err)
{
	int r = plugin_install_read_manifest(candidate, err);
	if (r == 0)
		r = plugin_install_check_links(candidate, err);
	if (r == 0 && !candidate->options.only_looks)
		r = candidate_check_names(candidate, &candidate->registry, false, err);
	if (r == 0)
		r = grants_read(
			GRANT_PLUGIN, candidate->manifest.name, &candidate->arena, &candidate->grant, err);
	if (r < 0)
		return r;
	candidate->build = candidate->options.skips_build
		? ""
		: build_command(candidate->directory, &candidate->manifest, &candidate->why);
	bool is_enough = candidate->build[0] || candidate->options.only_looks;
	return is_enough ? 0 : candidate_check_programs(candidate, err);
}

bool candidate_risk(const struct candidate *candidate, char ret_words[CANDIDATE_RISK_MAX])
{
	const struct manifest *manifest = &candidate->manifest;
	size_t len = 0;
	if (candidate->tier != TRUST_UNVERIFIED)
		return false;
	if (!manifest->protocol[0]) {
		snprintf(
			ret_words, CANDIDATE_RISK_MAX, "it speaks no protocol and runs with all your rights");
		return true;
	}
	for (const struct capability *one = capability_table; one->name; one++) {
		if (one->risk && capabilities_have(&manifest->wishes, one) && len < CANDIDATE_RISK_MAX)
			len += (size_t)snprintf(ret_words + len, CANDIDATE_RISK_MAX - len, "%s to %s",
				len ? " and" : "it wants", one->risk);
	}
	if (manifest->wishes.plugins && len < CANDIDATE_RISK_MAX)
		len += (size_t)snprintf(ret_words + len, CANDIDATE_RISK_MAX - len,
			"%s to " WISH_PLUGINS_RISK, len ? " and" : "it wants");
	return len > 0;
}

int candidate_open(struct workshop *workshop, const struct install_options *options,
	struct arena arena, struct candidate *candidate, perch_err *err)
{
	*candidate = (struct candidate){
		.arena = arena,
		.workshop = workshop,
		.options = *options,
		.stage = { .lock = -1 },
		.commit = "",
		.build = "",
		.log = "",
	};
	int r = registry_read(&candidate->arena, &candidate->registry, err);
	if (r == 0)
		r = plugin_install_understand_source(candidate, err);
	if (r == 0)
		r = stage_open(&candidate->registry, workshop, &candidate->stage, err);
	stage_point("staging");
	if (r == 0)
		r = plugin_install_get(candidate, err);
	stage_point("staged");
	return r < 0 ? r : plugin_install_look(candidate, err);
}

void candidate_free(struct candidate *candidate)
{
	stage_close(&candidate->stage);
	arena_free(&candidate->arena);
}
