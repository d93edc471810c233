/* The turns of `perch agent serve`: each is a job of the service, known by its id. */
#ifndef CLI_AGENT_AGENT_SERVE_TURNS_H
#define CLI_AGENT_AGENT_SERVE_TURNS_H

#include "base/list.h"
#include "events/run_report.h"
#include "events/turn_request.h"
#include "perch/service.h"
#include "proc/timers.h"

struct serve_turns {
	perch_service *service;
	struct report *report; /* where events go */
	perch_sandbox_choice sandbox;
	struct timers *timers;
	struct list turns;
	bool is_held;
	bool is_deaf; /* no answer can come any more */
};

/* Takes a turn; fails as perch_job_submit does, and with -EEXIST: the id is in use. */
int serve_turns_take(struct serve_turns *turns, const struct turn_request *request, perch_err *err);

/* As if the user had sent SIGINT to it. False when there is no such turn. */
bool serve_turns_cancel(struct serve_turns *turns, const char *id);

/* Answers what the agent of a turn asks for. Fails with -ENOENT (no such request), or as
 * perch_job_answer does. */
int serve_turns_permit(struct serve_turns *turns, const struct turn_permit *permit, perch_err *err);

/* The same for a question of the agent. */
int serve_turns_answer(struct serve_turns *turns, const struct turn_answer *given, perch_err *err);

/* Denies all that is asked for, and what will be. */
void serve_turns_deny(struct serve_turns *turns);

/* Whether there is a turn of that id that has not ended. */
bool serve_turns_have(const struct serve_turns *turns, const char *id);

/* The longest time that one of them has between SIGTERM and SIGKILL. */
uint64_t serve_turns_grace_ns(const struct serve_turns *turns);

/* The output is not read: no turn is read, and none begins. */
void serve_turns_hold(struct serve_turns *turns, bool is_held);

/* Ends what is left, without an event. */
void serve_turns_free(struct serve_turns *turns);

#endif
