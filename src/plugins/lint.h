/* Checks every line between plugin and host against fledge-v1. A host ignores what it does not know
 * and goes on; this is stricter, for the author. No I/O; a finding's place is the number of the
 * plugin's line. */
#ifndef PLUGINS_LINT_H
#define PLUGINS_LINT_H

#include "base/str.h"
#include "perch/json.h"
#include "plugins/findings.h"
#include "registry/manifest.h"

struct lint_request;

struct lint {
	struct findings *findings;
	struct capabilities wishes; /* what the manifest asks for */
	perch_json *json;
	unsigned line;                /* of the plugin, the last one */
	struct lint_request *waiting; /* requests that are not answered yet, in order */
	size_t waiting_from;
	size_t waiting_count;
	size_t waiting_cap;
	bool is_cancelled; /* the host wants the plugin to end */
};

/* 0 or -ENOMEM. lint_free is fine for a lint of zeros. */
int lint_init(struct lint *lint, const struct capabilities *wishes, struct findings *findings);
void lint_free(struct lint *lint);

/* The lines of a conversation, as they come, without their newlines. */
void lint_from_plugin(struct lint *lint, struct str line);
void lint_to_plugin(struct lint *lint, struct str line);

/* The plugin has ended. */
void lint_end(struct lint *lint);

#endif
