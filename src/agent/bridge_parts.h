/* Inside of a bridge: its turns, by how far they are. bridge_take.c takes them,
 * bridge.c brings them to their end. */
#ifndef AGENT_BRIDGE_PARTS_H
#define AGENT_BRIDGE_PARTS_H

#include "agent/bridge.h"
#include "agent/profiles.h"
#include "base/list.h"

enum bridge_stage {
	STAGE_QUEUED,  /* behind another turn of its session */
	STAGE_ALLOWED, /* first in its session, but too many run */
	STAGE_RUNNING,
	STAGE_ENDING, /* over, but its end is not recorded yet */
	STAGES_OF_BRIDGE,
};

struct bridge_turn {
	struct link link;
	struct bridge *bridge;
	enum bridge_stage stage; /* and in the list of it */
	bool is_expected;        /* nothing was in its way when it came: it takes a place already */
	bool was_started;
	struct arena arena;
	struct kept_profile *profile;
	struct session_turn *session; /* until its end is recorded */
	struct agent_turn *turn;
	perch_agent_end end; /* once it is over: to be told */
	bool has_run;        /* it takes a place until its end is told */
	struct agent_turn_options options;
	const char *id;
	struct session_key key;
	uint32_t id_hash;
	uint32_t key_hash;
	bool is_new;
	size_t bytes; /* what it counts for BRIDGE_BYTES_MAX */
};

struct bridge {
	struct bridge_options options;
	struct agent_turn_events events; /* ours where we must know, the caller's elsewhere */
	struct profiles profiles;
	struct list turns[STAGES_OF_BRIDGE];
	size_t expected;
	size_t ending; /* of those that have run: whose end is not told yet */
	size_t bytes;
	bool is_held;
};

/* In bridge.c. Its session is free. */
void bridge_turn_ready(void *data, struct session_turn *session, const char *id);
void bridge_turn_free(struct bridge_turn *turn);

/* In bridge_take.c. The turn of that id, or NULL. */
struct bridge_turn *bridge_find(const struct bridge *bridge, const char *id);

#endif
