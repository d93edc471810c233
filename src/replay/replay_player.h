/* A player plays one protocol's other side: it knows what its engine has to be told. */
#ifndef REPLAY_REPLAY_PLAYER_H
#define REPLAY_REPLAY_PLAYER_H

#include "base/buf.h"
#include "base/err.h"
#include "perch/json.h"
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
	size_t size; /* of a player of this table */
	/* From the facts of the event "start"; the rest of the player is zeroed. When it fails, `free`
	 * is called. */
	int (*begin)(struct player *player, const perch_json_value *facts);
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

/* The host says now what is recorded here. */
struct trace *replay_trace(struct replay *replay);

/* Something was taken from the recording; is_command: it was not run. */
void replay_borrow(struct replay *replay, bool is_command);

/* No host can have made this recording. Returns -EINVAL. */
int replay_wrong(struct replay *replay, const char *format, ...) PERCH_PRINTF(2, 3);

/* ---- replay_init.c ------------------------------------------------------ */

/* The first line of a fledge-v1 exchange: appends the line that this host would send in place of
 * the recorded one. Command, project, plugin, capabilities and the version of the host are taken
 * from there. 0 or -ENOMEM; a recorded line that is no init gives one that differs. */
int init_again(struct buf *out, perch_json *json, struct str recorded);

/* ---- said.c ------------------------------------------------------------- */

/* What a host has said in a replay and was not compared yet. A true recording never makes this
 * queue longer than its limit. */
enum { SAID_BYTES_MAX = 64 * 1024 * 1024 };

struct saying {
	struct saying *next;
	struct str event; /* its name; empty = a line */
	struct str text;
};

/* A queue. `{0}` is an empty one. */
struct said {
	struct saying *first;
	struct saying *last;
	size_t bytes;
};

/* Texts are copied. 0, -ENOMEM, -EINVAL (too much). */
int said_add(struct said *said, struct str event, struct str text);

/* The first, which the caller frees with free(); NULL = none. */
struct saying *said_take(struct said *said);

void said_free(struct said *said);

#endif
