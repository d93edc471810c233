/* The first line of a fledge-v1 exchange, made again. */
#ifndef REPLAY_REPLAY_INIT_H
#define REPLAY_REPLAY_INIT_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/json.h"

/* Appends the line that this host would send where the recorded one was sent: what it
 * tells of command, project, plugin and capabilities is taken from there, the version
 * of the host too. 0 or -ENOMEM; a line that is no init gives one that differs. */
int init_again(struct buf *out, perch_json *json, struct str recorded);

#endif
