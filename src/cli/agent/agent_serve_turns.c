/* The turns of `perch agent serve`. */
#include "cli/agent/agent_serve_turns.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "events/turn_report.h"

struct serve_turn {
	struct link link;
	struct serve_turns *turns;
	perch_job *job;
	struct list asks; /* the permissions and answers that its agent waits for */
	uint32_t hash;    /* of the id */
	char id[];
};

/* What an agent waits for. */
struct serve_ask {
	struct link link;
	struct serve_turn *turn;
	struct timer patience;
	uint64_t patience_ns; /* 0 = for ever */
	uint64_t number;      /* that the job has for it */
	bool is_question;     /* else a permission */
	perch_ask_kind kind;
	char request_id[];
};

static const char agent_serve_deaf[] = "the input has ended, and with it all answers";

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

/* ---- permissions --------------------------------------------------------- */

static void agent_serve_turns_forget(struct serve_ask *ask)
{
	struct timers *timers = ask->turn->turns->timers;
	timer_cancel(timers, &ask->patience);
	timers_release(timers);
	list_remove(&ask->turn->asks, ask);
	free(ask);
}

static void agent_serve_turns_deny(const struct serve_ask *ask, const char *why)
{
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.cancel = true;
	answer.message = why;
	perch_job_answer(ask->turn->job, ask->number, &answer, NULL);
}

static void agent_serve_turns_tell_denied(
	const struct serve_turn *turn, const char *request_id, bool is_question, const char *why)
{
	char text[200];
	const struct turn_report report = { turn->turns->report, turn->id };
	snprintf(text, sizeof(text), "the %s '%.80s' is %s: %s",
		is_question ? "question" : "permission", request_id, is_question ? "dropped" : "denied",
		why);
	turn_report_warning(&report, str_from(text));
}

static void agent_serve_turns_impatient(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct serve_ask *ask = container_of(timer, struct serve_ask, patience);
	char why[64];
	snprintf(why, sizeof(why), "no answer came within %g %s",
		(double)ask->patience_ns / NSEC_PER_SEC, clock_unit(ask->patience_ns));
	agent_serve_turns_tell_denied(ask->turn, ask->request_id, ask->is_question, why);
	agent_serve_turns_deny(ask, "no answer came in time");
	agent_serve_turns_forget(ask);
}

static struct serve_ask *agent_serve_turns_new_ask(struct serve_turn *turn, const perch_ask *asked)
{
	struct serve_ask *ask = calloc(1, sizeof(*ask) + asked->id.len + 1);
	if (!ask || timers_promise(turn->turns->timers) < 0) {
		free(ask);
		return NULL;
	}
	ask->turn = turn;
	ask->number = asked->number;
	ask->is_question = asked->question;
	ask->kind = asked->kind;
	ask->patience_ns = asked->patience_ns;
	ask->patience.due = agent_serve_turns_impatient;
	memcpy(ask->request_id, asked->id.data, asked->id.len);
	return ask;
}

static void agent_serve_turns_asked(struct serve_turn *turn, const perch_ask *asked)
{
	bool is_deaf = turn->turns->is_deaf;
	struct serve_ask *ask = is_deaf ? NULL : agent_serve_turns_new_ask(turn, asked);
	if (!ask) {
		const struct serve_ask none = { .turn = turn, .number = asked->number };
		agent_serve_turns_tell_denied(
			turn, asked->id.data, asked->question, is_deaf ? agent_serve_deaf : "out of memory");
		agent_serve_turns_deny(&none, is_deaf ? "nobody is there to be asked" : "out of memory");
		return;
	}
	list_append(&turn->asks, ask);
	if (ask->patience_ns)
		timer_set(
			turn->turns->timers, &ask->patience, clock_after(clock_now_ns(), ask->patience_ns));
}

static void agent_serve_turns_withdrawn(struct serve_turn *turn, uint64_t number)
{
	struct serve_ask *ask = list_first(&turn->asks);
	while (ask && ask->number != number)
		ask = list_next(ask);
	if (ask)
		agent_serve_turns_forget(ask);
}

int serve_turns_permit(struct serve_turns *turns, const struct turn_permit *permit, perch_err *err)
{
	struct serve_turn *turn = agent_serve_turns_find(turns, permit->turn);
	struct serve_ask *ask = turn ? list_first(&turn->asks) : NULL;
	while (ask && strcmp(ask->request_id, permit->request_id) != 0)
		ask = list_next(ask);
	if (!ask)
		return err_set(err, -ENOENT, "there is no open request '%.80s'", permit->request_id);
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.yes = permit->is_allowed;
	answer.option = permit->option;
	answer.message = permit->message;
	int r = perch_job_answer(turn->job, ask->number, &answer, err);
	if (r == 0)
		agent_serve_turns_forget(ask);
	return r;
}

int serve_turns_answer(struct serve_turns *turns, const struct turn_answer *given, perch_err *err)
{
	static const perch_json_type types[] = {
		[PERCH_ASK_PROMPT] = PERCH_JSON_STRING,
		[PERCH_ASK_CONFIRM] = PERCH_JSON_BOOL,
		[PERCH_ASK_SELECT] = PERCH_JSON_NUMBER,
		[PERCH_ASK_MULTI_SELECT] = PERCH_JSON_ARRAY,
	};
	struct serve_turn *turn = agent_serve_turns_find(turns, given->turn);
	struct serve_ask *ask = turn ? list_first(&turn->asks) : NULL;
	while (ask && (ask->number != given->ask || !ask->is_question))
		ask = list_next(ask);
	if (!ask)
		return err_set(err, -ENOENT, "there is no open question %" PRIu64, given->ask);
	if (given->type != PERCH_JSON_NONE && given->type != types[ask->kind])
		return err_set(err, -EINVAL, "the value of a '%s' is no %s", perch_ask_kind_name(ask->kind),
			perch_json_type_name(given->type));
	int r = perch_job_answer(turn->job, ask->number, &given->answer, err);
	if (r == 0)
		agent_serve_turns_forget(ask);
	return r;
}

void serve_turns_deny(struct serve_turns *turns)
{
	turns->is_deaf = true;
	struct serve_turn *turn = list_first(&turns->turns);
	for (; turn; turn = list_next(turn)) {
		for (struct serve_ask *ask; (ask = list_first(&turn->asks));) {
			agent_serve_turns_tell_denied(
				turn, ask->request_id, ask->is_question, agent_serve_deaf);
			agent_serve_turns_deny(ask, "nobody is there to be asked");
			agent_serve_turns_forget(ask);
		}
	}
}

/* ---- turns --------------------------------------------------------------- */

static void agent_serve_turns_remove(struct serve_turn *turn)
{
	for (struct serve_ask *ask; (ask = list_first(&turn->asks));)
		agent_serve_turns_forget(ask);
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
	if (event->kind == PERCH_EVENT_ASK)
		agent_serve_turns_asked(turn, event->ask);
	else if (event->kind == PERCH_EVENT_WITHDRAW)
		agent_serve_turns_withdrawn(turn, event->number);
	else if (event->kind == PERCH_EVENT_END)
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
	wanted.turn = &request->options;
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
