/* Inside of a catalogue: it is gathered kind by kind. */
#ifndef SERVICE_CATALOG_PARTS_H
#define SERVICE_CATALOG_PARTS_H

#include "base/arena.h"
#include "perch/catalog.h"
#include "service/bound_tools.h"
#include "service/expose.h"

struct perch_catalog {
	struct arena arena;
	perch_entry *entries;
	size_t count;
	size_t cap;
	const char **notes;
	size_t note_count;
	size_t note_cap;
	size_t hidden[PERCH_ENTRY_PROMPT + 1]; /* of each kind: not exposed */
	perch_catalog_server *servers;
	size_t server_count;
	size_t server_cap;
};

/* Adds an entry if it is exposed, else counts it as hidden. -ENOMEM. */
int catalog_add(perch_catalog *catalog, const struct exposure *exposure, const perch_entry *entry);

/* A sentence. -ENOMEM. */
int catalog_note(perch_catalog *catalog, const char *format, ...) PERCH_PRINTF(2, 3);

/* Where a text is worth showing: NULL for an empty one. */
static inline const char *catalog_text(const char *text)
{
	return text && text[0] ? text : NULL;
}

/* Each adds the entries of its kind. A file that cannot be read becomes a note; fails only with
 * -ENOMEM. */
int catalog_add_tools(
	perch_catalog *catalog, const struct exposure *exposure, const struct bound_tools *tools);
int catalog_add_commands(perch_catalog *catalog, const struct exposure *exposure);
int catalog_add_agents(
	perch_catalog *catalog, const struct exposure *exposure, const char *const *files);
int catalog_add_resources(perch_catalog *catalog, const struct exposure *exposure);

#endif
