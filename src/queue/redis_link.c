/* A connection to Redis that comes back by itself. */
#include "queue/redis_link.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "queue/redis_link_parts.h"

/* ---- attempts ---------------------------------------------------------------------- */

/* Half of the time is chance: hosts that have lost the same Redis do not come back at once. */
static uint64_t redis_link_backoff(struct redis_link *link)
{
	unsigned doubled = link->attempts < 8 ? link->attempts : 8;
	uint64_t most = (uint64_t)REDIS_BACKOFF_MS << doubled;
	if (most > REDIS_BACKOFF_MAX_MS)
		most = REDIS_BACKOFF_MAX_MS;
	link->random = link->random * 1103515245u + 12345u;
	return (most / 2 + (link->random >> 8) % (most / 2 + 1)) * NSEC_PER_MSEC;
}

static void redis_link_drop(struct redis_link *link)
{
	redisAsyncContext *context = steal(&link->context);
	perch_source_free(steal(&link->source));
	link->watched = 0;
	if (context) {
		context->ev.data = NULL;
		context->data = NULL;
		redisAsyncFree(context); /* its calls are told that there is no answer, and stay */
	}
	for (struct redis_call *call = list_first(&link->calls); call; call = list_next(call))
		call->sent_ns = 0;
}

void redis_link_fail(struct redis_link *link, bool is_final, const char *format, ...)
{
	char where[400], text[700], words[1200];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	redis_url_write(link->options.url, where, sizeof(where));
	snprintf(words, sizeof(words), "the queue at %s: %s", where, text);
	redis_link_drop(link);
	link->state = is_final ? REDIS_REFUSED : REDIS_RESTING;
	perch_timer_set(link->timer, is_final ? NEVER : redis_link_backoff(link));
	link->attempts++;
	if (link->options.lost)
		link->options.lost(link->options.data, is_final, words);
}

static bool redis_link_is_late(const struct redis_link *link)
{
	const struct redis_call *first = list_first(&link->calls);
	uint64_t most = REDIS_ANSWER_SECONDS * NSEC_PER_SEC;
	uint64_t now_ns = clock_now_ns();
	if (link->state == REDIS_CONNECTING || link->state == REDIS_GREETING)
		return now_ns - link->begun_ns > most;
	return link->state == REDIS_READY && first && first->sent_ns && now_ns - first->sent_ns > most;
}

static void redis_link_due(perch_timer *timer, void *data)
{
	struct redis_link *link = data;
	if (link->state == REDIS_RESTING) {
		redis_dial(link);
		return;
	}
	/* Who was busy or stopped himself has not looked whether an answer has come. */
	uint64_t now_ns = clock_now_ns();
	bool was_away = now_ns - link->looked_ns > 3 * NSEC_PER_SEC;
	link->looked_ns = now_ns;
	perch_timer_set(timer, NSEC_PER_SEC);
	if (!was_away && redis_link_is_late(link))
		redis_link_fail(link, false, "it has not answered for %d s", REDIS_ANSWER_SECONDS);
}

/* ---- calls -------------------------------------------------------------------------------- */

static void redis_link_forget(struct redis_call *call)
{
	list_remove(&call->owner->calls, call);
	call->owner->bytes -= call->size;
	free(call);
}

static void redis_link_answered(redisAsyncContext *context, void *found, void *data)
{
	const redisReply *reply = found;
	struct redis_call *call = data;
	(void)context;
	if (!reply) /* the connection is gone: it is sent again */
		return;
	struct redis_link *link = call->owner;
	if (reply->type == REDIS_REPLY_ERROR && redis_greet_is_passing(reply->str)) {
		redis_link_fail(link, false, "%.120s", reply->str);
		return;
	}
	if (reply->type == REDIS_REPLY_ERROR && redis_greet_is_refusal(reply->str)) {
		bool is_cluster = strncmp(reply->str, "MOVED ", 6) == 0;
		redis_link_fail(link, true, "%.200s",
			is_cluster ? "it is a cluster, which perch does not speak to" : reply->str);
		return;
	}
	/* A key of another type: who waits for a bell would ask again at once, and without end. */
	if (reply->type == REDIS_REPLY_ERROR && !call->function) {
		redis_link_fail(link, false, "%.120s", reply->str);
		return;
	}
	redis_answer_fn *answer = call->answer;
	void *answer_data = call->data;
	redis_link_forget(call);
	if (answer)
		answer(answer_data, reply);
}

static void redis_link_send(struct redis_link *link, struct redis_call *call)
{
	struct str prefix[REDIS_PREFIX];
	char name[REDIS_NAME_SIZE];
	const char *words[REDIS_PREFIX + REDIS_ARGUMENTS_MAX];
	size_t lengths[REDIS_PREFIX + REDIS_ARGUMENTS_MAX];
	size_t count = call->function ? redis_greet_prefix(link, call->function, prefix, name) : 0;
	for (size_t i = 0; i < count + call->count; i++) {
		struct str word = i < count ? prefix[i] : call->words[i - count];
		words[i] = word.data ? word.data : "";
		lengths[i] = word.len;
	}
	call->sent_ns = clock_now_ns();
	redisAsyncCommandArgv(
		link->context, redis_link_answered, call, (int)(count + call->count), words, lengths);
}

static void redis_link_said(redisAsyncContext *context, void *found, void *data)
{
	const redisReply *reply = found;
	struct redis_link *link = data;
	(void)context;
	if (reply && link->context && reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
		reply->element[2]->type == REDIS_REPLY_STRING)
		link->heard(link->heard_data, reply->element[2]);
}

void redis_link_become_ready(struct redis_link *link)
{
	link->state = REDIS_READY;
	link->attempts = 0;
	if (link->channel)
		redisAsyncCommand(link->context, redis_link_said, link, "SUBSCRIBE %s", link->channel);
	for (struct redis_call *call = list_first(&link->calls); call; call = list_next(call))
		redis_link_send(link, call);
	if (link->options.ready)
		link->options.ready(link->options.data);
}

static int redis_link_take(struct redis_link *link, const char *function, const struct str *words,
	size_t count, redis_answer_fn *answer, void *data)
{
	size_t size = sizeof(struct redis_call) + count * sizeof(struct str);
	if (count > REDIS_ARGUMENTS_MAX)
		return -E2BIG;
	for (size_t i = 0; i < count; i++)
		size += words[i].len;
	struct redis_call *call = malloc(size);
	if (!call)
		return -ENOMEM;
	*call = (struct redis_call){ .owner = link,
		.answer = answer,
		.data = data,
		.function = function,
		.size = size,
		.count = count };
	char *at = (char *)&call->words[count];
	for (size_t i = 0; i < count; i++) {
		if (words[i].len)
			memcpy(at, words[i].data, words[i].len);
		call->words[i] = (struct str){ at, words[i].len };
		at += words[i].len;
	}
	list_append(&link->calls, call);
	link->bytes += size;
	if (link->state == REDIS_READY)
		redis_link_send(link, call);
	return 0;
}

int redis_link_call(struct redis_link *link, const char *function, const struct str *arguments,
	size_t count, redis_answer_fn *answer, void *data)
{
	return redis_link_take(link, function, arguments, count, answer, data);
}

int redis_link_command(struct redis_link *link, const struct str *words, size_t count,
	redis_answer_fn *answer, void *data)
{
	return redis_link_take(link, NULL, words, count, answer, data);
}

void redis_link_listen(
	struct redis_link *link, const char *channel, redis_answer_fn *heard, void *data)
{
	link->channel = channel;
	link->heard = heard;
	link->heard_data = data;
}

bool redis_link_is_ready(const struct redis_link *link)
{
	return link->state == REDIS_READY;
}

size_t redis_link_pending(const struct redis_link *link)
{
	return link->calls.count;
}

/* ---- life ------------------------------------------------------------------------------------ */

int redis_link_open(
	const struct redis_link_options *options, struct redis_link **ret_link, perch_err *err)
{
	if (!redis_url_is_local(options->url) && (!options->password || !options->password[0]))
		return err_set(err, -EPERM,
			"a queue on another machine needs a password: whoever reaches it starts jobs here; "
			"give "
			"it by --password-file or PERCH_QUEUE_PASSWORD");
	struct redis_link *link = calloc(1, sizeof(*link));
	if (!link)
		return err_no_memory(err);
	link->options = *options;
	link->random = (unsigned)clock_now_ns() ^ (unsigned)getpid() << 8;
	int r = perch_timer_new(options->host, redis_link_due, link, &link->timer, err);
	if (r < 0) {
		free(link);
		return r;
	}
	if (!options->waits)
		redis_link_begin(link);
	*ret_link = link;
	return 0;
}

void redis_link_begin(struct redis_link *link)
{
	if (link->state == REDIS_RESTING && !link->attempts)
		perch_timer_set(link->timer, 0);
}

unsigned redis_link_shards(const struct redis_link *link)
{
	return link->shards;
}

void redis_link_free(struct redis_link *link)
{
	struct redis_call *call;
	if (!link)
		return;
	redis_resolver_free(link->resolver);
	redis_link_drop(link);
	while ((call = list_first(&link->calls))) {
		if (call->answer)
			call->answer(call->data, NULL);
		redis_link_forget(call);
	}
	perch_timer_free(link->timer);
	free(link);
}
