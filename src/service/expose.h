/* [expose.NAME] of perch/config.toml: what a frontend shows, and for what it need not ask. */
#ifndef SERVICE_EXPOSE_H
#define SERVICE_EXPOSE_H

#include "base/arena.h"
#include "perch/catalog.h"

/* Patterns; `*` stands for any characters. Lists end with NULL. */
struct exposure {
	bool is_all; /* the operator's own command */
	const char *const *tools;
	const char *const *plugins;
	const char *const *agents;
	const char *const *resources;
	const char *const *prompts;
	const char *const *approve; /* tools that need not be approved */
};

/* frontend NULL = everything. A section or a list that is not there: tools are shown, the rest is
 * not; to "worker" nothing is. Fails with PERCH_ESYNTAX (file, line, column; also a key that means
 * nothing), -ENOMEM, and as reading the file does. */
int exposure_read(
	const char *frontend, struct arena *arena, struct exposure *ret_exposure, perch_err *err);

/* Whether it shows this one. A tool BINDING/TOOL is shown by its own name, or its binding's. */
bool exposure_shows(const struct exposure *exposure, perch_entry_kind kind, const char *name);
/* The same of a resource or a prompt that an MCP server has: patterns are for the URI, for
 * BINDING/PROMPT, or for the binding with all that it has. */
bool exposure_shows_of(
	const struct exposure *exposure, perch_entry_kind kind, const char *binding, const char *name);
/* Whether any of that kind could be shown of the binding. */
bool exposure_may_show(const struct exposure *exposure, perch_entry_kind kind, const char *binding);
bool exposure_approves(const struct exposure *exposure, const char *name);

/* How much each frontend shows: "mcp 3, http 3, acp 3, worker 0 of 5" (in catalog.c). 1; 0 = there
 * is nothing that could be shown. Fails as reading the configuration does. */
int catalog_exposed(char *words, size_t size, perch_err *err);

#endif
