/* Files that decide a sandbox. */
#include "registry/decision.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
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

static int decision_refuse(
	const struct decision *decision, const struct grant_approval *approval, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	char advice[SHELL_ADVICE_MAX];
	struct buf excess = { 0 };
	size_t count = 0;
	bool is_same = approval->manifest && strcmp(approval->manifest, decision->sha256) == 0;
	for (const char *const *word = decision->words; *word; word++) {
		if (list_has(approval->wishes, *word))
			continue;
		if (count++ < DECISION_EXCESS_SHOWN)
			buf_printf(&excess, "%s%.100s", count > 1 ? ", " : "", file_shown(*word, shown));
	}
	if (count > DECISION_EXCESS_SHOWN)
		buf_append_text(&excess, " …");
	int r = buf_terminate(&excess);
	shell_advice(advice, decision->approve_by, "; look at it, then: %s", decision->approve_by);
	if (r == 0)
		r = err_set_advised(err, -EPERM, advice,
			"%s was changed since it was approved%s, and allows more: %s",
			file_shown(decision->path, shown), is_same ? ", or where a path of it leads" : "",
			excess.data);
	buf_free(&excess);
	return r == -ENOMEM ? err_no_memory(err) : r;
}

int decision_check(const struct decision *decision, const struct grant *grant, perch_err *err)
{
	const struct grant_approval *approval = &grant->approval;
	if (!grant->has_approval)
		return 1;
	bool has_all = list_has(approval->wishes, DECISION_NO_SANDBOX);
	for (const char *const *word = decision->words; *word && !has_all; word++) {
		if (!list_has(approval->wishes, *word))
			return decision_refuse(decision, approval, err);
	}
	return !approval->manifest || strcmp(approval->manifest, decision->sha256) != 0;
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
