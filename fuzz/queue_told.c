/* Any bytes as what another program has written to the queue: by the first byte a message of its
 * news, or a job's request as a turn, a call or a run. No crash; what is told has a state that is
 * one and an id; an error has words. */
#include "fuzz.h"

#include <stdlib.h>

#include "queue/job_request.h"
#include "queue/queue_redis_parts.h"

static bool knows(void *data, struct str id)
{
	(void)data;
	(void)id;
	return true;
}

static int hears_event(void *data, const struct queue_event *event)
{
	(void)data;
	if (queue_event_is_whole(event))
		check(event->number && event->number <= QUEUE_NUMBER_MAX && event->text.len >= 2);
	return 0;
}

static void hears_state(
	void *data, struct str id, uint64_t revision, enum queue_state state, int64_t started_ms)
{
	(void)data;
	(void)id;
	(void)revision;
	(void)started_ms;
	check(state < QUEUE_STATES);
}

static void hears_end(void *data, const struct queue_job *job, const struct queue_event *last)
{
	hears_event(data, last);
	check(job->state < QUEUE_STATES && queue_state_name(job->state));
}

static void read_news(char *text, size_t size)
{
	struct queue_redis queue = { .news = { .knows = knows,
									 .loader = { .event = hears_event },
									 .state = hears_state,
									 .over = hears_end } };
	struct queue_shard shard = { .queue = &queue };
	const redisReply message = { .type = REDIS_REPLY_STRING, .str = text, .len = size };
	check(perch_json_new(NULL, &queue.json) == 0);
	queue_redis_heard(&shard, &message);
	perch_json_free(queue.json);
}

static void read_request(struct str text, perch_entry_kind kind)
{
	struct arena arena = { 0 };
	struct uploads uploads = { .arena = &arena, .id = "j0123456789abcdef0123" };
	const struct queue_job job = {
		.name = STR("bot"), .owner = STR("me"), .session = STR("s"), .request = text
	};
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	perch_err err = { 0 };
	int r = job_request_fill(&job, kind, &uploads, &request, &err);
	check(r == 0 || err.text[0]);
	uploads_remove(&uploads);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const perch_entry_kind kinds[] = { PERCH_ENTRY_AGENT, PERCH_ENTRY_TOOL,
		PERCH_ENTRY_COMMAND };
	if (!size)
		return 0;
	setenv("XDG_STATE_HOME", "/dev/null", 1); /* attachments have no place */
	char *text = malloc(size);                /* exactly as long, so that a byte too far is seen */
	check(text);
	for (size_t i = 1; i < size; i++)
		text[i - 1] = (char)data[i];
	if (data[0] % 4 == 0)
		read_news(text, size - 1);
	else
		read_request((struct str){ text, size - 1 }, kinds[data[0] % 4 - 1]);
	free(text);
	return 0;
}
