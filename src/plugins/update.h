/* Updating an installed plugin: whether it is due, and whether it asks for more. */
#ifndef PLUGINS_UPDATE_H
#define PLUGINS_UPDATE_H

#include "plugins/plugin_install.h"
#include "registry/approval.h"

/* The plan of an update, before anything is changed. */
struct update_plan {
	bool is_due;                      /* the candidate is to be installed */
	char reason[256];                 /* why it is skipped */
	const char *latest_tag;           /* a newer one than it is pinned to; NULL = none known */
	char excess[APPROVAL_EXCESS_MAX]; /* what it asks for beyond what was approved */
	struct candidate candidate;
};

/* Where a pin is to move: to the newest tag, or to `ref` (NULL = it stays). */
struct update_wish {
	bool to_latest;
	const char *ref;
};

/* Looks: fetches the source unless the plugin is local or pinned to something that does not change.
 * Call update_free in any case. */
int update_open(struct workshop *workshop, const struct registry_entry *entry,
	const struct update_wish *wish, struct update_plan *plan, perch_err *err);
void update_free(struct update_plan *plan);

/* The capabilities that it would be granted: those that it has so far, and with `takes_wishes`
 * those that it asks for beyond that. */
struct capabilities update_granted(const struct registry_entry *entry,
	const struct grant_approval *approval, const struct manifest *manifest, bool takes_wishes);

#endif
