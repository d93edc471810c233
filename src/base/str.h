/* A str is a piece of text that it does not own: a pointer and a length, not NUL-terminated. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "perch/base.h"

struct str {
	const char *data;
	size_t len;
};

#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })

static inline struct str str_from(const char *text)
{
	return (struct str){ text, text ? strlen(text) : 0 };
}

/* Conversion from and to the text type of the public interface. A str that is converted must have a
 * NUL behind it. */
#define NO_TEXT ((perch_text){ "", 0 })

static inline struct str str_of(perch_text text)
{
	return (struct str){ text.data, text.len };
}

static inline perch_text text_of(struct str s)
{
	return s.data ? (perch_text){ s.data, s.len } : NO_TEXT;
}

static inline perch_text text_from(const char *text)
{
	return text_of(str_from(text));
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* The order of their bytes; what is the start of the other comes first. */
static inline int str_compare(struct str a, struct str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter ? memcmp(a.data, b.data, shorter) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static inline bool str_is(struct str a, const char *text)
{
	return str_eq(a, str_from(text));
}

static inline bool str_has_prefix(struct str s, struct str prefix)
{
	return s.len >= prefix.len && str_eq((struct str){ s.data, prefix.len }, prefix);
}

static inline bool str_has_suffix(struct str s, struct str suffix)
{
	if (suffix.len == 0 || s.len < suffix.len)
		return suffix.len == 0;
	return memcmp(s.data + (s.len - suffix.len), suffix.data, suffix.len) == 0;
}

/* The same text without ASCII blanks (space, tab, CR, LF, VT, FF) around it. */
struct str str_trim(struct str s);

/* Cuts *rest at the first `separator`: returns what stands before it and
 * leaves what stands behind; without one, returns all and leaves nothing. */
struct str str_cut(struct str *rest, char separator);

/* A NUL-terminated copy that the caller frees, or NULL without memory. */
char *str_dup(struct str s);

/* "a" + "b" + …, up to a NULL; the caller frees. NULL without memory. */
char *str_join(const char *first, ...) __attribute__((sentinel));

/* A hash of a text (FNV-1a), begun with STR_HASH; equal texts have equal hashes. Not for tables
 * that strangers fill. */
#define STR_HASH 2166136261u
uint32_t str_hash(uint32_t hash, const char *text);

/* Lists of texts that end with NULL; NULL is an empty one. */
size_t list_count(const char *const *list);
bool list_has(const char *const *list, const char *text);
bool list_has_str(const char *const *list, struct str text);

/* How far apart two words are (insertions, deletions, changes, neighbours
 * swapped), for "did you mean"; words over 63 bytes count as far apart. */
unsigned str_distance(const char *a, const char *b);

/* Whether candidate is near enough to be meant by `word` (a third of its letters
 * differ at most, or one) and nearer than *best, which it then becomes. Begin with
 * UINT_MAX. */
bool str_is_nearer(const char *word, const char *candidate, unsigned *best);

/* The one of `count` words that is nearest, NULL when none is near enough. They stand `stride`
 * bytes apart, in a list or in a table: str_nearest(word, &keys[0].name, n, sizeof(keys[0])). */
const char *str_nearest(const char *word, const char *const *first, size_t count, size_t stride);

#endif
