/* The rights of an installed plugin, its requests, and what a user should know about it. */
#include "plugins/plugin_audit.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "plugins/files.h"
#include "registry/approval.h"

#define WARN(audit, ...) findings_add(&(audit)->warnings, FINDING_WARNING, NULL, __VA_ARGS__)

void audit_free(struct audit *audit)
{
	findings_free(&audit->warnings);
}

/* ---- what it says about itself ------------------------------------------------ */

static void plugin_audit_read_manifest(struct audit *audit, struct arena *arena)
{
	perch_err err = { 0 };
	int r = manifest_read(audit->entry->directory, arena, &audit->manifest, &err);
	audit->has_manifest = r == 0;
	if (r == -ENOMEM)
		audit->warnings.failed = true;
	else if (r != -ENOENT && (r < 0 || manifest_check_protocol(&audit->manifest, &err) < 0))
		WARN(audit, "it cannot be run: %s", err.text);
}

static void plugin_audit_read_grant(struct audit *audit, struct arena *arena)
{
	perch_err err = { 0 };
	int r = grants_read(GRANT_PLUGIN, audit->entry->name, arena, &audit->grant, &err);
	if (r == -ENOMEM)
		audit->warnings.failed = true;
	else if (r < 0)
		WARN(audit, "what was granted cannot be read: %s", err.text);
}

/* The approval decides, where there is one. */
static bool plugin_audit_runs_as_legacy(const struct audit *audit)
{
	if (audit->grant.has_approval)
		return !audit->grant.approval.protocol[0];
	return !audit->has_manifest || !audit->manifest.protocol[0];
}

static void plugin_audit_check_approval(struct audit *audit)
{
	const struct grant_approval *approval = &audit->grant.approval;
	const struct manifest *manifest = audit->has_manifest ? &audit->manifest : NULL;
	char excess[APPROVAL_EXCESS_MAX];
	if (!audit->grant.has_approval) {
		WARN(audit, "no approval is recorded: another program has installed it");
		return;
	}
	approval_excess(approval, manifest, excess);
	if (excess[0])
		WARN(audit,
			"plugin.toml asks for more than was approved: %s; it does not run until: perch plugins "
			"allow %s --manifest",
			excess, audit->entry->name);
	else if (manifest && !approval_is_same(approval, manifest))
		WARN(audit, "plugin.toml has changed since it was approved");
}

static void plugin_audit_check_wishes(struct audit *audit)
{
	const struct capabilities *granted = &audit->granted;
	const struct capabilities *wishes = &audit->manifest.wishes;
	for (const struct capability *one = capability_table; one->name; one++) {
		if (capabilities_have(wishes, one) && !capabilities_have(granted, one))
			WARN(audit, "it wishes for %s, which is not granted: perch plugins allow %s --grant %s",
				one->name, audit->entry->name, one->name);
	}
	if (wishes->plugins && !list_count(audit->grant.callees))
		WARN(audit,
			"it wishes for " WISH_PLUGINS
			", which is not granted: perch plugins allow %s --grant " WISH_PLUGINS,
			audit->entry->name);
}

static bool plugin_audit_has_lifecycle_hooks(const struct manifest *manifest)
{
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const char *text;
		manifest_hook(manifest, i, &text);
		if (hook_table[i].is_lifecycle && text[0])
			return true;
	}
	return false;
}

/* ---- its files ------------------------------------------------------------------ */

static void plugin_audit_check_command(
	struct audit *audit, const struct registry *registry, const char *command, const char *inside)
{
	_cleanup_free_ char *link = str_join(registry->bin, "/fledge-", command, NULL);
	char target[PATH_MAX];
	char shown[FILE_SHOWN_MAX];
	struct stat about;
	if (!link) {
		audit->warnings.failed = true;
		return;
	}
	if (lstat(link, &about) < 0)
		WARN(audit, "the command %s has no link in bin", command);
	else if (!realpath(link, target))
		WARN(audit, "the link of the command %s leads to nothing", command);
	else if (!policy_is_inside(target, inside))
		WARN(audit, "the command %s runs a program outside of the plugin: %s", command,
			file_shown(target, shown));
}

static void plugin_audit_found_trouble(void *data, enum file_trouble trouble, const char *path)
{
	static const char *const words[] = {
		[FILE_LINK_LEAVES] = "is a link that leads out of the plugin",
		[FILE_LINK_DANGLES] = "is a link to nothing",
		[FILE_WORLD_WRITABLE] = "can be changed by anybody",
	};
	char shown[FILE_SHOWN_MAX];
	if (trouble == FILE_PRESENT)
		return;
	WARN((struct audit *)data, "%s %s", file_shown(path, shown), words[trouble]);
}

static void plugin_audit_check_files(struct audit *audit, const struct registry *registry)
{
	const char *directory = audit->entry->directory;
	char resolved[PATH_MAX] = "";
	char shown[FILE_SHOWN_MAX];
	struct stat about;
	if (!realpath(directory, resolved)) {
		WARN(audit, "its directory %s cannot be read: %s", file_shown(directory, shown),
			perch_strerror(-errno));
		resolved[0] = '\0'; /* as far as it came */
	} else if (lstat(directory, &about) == 0 && S_ISLNK(about.st_mode)) {
		WARN(audit, "it is a live link to %s: what is changed there runs at once",
			file_shown(resolved, shown));
	}
	for (const char *const *command = audit->entry->commands; *command; command++)
		plugin_audit_check_command(audit, registry, *command, resolved);
	if (resolved[0] && files_walk(resolved, plugin_audit_found_trouble, audit))
		WARN(audit, "not all of its files were looked at");
}

/* ---- the sandbox in words ------------------------------------------------------- */

static void plugin_audit_add_line(
	struct audit *audit, struct arena *arena, const char *name, struct buf *text)
{
	const char *kept = arena_dup(arena, (struct str){ text->data, text->len });
	if (!kept || text->failed)
		audit->warnings.failed = true;
	else
		audit->policy[audit->policy_count++] = (struct audit_line){ name, kept };
	buf_free(text);
}

static void plugin_audit_add_words(
	struct audit *audit, struct arena *arena, const char *name, const char *words)
{
	struct buf text = { 0 };
	buf_append_text(&text, words);
	plugin_audit_add_line(audit, arena, name, &text);
}

static void plugin_audit_add_list(
	struct audit *audit, struct arena *arena, const char *name, const char *const *list)
{
	struct buf text = { 0 };
	for (size_t i = 0; list && list[i]; i++) {
		buf_append_text(&text, i ? ", " : "");
		buf_append_text(&text, list[i]);
	}
	if (text.len || text.failed)
		plugin_audit_add_line(audit, arena, name, &text);
}

static const char *plugin_audit_writes(enum filesystem_wish wish)
{
	switch (wish) {
	case FILESYSTEM_NONE:
		return "a private /tmp alone";
	case FILESYSTEM_PLUGIN:
		return "its own directory, a private /tmp";
	case FILESYSTEM_UNSET:
	case FILESYSTEM_PROJECT:
		break;
	}
	return "the project, its own directory, a private /tmp";
}

static const char *plugin_audit_network(const struct audit *audit, const struct capabilities *force)
{
	switch (audit->grant.widening.net) {
	case WIDENING_NET_NONE:
		return "none: you said so (--no-net)";
	case WIDENING_NET_FULL:
		return "granted: you said so (--net)";
	case WIDENING_NET_KEEP:
		break;
	}
	return network_state_words(capabilities_network(force, &audit->manifest.wishes));
}

static void plugin_audit_describe(struct audit *audit, struct arena *arena)
{
	const struct policy_widening *widening = &audit->grant.widening;
	if (!audit->is_sandboxed) {
		plugin_audit_add_words(audit, arena, "rights",
			widening->is_off ? "all of yours: you turned the sandbox off"
							 : "all of yours: a legacy plugin is not confined without --sandbox");
		return;
	}
	struct capabilities force = audit->granted;
	if (audit->has_manifest)
		force = capabilities_in_force(&audit->granted, &audit->manifest.wishes);
	plugin_audit_add_words(audit, arena, "reads",
		"everything but credentials and the directories of fledge and perch");
	plugin_audit_add_words(audit, arena, "writes", plugin_audit_writes(force.filesystem));
	plugin_audit_add_words(audit, arena, "network", plugin_audit_network(audit, &force));
	plugin_audit_add_list(audit, arena, "and reads", widening->read);
	plugin_audit_add_list(audit, arena, "and writes", widening->write);
	plugin_audit_add_list(audit, arena, "and sees", widening->env);
	plugin_audit_add_list(audit, arena, "presets", widening->presets);
	const char *const *withheld = policy_withheld(arena, widening);
	audit->warnings.failed |= !withheld;
	plugin_audit_add_list(audit, arena, "withheld", withheld);
	plugin_audit_add_list(audit, arena, "calls", audit->grant.callees);
	if (audit->grant.shell)
		plugin_audit_add_words(audit, arena, "shell", audit->grant.shell);
}

/* --------------------------------------------------------------------------------- */

int audit_plugin(const struct registry *registry, const struct registry_entry *entry,
	const struct trust_lists *trust, struct arena *arena, struct audit *ret_audit, perch_err *err)
{
	struct audit audit = { .entry = entry, .warnings.arena = arena };
	audit.tier = trust_of(trust, entry->source);
	if (entry->has_capabilities)
		audit.granted = entry->granted;
	plugin_audit_read_manifest(&audit, arena);
	plugin_audit_read_grant(&audit, arena);
	audit.is_legacy = plugin_audit_runs_as_legacy(&audit);
	audit.is_sandboxed =
		audit.is_legacy ? audit.grant.widening.is_on : !audit.grant.widening.is_off;
	if (audit.is_legacy && !audit.is_sandboxed)
		WARN(&audit,
			"%s: it runs with all your rights, unless by perch run --sandbox, or after perch "
			"plugins allow %s --sandbox on",
			audit.has_manifest ? "it is a legacy plugin" : "it has no plugin.toml", entry->name);
	if (audit.has_manifest) {
		audit.has_lifecycle_hooks = plugin_audit_has_lifecycle_hooks(&audit.manifest);
		plugin_audit_check_wishes(&audit);
	}
	plugin_audit_check_approval(&audit);
	plugin_audit_check_files(&audit, registry);
	plugin_audit_describe(&audit, arena);
	if (audit.warnings.failed) {
		audit_free(&audit);
		return err_no_memory(err);
	}
	*ret_audit = audit;
	return 0;
}
