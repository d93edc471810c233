/* Playing a recorded exchange again: the engine of its protocol is told what it was told then (the
 * other side's lines, answers, results, signals, times), and what the host says now is compared
 * with what it said then. No process is started, nothing is read or written: the results of execs
 * and loads come from the recording. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "trace/reader.h"

enum replay_kind {
	REPLAY_OTHER,   /* the host says something else */
	REPLAY_MISSING, /* it says nothing where it said something */
	REPLAY_EXTRA,   /* it says something where it said nothing */
};

/* The first difference. Texts belong to the replay. */
struct replay_difference {
	bool is_found;
	enum replay_kind kind;
	uint64_t line;   /* of the recording; of what is extra: before it */
	struct str what; /* the name of an event; empty = a line to the other side */
	struct str recorded;
	struct str now;
	size_t at; /* the first byte that differs */
};

struct replay_report {
	const char *protocol;  /* NULL = the recording has no start */
	struct str version;    /* of the perch that recorded; empty = unknown */
	uint64_t played;       /* lines of the other side */
	uint64_t compared;     /* lines and events of the host */
	uint64_t lent;         /* results taken from the recording … */
	uint64_t commands;     /* … of which so many were of commands, which were not run */
	uint64_t masked;       /* records with a masked value */
	uint64_t masked_first; /* the line of the first, 0 = none */
	uint64_t lines;        /* of the recording */
	bool has_end;          /* the recording is complete */
	struct replay_difference difference;
};

struct replay;

/* -ENOMEM. */
int replay_new(struct replay **ret_replay);
void replay_free(struct replay *replay);

/* For a trace_reader: `data` is the replay. Returns 0; 1 after a difference; -EINVAL
 * when it cannot go on (see replay_error); -ENOMEM. */
int replay_take(void *data, const struct trace_record *record);

/* There are no more records. Returns as the above. */
int replay_finish(struct replay *replay);

const struct replay_report *replay_report(const struct replay *replay);
const char *replay_error(const struct replay *replay);

#endif
