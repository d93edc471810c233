/* Files that decide a sandbox. */
#include "registry/decision.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/shell_word.h"
#include "sandbox/policy/path_list.h"

const char *decision_word(struct arena *arena, const char *kind, const char *about)
{
	return about[0] ? arena_join(arena, kind, " ", about, NULL) : "";
}

const char *decision_word_of_path(struct arena *arena, const char *kind, const char *path)
{
	char full[PATH_MAX];
	return decision_word(arena, kind, path[0] && realpath(path, full) ? full : path);
}

typedef const char *decision_word_fn(struct arena *arena, const char *kind, const char *about);

static void decision_add(
	struct path_list *words, decision_word_fn *make, const char *kind, const char *const *list)
{
	for (; list && *list && !words->failed; list++) {
		const char *word = make(words->arena, kind, *list);
		words->failed |= !word;
		path_list_add(words, word ? word : "");
	}
}

const char *const *decision_words(
	struct arena *arena, const struct policy_widening *widening, const char *const *more)
{
	struct path_list words;
	path_list_begin(&words, arena, NULL);
	decision_add(&words, decision_word_of_path, "read", widening->read);
	decision_add(&words, decision_word_of_path, "write", widening->write);
	decision_add(&words, decision_word, "env", widening->env);
	decision_add(&words, decision_word, "preset", widening->presets);
	for (; more && *more && !words.failed; more++)
		path_list_add(&words, *more);
	return words.failed ? NULL : words.items;
}

/* ---- what is more than before --------------------------------------------------- */

enum { DECISION_EXCESS_SHOWN = 4 };

static bool decision_is_about(const char *word, const char *const *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(kinds[i]);
		if (strncmp(word, kinds[i], len) == 0 && (word[len] == ' ' || !word[len]))
			return true;
	}
	return false;
}

static bool decision_takes_away(const char *word)
{
	static const char *const kinds[] = { DECISION_PIN, DECISION_LIMIT };
	return decision_is_about(word, kinds, COUNT(kinds));
}

/* "limit memory 100" against "limit memory 200". */
static bool decision_is_lower_limit(const char *now, const char *then)
{
	static const char *const limit[] = { DECISION_LIMIT };
	const char *number = strrchr(now, ' ');
	size_t len = number ? (size_t)(number - now) + 1 : 0;
	return number && decision_is_about(now, limit, 1) && strncmp(now, then, len) == 0 &&
		strtoull(number, NULL, 10) <= strtoull(then + len, NULL, 10);
}

/* Whether a word of now was approved. */
static bool decision_is_approved(const char *word, const struct grant_approval *approval)
{
	static const char *const unasked[] = { DECISION_UNASKED };
	static const char *const always[] = { DECISION_COMMAND, DECISION_ARGUMENT, DECISION_VARIABLE,
		DECISION_UNASKED };
	if (decision_takes_away(word) || list_has(approval->wishes, word))
		return true;
	if (decision_is_about(word, unasked, 1) && list_has(approval->wishes, DECISION_UNASKED))
		return true;
	return list_has(approval->wishes, DECISION_NO_SANDBOX) &&
		!decision_is_about(word, always, COUNT(always));
}

/* Whether an approved word that takes something away is still there. */
static bool decision_still_holds(const char *word, const struct decision *decision)
{
	for (const char *const *now = decision->words; *now; now++) {
		if (strcmp(*now, word) == 0 || decision_is_lower_limit(*now, word))
			return true;
	}
	return !decision_takes_away(word);
}

struct excess {
	struct buf words;
	size_t count;
};

static void decision_add_excess(struct excess *excess, const char *before, const char *word)
{
	char shown[FILE_SHOWN_MAX];
	if (excess->count++ < DECISION_EXCESS_SHOWN)
		buf_printf(&excess->words, "%s%s%.100s", excess->count > 1 ? ", " : "", before,
			file_shown(word, shown));
}

/* The words of what is more than what was approved. */
static void decision_find_excess(
	const struct decision *decision, const struct grant_approval *approval, struct excess *excess)
{
	for (const char *const *word = decision->words; *word; word++) {
		if (!decision_is_approved(*word, approval))
			decision_add_excess(excess, "", *word);
	}
	for (const char *const *word = approval->wishes; word && *word; word++) {
		if (!decision_still_holds(*word, decision))
			decision_add_excess(excess, "no ", *word);
	}
	if (excess->count > DECISION_EXCESS_SHOWN)
		buf_append_text(&excess->words, " …");
}

static int decision_refuse(const struct decision *decision, const struct grant_approval *approval,
	const struct excess *excess, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	char advice[SHELL_ADVICE_MAX];
	bool is_same = approval->manifest && strcmp(approval->manifest, decision->sha256) == 0;
	shell_advice(advice, decision->approve_by, "; look at it, then: %s", decision->approve_by);
	return err_set_advised(err, -EPERM, advice,
		"%s was changed since it was approved%s, and allows more: %s",
		file_shown(decision->path, shown), is_same ? ", or where a path of it leads" : "",
		excess->words.data);
}

int decision_check(const struct decision *decision, const struct grant *grant, perch_err *err)
{
	const struct grant_approval *approval = &grant->approval;
	if (!grant->has_approval)
		return 1;
	struct excess excess = { 0 };
	decision_find_excess(decision, approval, &excess);
	int r = buf_terminate(&excess.words);
	if (r < 0)
		err_no_memory(err);
	else if (excess.count)
		r = decision_refuse(decision, approval, &excess, err);
	else
		r = !approval->manifest || strcmp(approval->manifest, decision->sha256) != 0;
	buf_free(&excess.words);
	return r;
}

int decision_approve(
	const struct decision *decision, const char *const *files, struct grant *grant, perch_err *err)
{
	if (!files)
		return err_no_memory(err);
	grant->has_approval = true;
	grant->approval = (struct grant_approval){
		.manifest = decision->sha256,
		.wishes = decision->words,
		.files = files,
	};
	return 0;
}

int decision_record(const struct decision *decision, const char *const *files,
	const struct grant *keeps, perch_err *err)
{
	bool has_more = keeps && keeps->has_approval;
	const struct grant_approval approval = {
		.manifest = decision->sha256,
		.wishes = has_more ? keeps->approval.wishes : decision->words,
		.files = files,
	};
	return grants_approve(decision->kind, decision->name, &approval, err);
}
