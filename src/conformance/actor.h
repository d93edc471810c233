/* The actor: the plugin, tool or agent that the kit plays when a host is checked.
 * The host starts it as it starts any other; it plays the steps of its case on its
 * stdin and stdout, and tells the kit what it sees through a pipe with a name. */
#ifndef CONFORMANCE_ACTOR_H
#define CONFORMANCE_ACTOR_H

#include "perch/base.h"

/* What lies in an actor's directory. */
#define ACTOR_CASES "cases.toml"
#define ACTOR_VARIABLES "variables.json"
#define ACTOR_PIPE "kit"

enum {
	ACTOR_REPORT_FD = 9,           /* the pipe, opened by the script that starts the actor */
	ACTOR_LIFE_MAX = 120,          /* seconds; then it is gone, whatever the host does */
	ACTOR_REPORTED_MAX = 4 * 1024, /* bytes of a line that are reported */
};

/* What it reports, one object a line, by its only member:
 *   {"started":{argv,env,cwd,stdin,stdout,leaked,leads_session}}
 *   {"heard":"line"}  {"said":"line"}  {"signal":2}: the host is to get it
 *   {"problem":"step 3: …"}  {"done":1}: nothing is left to be seen */

/* Plays the case with this id from the directory; argv is how it was started.
 * Returns its exit code, or does not return. */
int actor_play(const char *directory, const char *id, char **argv);

#endif
