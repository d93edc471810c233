/* The first line a plugin reads. Plugins take it apart with sed: the order of
 * the keys and every byte between them are part of the protocol. */
#include <errno.h>

#include "data/json.h"
#include "fledge/context.h"

static void init_message_begin_member(perch_json_writer *writer, const char *name)
{
	perch_json_write_name(writer, name);
	perch_json_begin_object(writer);
}

static void init_message_write_args(perch_json_writer *writer, const char *const *args)
{
	perch_json_write_name(writer, "args");
	perch_json_begin_array(writer);
	for (; args && *args; args++)
		perch_json_write_string(writer, *args);
	perch_json_end_array(writer);
}

static void init_message_write_git(
	perch_json_writer *writer, const struct git_context *git, bool is_dirty)
{
	if (!git->is_repository) {
		perch_json_write_name(writer, "git");
		perch_json_write_null(writer);
		return;
	}
	init_message_begin_member(writer, "git");
	json_write_text(writer, "branch", str_from(git->branch));
	json_write_flag(writer, "dirty", is_dirty);
	json_write_text(writer, "remote", str_from(git->remote));
	json_write_text(writer, "remote_url", str_from(git->remote_url));
	perch_json_end_object(writer);
}

static void init_message_write_project(
	perch_json_writer *writer, const struct init_context *context)
{
	const struct project_context *project = context->project;
	if (!project || !project->is_known) {
		perch_json_write_name(writer, "project");
		perch_json_write_null(writer);
		return;
	}
	init_message_begin_member(writer, "project");
	json_write_text(writer, "name", str_from(project->name));
	json_write_text(writer, "root", str_from(project->root));
	json_write_text(writer, "language", str_from(project->language));
	init_message_write_git(writer, &project->git, context->is_dirty);
	perch_json_end_object(writer);
}

static void init_message_write_plugin(perch_json_writer *writer, const struct init_context *context)
{
	init_message_begin_member(writer, "plugin");
	json_write_text(writer, "name", context->plugin_name);
	json_write_text(writer, "version", context->plugin_version);
	json_write_text(writer, "dir", context->plugin_dir);
	perch_json_end_object(writer);
}

static void init_message_write_capabilities(
	perch_json_writer *writer, const struct init_context *context)
{
	init_message_begin_member(writer, "capabilities");
	const struct capabilities *granted = &context->granted;
	for (const struct capability *one = capability_table; one->name; one++) {
		bool is_granted = capabilities_have(granted, one);
		if (is_granted || one->is_always_told)
			json_write_flag(writer, one->name, is_granted);
	}
	if (granted->filesystem != FILESYSTEM_UNSET)
		json_write_text(writer, "filesystem", str_from(filesystem_name(granted->filesystem)));
	perch_json_end_object(writer);
}

static void init_message_write_versions(perch_json_writer *writer)
{
	init_message_begin_member(writer, "fledge");
	json_write_text(writer, "version", STR(FLEDGE_VERSION));
	perch_json_end_object(writer);
}

static void init_message_write_host(perch_json_writer *writer)
{
	init_message_begin_member(writer, "host");
	json_write_text(writer, "name", STR("perch"));
	json_write_text(writer, "version", str_from(perch_version()));
	perch_json_end_object(writer);
}

int init_line(struct buf *out, const struct init_context *context)
{
	struct perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "type", STR("init"));
	json_write_text(&writer, "protocol", STR("fledge-v1"));
	json_write_text(&writer, "command", context->command);
	init_message_write_args(&writer, context->args);
	init_message_write_project(&writer, context);
	init_message_write_plugin(&writer, context);
	init_message_write_versions(&writer);
	init_message_write_capabilities(&writer, context);
	init_message_write_host(&writer);
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
	return out->failed ? -ENOMEM : 0;
}
