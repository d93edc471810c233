/* OpenAI's surface: a client that waits for a turn, as a whole or as a stream. */
#include "serve/openai.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "serve/jobs.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"
#include "wire/http_sse.h"

void openai_turn_free(struct openai_turn *turn)
{
	if (!turn)
		return;
	openai_outcome_free(&turn->outcome);
	free(turn->model);
	free(turn);
}

static const char *openai_error(struct openai_turn *turn)
{
	struct buf *error = &turn->outcome.error;
	if (turn->has_gap)
		return "what the agent said is not kept any more";
	if (!error->len || buf_terminate(error) < 0)
		return "the agent has failed";
	return error->data;
}

/* The turn has run: the client is told not to repeat the request, which would run it again. */
static void openai_answer_failure(struct watcher *watcher)
{
	struct exchange *exchange = watcher->exchange;
	struct openai_turn *turn = watcher->data;
	char text[PERCH_ERR_TEXT_MAX];
	const struct http_field field = { STR("x-should-retry"), STR("false") };
	snprintf(text, sizeof(text), "%s", openai_error(turn));
	watcher_free(watcher);
	exchange_error_with(exchange, 502, "agent_failed", NULL, text, &field, 1);
}

static void openai_answer_whole(struct watcher *watcher)
{
	struct exchange *exchange = watcher->exchange;
	struct openai_turn *turn = watcher->data;
	_cleanup_(buf_free) struct buf json = { 0 };
	turn->format->whole(turn, &json);
	json.failed = json.failed || turn->outcome.content.failed;
	watcher_free(watcher);
	exchange_json(exchange, 200, &json);
}

static void openai_end_stream(struct watcher *watcher)
{
	struct exchange *exchange = watcher->exchange;
	struct openai_turn *turn = watcher->data;
	_cleanup_(buf_free) struct buf out = { 0 };
	_cleanup_(buf_free) struct buf error = { 0 };
	if (turn->outcome.has_failed) {
		exchange_write_error(exchange, &error, 502, "agent_failed", NULL, openai_error(turn));
		http_sse_event(
			&out, (struct str){ 0 }, (struct str){ 0 }, (struct str){ error.data, error.len });
	} else {
		turn->format->end(turn, &out);
	}
	watcher_free(watcher);
	exchange_piece(exchange, (struct str){ out.data, out.len });
	exchange_end(exchange);
}

/* Hears what is new. The answer begins with the first thing that is said, so that an agent that
 * fails before has a status of its own. */
static void openai_tell(struct watcher *watcher, const struct logged *logged)
{
	struct openai_turn *turn = watcher->data;
	_cleanup_(buf_free) struct buf out = { 0 };
	struct str text;
	enum openai_said said = openai_hear(&turn->outcome, logged, &text);
	watcher_told(watcher, logged);
	if (!turn->wants_stream || said == OPENAI_NOTHING)
		return;
	if (!watcher->exchange->is_stream && !exchange_stream(watcher->exchange))
		return;
	if (!turn->has_begun)
		turn->format->begin(turn, &out);
	turn->format->delta(turn, &out, text, said == OPENAI_REASONING);
	turn->quiet_ns = clock_now_ns();
	if (out.failed || turn->outcome.content.failed)
		exchange_cut(watcher->exchange);
	else
		exchange_piece(watcher->exchange, (struct str){ out.data, out.len });
}

/* A reply of nothing begins here. */
static bool openai_begin_late(struct watcher *watcher)
{
	struct openai_turn *turn = watcher->data;
	_cleanup_(buf_free) struct buf out = { 0 };
	if (!watcher->exchange->is_stream && !exchange_stream(watcher->exchange))
		return false;
	if (!turn->has_begun)
		turn->format->begin(turn, &out);
	exchange_piece(watcher->exchange, (struct str){ out.data, out.len });
	return true;
}

void openai_pump(struct watcher *watcher)
{
	struct openai_turn *turn = watcher->data;
	struct record *record = watcher->record;
	const struct logged *logged = watcher_next(watcher);
	turn->has_gap = turn->has_gap || watcher->after < record->forgotten;
	for (; logged && !turn->has_gap && !peer_is_full(watcher->exchange->peer);
		 logged = list_next(logged))
		openai_tell(watcher, logged);
	if (!queue_is_over(record->state) || (!turn->has_gap && watcher->after < record->end_number))
		return;
	turn->outcome.has_failed = record->state != QUEUE_DONE || turn->has_gap;
	if (!turn->wants_stream)
		turn->outcome.has_failed ? openai_answer_failure(watcher) : openai_answer_whole(watcher);
	else if (turn->outcome.has_failed && !turn->has_begun)
		openai_answer_failure(watcher);
	else if (openai_begin_late(watcher))
		openai_end_stream(watcher);
}

/* A job that no other client waits for is cancelled. A client whose own timeout is over will try
 * again, so the job waits for it. The client's clock began before ours and is told in whole
 * seconds, so half of its time counts as a timeout. */
static void openai_left(struct watcher *watcher)
{
	struct record *record = watcher->record;
	const struct openai_turn *turn = watcher->data;
	uint64_t now_ns = clock_now_ns();
	if (record->watchers.count || queue_is_over(record->state))
		return;
	if (turn->patience_ns && now_ns - turn->quiet_ns >= turn->patience_ns / 2) {
		record->left_ns = now_ns;
		record->serve->has_left = true;
		return;
	}
	record->was_left = true;
	jobs_cancel(record);
}

void openai_tick(struct serve *serve)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t wait_ns = (uint64_t)serve->settings.retry_wait_seconds * NSEC_PER_SEC;
	if (!serve->has_left)
		return;
	serve->has_left = false;
	for (struct record *item = list_first(&serve->records.all); item; item = list_next(item)) {
		if (!item->left_ns || queue_is_over(item->state))
			continue;
		if (now_ns - item->left_ns < wait_ns) {
			serve->has_left = true;
			continue;
		}
		item->left_ns = 0;
		item->was_left = true;
		jobs_cancel(item);
	}
}

static void openai_watcher_free(struct watcher *watcher)
{
	openai_turn_free(watcher->data);
}

const struct watcher_kind openai_watcher = {
	.pump = openai_pump,
	.left = openai_left,
	.free = openai_watcher_free,
	.is_eager = true,
};
