/* The registry and the trusted owners, for list and audit. */
#include "cli/plugins/plugins_registry.h"

#include "cli/cli.h"
#include "plugins/stage.h"

int installed_read(struct installed *installed)
{
	perch_err err = { 0 };
	int r = registry_read(&installed->arena, &installed->registry, &err);
	if (r == 0 && stage_settle(&installed->registry))
		r = registry_read(&installed->arena, &installed->registry, &err);
	if (r == 0)
		r = trust_read(installed->registry.config, &installed->arena, &installed->trust, &err);
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	for (const char *const *text = installed->registry.warnings; text && *text; text++)
		cli_warning(*text);
	return 0;
}

void installed_free(struct installed *installed)
{
	arena_free(&installed->arena);
}

const char *installed_runtime(const struct registry_entry *entry)
{
	return entry->runtime[0] ? entry->runtime : "native";
}
