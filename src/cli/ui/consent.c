/* The user's consent to what a plugin asks for. */
#include "cli/ui/consent.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/ui/page.h"
#include "plugins/files.h"
#include "registry/approval.h"
#include "term/tty.h"

enum { LABEL_WIDTH = 11 };

/* ---- the words ----------------------------------------------------------- */

static bool consent_take_word(struct str word, struct capabilities *granted)
{
	const struct capability *capability = capability_find(word);
	bool is_plugins = str_is(word, WISH_PLUGINS);
	if (capability)
		capabilities_put(granted, capability, true);
	granted->plugins |= is_plugins;
	return capability || is_plugins || str_is(word, "none");
}

int consent_read(struct consent *consent)
{
	for (size_t i = 0; i < consent->grants.count; i++) {
		struct str rest = str_from(consent->grants.items[i]);
		do {
			struct str word = str_trim(str_cut(&rest, ','));
			if (!consent_take_word(word, &consent->granted))
				return cli_usage_error("the words are " CAPABILITY_NAMES ", " WISH_PLUGINS
									   " and none",
					"--grant does not know '%.*s'", (int)word.len, word.data ? word.data : "");
		} while (rest.len);
		consent->has_grants = true;
	}
	return 0;
}

void consent_free(struct consent *consent)
{
	free(consent->grants.items);
}

/* ---- showing ------------------------------------------------------------- */

static void consent_line(struct page *page, const char *label, enum style style, const char *text)
{
	buf_printf(&page->out, "  %-*s", LABEL_WIDTH - 2, label);
	buf_append_text(&page->out, style_begin(&page->look, style));
	page_wrap(page, str_from(text), LABEL_WIDTH);
	buf_append_text(&page->out, style_end(&page->look, style));
	buf_append_char(&page->out, '\n');
}

static void consent_show_source(struct page *page, const struct candidate *candidate)
{
	struct buf text = { 0 };
	buf_append_text(&text, candidate->source.location);
	if (candidate->source.ref[0])
		buf_printf(&text, " at %s", candidate->source.ref);
	if (candidate->commit[0])
		buf_printf(&text, " (%.12s)", candidate->commit);
	if (candidate->is_live)
		buf_append_text(&text, " (a live link: what changes there changes here)");
	if (buf_terminate(&text) == 0)
		consent_line(page, "source", STYLE_PLAIN, text.data);
	buf_free(&text);
	consent_line(page, "trust", candidate->tier == TRUST_UNVERIFIED ? STYLE_WARN : STYLE_PLAIN,
		trust_name(candidate->tier));
}

static void consent_show_commands(struct page *page, const struct manifest *manifest)
{
	struct buf text = { 0 };
	for (size_t i = 0; i < manifest->command_count; i++)
		buf_printf(&text, "%s%s", i ? ", " : "", manifest->commands[i].name);
	if (buf_terminate(&text) == 0)
		consent_line(page, "commands", STYLE_PLAIN,
			text.len ? text.data : "none: its plugin.toml has no [[commands]]");
	buf_free(&text);
}

static void consent_show_hooks(struct page *page, const struct manifest *manifest)
{
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const char *text;
		struct buf shown = { 0 };
		const char *name = manifest_hook(manifest, i, &text);
		if (!text[0] || strcmp(name, "build") == 0)
			continue;
		buf_printf(&shown, "%s: %s", name, text);
		if (buf_terminate(&shown) == 0)
			consent_line(page, "hook", STYLE_WARN, shown.data);
		buf_free(&shown);
	}
}

enum { CONSENT_LINE_MAX = 320, CONSENT_FILES_MAX = 12 };

/* A wish, with what it means: "store: store values, and load them again". */
static const char *consent_wish(const char *word, char out[CONSENT_LINE_MAX])
{
	const struct capability *capability = capability_find(str_from(word));
	const char *meaning = capability ? capability->meaning : "";
	if (strcmp(word, WISH_PLUGINS) == 0)
		meaning = WISH_PLUGINS_MEANING;
	snprintf(out, CONSENT_LINE_MAX, "%s%s%s", word, meaning[0] ? ": " : "", meaning);
	return out;
}

/* A plugin whose manifest does not mention the network has it: its user should know that. */
static void consent_show_network(struct page *page, const struct manifest *manifest)
{
	char line[CONSENT_LINE_MAX];
	if (!manifest->protocol[0] || manifest->wishes.says_network)
		return;
	snprintf(line, sizeof(line), "%s; to close it: perch plugins allow %s --no-net",
		network_state_words(NETWORK_OPEN), manifest->name);
	consent_line(page, "network", STYLE_WARN, line);
}

struct consent_files {
	struct page *page;
	size_t count;
};

static void consent_found_file(void *data, enum file_trouble trouble, const char *path)
{
	struct consent_files *files = data;
	if (trouble == FILE_PRESENT && files->count++ < CONSENT_FILES_MAX)
		consent_line(files->page, "file", STYLE_PLAIN, path);
}

/* What an unverified source has brought; it lies there until the question is answered. */
static void consent_show_files(struct page *page, const struct candidate *candidate)
{
	char resolved[PATH_MAX];
	char line[CONSENT_LINE_MAX + PATH_MAX];
	struct consent_files files = { .page = page };
	if (candidate->tier != TRUST_UNVERIFIED || !realpath(candidate->directory, resolved))
		return;
	files_walk(resolved, consent_found_file, &files);
	size_t more = files.count > CONSENT_FILES_MAX ? files.count - CONSENT_FILES_MAX : 0;
	snprintf(line, sizeof(line), "%zu%s in %s until you have answered", more ? more : files.count,
		more ? " more" : "", resolved);
	consent_line(page, "files", STYLE_PLAIN, line);
}

static void consent_show_wishes(struct page *page, const struct manifest *manifest)
{
	const char *words[WISHES_MAX + 1];
	wishes_words(&manifest->wishes, words);
	bool is_legacy = !manifest->protocol[0];
	consent_line(page, "runs", is_legacy ? STYLE_WARN : STYLE_PLAIN,
		is_legacy ? "with all your rights: it speaks no protocol" : "in a sandbox");
	for (size_t i = 0; words[i]; i++) {
		char line[CONSENT_LINE_MAX];
		consent_line(page, "wants", STYLE_WARN, consent_wish(words[i], line));
	}
	if (!words[0])
		consent_line(page, "wants", STYLE_PLAIN, "nothing");
	consent_show_network(page, manifest);
}

static void consent_show_build(struct page *page, const struct candidate *candidate)
{
	if (!candidate->build[0])
		return;
	struct buf text = { 0 };
	buf_printf(&text, "%s (%s)", candidate->build, candidate->why);
	if (buf_terminate(&text) == 0)
		consent_line(page, "build", STYLE_WARN, text.data);
	buf_free(&text);
}

void consent_describe(struct page *page, const struct candidate *candidate)
{
	const struct manifest *manifest = &candidate->manifest;
	page_style(page, STYLE_MESSAGE, manifest->name);
	buf_append_char(&page->out, ' ');
	page_cut(page, str_from(manifest->version), 0);
	buf_append_text(&page->out, manifest->description[0] ? "  " : "");
	page_cut(page, str_from(manifest->description), 0);
	buf_append_char(&page->out, '\n');
	consent_show_source(page, candidate);
	consent_show_commands(page, manifest);
	consent_show_wishes(page, manifest);
	consent_show_hooks(page, manifest);
	consent_show_build(page, candidate);
}

void consent_show(struct console *console, const struct candidate *candidate)
{
	if (console->cli->json || console->cli->quiet)
		return;
	struct page page = { .look.colored = cli_wants_color(console->cli, stderr),
		.look.utf8 = cli_is_utf8() };
	if (isatty(STDERR_FILENO))
		tty_size(STDERR_FILENO, &page.look.columns, &page.look.rows);
	consent_describe(&page, candidate);
	if (console->workshop.is_interactive)
		consent_show_files(&page, candidate);
	buf_write_to(&page.out, stderr);
	buf_free(&page.out);
}

/* ---- asking -------------------------------------------------------------- */

static bool consent_asks(const struct console *console, const struct consent *consent)
{
	return console->workshop.is_interactive && !consent->yes && !consent->has_grants;
}

int consent_check_trust(const struct console *console, const struct consent *consent,
	const struct candidate *candidate, perch_err *err)
{
	char risk[CANDIDATE_RISK_MAX];
	if (consent->trusts || !candidate_risk(candidate, risk) || consent_asks(console, consent))
		return 0;
	_cleanup_(buf_free) struct buf owner = { 0 };
	bool can_trust =
		trust_write_owner(candidate->source.location, &owner) && buf_terminate(&owner) == 0;
	if (!can_trust)
		return err_set(err, -EPERM,
			"the source is unverified, and %s: look at it first (perch plugins inspect SOURCE), "
			"then "
			"use --trust",
			risk);
	return err_set(err, -EPERM,
		"the source is unverified, and %s: look at it first (perch plugins inspect SOURCE), then "
		"use "
		"--trust; to trust its owner for good, write into %s/config.toml, under [trust]: users = "
		"[\"%s\"]",
		risk, candidate->registry.config, owner.data);
}

/* What to write instead of an answer. */
static int consent_refuse_silence(const struct manifest *manifest, perch_err *err)
{
	const char *wishes[WISHES_MAX + 1];
	struct buf words = { 0 };
	wishes_words(&manifest->wishes, wishes);
	for (size_t i = 0; wishes[i]; i++) {
		if (!strchr(wishes[i], ' '))
			buf_printf(&words, "%s%s", words.len ? "," : "", wishes[i]);
	}
	const char *list = words.len && buf_terminate(&words) == 0 ? words.data : "none";
	err_set(err, -ENOTTY,
		"nobody can be asked here: use --yes to grant all that '%s' asks for, or --grant %s",
		manifest->name, list);
	buf_free(&words);
	return -ENOTTY;
}

static int consent_refused(perch_err *err)
{
	return err_set(err, -ECANCELED, "nothing was changed");
}

/* Wishes one after the other. The default is no. */
static int consent_choose(
	struct console *console, const struct capabilities *wishes, struct capabilities *granted)
{
	char question[CONSENT_LINE_MAX];
	int r = 0;
	*granted = (struct capabilities){ 0 };
	for (const struct capability *one = capability_table; one->name && r >= 0; one++) {
		if (!capabilities_have(wishes, one))
			continue;
		snprintf(question, sizeof(question), "Grant %s? It may %s.", one->name, one->meaning);
		r = console_confirm(console, question);
		capabilities_put(granted, one, r > 0);
	}
	if (r >= 0 && wishes->plugins)
		r = console_confirm(console, "Grant " WISH_PLUGINS "? It may " WISH_PLUGINS_MEANING ".");
	granted->plugins = r > 0 && wishes->plugins;
	return r < 0 ? r : 0;
}

static bool consent_has_wishes(const struct capabilities *wishes)
{
	bool has_one = wishes->plugins;
	for (const struct capability *one = capability_table; one->name; one++)
		has_one |= capabilities_have(wishes, one);
	return has_one;
}

/* An unverified source: a user who goes on has seen its files, and why that matters. */
static int consent_go_on(struct console *console, const struct consent *consent,
	const struct candidate *candidate, perch_err *err)
{
	char risk[CANDIDATE_RISK_MAX];
	char question[CANDIDATE_RISK_MAX + 128];
	if (consent->trusts || !candidate_risk(candidate, risk))
		return 0;
	snprintf(question, sizeof(question),
		"The source is unverified, and %s. Have you looked at it, and go on?", risk);
	return console_confirm(console, question) > 0 ? 0 : consent_refused(err);
}

enum consent_choice { CONSENT_ALL, CONSENT_SOME, CONSENT_NOTHING, CONSENT_NOT };

int consent_grant(struct console *console, const struct consent *consent,
	const struct candidate *candidate, struct capabilities *ret_granted, perch_err *err)
{
	static const char *const options[] = {
		[CONSENT_ALL] = "install it, and grant all that it wants",
		[CONSENT_SOME] = "install it, and choose one by one what is granted",
		[CONSENT_NOTHING] = "install it, and grant nothing",
		[CONSENT_NOT] = "do not install it",
	};
	const struct manifest *manifest = &candidate->manifest;
	bool has_wishes = consent_has_wishes(&manifest->wishes);
	char question[512];
	snprintf(question, sizeof(question), "Install %s?", manifest->name);
	*ret_granted = consent->has_grants ? consent->granted : manifest->wishes;
	if (!consent_asks(console, consent) || !has_wishes) {
		int r =
			consent_asks(console, consent) ? consent_go_on(console, consent, candidate, err) : 0;
		return r < 0 ? r : consent_get(console, consent, question, manifest, err);
	}
	int r = consent_go_on(console, consent, candidate, err);
	if (r < 0)
		return r;
	r = console_select(console, question, options, COUNT(options), CONSENT_NOT);
	if (r == CONSENT_SOME)
		r = consent_choose(console, &manifest->wishes, ret_granted) < 0 ? -ECANCELED : CONSENT_SOME;
	else if (r == CONSENT_NOTHING)
		*ret_granted = (struct capabilities){ 0 };
	return r < 0 || r == CONSENT_NOT ? consent_refused(err) : 1;
}

int consent_get(struct console *console, const struct consent *consent, const char *question,
	const struct manifest *manifest, perch_err *err)
{
	if (consent->yes || consent->has_grants)
		return 1;
	int r = console_confirm(console, question);
	if (r == -ENOTTY)
		return consent_refuse_silence(manifest, err);
	return r > 0 ? 1 : consent_refused(err);
}
