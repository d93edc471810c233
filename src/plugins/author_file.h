/* Reading a TOML file of a plugin's author: values are copied into an arena, and every mistake
 * becomes a finding. Memory that runs out is remembered in the findings. */
#ifndef PLUGINS_AUTHOR_FILE_H
#define PLUGINS_AUTHOR_FILE_H

#include "plugins/findings.h"

struct author_file {
	struct arena *arena;
	struct findings *findings;
};

struct author_pair {
	struct toml_place at;
	const char *key;
	const char *value;
};

struct author_pairs {
	const struct author_pair *items;
	size_t count;
};

#define AUTHOR_WRONG(file, value, ...) \
	findings_add((file)->findings, FINDING_ERROR, &(value)->at, __VA_ARGS__)

/* Zeros, never for a size of 0. NULL without memory. */
void *author_alloc(const struct author_file *file, size_t count, size_t size);

/* NULL without memory. */
const char *author_copy(const struct author_file *file, struct str text);

/* Whether a getter of toml.h found a value of the right type; a wrong one becomes a finding. */
bool author_found(const struct author_file *file, int r, const perch_err *err);

/* A string without a NUL inside; NULL, with words, when it is none. */
const char *author_string(
	const struct author_file *file, const struct toml_value *value, const char *what);

/* The text of a key; NULL when it is absent or wrong. */
const char *author_text(
	const struct author_file *file, const struct toml_value *table, const char *key);

/* The strings of a key, ending with NULL; an empty list when it is absent or wrong. */
const char *const *author_list(
	const struct author_file *file, const struct toml_value *table, const char *key);

/* A table of strings; none when it is absent or wrong. */
struct author_pairs author_pairs(
	const struct author_file *file, const struct toml_value *table, const char *key);

/* Keys that are paths of files must stay below the directory that the files are made in. */
void author_check_files(const struct author_file *file, const struct author_pairs *files);

#endif
