/* The keys of a binding: tables of them, each with the function that reads it. An operator writes a
 * binding, and it says what a plugin is allowed: an unknown key, perhaps a mistyped one, is an
 * error and never passed over. */
#ifndef TOOL_BINDING_KEYS_H
#define TOOL_BINDING_KEYS_H

#include "base/arena.h"
#include "data/toml.h"
#include "tool/binding.h"

struct reading {
	struct str folder; /* of the file, without a slash at its end; "/" is empty */
	struct arena *arena;
	struct tool_binding *binding;
	void *into;           /* what `offset` of a key counts in: the binding, or one of its tools */
	const char *checksum; /* of the command; NULL = not pinned */
	const struct toml_value *pins;
	perch_err *err;
};

struct key {
	const char *name;
	int (*read)(struct reading *reading, const struct key *key, const struct toml_value *table);
	size_t offset;
};

/* Reads every key of a table. Fails with PERCH_ESYNTAX (an unknown key; err suggests
 * the nearest) and as the functions of the keys do. */
int binding_keys_read(
	struct reading *reading, const struct key *keys, size_t count, const struct toml_value *table);

/* The same for the table of that name inside of this one. */
int binding_keys_section(struct reading *reading, const char *name, const struct key *keys,
	size_t count, const struct toml_value *table);

/* Says in err what is wrong with a value, and where. PERCH_ESYNTAX. */
int key_wrong(const struct reading *reading, const struct toml_value *value, const char *words);

/* A relative path starts in the folder of the file. NULL without memory. */
const char *reading_absolute(const struct reading *reading, const char *path);

/* For tables of keys; `offset` leads to, in this order: const char * (twice), uint64_t of
 * nanoseconds, bool, uint64_t, const char *const * (twice). */
int key_text(struct reading *reading, const struct key *key, const struct toml_value *table);
int key_path(struct reading *reading, const struct key *key, const struct toml_value *table);
int key_seconds(struct reading *reading, const struct key *key, const struct toml_value *table);
int key_flag(struct reading *reading, const struct key *key, const struct toml_value *table);
int key_limit(struct reading *reading, const struct key *key, const struct toml_value *table);
int key_list(struct reading *reading, const struct key *key, const struct toml_value *table);
int key_paths(struct reading *reading, const struct key *key, const struct toml_value *table);

/* A SHA-256 in hex; `offset` leads to a const char *. */
int key_checksum(struct reading *reading, const struct key *key, const struct toml_value *table);
int key_get_checksum(struct reading *reading, const struct toml_value *table, const char *key,
	const char **ret_checksum);

/* The place of the text in the list of words, which ends with NULL. */
int key_choice(struct reading *reading, const struct key *key, const struct toml_value *table,
	const char *const *words);

/* ---- binding_server.c ------------------------------------------------------- */

/* [mcp]. */
int binding_read_server(
	struct reading *reading, const struct key *key, const struct toml_value *table);

#endif
