/* The first line of a fledge-v1 exchange, made again from what it says. */
#include "replay/replay_player.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "fledge/context.h"
#include "replay/recorded.h"

static void replay_init_read_project(struct recorded *kept, const perch_json_value *recorded,
	struct project_context *project, bool *ret_is_dirty)
{
	const perch_json_value *git = perch_json_get(recorded, "git");
	bool has_git = perch_json_type_of(git) == PERCH_JSON_OBJECT;
	*ret_is_dirty = json_flag(git, "dirty");
	*project = (struct project_context){
		.is_known = perch_json_type_of(recorded) == PERCH_JSON_OBJECT,
		.name = recorded_text(kept, recorded, "name"),
		.root = recorded_text(kept, recorded, "root"),
		.language = recorded_text(kept, recorded, "language"),
		.git = {
			.is_repository = has_git,
			.branch = recorded_text(kept, git, "branch"),
			.remote = recorded_text(kept, git, "remote"),
			.remote_url = recorded_text(kept, git, "remote_url"),
		},
	};
}

/* The line ends with the version of the host, which may be another one by now. */
static void replay_init_set_version(struct buf *out, struct str version)
{
	static const char end[] = "\"}}\n";
	size_t tail = strlen(perch_version()) + sizeof(end) - 1;
	if (out->failed || out->len < tail)
		return;
	out->len -= tail;
	buf_append(out, version.data, version.len);
	buf_append_text(out, end);
}

int init_again(struct buf *out, perch_json *json, struct str recorded)
{
	const perch_json_value *init = NULL;
	if (perch_json_parse(json, recorded.data, recorded.len, &init, NULL) == -ENOMEM)
		return -ENOMEM;
	_cleanup_(recorded_free) struct recorded kept = { 0 };
	const perch_json_value *plugin = perch_json_get(init, "plugin");
	struct project_context project;
	struct init_context context = {
		.command = facts_text(init, "command"),
		.args = recorded_list(&kept, perch_json_get(init, "args")),
		.project = &project,
		.plugin_name = facts_text(plugin, "name"),
		.plugin_version = facts_text(plugin, "version"),
		.plugin_dir = facts_text(plugin, "dir"),
		.granted = recorded_capabilities(&kept, perch_json_get(init, "capabilities")),
	};
	replay_init_read_project(&kept, perch_json_get(init, "project"), &project, &context.is_dirty);
	if (init_line(out, &context) < 0)
		return -ENOMEM;
	replay_init_set_version(out, facts_text(perch_json_get(init, "host"), "version"));
	return out->failed || kept.failed ? -ENOMEM : 0;
}
