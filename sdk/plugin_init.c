/* The host's first message, typed. */
#include "base/macros.h"
#include "plugin_parts.h"

static bool plugin_init_keep_args(perch_plugin *plugin, const perch_json_value *list)
{
	size_t count = perch_json_count(list);
	const char **args = arena_alloc(&plugin->arena, (count + 1) * sizeof(*args));
	if (!args)
		return false;
	perch_json_iter iter = perch_json_iterate(list);
	size_t n = 0;
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		args[n] = kit_keep(&plugin->arena, value);
		if (!args[n++])
			return false;
	}
	args[n] = NULL;
	plugin->init.args = args;
	plugin->init.arg_count = n;
	return true;
}

perch_plugin_status plugin_read_init(perch_plugin *plugin, const perch_json_value *message)
{
	if (!perch_json_is(perch_json_get(message, "protocol"), "fledge-v1"))
		return PERCH_PLUGIN_NONSENSE;
	perch_plugin_init *init = &plugin->init;
	const perch_json_value *project = perch_json_get(message, "project");
	const perch_json_value *git = perch_json_get(project, "git");
	const perch_json_value *may = perch_json_get(message, "capabilities");
	const struct {
		const char **text;
		const perch_json_value *object;
		const char *name;
	} texts[] = {
		{ &init->command, message, "command" },
		{ &init->project.name, project, "name" },
		{ &init->project.root, project, "root" },
		{ &init->project.language, project, "language" },
		{ &init->git.branch, git, "branch" },
		{ &init->git.remote, git, "remote" },
		{ &init->git.remote_url, git, "remote_url" },
		{ &init->plugin.name, perch_json_get(message, "plugin"), "name" },
		{ &init->plugin.version, perch_json_get(message, "plugin"), "version" },
		{ &init->plugin.directory, perch_json_get(message, "plugin"), "dir" },
		{ &init->host.name, perch_json_get(message, "host"), "name" },
		{ &init->host.version, perch_json_get(message, "host"), "version" },
		{ &init->fledge_version, perch_json_get(message, "fledge"), "version" },
		{ &init->may.filesystem, may, "filesystem" },
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		*texts[i].text = kit_keep(&plugin->arena, perch_json_get(texts[i].object, texts[i].name));
		if (!*texts[i].text)
			return PERCH_PLUGIN_NO_MEMORY;
	}
	init->git.is_repository = perch_json_type_of(git) == PERCH_JSON_OBJECT;
	init->git.is_dirty = json_flag(git, "dirty");
	init->may.exec = json_flag(may, "exec");
	init->may.store = json_flag(may, "store");
	init->may.metadata = json_flag(may, "metadata");
	init->may.network = json_flag(may, "network");
	return plugin_init_keep_args(plugin, perch_json_get(message, "args")) ? PERCH_PLUGIN_OK
																		  : PERCH_PLUGIN_NO_MEMORY;
}
