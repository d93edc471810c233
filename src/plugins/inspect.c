/* Whether the installed files fit together. */
#include "plugins/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/listing.h"
#include "plugins/link.h"
#include "plugins/stage.h"

#define PREFIX "fledge-"

static int PERCH_PRINTF(3, 4)
	inspect_found(struct inspection *inspection, bool is_fixable, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	inspection->fixable += is_fixable;
	if (inspection->count < INSPECTION_PROBLEMS_MAX) {
		const char *kept = arena_dup(inspection->arena, str_from(text));
		if (!kept)
			return -ENOMEM;
		inspection->problems[inspection->count] = kept;
	}
	inspection->count++;
	return 0;
}

/* ---- abandoned changes --------------------------------------------------- */

static int inspect_look_for_abandoned(
	struct inspection *inspection, const struct registry *registry, perch_err *err)
{
	int count = stage_recover(registry, true, err);
	if (count <= 0)
		return count;
	perch_err inner = { 0 };
	int recovered = 0;
	if (inspection->repairs) {
		_cleanup_fd_ int lock = stage_lock(registry, inspection->repairs, &inner);
		recovered = lock < 0 ? lock : stage_recover(registry, false, &inner);
	}
	int r;
	if (recovered < 0)
		r = inspect_found(
			inspection, true, "an interrupted change cannot be repaired: %s", inner.text);
	else
		r = inspect_found(inspection, true, "%d change%s of what is installed was interrupted",
			count, count > 1 ? "s" : "");
	inspection->repaired += recovered > 0;
	return r;
}

/* ---- what plugins should have -------------------------------------------- */

static bool inspect_has_link(const struct registry *registry, const char *command)
{
	_cleanup_free_ char *path = str_join(registry->bin, "/" PREFIX, command, NULL);
	struct stat status;
	return path && lstat(path, &status) == 0;
}

static const char *inspect_binary_of(const struct manifest *manifest, const char *command)
{
	for (size_t i = 0; i < manifest->command_count; i++) {
		if (strcmp(manifest->commands[i].name, command) == 0)
			return manifest->commands[i].binary;
	}
	return NULL;
}

/* A missing link is made, when the manifest says where it leads. */
static int inspect_look_for_link(struct inspection *inspection, const struct registry *registry,
	const struct registry_entry *entry, const struct manifest *manifest, const char *command)
{
	if (inspect_has_link(registry, command))
		return 0;
	const char *binary = manifest ? inspect_binary_of(manifest, command) : NULL;
	int r = inspect_found(
		inspection, binary, "the command '%s' of '%s' has no link", command, entry->name);
	if (r < 0 || !binary || !inspection->repairs)
		return r;
	_cleanup_free_ char *path = str_join(registry->bin, "/" PREFIX, command, NULL);
	_cleanup_free_ char *target = str_join("../", entry->name, "/", binary, NULL);
	if (!path || !target)
		return -ENOMEM;
	mkdir(registry->bin, 0700);
	inspection->repaired += symlink(target, path) == 0;
	return 0;
}

/* Other hosts keep programs elsewhere: a missing directory is no problem when every command has a
 * link that works. */
static int inspect_look_at_entry(struct inspection *inspection, const struct registry *registry,
	const struct registry_entry *entry)
{
	struct manifest manifest;
	perch_err err = { 0 };
	int r = manifest_read(entry->directory, inspection->arena, &manifest, &err);
	if (r == -ENOMEM)
		return r;
	struct stat status;
	bool has_manifest = r == 0;
	bool is_missing = stat(entry->directory, &status) < 0;
	bool is_used = false;
	for (size_t i = 0; entry->commands[i]; i++)
		is_used = is_used || inspect_has_link(registry, entry->commands[i]);
	if (is_missing && !is_used)
		return inspect_found(inspection, false,
			"the directory of '%s' is missing: perch plugins remove %s, or install it again",
			entry->name, entry->name);
	if (r < 0 && r != -ENOENT && (r = inspect_found(inspection, false, "%s", err.text)) < 0)
		return r;
	r = 0;
	for (size_t i = 0; entry->commands[i] && r == 0; i++)
		r = inspect_look_for_link(
			inspection, registry, entry, has_manifest ? &manifest : NULL, entry->commands[i]);
	return r;
}

/* ---- links --------------------------------------------------------------- */

static int inspect_look_at_link(
	struct inspection *inspection, const struct registry *registry, const char *file)
{
	_cleanup_free_ char *path = str_join(registry->bin, "/", file, NULL);
	const char *owner = link_plugin(registry, file, inspection->arena);
	if (!path || !owner)
		return -ENOMEM;
	const struct registry_entry *entry = owner[0] ? registry_find(registry, owner) : NULL;
	struct stat status;
	bool is_dangling = stat(path, &status) < 0;
	bool is_listed = entry && list_has(entry->commands, file + strlen(PREFIX));
	int r = 0;
	if (is_dangling && is_listed)
		return inspect_found(inspection, false,
			"the program behind bin/%s is missing: install '%s' again", file, owner);
	if (is_dangling) {
		r = inspect_found(inspection, true, "bin/%s leads nowhere", file);
		inspection->repaired += inspection->repairs && unlink(path) == 0;
	} else if (owner[0] && !entry) {
		r = inspect_found(
			inspection, false, "bin/%s belongs to '%s', which is not registered", file, owner);
	}
	return r;
}

static int inspect_look_at_links(
	struct inspection *inspection, const struct registry *registry, perch_err *err)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, registry->bin, 0);
	if (!listing)
		return errno == ENOENT
			? 0
			: err_set(err, -errno, "cannot read %s: %s", registry->bin, perch_strerror(-errno));
	int r = 0;
	for (const char *name; r == 0 && (name = listing_next(listing));) {
		if (str_has_prefix(str_from(name), STR(PREFIX)))
			r = inspect_look_at_link(inspection, registry, name);
	}
	return r;
}

int inspect_plugins(struct workshop *repairs, struct arena *arena,
	struct inspection *ret_inspection, perch_err *err)
{
	struct inspection inspection = { .arena = arena, .repairs = repairs };
	struct registry registry;
	int r = registry_read(arena, &registry, err);
	if (r == 0)
		r = inspect_look_for_abandoned(&inspection, &registry, err);
	if (r == 0 && repairs)
		r = registry_read(arena, &registry, err);
	for (size_t i = 0; r == 0 && i < registry.count; i++)
		r = inspect_look_at_entry(&inspection, &registry, &registry.entries[i]);
	if (r == 0)
		r = inspect_look_at_links(&inspection, &registry, err);
	if (r < 0)
		return r == -ENOMEM ? err_no_memory(err) : r;
	inspection.plugins = registry.count;
	*ret_inspection = inspection;
	return 0;
}
