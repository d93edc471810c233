/* The mistakes in a file of a plugin's author: every one, not only the first, each with its
 * place. */
#ifndef PLUGINS_FINDINGS_H
#define PLUGINS_FINDINGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "data/toml.h"

enum finding_level { FINDING_ERROR, FINDING_WARNING };

enum { FINDINGS_MAX = 200 }; /* and one more that says that there are more */

struct finding {
	enum finding_level level;
	struct toml_place at; /* line 0 = it has none */
	const char *text;
};

/* `{ .arena = … }` is an empty list. */
struct findings {
	struct arena *arena; /* where the texts live */
	struct finding *items;
	size_t count;
	size_t cap;
	size_t errors;
	size_t left_out;
	bool failed; /* memory ran out: the list is not complete */
};

void findings_free(struct findings *findings);

/* `at` may be NULL. */
void findings_add(struct findings *findings, enum finding_level level, const struct toml_place *at,
	const char *format, ...) PERCH_PRINTF(4, 5);

/* The error of a reader, with its place if it has one. */
void findings_add_err(struct findings *findings, const perch_err *err);

/* Adds a finding for every unknown key, with the name that it may have meant: `names` ends with
 * NULL. If `strict`, a key that resembles none is an error too; else only likely typing errors are
 * warned of. */
void findings_add_unknown_keys(struct findings *findings, const struct toml_value *table,
	const char *const *names, bool strict);

/* Appends "file:3:8: words"; file may be NULL, then it has no place either. */
void finding_put(struct buf *out, const char *file, const struct finding *finding);

/* How many there are, with those that were left out. */
static inline size_t findings_total(const struct findings *findings)
{
	return findings->left_out ? FINDINGS_MAX + findings->left_out : findings->count;
}

/* The name that a word was probably meant to be, or NULL. */
const char *name_meant(struct str word, const char *const *names);

#endif
