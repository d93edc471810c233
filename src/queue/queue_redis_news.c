/* What a gateway hears of jobs: all of them at the beginning and after every loss, then each
 * change as it happens. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "queue/queue_redis_parts.h"

/* ---- texts of others ----------------------------------------------------------------------- */

/* Events and results go to clients as they are, so they are JSON, or another program than perch has
 * written them. Where there is no memory to look, they are believed. */
static bool queue_redis_is_json(struct queue_redis *queue, struct str text)
{
	const perch_json_value *root = NULL;
	int r = perch_json_parse(queue->json, text.data ? text.data : "", text.len, &root, NULL);
	return r == -ENOMEM || (r == 0 && perch_json_type_of(root) == PERCH_JSON_OBJECT);
}

/* An event is one line of a stream. */
static bool queue_redis_is_event(struct queue_redis *queue, struct str text)
{
	return text.len && !memchr(text.data, '\n', text.len) && !memchr(text.data, '\r', text.len) &&
		queue_redis_is_json(queue, text);
}

static void queue_redis_check_result(struct queue_redis *queue, struct queue_job *job)
{
	if (job->result.data && !queue_redis_is_json(queue, job->result))
		job->result = STR("{\"success\":false,\"exit_code\":-1,\"error\":{\"code\":\"foreign\","
						  "\"message\":\"its result is none: another program has written it\"}}");
}

/* ---- whole jobs --------------------------------------------------------------------------- */

/* One entry of a stream: its id, and its members. */
static void queue_redis_tell_event(
	struct queue_redis *queue, const struct queue_job *job, const redisReply *entry)
{
	if (entry->type != REDIS_REPLY_ARRAY || entry->elements != 2 ||
		entry->element[1]->type != REDIS_REPLY_ARRAY || entry->element[1]->elements < 2)
		return;
	struct str id = queue_redis_text(entry->element[0]);
	const struct queue_event event = {
		.number = id.data ? strtoull(id.data, NULL, 10) : 0,
		.job = job->id,
		.text = queue_redis_text(entry->element[1]->element[1]),
	};
	if (queue_redis_is_event(queue, event.text))
		queue->news.loader.event(queue->news.loader.data, &event);
}

static void queue_redis_tell(struct queue_redis *queue, const redisReply *found)
{
	struct queue_job job;
	if (found->type != REDIS_REPLY_ARRAY || found->elements != 2)
		return;
	queue_redis_job(found->element[0], &job);
	if (!job.id.len || job.state == QUEUE_STATES)
		return;
	queue_redis_check_result(queue, &job);
	queue->news.loader.job(queue->news.loader.data, &job);
	for (size_t i = 0; i < found->element[1]->elements; i++)
		queue_redis_tell_event(queue, &job, found->element[1]->element[i]);
}

/* A job that is being read. */
struct queue_redis_asked {
	struct link link;
	struct queue_shard *shard;
	queue_done_fn *done;
	void *data;
	bool is_stale; /* something was heard of it since */
	size_t len;
	char id[];
};

static void queue_redis_looked(void *data, const redisReply *reply)
{
	struct queue_redis_asked *asked = data;
	struct queue_shard *shard = asked->shard;
	list_remove(&shard->looks, asked);
	if (reply) {
		queue_redis_tell(shard->queue, reply);
		if (asked->is_stale)
			queue_redis_look(shard, (struct str){ asked->id, asked->len }, NULL, NULL);
		if (asked->done)
			asked->done(asked->data, -EEXIST);
	}
	free(asked);
}

int queue_redis_look(struct queue_shard *shard, struct str id, queue_done_fn *done, void *data)
{
	struct queue_redis_asked *asked = malloc(sizeof(*asked) + id.len);
	if (!asked)
		return -ENOMEM;
	*asked =
		(struct queue_redis_asked){ .shard = shard, .done = done, .data = data, .len = id.len };
	memcpy(asked->id, id.data, id.len);
	int r = redis_link_call(shard->link, "get", &id, 1, queue_redis_looked, asked);
	if (r < 0)
		free(asked);
	else
		list_append(&shard->looks, asked);
	return r < 0 ? r : 1;
}

static struct queue_redis_asked *queue_redis_find_look(struct queue_shard *shard, struct str id)
{
	struct queue_redis_asked *asked = list_first(&shard->looks);
	while (asked && !str_eq((struct str){ asked->id, asked->len }, id))
		asked = list_next(asked);
	return asked;
}

static void queue_redis_read(struct queue_shard *shard, struct str after);

static void queue_redis_page(void *data, const redisReply *reply)
{
	struct queue_shard *shard = data;
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements < 2) {
		shard->loading--;
		return;
	}
	for (size_t i = 1; i < reply->elements; i++)
		queue_redis_tell(shard->queue, reply->element[i]);
	queue_redis_read(shard, queue_redis_text(reply->element[0]));
}

static void queue_redis_read(struct queue_shard *shard, struct str after)
{
	char count[24];
	const struct str words[] = { after, queue_redis_number(count, QUEUE_PAGE) };
	if (redis_link_call(shard->link, "page", words, COUNT(words), queue_redis_page, shard) < 0)
		shard->loading--;
}

void queue_redis_load(struct queue_shard *shard)
{
	shard->loading++;
	queue_redis_read(shard, STR("0"));
}

/* ---- changes -------------------------------------------------------------------------------- */

/* The next word of a message; the last one is what is left. */
static struct str queue_redis_word(struct str *message)
{
	const char *end = message->len ? memchr(message->data, ' ', message->len) : NULL;
	struct str word = { message->data, end ? (size_t)(end - message->data) : message->len };
	size_t used = word.len + (end ? 1 : 0);
	*message = (struct str){ message->data + used, message->len - used };
	return word;
}

static uint64_t queue_redis_word_number(struct str *message)
{
	struct str word = queue_redis_word(message);
	uint64_t number = 0;
	/* What is too large stays so: it does not begin anew at 2^64. */
	for (size_t i = 0; i < word.len && number <= QUEUE_NUMBER_MAX; i++) {
		if (word.data[i] < '0' || word.data[i] > '9')
			break;
		number = number * 10 + (uint64_t)(word.data[i] - '0');
	}
	return number;
}

static void queue_redis_heard_event(struct queue_redis *queue, struct str id, struct str rest)
{
	struct queue_event event = {
		.number = queue_redis_word_number(&rest), .job = id, .text = rest
	};
	if (queue_redis_is_event(queue, event.text))
		queue->news.loader.event(queue->news.loader.data, &event);
}

static void queue_redis_heard_state(struct queue_redis *queue, struct str id, struct str rest)
{
	uint64_t revision = queue_redis_word_number(&rest);
	enum queue_state state = queue_state_find(queue_redis_word(&rest));
	int64_t started_ms = (int64_t)queue_redis_word_number(&rest);
	if (state != QUEUE_STATES)
		queue->news.state(queue->news.loader.data, id, revision, state, started_ms);
}

static void queue_redis_heard_over(struct queue_redis *queue, struct str id, struct str rest)
{
	struct queue_job job = { .id = id };
	struct queue_event last = { .job = id };
	job.revision = queue_redis_word_number(&rest);
	job.state = queue_state_find(queue_redis_word(&rest));
	job.ended_ms = (int64_t)queue_redis_word_number(&rest);
	last.number = queue_redis_word_number(&rest);
	const char *end = rest.len ? memchr(rest.data, '\n', rest.len) : NULL;
	if (!end || job.state == QUEUE_STATES)
		return;
	last.text = (struct str){ rest.data, (size_t)(end - rest.data) };
	job.result = (struct str){ end + 1, rest.len - last.text.len - 1 };
	if (!queue_redis_is_event(queue, last.text))
		return;
	queue_redis_check_result(queue, &job);
	queue->news.over(queue->news.loader.data, &job, &last);
}

void queue_redis_heard(void *data, const redisReply *message)
{
	struct queue_shard *shard = data;
	struct queue_redis *queue = shard->queue;
	struct str rest = queue_redis_text(message);
	struct str word = queue_redis_word(&rest);
	struct str id = queue_redis_word(&rest);
	bool is_known = queue->news.knows(queue->news.loader.data, id);
	struct queue_redis_asked *look = queue_redis_find_look(shard, id);
	if (look) {
		/* What was told before it is still on its way, and is told first. */
		look->is_stale = true;
	} else if (!is_known || (shard->loading && !str_is(word, "new"))) {
		queue_redis_look(shard, id, NULL, NULL);
	} else if (str_is(word, "event")) {
		queue_redis_heard_event(queue, id, rest);
	} else if (str_is(word, "state")) {
		queue_redis_heard_state(queue, id, rest);
	} else if (str_is(word, "over")) {
		queue_redis_heard_over(queue, id, rest);
	}
}
