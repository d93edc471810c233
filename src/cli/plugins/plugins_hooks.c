/* perch plugins hooks run EVENT. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/ui/console.h"
#include "cli/ui/envelope.h"
#include "cli/plugins/plugins_commands.h"
#include "plugins/hooks.h"
#include "registry/approval.h"

struct hooking {
	struct cli *cli;
	struct console console;
	const char *event;
	const char *repository;
	struct arena arena;
	struct registry registry;
	struct envelope envelope;
	size_t run, skipped, failed;
};

/* One result. The JSON object is always written, but printed only with --json. */
static void plugins_hooks_tell(
	struct hooking *hooking, const char *name, const char *status, int code, const char *detail)
{
	perch_json_writer *writer = &hooking->envelope.writer;
	perch_json_begin_object(writer);
	member_text(writer, "name", name);
	member_text(writer, "status", status);
	if (code >= 0)
		member_number(writer, "exit_code", code);
	if (detail)
		member_text(writer, "detail", detail);
	perch_json_end_object(writer);
	if (detail && !hooking->cli->json)
		workshop_tell(&hooking->console.workshop,
			strcmp(status, "failed") == 0 ? PERCH_SHOWN_ERROR : PERCH_SHOWN_WARNING, "%s: %s", name,
			detail);
}

static void plugins_hooks_fail(
	struct hooking *hooking, const char *name, int code, const char *detail)
{
	hooking->failed++;
	plugins_hooks_tell(hooking, name, "failed", code, detail);
}

static void plugins_hooks_skip(struct hooking *hooking, const char *name, const char *detail)
{
	hooking->skipped++;
	plugins_hooks_tell(hooking, name, "skipped", -1, detail);
}

static const char *plugins_hooks_text_of(const struct manifest *manifest, const char *event)
{
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const char *text;
		if (strcmp(manifest_hook(manifest, i, &text), event) == 0)
			return text;
	}
	return "";
}

/* The hook has the network and the widening of its plugin, and no more. */
static void plugins_hooks_run_hook(struct hooking *hooking, const struct registry_entry *entry,
	const struct manifest *manifest, const struct grant *grant, const char *text)
{
	perch_err err = { 0 };
	const struct capabilities force = capabilities_in_force(&entry->granted, &manifest->wishes);
	const struct hook hook = {
		.name = hooking->event,
		.text = text,
		.plugin = entry->name,
		.directory = entry->directory,
		.config = hooking->registry.config,
		.repository = hooking->repository,
		.is_lifecycle = true,
		.has_network = capabilities_reach_network(&force),
		.widening = &grant->widening,
		.shows_output = true,
	};
	int r = hook_run(&hooking->console.workshop, &hook, &err);
	if (r > 0)
		err_set(&err, r, "the hook %s failed with status %d", hooking->event, r);
	if (r) {
		plugins_hooks_fail(hooking, entry->name, r, err.text);
		return;
	}
	hooking->run++;
	plugins_hooks_tell(hooking, entry->name, "run", 0, NULL);
}

/* Whether the user has agreed to this hook: then it is run. */
static void plugins_hooks_consider(struct hooking *hooking, const struct registry_entry *entry)
{
	struct manifest manifest;
	struct grant grant;
	perch_err err = { 0 };
	int r = manifest_read(entry->directory, &hooking->arena, &manifest, &err);
	if (r == -ENOENT) /* a legacy plugin has no hooks */
		return;
	if (r == 0)
		r = grants_read(GRANT_PLUGIN, entry->name, &hooking->arena, &grant, &err);
	if (r < 0) {
		plugins_hooks_fail(hooking, entry->name, -1, err.text);
		return;
	}
	const char *text = plugins_hooks_text_of(&manifest, hooking->event);
	if (!text[0])
		return;
	char detail[256];
	if (grant.has_approval && !approval_is_same(&grant.approval, &manifest)) {
		snprintf(detail, sizeof(detail),
			"its manifest is not what was approved: perch plugins allow %s --manifest",
			entry->name);
		plugins_hooks_skip(hooking, entry->name, detail);
	} else if (manifest.protocol[0] && !(entry->has_capabilities && entry->granted.exec)) {
		plugins_hooks_skip(hooking, entry->name, "its hooks are not run: exec is not granted");
	} else {
		plugins_hooks_run_hook(hooking, entry, &manifest, &grant, text);
	}
}

static int plugins_hooks_run(struct hooking *hooking, perch_err *err)
{
	_cleanup_free_ char *cwd = getcwd(NULL, 0);
	int r = registry_read(&hooking->arena, &hooking->registry, err);
	if (r == 0)
		r = console_open(&hooking->console, hooking->cli, err);
	if (r < 0)
		return r;
	hooking->repository = hook_repository(cwd ? cwd : "/", &hooking->arena);
	if (!hooking->repository)
		return err_no_memory(err);
	envelope_begin(&hooking->envelope);
	perch_json_writer *writer = &hooking->envelope.writer;
	member_text(writer, "action", "hooks");
	member_text(writer, "event", hooking->event);
	member_array(writer, "results");
	for (size_t i = 0; i < hooking->registry.count; i++)
		plugins_hooks_consider(hooking, &hooking->registry.entries[i]);
	perch_json_end_array(writer);
	member_object(writer, "summary");
	member_number(writer, "total", (int64_t)(hooking->run + hooking->skipped + hooking->failed));
	member_number(writer, "run", (int64_t)hooking->run);
	member_number(writer, "skipped", (int64_t)hooking->skipped);
	member_number(writer, "failed", (int64_t)hooking->failed);
	perch_json_end_object(writer);
	int code = hooking->failed ? console_failure_code(&hooking->console) : EXIT_SUCCESS;
	int printed = hooking->cli->json ? envelope_end(&hooking->envelope) : 0;
	if (!hooking->cli->json)
		buf_free(&hooking->envelope.out);
	return code ? code : printed;
}

static int cli_plugins_hooks(struct cli *cli, int argc, char **argv)
{
	struct hooking hooking = { .cli = cli };
	struct option_list words = { 0 };
	perch_err err = { 0 };
	int r = cli_options(cli, NULL, argc, argv, &words);
	if (r == 0 && (words.count != 2 || strcmp(words.items[0], "run") != 0))
		r = cli_usage_error(
			"write: perch plugins hooks run EVENT", "hooks what? run, and an event");
	if (r == 0 && !hook_is_lifecycle(words.items[1]))
		r = cli_usage_error("the events are pre_init, post_work_start and pre_push",
			"there is no event '%s'", words.items[1]);
	if (r == 0) {
		hooking.event = words.items[1];
		r = plugins_hooks_run(&hooking, &err);
		if (r < 0) {
			cli_error(NULL, "%s", err.text);
			r = EXIT_HOST;
		}
		console_close(&hooking.console);
	}
	free(words.items);
	arena_free(&hooking.arena);
	return r;
}

const struct command plugins_hooks = {
	.name = "hooks",
	.summary = "run the hooks of installed plugins for an event",
	.help = "usage: perch plugins hooks run EVENT [--json]\n"
			"\n"
			"Runs what installed plugins have for pre_init, post_work_start or pre_push, in\n"
			"the directory of each plugin and in the sandbox; FLEDGE_PLUGIN_DIR and\n"
			"FLEDGE_REPO_ROOT are set. Plugins that speak a protocol need exec for it. Ends\n"
			"with 1 when a hook fails.\n"
			"\n"
			"example:\n"
			"  perch plugins hooks run pre_push\n",
	.words = WORDS_HOOKS,
	.run = cli_plugins_hooks,
};
