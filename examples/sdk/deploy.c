/* A fledge-v1 plugin: asks where to deploy to, and remembers the answer. */
#include <perch/plugin.h>
#include <stdlib.h>
#include <string.h>

static perch_plugin_status deploy(perch_plugin *plugin)
{
	static const char *const targets[] = { "staging", "production" };
	char *last = NULL;
	size_t chosen = 0;
	bool sure = true;
	perch_plugin_status status = perch_plugin_load(plugin, "last_target", &last);
	if (status == PERCH_PLUGIN_OK)
		status = perch_plugin_select(plugin, "Deploy target:", targets, 2,
			last && strcmp(last, targets[1]) == 0 ? 1 : 0, &chosen);
	free(last);
	if (status == PERCH_PLUGIN_OK && chosen == 1)
		status = perch_plugin_confirm(plugin, "Really to production?", false, &sure);
	if (status != PERCH_PLUGIN_OK || !sure)
		return status;
	for (int step = 1; step <= 3; step++)
		perch_plugin_progress(plugin, "Deploying", step, 3);
	perch_plugin_progress_done(plugin);
	perch_plugin_outputf(plugin, "deployed to %s\n", targets[chosen]);
	return perch_plugin_store(plugin, "last_target", targets[chosen]);
}

int main(void)
{
	perch_plugin *plugin;
	if (perch_plugin_open(&plugin) != PERCH_PLUGIN_OK)
		return 1;
	perch_plugin_status status = deploy(plugin);
	if (status != PERCH_PLUGIN_OK)
		perch_plugin_log(plugin, PERCH_PLUGIN_ERROR, "%s", perch_plugin_status_name(status));
	perch_plugin_close(plugin);
	return status == PERCH_PLUGIN_OK ? 0 : 1;
}
