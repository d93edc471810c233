/* An index of plugins that the user names: `index` under [registry] in CFG/config.toml is a file,
 * or a repository with the file index.toml at its top. perch knows no index of its own.
 *
 *     [[plugins]]
 *     name = "fledge-sql"               source = "owner/fledge-sql"
 *     description = "queries"           languages = ["rust"]       default = true
 */
#ifndef PLUGINS_PLUGIN_INDEX_H
#define PLUGINS_PLUGIN_INDEX_H

#include "base/arena.h"
#include "plugins/process.h"

struct index_entry {
	const char *name;
	const char *source;
	const char *description;      /* "" when absent */
	const char *const *languages; /* of projects that it is recommended for; empty = of none */
	bool is_default;
};

struct plugin_index {
	const struct index_entry *entries;
	size_t count;
};

enum { INDEX_SIZE_MAX = 4 * 1024 * 1024, INDEX_ENTRIES_MAX = 10000 };

/* The text of an index. Everything lives in the arena. PERCH_ESYNTAX, PERCH_ELIMIT, -ENOMEM. */
int index_parse(
	struct str text, struct arena *arena, struct plugin_index *ret_index, perch_err *err);

/* Reads it; a repository is fetched for that. Everything lives in the arena. Fails with -ENOENT and
 * words (none is configured), PERCH_ESYNTAX, PERCH_ELIMIT, as fetch_clone does. */
int index_read(struct workshop *workshop, const char *config, struct arena *arena,
	struct plugin_index *ret_index, perch_err *err);

#endif
