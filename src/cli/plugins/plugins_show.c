/* perch plugins show: where an installed plugin comes from, what it was allowed and what it keeps.
 * What that amounts to in its sandbox says `perch plugins audit`. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "cli/plugins/plugins_commands.h"
#include "cli/plugins/plugins_registry.h"
#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "data/json.h"
#include "plugins/find.h"
#include "plugins/plugin_audit.h"

enum { SHOWN_STATE_MAX = 16 * 1024 * 1024, SHOWN_KEYS_MAX = 256 };

struct shown_plugin {
	const struct registry_entry *entry;
	struct audit audit;
	char target[PATH_MAX];                /* of a live link; "" = a directory of its own */
	const char *keys[SHOWN_KEYS_MAX + 1]; /* of stored values */
	size_t key_count;                     /* all of them */
};

/* ---- looking ------------------------------------------------------------------------ */

static void plugins_show_find_target(struct shown_plugin *shown)
{
	ssize_t len = readlink(shown->entry->directory, shown->target, sizeof(shown->target) - 1);
	shown->target[len < 0 ? 0 : len] = '\0';
}

/* What cannot be read as an object has no keys; `perch plugins audit` and a run say why. */
static void plugins_show_find_keys(struct shown_plugin *shown, struct arena *arena)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_free_ char *path = str_join(shown->entry->directory, "/state.json", NULL);
	const perch_json_value *root = NULL;
	perch_json *json = NULL;
	if (!path || file_read(path, SHOWN_STATE_MAX, &text, NULL) < 0 ||
		perch_json_new(NULL, &json) < 0)
		return;
	if (perch_json_parse(json, text.data, text.len, &root, NULL) == 0) {
		perch_json_iter iter = perch_json_iterate(root);
		for (; perch_json_next(&iter) && iter.name; shown->key_count++) {
			const char *key = arena_dup(arena, json_str(iter.name));
			if (shown->key_count < SHOWN_KEYS_MAX)
				shown->keys[shown->key_count] = key ? key : "";
		}
	}
	perch_json_free(json);
}

static const char *plugins_show_net(const struct policy_widening *widening)
{
	static const char *const words[] = { NULL, "none", "full" };
	return words[widening->net];
}

/* ---- for people ----------------------------------------------------------------------- */

static void plugins_show_print_line(struct page *page, const char *label, const char *text)
{
	if (!text || !text[0])
		return;
	buf_printf(&page->out, "  %-11s", label);
	page_wrap(page, str_from(text), 13);
	buf_append_char(&page->out, '\n');
}

static void plugins_show_print_list(struct page *page, const char *label, const char *const *list)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	plugins_show_print_line(page, label, page_join(&text, list, ""));
}

static void plugins_show_print_origin(struct page *page, const struct shown_plugin *shown)
{
	const struct registry_entry *entry = shown->entry;
	plugins_show_print_line(page, "source", entry->source);
	plugins_show_print_line(page, "pinned to", entry->pinned_ref);
	plugins_show_print_line(page, "commit", entry->commit);
	plugins_show_print_line(page, "installed", entry->installed);
	plugins_show_print_line(page, shown->target[0] ? "live link" : "copy in",
		shown->target[0] ? shown->target : entry->directory);
}

static void plugins_show_print_commands(struct page *page, const struct shown_plugin *shown)
{
	const struct manifest *manifest = &shown->audit.manifest;
	if (!shown->audit.has_manifest)
		plugins_show_print_list(page, "commands", shown->entry->commands);
	for (size_t i = 0; shown->audit.has_manifest && i < manifest->command_count; i++) {
		_cleanup_free_ char *text =
			str_join(manifest->commands[i].name, manifest->commands[i].description[0] ? ": " : "",
				manifest->commands[i].description, NULL);
		plugins_show_print_line(page, i ? "" : "commands", text);
	}
}

static void plugins_show_print_grants(struct page *page, const struct shown_plugin *shown)
{
	const struct grant *grant = &shown->audit.grant;
	const char *words[WISHES_MAX + 1];
	wishes_words(&shown->audit.granted, words);
	plugins_show_print_list(
		page, "granted", words[0] ? words : (const char *[]){ "nothing", NULL });
	plugins_show_print_list(page, "may read", grant->widening.read);
	plugins_show_print_list(page, "may write", grant->widening.write);
	plugins_show_print_list(page, "variables", grant->widening.env);
	plugins_show_print_list(page, "presets", grant->widening.presets);
	plugins_show_print_line(page, "network", plugins_show_net(&grant->widening));
	plugins_show_print_list(page, "calls", grant->callees);
	plugins_show_print_line(page, "shell", grant->shell);
}

static int plugins_show_print(const struct cli *cli, const struct shown_plugin *shown)
{
	struct page page;
	page_begin(&page, cli);
	buf_append_text(&page.out, style_begin(&page.look, STYLE_MESSAGE));
	page_cut(&page, str_from(shown->entry->name), 0);
	buf_append_text(&page.out, style_end(&page.look, STYLE_MESSAGE));
	buf_append_text(&page.out, shown->entry->version[0] ? " " : "");
	page_cut(&page, str_from(shown->entry->version), 0);
	buf_append_char(&page.out, '\n');
	plugins_show_print_line(
		&page, "", shown->audit.has_manifest ? shown->audit.manifest.description : "");
	plugins_show_print_origin(&page, shown);
	plugins_show_print_commands(&page, shown);
	plugins_show_print_grants(&page, shown);
	plugins_show_print_list(
		&page, "stored", shown->key_count ? shown->keys : (const char *[]){ "nothing", NULL });
	return page_end(&page);
}

/* ---- for programs ----------------------------------------------------------------------- */

static void plugins_show_write_allowed(perch_json_writer *writer, const struct grant *grant)
{
	member_object(writer, "allowed");
	member_list(writer, "read", grant->widening.read);
	member_list(writer, "write", grant->widening.write);
	member_list(writer, "env", grant->widening.env);
	member_list(writer, "presets", grant->widening.presets);
	member_text(writer, "net", plugins_show_net(&grant->widening));
	member_list(writer, "plugins", grant->callees);
	member_text(writer, "shell", grant->shell);
	perch_json_end_object(writer);
}

static int plugins_show_print_json(const struct shown_plugin *shown)
{
	const struct registry_entry *entry = shown->entry;
	struct envelope envelope;
	perch_json_writer *writer = &envelope.writer;
	envelope_begin(&envelope);
	member_text(writer, "name", entry->name);
	member_text(writer, "version", entry->version);
	member_text(writer, "source", entry->source);
	member_text(writer, "pinned_ref", entry->pinned_ref[0] ? entry->pinned_ref : NULL);
	member_text(writer, "commit", entry->commit[0] ? entry->commit : NULL);
	member_text(writer, "installed", entry->installed);
	member_text(writer, "directory", entry->directory);
	member_text(writer, "link_to", shown->target[0] ? shown->target : NULL);
	member_list(writer, "commands", entry->commands);
	member_capabilities(writer, "granted", &shown->audit.granted);
	plugins_show_write_allowed(writer, &shown->audit.grant);
	member_list(writer, "stored_keys", shown->keys);
	member_number(writer, "stored_count", (int64_t)shown->key_count);
	return envelope_end(&envelope);
}

/* ---- the command ------------------------------------------------------------------------ */

static int plugins_show_one(const struct cli *cli, struct installed *installed, const char *name)
{
	struct shown_plugin shown = { 0 };
	perch_err err = { 0 };
	if (plugin_find(&installed->registry, name, &shown.entry, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_FAILURE;
	}
	int r = audit_plugin(&installed->registry, shown.entry, &installed->trust, &installed->arena,
		&shown.audit, &err);
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	plugins_show_find_target(&shown);
	plugins_show_find_keys(&shown, &installed->arena);
	r = cli->json ? plugins_show_print_json(&shown) : plugins_show_print(cli, &shown);
	audit_free(&shown.audit);
	return r;
}

static int cli_plugins_show(struct cli *cli, int argc, char **argv)
{
	struct option_list names = { 0 };
	struct installed installed = { 0 };
	int r = cli_options(cli, NULL, argc, argv, &names);
	if (r == 0 && names.count != 1)
		r = cli_usage_error("write: perch plugins show NAME", "show takes one NAME");
	if (r == 0)
		r = installed_read(&installed);
	if (r == 0)
		r = plugins_show_one(cli, &installed, names.items[0]);
	installed_free(&installed);
	free(names.items);
	return r;
}

const struct command plugins_show = {
	.name = "show",
	.words = WORDS_PLUGINS,
	.summary = "where a plugin comes from, what is allowed, what it keeps",
	.help = "usage: perch plugins show NAME [--json]\n"
			"\n"
			"An installed plugin (by its name, its repository or one of its commands): its\n"
			"source, pin and commit, whether it is a live link or a copy, its commands, what\n"
			"you granted and allowed, and the keys of the values that it has stored. The\n"
			"sandbox that this makes, and what is odd, says perch plugins audit.\n"
			"\n"
			"example:\n"
			"  perch plugins show standup --json | jq .pinned_ref\n",
	.run = cli_plugins_show,
};
