/* What an MCP server asks a model, answered by an agent that its binding names: each question is a
 * turn of its own, beside the places of other jobs, because the call that it belongs to waits for
 * it. How many there are at a time is counted among all processes of the user: so an agent that
 * calls the very server that asked it comes to an end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/lock.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "data/json.h"
#include "service/service_parts.h"
#include "tool/server.h"

enum {
	SAMPLINGS_MAX = 4,               /* at a time, of all processes of a user */
	SAMPLING_TEXT_MAX = 1024 * 1024, /* bytes of a question, and of an answer */
};
#define SAMPLING_TIME_NS (240 * NSEC_PER_SEC) /* less than the call waits for it */

struct job_sampling {
	struct link link; /* of the samplings of the job */
	perch_job *job;   /* that calls the server */
	perch_job *turn;
	struct server_quiz *quiz;
	int lock;
};

/* ---- the question ----------------------------------------------------------- */

/* -ENOTSUP: it is no text. */
static int sampling_write_content(struct buf *out, const perch_json_value *content)
{
	if (perch_json_type_of(content) == PERCH_JSON_ARRAY) {
		perch_json_iter iter = perch_json_iterate(content);
		int r = 0;
		for (const perch_json_value *one; r == 0 && (one = perch_json_next(&iter));)
			r = perch_json_type_of(one) == PERCH_JSON_ARRAY ? -ENOTSUP
															: sampling_write_content(out, one);
		return r;
	}
	const perch_json_value *text = perch_json_get(content, "text");
	if (!perch_json_is(perch_json_get(content, "type"), "text") ||
		perch_json_type_of(text) != PERCH_JSON_STRING)
		return -ENOTSUP;
	buf_append(out, json_str(text).data, json_str(text).len);
	return buf_append_char(out, '\n');
}

/* The agent is told whose words they are: they are a stranger's, not its user's. */
static int sampling_write(struct buf *out, const perch_json_value *params, const char *binding)
{
	const perch_json_value *system = perch_json_get(params, "systemPrompt");
	perch_json_iter iter = perch_json_iterate(perch_json_get(params, "messages"));
	int r = 0;
	buf_printf(out, "The MCP server %s asks a language model for an answer. These are its words:\n",
		binding);
	if (perch_json_type_of(system) == PERCH_JSON_STRING) {
		buf_append_text(out, "\nSystem: ");
		buf_append(out, json_str(system).data, json_str(system).len);
		buf_append_char(out, '\n');
	}
	for (const perch_json_value *one; r == 0 && (one = perch_json_next(&iter));) {
		bool is_answer = perch_json_is(perch_json_get(one, "role"), "assistant");
		buf_append_text(out, is_answer ? "\nAssistant: " : "\nUser: ");
		r = sampling_write_content(out, perch_json_get(one, "content"));
		if (r == 0 && out->len > SAMPLING_TEXT_MAX)
			r = PERCH_ELIMIT;
	}
	return r == 0 && out->failed ? -ENOMEM : r;
}

/* ---- its place ---------------------------------------------------------------- */

/* A lock that nobody has; its number too. -EAGAIN: all are taken. */
static int sampling_take_place(int *ret_number, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	int r = paths_user(PATH_STATE, "perch", &path, err);
	if (r == 0)
		r = paths_make(path, err);
	if (r < 0)
		return r;
	_cleanup_fd_ int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = directory < 0 ? -errno : -EAGAIN;
	for (int i = 0; directory >= 0 && r == -EAGAIN && i < SAMPLINGS_MAX; i++) {
		char name[32];
		snprintf(name, sizeof(name), "sampling-%d.lock", i);
		*ret_number = i;
		r = lock_try(directory, name, LOCK_EXCLUSIVE);
	}
	if (r == -EAGAIN)
		return err_set(err, r, "agents answer %d questions of servers already", SAMPLINGS_MAX);
	return r < 0 ? err_set(err, r, "%s: %s", path, perch_strerror(r)) : r;
}

static void sampling_free(struct job_sampling *sampling)
{
	list_remove(&sampling->job->tool.samplings, sampling);
	perch_job_free(sampling->turn);
	close(sampling->lock);
	free(sampling);
}

/* ---- the answer ---------------------------------------------------------------- */

static void sampling_write_answer(struct buf *out, const char *agent, const perch_agent_end *turn)
{
	perch_json_writer writer = json_writer_on(out);
	struct str text = { turn->body, turn->body_len };
	bool is_cut = text.len > SAMPLING_TEXT_MAX;
	if (is_cut)
		text.len = utf8_whole_prefix(text.data, SAMPLING_TEXT_MAX);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "role", STR("assistant"));
	perch_json_write_name(&writer, "content");
	perch_json_begin_object(&writer);
	json_write_text(&writer, "type", STR("text"));
	json_write_text(&writer, "text", text);
	perch_json_end_object(&writer);
	json_write_text(&writer, "model", str_from(agent));
	json_write_text(&writer, "stopReason", is_cut ? STR("maxTokens") : STR("endTurn"));
	perch_json_end_object(&writer);
}

/* The server is told last: the call may end with that. */
static void sampling_end(struct job_sampling *sampling, const perch_job_end *end)
{
	_cleanup_(buf_free) struct buf answer = { 0 };
	struct server_quiz *quiz = sampling->quiz;
	if (end->success && end->turn)
		sampling_write_answer(&answer, sampling->turn->request.name, end->turn);
	sampling_free(sampling);
	if (answer.len && !answer.failed)
		server_quiz_answer(quiz, (struct str){ answer.data, answer.len });
	else
		server_quiz_refuse(quiz, STR("the agent that is to answer has failed"));
}

/* Nobody is there whom the agent could ask. */
static void sampling_take(perch_job *turn, void *data, const perch_event *event)
{
	perch_answer no = PERCH_ANSWER_INIT;
	no.cancel = true;
	if (event->kind == PERCH_EVENT_ASK)
		perch_job_answer(turn, event->ask->number, &no, NULL);
	else if (event->kind == PERCH_EVENT_END)
		sampling_end(data, event->end);
}

/* ---- beginning -------------------------------------------------------------------- */

static int sampling_submit(struct job_sampling *sampling, const char *agent, int place,
	const struct buf *question, perch_err *err)
{
	perch_job *job = sampling->job;
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	char from[300], session[32];
	snprintf(from, sizeof(from), "mcp:%.250s", job->tool.binding);
	snprintf(session, sizeof(session), "sampling-%d", place);
	request.kind = PERCH_ENTRY_AGENT;
	request.name = agent;
	request.message = question->data;
	request.message_len = question->len;
	request.from = from;
	request.session = session;
	request.is_new = true;
	request.non_interactive = true;
	request.timeout_ns = SAMPLING_TIME_NS;
	request.caller = job->request.caller;
	request.sink = sampling_take;
	request.data = sampling;
	return job_submit_inner(job->service, &request, &sampling->turn, err);
}

static int sampling_begin(perch_job *job, struct server_quiz *quiz,
	const struct mcp_quizzed *quizzed, const char *agent, perch_err *err)
{
	_cleanup_(buf_free) struct buf question = { 0 };
	int place = 0, r = sampling_write(&question, quizzed->params, job->tool.binding);
	if (r < 0)
		return err_set(err, r, "%s",
			r == -ENOTSUP           ? "an agent is asked by text alone"
				: r == PERCH_ELIMIT ? "the question is too long"
									: "out of memory");
	int lock = sampling_take_place(&place, err);
	if (lock < 0)
		return lock;
	struct job_sampling *sampling = calloc(1, sizeof(*sampling));
	if (!sampling) {
		close(lock);
		return err_no_memory(err);
	}
	*sampling = (struct job_sampling){ .job = job, .quiz = quiz, .lock = lock };
	list_append(&job->tool.samplings, sampling);
	r = sampling_submit(sampling, agent, place, &question, err);
	if (r < 0)
		sampling_free(sampling);
	return r;
}

void job_sampling_ask(
	perch_job *job, struct server_quiz *quiz, const struct mcp_quizzed *quizzed, const char *agent)
{
	perch_err err = { 0 };
	if (sampling_begin(job, quiz, quizzed, agent, &err) == 0)
		return;
	service_warn(job->service, "the server %s asks a model, and gets no answer: %s",
		job->tool.binding, err.text);
	server_quiz_refuse(quiz, str_from(err.text));
}

bool job_sampling_withdraw(perch_job *job, const struct server_quiz *quiz)
{
	struct job_sampling *sampling = list_first(&job->tool.samplings);
	while (sampling && sampling->quiz != quiz)
		sampling = list_next(sampling);
	if (sampling)
		sampling_free(sampling);
	return sampling;
}
