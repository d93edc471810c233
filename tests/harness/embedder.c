/* A program that embeds the library. */
#include "harness/embedder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/proc.h"

#define A_MINUTE_NS UINT64_C(60000000000)

static struct {
	char plugin[4096];
	char project[4096];
	char profile[4096];
} paths;

void embedder_furnish(void)
{
	static const char *const variables[] = { "TMPDIR", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
		"XDG_CACHE_HOME" };
	char plugin[8192];
	char agent[8192];
	proc_in_build("plugin", plugin, sizeof(plugin));
	proc_in_build("agent", agent, sizeof(agent));
	const char *folder = folder_new();
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		setenv(variables[i], folder, 1);
	snprintf(paths.plugin, sizeof(paths.plugin), "%s/plugin", folder);
	snprintf(paths.project, sizeof(paths.project), "%s/project", folder);
	snprintf(paths.profile, sizeof(paths.profile), "%s/agent.yaml", folder);
	folder_write("plugin/plugin.toml",
		"[plugin]\nname = \"try\"\nversion = \"1.0.0\"\nprotocol = \"fledge-v1\"\n"
		"[[commands]]\nname = \"try\"\nbinary = \"run\"\n"
		"[capabilities]\nexec = true\nstore = true\nmetadata = true\n");
	free(folder_run("cp '%s' plugin/run && mkdir project", plugin));
	char profile[sizeof(agent) + 64];
	snprintf(profile, sizeof(profile), "command: \"%s\"\nstdin: message\n", agent);
	folder_write("agent.yaml", profile);
}

struct embedder embedder_open(void)
{
	static const char *const args[] = { "echo", NULL };
	static const char *const capabilities[] = { "tool.execute", NULL };
	struct embedder embedder = { .host = proc_host() };
	char tool[8192];
	perch_tool_spec spec = PERCH_TOOL_SPEC_INIT;
	spec.name = "t.p";
	spec.command = proc_in_build("tool", tool, sizeof(tool));
	spec.args = args;
	spec.capabilities = capabilities;
	spec.no_sandbox = true;
	spec.invocation_ns = spec.handshake_ns = spec.teardown_ns = A_MINUTE_NS;
	perch_err err = { 0 };
	if (perch_tool_binding_new(&spec, &embedder.binding, &err) < 0 ||
		perch_agent_profile_load(paths.profile, &embedder.profile, &err) < 0)
		ck_abort_msg("%s", err.text);
	return embedder;
}

void embedder_close(struct embedder *embedder)
{
	perch_tool_binding_free(embedder->binding);
	perch_agent_profile_free(embedder->profile);
	perch_host_free(embedder->host);
}

/* ---- a plugin --------------------------------------------------------------------- */

struct heard {
	bool is_right;
	bool has_ended;
};

static void on_show(perch_fledge_run *run, void *data, const perch_shown *shown)
{
	(void)run;
	struct heard *heard = data;
	heard->is_right |= shown->kind == PERCH_SHOWN_OUTPUT && !strcmp(shown->text.data, "hello\n");
}

static void on_run_end(perch_fledge_run *run, void *data, const perch_fledge_end *end)
{
	(void)run;
	struct heard *heard = data;
	heard->is_right &= end->success;
	heard->has_ended = true;
}

perch_fledge_options embedder_options(const char *const *args)
{
	perch_fledge_options options = PERCH_FLEDGE_OPTIONS_INIT;
	options.command = "try";
	options.args = args;
	options.plugin_dir = paths.plugin;
	options.project_dir = paths.project;
	options.no_sandbox = true;
	options.grants = PERCH_GRANT_EXEC | PERCH_GRANT_STORE | PERCH_GRANT_METADATA;
	return options;
}

bool embedder_run_plugin(const struct embedder *embedder)
{
	static const char *const args[] = { "hello", NULL };
	static const perch_fledge_events events = {
		.size = sizeof(events),
		.show = on_show,
		.end = on_run_end,
	};
	struct heard heard = { 0 };
	perch_fledge_options options = embedder_options(args);
	options.no_sandbox = !embedder->is_sandboxed;
	options.events = &events;
	options.data = &heard;
	perch_fledge_run *run;
	perch_err err = { 0 };
	if (perch_fledge_run_start(embedder->host, &options, &run, &err) < 0)
		ck_abort_msg("%s", err.text);
	while (!heard.has_ended && perch_host_wait(embedder->host, -1) >= 0)
		;
	perch_fledge_run_free(run);
	return heard.is_right;
}

/* ---- a tool, an agent --------------------------------------------------------------- */

bool embedder_run_tool(const struct embedder *embedder)
{
	perch_tool_request request = PERCH_TOOL_REQUEST_INIT;
	request.tool = "t.x";
	request.input = "{\"n\":1}";
	perch_tool_call *call;
	perch_err err = { 0 };
	if (perch_tool_call_run(embedder->host, embedder->binding, &request, &call, &err) < 0)
		ck_abort_msg("%s", err.text);
	const perch_tool_result *result = perch_tool_call_result(call);
	bool is_right = result->code == PERCH_TOOL_OK && result->responded;
	perch_tool_call_free(call);
	return is_right;
}

static void on_reply(perch_agent_turn *turn, void *data, const char *text, size_t len)
{
	(void)turn;
	(void)len;
	((struct heard *)data)->is_right = strcmp(text, "2 words in turn 1") == 0;
}

static void on_turn_end(perch_agent_turn *turn, void *data, const perch_agent_end *end)
{
	(void)turn;
	struct heard *heard = data;
	heard->is_right &= end->success && strcmp(end->session_id, "1") == 0;
	heard->has_ended = true;
}

bool embedder_run_agent(const struct embedder *embedder)
{
	static const perch_agent_events events = {
		.size = sizeof(events),
		.reply = on_reply,
		.end = on_turn_end,
	};
	struct heard heard = { 0 };
	perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
	options.profile = embedder->profile;
	options.message = "two words";
	options.message_len = strlen(options.message);
	options.events = &events;
	options.data = &heard;
	perch_agent_turn *turn;
	perch_err err = { 0 };
	if (perch_agent_turn_start(embedder->host, &options, &turn, &err) < 0)
		ck_abort_msg("%s", err.text);
	while (!heard.has_ended && perch_host_wait(embedder->host, -1) >= 0)
		;
	perch_agent_turn_free(turn);
	return heard.is_right;
}
