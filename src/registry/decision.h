/* Files that decide a sandbox: a profile of an agent, a binding of a tool. A user who approves such
 * a file approves what it allows; when the file allows more later, it is not run until it is
 * approved again. What it allows is a list of words: "write /srv", "env GH_TOKEN". */
#ifndef REGISTRY_DECISION_H
#define REGISTRY_DECISION_H

#include "registry/grants.h"

/* The word of a file that wants no sandbox: then what it would allow there does not count. */
#define DECISION_NO_SANDBOX "sandbox off"

/* What is executed, and when: that counts without a sandbox, too. The word alone, without what it
 * is about, is about everything. */
#define DECISION_COMMAND "command"
#define DECISION_ARGUMENT "argument"
#define DECISION_VARIABLE "set"
#define DECISION_UNASKED "without asking"

/* Words that take something away: each of those that were approved must still be there, a limit
 * with its number or a lower one. New ones need no approval. */
#define DECISION_PIN "pin"
#define DECISION_LIMIT "limit"

/* The words of a widening, and `more` (may be NULL) behind them. NULL without memory. */
const char *const *decision_words(
	struct arena *arena, const struct policy_widening *widening, const char *const *more);

/* A word and what it is about; "" when that is empty. NULL without memory. */
const char *decision_word(struct arena *arena, const char *kind, const char *about);

/* The same about a path, whose links are resolved: the file behind them is what is allowed. */
const char *decision_word_of_path(struct arena *arena, const char *kind, const char *path);

/* The file as it is now. */
struct decision {
	enum grant_kind kind;
	const char *name; /* of the grant */
	const char *path; /* of the file */
	const char *sha256;
	const char *const *words;
	const char *approve_by; /* the command that approves it; "" = cannot be shown */
};

/* 1: the file is to be recorded, because it never was, or because it was changed and allows no
 * more than before; 0: it is what was approved. -EPERM: it allows more; err says what, and what
 * to do. */
int decision_check(const struct decision *decision, const struct grant *grant, perch_err *err);

/* Approves it in *grant, with the files that it names; NULL = there was no memory for those. */
int decision_approve(
	const struct decision *decision, const char *const *files, struct grant *grant, perch_err *err);

/* Records it as approved, with the files that it names (NULL = none), over any earlier record.
 * Words that were approved stay so with `keeps` (NULL = none of them). Fails as grants_write
 * does. */
int decision_record(const struct decision *decision, const char *const *files,
	const struct grant *keeps, perch_err *err);

#endif
