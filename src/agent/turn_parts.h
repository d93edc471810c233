/* What the parts of a turn know of each other. */
#ifndef AGENT_TURN_PARTS_H
#define AGENT_TURN_PARTS_H

#include "agent/agent_engine.h"
#include "agent/agent_launch.h"
#include "agent/agent_notes.h"
#include "agent/resident.h"
#include "agent/turn.h"
#include "base/list.h"
#include "base/macros.h"
#include "proc/host.h"
#include "proc/tail.h"
#include "sandbox/sandbox.h"

struct agent_turn {
	struct agent_turn_options options;
	perch_host *host;
	const struct dialect *dialect;
	struct arena arena;
	struct launch launch;
	struct sandbox *sandbox;
	struct agent_engine_options engine_options;
	struct agent_engine *engine;
	struct agent_partials partials;
	perch_child *child;
	perch_step ladder[2];
	/* Of an agent of ACP instead: what it has of its process, and what that asks for. */
	struct seat *seat;
	struct list wants;
	struct list forms;
	struct str place;     /* JSON: of a session that is opened, see turn_place.c */
	struct buf unreached; /* what of it the agent is not told of, in words */
	bool is_answered;     /* the prompt has ended, in one way or another */
	const char *const *layers;
	uint64_t started_ns;
	struct timer begun; /* what is told at the start is told from the loop */
	struct timer wall;
	struct timer idle;
	uint64_t heard_ns;  /* the last output */
	bool is_held;       /* its output is not read, so the agent does not count as silent */
	size_t heard_bytes; /* of a line without an end, when we last looked */
	struct tail tail;   /* of stderr */
	struct buf hint;    /* why it failed */
	bool is_told;       /* that it has started */
	int failure;        /* why it has not; 0 = it has */
	perch_err failure_text;
	uint64_t timeout_ns;    /* the one that was reached; 0 = none */
	enum agent_clock clock; /* whose time was up */
	int cancelled_by;
	unsigned entered; /* how many of our functions, from the loop, are at work */
	bool is_over;     /* freed while they were: nothing is told any more */
	bool has_exited;  /* the agent itself; what it left behind may still write */
};

#define TURN_OF(pointer, member) container_of(pointer, struct agent_turn, member)

/* ---- turn_effects.c ----------------------------------------------------------- */

/* Calls a callback of the turn's owner, if it is set. Afterwards the turn may have been freed, and
 * what its options point to may be gone. */
#define TELL(turn, event, ...)                                                \
	do {                                                                      \
		if (!(turn)->is_over && (turn)->options.events->event)                \
			(turn)->options.events->event((turn)->options.data, __VA_ARGS__); \
	} while (0)

extern const struct agent_effects turn_effects;

/* Answers a permission request. */
void turn_permit(struct agent_turn *turn, struct str request_id, bool allowed, struct str message);

/* ---- turn_seat.c ------------------------------------------------------------ */

/* Has its message answered by a process that speaks ACP. Fails as seat_take does. */
int turn_seat_take(struct agent_turn *turn, perch_err *err);

/* Answers what the agent wants, by the option of that id, or by one that says yes or no. */
void turn_seat_permit(
	struct agent_turn *turn, struct str request_id, bool allowed, struct str option);

/* Nobody answers what is wanted any more. */
void turn_seat_drop_wants(struct agent_turn *turn);

/* ---- turn_prompt.c ---------------------------------------------------------- */

/* A part of struct seat_events: what is asked. */
void turn_prompt_write(void *data, const struct acp_abilities *abilities, struct buf *out);

/* ---- turn_place.c ----------------------------------------------------------- */

/* A part of struct seat_events: what its session is told of. */
void turn_place_write(void *data, const struct acp_abilities *abilities, struct buf *servers,
	struct buf *directories);

/* What the profile and the client have of it. -ENOMEM. */
int turn_place_gather(struct agent_turn *turn);

/* Once its session is open: what it is not told of. */
void turn_place_tell_unreached(struct agent_turn *turn);

/* ---- turn_form.c ------------------------------------------------------------ */

/* The agent wants its user asked. */
void turn_form_take(struct agent_turn *turn, uint64_t number, const perch_json_value *params);

/* It does not any more; false: that is no form. */
bool turn_form_withdraw(struct agent_turn *turn, uint64_t number);

/* Nobody is to answer any more. */
void turn_forms_drop(struct agent_turn *turn);

/* ---- turn_start.c ------------------------------------------------------------ */

/* Starts the process. Or says why not, in turn->failure and turn->failure_text. */
void turn_launch(struct agent_turn *turn, const perch_child_events *events);

/* The exit code of a turn whose process could not be started. */
int turn_failure_code(const struct agent_turn *turn);

/* ---- turn.c ------------------------------------------------------------------- */

/* Around what the loop calls: an event in between may free the turn, which stays in memory until
 * the last of these calls has left. */
struct agent_turn *turn_enter(struct agent_turn *turn);
void turn_leave(struct agent_turn *turn);

/* Its agent is to end; again: now. */
void turn_stop(struct agent_turn *turn);

/* The agent waits for us. */
bool turn_is_asking(const struct agent_turn *turn);

/* It was heard of, by whatever it wrote. */
void turn_heard(struct agent_turn *turn);

void turn_take_bytes(struct agent_turn *turn, const char *bytes, size_t len);

/* The last event. */
void turn_tell_end(struct agent_turn *turn, const perch_result *result);

/* The sandbox and the launch of its process. */
const struct sandbox *turn_sandbox(const struct agent_turn *turn);
const struct launch *turn_launch_of(const struct agent_turn *turn);

/* Tells that it has started, once. */
void turn_tell_start(struct agent_turn *turn);

/* ---- turn_clocks.c ------------------------------------------------------------ */

/* Room for the timers, so that none can fail later; released again where it was promised. */
int turn_clocks_promise(struct agent_turn *turn);
void turn_clocks_release(struct agent_turn *turn);

/* From the launch of the process on; or of what is told instead. */
void turn_clocks_start(struct agent_turn *turn);
void turn_clocks_stop(struct agent_turn *turn);

/* ---- turn_hint.c ------------------------------------------------------------- */

/* Whether the sandbox caused a failure, and which option would allow it; `said` is the
 * end of stderr, or why nothing was started. Empty when nothing is known. */
const char *turn_hint(struct agent_turn *turn, int exit_code, struct str said);

#endif
