/* The actor, installed the way its protocol has it. */
#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/paths.h"
#include "conformance/actor.h"
#include "conformance/scene.h"
#include "plugins/new_file.h"
#include "registry/capabilities.h"

/* 'text' for a shell. */
static void case_install_shell_quote(struct buf *out, const char *text)
{
	buf_append_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_append_text(out, "'\\''");
		else
			buf_append_char(out, *text);
	}
	buf_append_char(out, '\'');
}

/* A script, so that every host can start it from where it lies; $0 is the path by which the host
 * started it. Every process that it starts inherits the pipe, which shows what is left behind. */
static int case_install_put_program(
	struct scene *scene, const struct scene_spec *spec, const char *path, perch_err *err)
{
	_cleanup_(buf_free) struct buf script = { 0 };
	buf_printf(&script, "#!/bin/sh\nexec %d>", ACTOR_REPORT_FD);
	case_install_shell_quote(&script, scene->directory);
	buf_append_text(&script, "/" ACTOR_PIPE "\n");
	if (spec->test->leaves_child)
		buf_printf(&script, "sleep %d &\n", ACTOR_LIFE_MAX);
	buf_append_text(&script, "exec ");
	case_install_shell_quote(&script, spec->self);
	buf_append_text(&script, " __actor ");
	case_install_shell_quote(&script, scene->directory);
	buf_printf(&script, " %s \"$0\" \"$@\"\n", spec->test->id);
	if (script.failed)
		return err_no_memory(err);
	return new_file_write(
		scene->directory, path, 0700, (struct str){ script.data, script.len }, err);
}

static const char *case_install_folder_of(struct scene *scene, const char *path)
{
	const char *slash = strrchr(path, '/');
	return arena_dup(&scene->arena, (struct str){ path, slash ? (size_t)(slash - path) : 0 });
}

static int case_install_put_text(
	const char *directory, const char *path, const struct buf *text, perch_err *err)
{
	if (text->failed)
		return err_no_memory(err);
	return new_file_write(directory, path, 0600, (struct str){ text->data, text->len }, err);
}

/* ---- fledge --------------------------------------------------------------------- */

static void case_install_put_capabilities(struct buf *out, const struct conformance_case *test)
{
	for (const struct capability *one = capability_table; one->name; one++) {
		bool is_allowed = list_has(test->allowed, one->name);
		if (is_allowed || one->is_always_told)
			buf_printf(out, "%s = %s\n", one->name, is_allowed ? "true" : "false");
	}
}

static int case_install_put_manifest(
	struct scene *scene, const struct conformance_case *test, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	buf_printf(&text, "[plugin]\nname = \"conform\"\nversion = \"1.2.3\"\n%s\n",
		test->settings ? test->settings : "protocol = \"fledge-v1\"");
	buf_append_text(&text,
		"[[commands]]\nname = \"conform\"\nbinary = \"bin/fledge-conform\"\n[capabilities]\n");
	case_install_put_capabilities(&text, test);
	return case_install_put_text(scene->directory, "plugin.toml", &text, err);
}

static int case_install_put_registry(
	struct scene *scene, const struct conformance_case *test, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	buf_append_text(&text,
		"[[plugins]]\nname = \"conform\"\nsource = \"conformance\"\nversion = \"1.2.3\"\n"
		"installed = \"2026-01-01\"\ncommands = [\"conform\"]\n[plugins.capabilities]\n");
	case_install_put_capabilities(&text, test);
	return case_install_put_text(scene->top, "config/fledge/plugins.toml", &text, err);
}

/* For a host that confines its plugins: the actor's program must be readable, wherever perch is
 * installed. Other hosts do not know the file. */
static int case_install_put_grant(
	struct scene *scene, const struct scene_spec *spec, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	const char *folder = scene_quote(scene, case_install_folder_of(scene, spec->self));
	if (!folder)
		return err_no_memory(err);
	buf_printf(&text, "schema = 1\n[plugin.conform]\nread = [%s]\n", folder);
	return case_install_put_text(scene->top, "config/perch/grants.toml", &text, err);
}

static int case_install_put_state(
	struct scene *scene, const struct author_pairs *state, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	for (size_t i = 0; i < state->count; i++) {
		const char *name = scene_quote(scene, state->items[i].key);
		const char *value = scene_quote(scene, state->items[i].value);
		if (!name || !value)
			return err_no_memory(err);
		buf_printf(&text, "%s%s:%s", i ? "," : "{", name, value);
	}
	if (!state->count)
		return 0;
	buf_append_char(&text, '}');
	return case_install_put_text(scene->directory, "state.json", &text, err);
}

static int case_install_link_command(struct scene *scene, perch_err *err)
{
	const char *bin = arena_join(&scene->arena, scene->top, "/config/fledge/plugins/bin", NULL);
	const char *program = bin ? arena_join(&scene->arena, bin, "/fledge-conform", NULL) : NULL;
	scene->variables[2] = (struct variable){ "program", scene_quote(scene, program) };
	if (!scene->variables[2].json)
		return err_no_memory(err);
	int r = paths_make(bin, err);
	if (r < 0)
		return r;
	if (symlink("../conform/bin/fledge-conform", program) < 0)
		return err_set(err, -errno, "%s cannot be linked: %s", program, perch_strerror(-errno));
	return 0;
}

static int case_install_plugin(struct scene *scene, const struct scene_spec *spec, perch_err *err)
{
	int r = case_install_put_program(scene, spec, "bin/fledge-conform", err);
	if (r == 0)
		r = case_install_put_manifest(scene, spec->test, err);
	if (r == 0)
		r = case_install_put_registry(scene, spec->test, err);
	if (r == 0)
		r = case_install_put_grant(scene, spec, err);
	if (r == 0)
		r = case_install_put_state(scene, &spec->test->state, err);
	if (r == 0)
		r = case_install_link_command(scene, err);
	scene_place(scene, "command", "conform", NULL);
	scene_place(scene, "args", NULL, spec->test->args);
	return r;
}

/* ---- tool ----------------------------------------------------------------------- */

static void case_install_put_list(struct scene *scene, struct buf *out, const char *const *list)
{
	for (size_t i = 0; list[i]; i++) {
		const char *quoted = scene_quote(scene, list[i]);
		out->failed = out->failed || !quoted;
		buf_printf(out, "%s%s", i ? ", " : "", quoted ? quoted : "");
	}
}

static int case_install_tool(struct scene *scene, const struct scene_spec *spec, perch_err *err)
{
	const struct conformance_case *test = spec->test;
	_cleanup_(buf_free) struct buf text = { 0 };
	const char *command = arena_join(&scene->arena, scene->directory, "/actor", NULL);
	const char *quoted = scene_quote(scene, command);
	const char *folder = scene_quote(scene, case_install_folder_of(scene, spec->self));
	if (!quoted || !folder)
		return err_no_memory(err);
	buf_printf(&text, "name = \"conform.tool\"\ncommand = %s\ncapabilities = [", quoted);
	case_install_put_list(scene, &text, test->allowed);
	buf_printf(&text, "]\n%s\n[sandbox]\nread = [%s]\nwrite = [%s]\n",
		test->settings ? test->settings : "", folder, scene->variables[1].json);
	int r = case_install_put_program(scene, spec, "actor", err);
	if (r == 0)
		r = case_install_put_text(scene->directory, "binding.toml", &text, err);
	const char *binding = arena_join(&scene->arena, scene->directory, "/binding.toml", NULL);
	if (r == 0 && !binding)
		r = err_no_memory(err);
	scene_place(scene, "program", command, NULL);
	scene_place(scene, "binding", binding, NULL);
	scene_place(scene, "tool", test->tool ? test->tool : "conform.echo", NULL);
	scene_place(scene, "input", test->input ? test->input : "{}", NULL);
	return r;
}

/* ---- agent ---------------------------------------------------------------------- */

static int case_install_agent(struct scene *scene, const struct scene_spec *spec, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	const char *program = arena_join(&scene->arena, scene->directory, "/actor", NULL);
	const char *profile = arena_join(&scene->arena, scene->directory, "/profile.yaml", NULL);
	const char *quoted = scene_quote(scene, program);
	if (!profile || !quoted)
		return err_no_memory(err);
	buf_printf(&text, "command: %s\n%s%s\n", quoted,
		spec->protocol == PROTOCOL_ACP ? "protocol: acp\n" : "",
		spec->test->settings ? spec->test->settings : "");
	int r = case_install_put_program(scene, spec, "actor", err);
	if (r == 0)
		r = case_install_put_text(scene->directory, "profile.yaml", &text, err);
	scene_place(scene, "program", program, NULL);
	scene_place(scene, "profile", profile, NULL);
	scene_place(scene, "message", spec->test->message ? spec->test->message : "hello", NULL);
	return r;
}

int scene_install(struct scene *scene, const struct scene_spec *spec, perch_err *err)
{
	static int (*const installs[])(struct scene *, const struct scene_spec *, perch_err *) = {
		[PROTOCOL_FLEDGE] = case_install_plugin,
		[PROTOCOL_TOOL] = case_install_tool,
		[PROTOCOL_AGENT] = case_install_agent,
		[PROTOCOL_ACP] = case_install_agent,
	};
	int r = paths_make(scene->directory, err);
	return r < 0 ? r : installs[spec->protocol](scene, spec, err);
}
