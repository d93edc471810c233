/* Any bytes as plugin.toml: no crash, no hang; an error has a place, and what is
 * accepted keeps every promise that installing and running rely on. */
#include "fuzz.h"

#include "base/str.h"
#include "registry/manifest.h"
#include "registry/names.h"

static void check_commands(const struct manifest *manifest)
{
	check(manifest->command_count <= MANIFEST_COMMANDS_MAX);
	for (size_t i = 0; i < manifest->command_count; i++) {
		const struct manifest_command *command = &manifest->commands[i];
		check(!command_name_problem(str_from(command->name)));
		check(!binary_problem(str_from(command->binary)));
		check(command->description != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct manifest manifest;
	perch_err err = { 0 };
	int r = manifest_parse("plugin.toml", (const char *)data, size, &arena, &manifest, &err);
	if (r == 0) {
		check(!plugin_name_problem(str_from(manifest.name)));
		check(manifest.version[0]);
		check(manifest.hooks.build && manifest.hooks.pre_push && manifest.protocol);
		check_commands(&manifest);
		r = manifest_check_protocol(&manifest, &err);
		check(r == 0 || err.text[0]);
	} else {
		check(err.code == r && err.line && err.column && err.text[0]);
	}
	arena_free(&arena);
	return 0;
}
