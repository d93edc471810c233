/* What the sandbox kept from a plugin, told when a run fails or a command of the plugin did: the
 * variables that it was not given and speaks of, places and sockets that a program uses and did not
 * find, paths that it was denied. One line, once a run, with the command that allows it. */
#ifndef FLEDGE_KEPT_BACK_H
#define FLEDGE_KEPT_BACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct explain_context;
struct policy_widening;

struct kept_back_options {
	const char *plugin; /* its name; NULL = nobody can be allowed more, and nothing is told */
	const char *const *variables; /* that were kept from it, NULL-terminated */
	const struct policy_widening *widening;
	bool may_call; /* other plugins */
	/* The policy, put together when somebody wants to know: NULL = there is no sandbox. */
	const struct explain_context *(*explain)(void *data);
	void *data;
};

struct kept_back;

/* options must outlive it. NULL without memory, and where nothing would be told: that is fine for
 * all of these. */
struct kept_back *kept_back_new(const struct kept_back_options *options);
void kept_back_free(struct kept_back *kept);

/* What the plugin says; the end of it is kept. */
void kept_back_hear(struct kept_back *kept, struct str text);

/* A command that it had run has failed. */
void kept_back_command(struct kept_back *kept, const char *command, struct str out, struct str err);

/* Appends the line, when there is something to tell; has_failed: so has the run. */
bool kept_back_say(struct kept_back *kept, bool has_failed, struct buf *out);

#endif
