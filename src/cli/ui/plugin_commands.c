/* The commands that the installed plugins bring, for the help and for a user who names none. */
#include <string.h>

#include "cli/cli.h"
#include "registry/manifest.h"
#include "registry/registry.h"

/* The commands of one plugin, with what its manifest says of them. */
static void plugin_commands_print_one(const struct registry_entry *entry, struct arena *arena)
{
	struct manifest manifest = { 0 };
	if (manifest_read(entry->directory, arena, &manifest, NULL) < 0)
		manifest = (struct manifest){ 0 };
	for (const char *const *command = entry->commands; *command; command++) {
		const char *description = "";
		for (size_t i = 0; i < manifest.command_count; i++) {
			if (strcmp(manifest.commands[i].name, *command) == 0)
				description = manifest.commands[i].description;
		}
		cli_tell(stdout, "  %-14s  %s%s(%s)\n", *command, description, description[0] ? " " : "",
			entry->name);
	}
}

size_t plugin_commands_print(void)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct registry registry = { 0 };
	perch_err err = { 0 };
	if (registry_read(&arena, &registry, &err) < 0)
		cli_error(NULL, "%s", err.text);
	for (size_t i = 0; i < registry.count; i++)
		plugin_commands_print_one(&registry.entries[i], &arena);
	return registry.count;
}
