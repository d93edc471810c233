/* Installing a plugin, in two halves: first everything is fetched into a staging directory and
 * examined, so that users can be shown what they are asked for; then, with their consent, it is
 * built and put into its place. A failure at any point leaves things as they were. */
#ifndef PLUGINS_PLUGIN_INSTALL_H
#define PLUGINS_PLUGIN_INSTALL_H

#include "plugins/process.h"
#include "plugins/source.h"
#include "plugins/stage.h"
#include "plugins/trust.h"

struct install_options {
	const char *source; /* as the user writes it */
	bool copies;        /* a path: a snapshot, not a link */
	uint64_t copy_max;  /* bytes of it; 0 = as copy.h has it */
	bool force;         /* an existing plugin may be replaced */
	bool skips_build;
	bool only_looks; /* it is shown, not installed: its programs and names need not fit */
	/* An update: the source of the registry is taken as it is, and fetched. */
	const struct registry_entry *updates;
	const char *ref; /* of an update */
};

/* What would be installed. Everything lives in its arena. */
struct candidate {
	struct arena arena;
	struct workshop *workshop;
	struct install_options options;
	struct registry registry; /* as it was when it was looked at */
	struct plugin_source source;
	enum trust_tier tier;
	struct stage stage;
	const char *directory; /* where its files are now */
	bool is_live;          /* a link to the user's own directory */
	const char *commit;    /* "" = no repository */
	struct manifest manifest;
	struct grant grant; /* what is recorded for its name now */
	const char *build;  /* "" = nothing to build */
	const char *why;    /* "build hook", or the file that suggests it */
	const char *log;    /* of a build that failed; "" = none */
};

enum { CANDIDATE_RISK_MAX = 400 };

/* Whether it asks for capabilities that an unverified source should not have, and the words for
 * it. */
bool candidate_risk(const struct candidate *candidate, char ret_words[CANDIDATE_RISK_MAX]);

/* Fetches and looks, with an arena that becomes the candidate's. Nothing of the plugin has
 * run then. candidate_free is to be called in any case. */
int candidate_open(struct workshop *workshop, const struct install_options *options,
	struct arena arena, struct candidate *candidate, perch_err *err);

/* Removes what is left. */
void candidate_free(struct candidate *candidate);

/* Builds it, puts it into its place and runs its post_install hook. *ret_entry, in
 * the arena, is what was registered. */
int candidate_install(struct candidate *candidate, const struct capabilities *granted,
	struct registry_entry *ret_entry, perch_err *err);

#endif
