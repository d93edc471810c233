/* What a command of a plugin asks for through the socket of its calls (fledge/calls.h): one packet
 * of words, each with a NUL behind it. The first is a directory, the others are arguments for
 * perch:
 * `[--json] [--answer ANSWER]… run COMMAND …` or `plugins list --json`, and nothing else. */
#ifndef FLEDGE_CALL_REQUEST_H
#define FLEDGE_CALL_REQUEST_H

#include <stddef.h>

#include "perch/base.h"

/* In the environment of a plugin and its commands: its name, and, after a blank, a mark if it may
 * call other plugins. A perch that finds it is inside of a sandbox. */
#define CALLS_INSIDE "PERCH_INSIDE"

enum {
	CALL_REQUEST_WORDS_MAX = 4096,
	CALLS_MESSAGE_MAX = 128 * 1024, /* of one request: its words */
	CALLS_ANSWER_MAX = 1024,
};

/* With a request come three descriptors. */
enum calls_descriptor { CALLS_STDOUT, CALLS_STDERR, CALLS_LINE, CALLS_DESCRIPTORS };

/* The answer, on the line, is one packet: the exit status in one byte, and behind it why it could
 * not be started, if so. A caller that closes the line ends the call. */

struct call_request {
	const char *directory; /* an absolute path */
	const char **argv;     /* NULL-terminated; argv[0] is "", for the program's name */
};

/* The words stay where they are, in the packet. Fails with -EINVAL (it is no such request), -ENOMEM
 * and words. */
int call_request_read(
	const char *packet, size_t len, struct call_request *ret_request, perch_err *err);

void call_request_free(struct call_request *request);

#endif
