/* The turns of `perch agent serve`. */
#include "cli/agent/agent_serve_turns.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct serve_turn {
	struct link link;
	struct serve_turns *turns;
	perch_job *job;
	uint32_t hash; /* of the id */
	char id[];
};

static struct serve_turn *agent_serve_turns_find(const struct serve_turns *turns, const char *id)
{
	uint32_t hash = str_hash(STR_HASH, id);
	struct serve_turn *turn = list_first(&turns->turns);
	while (turn && (turn->hash != hash || strcmp(turn->id, id) != 0))
		turn = list_next(turn);
	return turn;
}

bool serve_turns_have(const struct serve_turns *turns, const char *id)
{
	return agent_serve_turns_find(turns, id);
}

static void agent_serve_turns_remove(struct serve_turn *turn)
{
	list_remove(&turn->turns->turns, turn);
	perch_job_free(turn->job);
	free(turn);
}

static void agent_serve_turns_event(perch_job *job, void *data, const perch_event *event)
{
	struct serve_turn *turn = data;
	struct report *report = turn->turns->report;
	perch_text line;
	if (perch_event_json(job, event, turn->id, &line) == 0)
		report_line(report, (struct str){ line.data, line.len });
	else
		report->lost++;
	if (event->kind == PERCH_EVENT_END)
		agent_serve_turns_remove(turn);
}

int serve_turns_take(struct serve_turns *turns, const struct turn_request *request, perch_err *err)
{
	if (serve_turns_have(turns, request->id))
		return err_set(err, -EEXIST, "a turn with the id %.64s has not ended yet", request->id);
	size_t size = strlen(request->id) + 1;
	struct serve_turn *turn = calloc(1, sizeof(*turn) + size);
	if (!turn)
		return err_no_memory(err);
	turn->turns = turns;
	turn->hash = str_hash(STR_HASH, request->id);
	memcpy(turn->id, request->id, size);
	perch_job_request wanted = request->turn;
	wanted.sandbox = turns->sandbox;
	wanted.non_interactive = true; /* there is no event that could be answered */
	wanted.sink = agent_serve_turns_event;
	wanted.data = turn;
	int r = perch_job_submit(turns->service, &wanted, &turn->job, err);
	if (r < 0) {
		free(turn);
		return r;
	}
	list_append(&turns->turns, turn);
	if (turns->is_held)
		perch_job_hold(turn->job, true);
	return 0;
}

bool serve_turns_cancel(struct serve_turns *turns, const char *id)
{
	struct serve_turn *turn = agent_serve_turns_find(turns, id);
	if (turn)
		perch_job_cancel(turn->job, SIGINT);
	return turn != NULL;
}

uint64_t serve_turns_grace_ns(const struct serve_turns *turns)
{
	uint64_t longest_ns = 0;
	const struct serve_turn *turn = list_first(&turns->turns);
	for (; turn; turn = list_next(turn)) {
		uint64_t grace_ns = perch_job_grace_ns(turn->job);
		longest_ns = grace_ns > longest_ns ? grace_ns : longest_ns;
	}
	return longest_ns;
}

void serve_turns_hold(struct serve_turns *turns, bool is_held)
{
	turns->is_held = is_held;
	struct serve_turn *turn = list_first(&turns->turns);
	for (; turn; turn = list_next(turn))
		perch_job_hold(turn->job, is_held);
}

void serve_turns_free(struct serve_turns *turns)
{
	struct serve_turn *turn;
	while ((turn = list_first(&turns->turns)))
		agent_serve_turns_remove(turn);
}
