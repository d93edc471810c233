/* For tests of replays: recordings that are the same when they are played again. */
#ifndef HARNESS_RECORDING_H
#define HARNESS_RECORDING_H

#include "base/buf.h"
#include "replay/replay.h"

/* Lists of lines that end with NULL. '<' the host sends, '>' comes from the other side, '*' an
 * event and its facts, '!' the same as '<' and masked. */
extern const char *const recorded_fledge[];
extern const char *const recorded_fledge_timeout[];
extern const char *const recorded_tool[];
extern const char *const recorded_tool_timeout[];
extern const char *const recorded_agent[];
extern const char *const recorded_agent_older[];

/* All of them. */
enum { RECORDINGS = 6 };
extern const char *const *const recordings[RECORDINGS];

/* A line of a recording, or all of it and the head, as records of a trace. */
void recording_append_line(struct buf *out, const char *line);
void recording_append(struct buf *out, const char *const *lines);

/* As replay_take; *ret_replay is the caller's. */
int recording_play_bytes(const char *bytes, size_t len, struct replay **ret_replay);
int recording_play(const char *const *lines, struct replay **ret_replay);

#endif
