/* Sessions of agents, as their transcripts know them. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "serve/api.h"
#include "serve/body.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "wire/http_url.h"

enum { API_TITLE_MAX = 200, API_SEARCH_SIZE = 200 };

/* Lives from the question to its answer, even if the client is gone. */
struct api_wait {
	struct exchange *exchange; /* NULL = the client is gone */
	int status;
};

static void api_wait_gone(struct exchange *exchange)
{
	struct api_wait *wait = exchange->data;
	wait->exchange = NULL;
}

static const struct exchange_keeper api_wait_keeper = { .gone = api_wait_gone };

static void api_found(void *data, int error, const struct buf *found)
{
	struct api_wait *wait = data;
	struct exchange *exchange = wait->exchange;
	if (exchange)
		exchange->keeper = NULL;
	if (exchange && error == -ENOENT)
		exchange_error(exchange, 404, "not_found", NULL, "there is no such session");
	else if (exchange && error == -ENOSPC)
		exchange_error(exchange, 507, "disk_full", NULL, "the disk is full");
	else if (exchange && error < 0)
		exchange_error(exchange, 503, "transcripts", NULL, "the transcripts cannot be read: %s",
			perch_strerror(error));
	else if (exchange)
		exchange_json(exchange, 200, found);
	free(wait);
}

static void api_ask(struct exchange *exchange, struct transcripts_ask ask)
{
	struct serve *serve = exchange->peer->serve;
	uint64_t session = 0;
	if (!serve->transcripts) {
		exchange_error(exchange, 404, "no_store", NULL, "this server keeps no transcripts");
		return;
	}
	if (ask.question != TRANSCRIPTS_LIST &&
		(!http_read_number(str_from(exchange->parameters[0]), &session) || session > INT64_MAX)) {
		exchange_error(exchange, 404, "not_found", NULL, "there is no such session");
		return;
	}
	struct api_wait *wait = calloc(1, sizeof(*wait));
	ask.session = (int64_t)session;
	ask.done = api_found;
	ask.data = wait;
	if (!ask.owner.data && !exchange->who->token.is_admin)
		ask.owner = str_from(exchange->who->token.name);
	if (!wait || transcripts_ask(serve->transcripts, &ask) < 0) {
		free(wait);
		exchange_no_memory(exchange);
		return;
	}
	wait->exchange = exchange;
	exchange->keeper = &api_wait_keeper;
	exchange->data = wait;
}

/* ?before=NUMBER; false: answered. */
static bool api_before(struct exchange *exchange, int64_t *ret_before)
{
	char text[32];
	uint64_t number = 0;
	int len = http_query_get(exchange->request->query, "before", text, sizeof(text));
	*ret_before = 0;
	if (len == -ENOENT)
		return true;
	if (len > 0 && http_read_number((struct str){ text, (size_t)len }, &number) &&
		number < INT64_MAX) {
		*ret_before = (int64_t)number;
		return true;
	}
	exchange_error(exchange, 400, "bad_request", NULL, "before is the id of a message");
	return false;
}

/* ?q=WORDS: those where they were said; ?mine=yes: an admin's own; ?before=: used before that. */
void api_sessions(struct exchange *exchange)
{
	char words[API_SEARCH_SIZE], mine[8];
	struct transcripts_ask ask = { .question = TRANSCRIPTS_LIST };
	struct str query = exchange->request->query;
	int len = http_query_get(query, "q", words, sizeof(words));
	if (len > 0)
		ask.text = (struct str){ words, (size_t)len };
	if (http_query_get(query, "mine", mine, sizeof(mine)) >= 0)
		ask.owner = str_from(exchange->who->token.name);
	if (len < 0 && len != -ENOENT)
		exchange_error(exchange, 400, "bad_request", NULL, "q has %d bytes at most, of UTF-8",
			API_SEARCH_SIZE - 1);
	else if (api_before(exchange, &ask.before))
		api_ask(exchange, ask);
}

void api_session(struct exchange *exchange)
{
	api_ask(exchange, (struct transcripts_ask){ .question = TRANSCRIPTS_GET });
}

void api_session_remove(struct exchange *exchange)
{
	api_ask(exchange, (struct transcripts_ask){ .question = TRANSCRIPTS_REMOVE });
}

void api_messages(struct exchange *exchange)
{
	struct transcripts_ask ask = { .question = TRANSCRIPTS_MESSAGES };
	if (api_before(exchange, &ask.before))
		api_ask(exchange, ask);
}

void api_session_change(struct exchange *exchange)
{
	_cleanup_(body_close) struct body body;
	if (!body_open(&body, exchange))
		return;
	const perch_json_value *title = body_demand(&body, "title", PERCH_JSON_STRING);
	if (title && json_str(title).len > API_TITLE_MAX)
		body_refuse(&body, "a title has %d bytes at most", API_TITLE_MAX);
	if (body_is_good(&body))
		api_ask(exchange,
			(struct transcripts_ask){ .question = TRANSCRIPTS_RENAME, .text = json_str(title) });
}
