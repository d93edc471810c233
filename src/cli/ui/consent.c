/* The user's consent to what a plugin asks for. */
#include "cli/ui/consent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "cli/ui/page.h"
#include "registry/approval.h"

enum { LABEL_WIDTH = 11 };

/* ---- the words ----------------------------------------------------------- */

static bool consent_take_word(struct str word, struct capabilities *granted)
{
	const struct capability *capability = capability_find(word);
	if (capability)
		capabilities_put(granted, capability, true);
	return capability || str_is(word, "none");
}

int consent_read(struct consent *consent)
{
	for (size_t i = 0; i < consent->grants.count; i++) {
		struct str rest = str_from(consent->grants.items[i]);
		do {
			struct str word = str_trim(str_cut(&rest, ','));
			if (!consent_take_word(word, &consent->granted))
				return cli_usage_error("the words are " CAPABILITY_NAMES " and none",
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
	page_cut(page, str_from(text), 0);
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
		consent_line(page, "commands", STYLE_PLAIN, text.len ? text.data : "none");
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

static void consent_show_wishes(struct page *page, const struct manifest *manifest)
{
	const char *words[WISHES_MAX + 1];
	struct buf text = { 0 };
	wishes_words(&manifest->wishes, words);
	bool is_legacy = !manifest->protocol[0];
	consent_line(page, "runs", is_legacy ? STYLE_WARN : STYLE_PLAIN,
		is_legacy ? "with all your rights: it speaks no protocol" : "in a sandbox");
	consent_line(
		page, "wants", words[0] ? STYLE_WARN : STYLE_PLAIN, page_join(&text, words, "nothing"));
	buf_free(&text);
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

void consent_show(struct console *console, const struct candidate *candidate)
{
	const struct manifest *manifest = &candidate->manifest;
	if (console->cli->json || console->cli->quiet)
		return;
	struct page page = { .look.colored = cli_wants_color(console->cli, stderr),
		.look.utf8 = cli_is_utf8() };
	page_style(&page, STYLE_MESSAGE, manifest->name);
	buf_append_char(&page.out, ' ');
	page_cut(&page, str_from(manifest->version), 0);
	buf_append_text(&page.out, manifest->description[0] ? "  " : "");
	page_cut(&page, str_from(manifest->description), 0);
	buf_append_char(&page.out, '\n');
	consent_show_source(&page, candidate);
	consent_show_commands(&page, manifest);
	consent_show_wishes(&page, manifest);
	consent_show_hooks(&page, manifest);
	consent_show_build(&page, candidate);
	fwrite(page.out.data, 1, page.out.len, stderr);
	buf_free(&page.out);
}

/* ---- asking -------------------------------------------------------------- */

int consent_check_trust(
	const struct consent *consent, const struct candidate *candidate, perch_err *err)
{
	char risk[CANDIDATE_RISK_MAX];
	if (consent->trusts || !candidate_risk(candidate, risk))
		return 0;
	return err_set(err, -EPERM,
		"the source is unverified, and %s: look at it first, then use --trust (or list its owner "
		"under [trust] in %s/config.toml)",
		risk, candidate->registry.config);
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

int consent_get(struct console *console, const struct consent *consent, const char *question,
	const struct manifest *manifest, perch_err *err)
{
	if (consent->yes || consent->has_grants)
		return 1;
	int r = console_confirm(console, question);
	if (r == -ENOTTY)
		return consent_refuse_silence(manifest, err);
	return r > 0 ? 1 : err_set(err, -ECANCELED, "nothing was changed");
}
