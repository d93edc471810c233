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

static perch_job_request agent_serve_turns_request(
	const struct bridge_request *given, struct serve_turn *turn)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_AGENT;
	request.profile = given->profile;
	request.message = given->message.len ? given->message.data : "";
	request.message_len = given->message.len;
	request.session = given->session_name;
	request.from = given->from;
	request.is_new = given->is_new;
	request.attachments = given->attachments;
	request.attachment_count = given->attachment_count;
	request.no_stream = given->no_stream;
	request.allow_shell_message = given->allow_shell_message;
	request.non_interactive = true; /* there is no event that could be answered */
	request.sink = agent_serve_turns_event;
	request.data = turn;
	return request;
}

int serve_turns_take(
	struct serve_turns *turns, const struct bridge_request *request, perch_err *err)
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
	const perch_job_request wanted = agent_serve_turns_request(request, turn);
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
