/* Who plays one side of a protocol: knows what its engine has to be told. */
#ifndef REPLAY_REPLAY_PLAYER_H
#define REPLAY_REPLAY_PLAYER_H

#include "base/err.h"
#include "replay/replay.h"

struct player;

/* An event of a recording. */
struct player_event {
	const char *name; /* NULL = the end of the table */
	/* Tells the engine; NULL = it knows. 0, -EINVAL (see replay_wrong), -ENOMEM. */
	int (*play)(struct player *player, const struct trace_record *record);
	bool is_outcome; /* the host said it: what it says now is compared */
	bool is_last;
};

struct player_table {
	const char *protocol;
	/* From the facts of the event "start". */
	int (*begin)(struct replay *replay, const perch_json_value *facts, struct player **ret_player);
	/* A line of the other side. */
	int (*line)(struct player *player, const struct trace_record *record);
	/* Before a line of the host is compared; may be NULL. */
	int (*sent)(struct player *player, const struct trace_record *record);
	const struct player_event *events;
	void (*free)(struct player *player);
};

/* The first member of every player. */
struct player {
	const struct player_table *table;
	struct replay *replay;
};

extern const struct player_table fledge_player;
extern const struct player_table tool_player;
extern const struct player_table agent_player;

/* ---- what a player tells the replay ---------------------------------------- */

/* The host says this now, to the other side; a newline at its end does not count. */
void replay_say(struct replay *replay, struct str line);

/* Whoever is told to record here says it now. */
struct trace *replay_trace(struct replay *replay);

/* Something was taken from the recording; is_command: it was not run. */
void replay_lend(struct replay *replay, bool is_command);

/* The recording cannot be what a host has recorded. Returns -EINVAL. */
int replay_wrong(struct replay *replay, const char *format, ...) PERCH_PRINTF(2, 3);

#endif
