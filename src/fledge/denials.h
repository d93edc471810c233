/* What the sandbox has denied a plugin, told when the run or a command of the plugin fails:
 * variables that it mentions and did not get, places and sockets that a program needs and did not
 * find, paths that were denied. One line for each run, with the command that allows it. */
#ifndef FLEDGE_DENIALS_H
#define FLEDGE_DENIALS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct explain_context;
struct policy_widening;

struct denials_options {
	const char *plugin; /* its name; NULL = it cannot be granted more, and nothing is told */
	const char *const *variables; /* that were kept from it, NULL-terminated */
	const struct policy_widening *widening;
	bool may_call; /* other plugins */
	/* The policy, made when it is needed: NULL = there is no sandbox. */
	const struct explain_context *(*explain)(void *data);
	void *data;
};

struct denials;

/* options must outlive it. NULL without memory, and where nothing would be told: that is fine for
 * all of these. */
struct denials *denials_new(const struct denials_options *options);
void denials_free(struct denials *denials);

/* What the plugin says; the end of it is kept. */
void denials_hear(struct denials *denials, struct str text);

/* A command that it had run has failed. */
void denials_command(struct denials *denials, const char *command, struct str out, struct str err);

/* Appends the line, when there is something to tell; has_failed: so has the run. */
bool denials_say(struct denials *denials, bool has_failed, struct buf *out);

#endif
