/* The requests of a plugin that wait for their answers. */
#include "fledge/fledge_engine_parts.h"

#include <errno.h>
#include <stdlib.h>

enum {
	RING_FIRST = 16,
	/* A request that took more is not kept for the next one. */
	SPARE_MAX = 64 * 1024,
};

static void requests_free_one(struct request *request)
{
	if (!request)
		return;
	buf_free(&request->id);
	buf_free(&request->answer);
	arena_free(&request->arena);
	free(request);
}

void requests_free(struct requests *requests)
{
	for (size_t i = 0; i < requests->count; i++)
		requests_free_one(requests_get(requests, i));
	requests_free_one(requests->spare);
	free(requests->ring);
	*requests = (struct requests){ 0 };
}

struct request *requests_make(struct requests *requests)
{
	struct request *request = requests->spare;
	requests->spare = NULL;
	if (!request)
		return calloc(1, sizeof(*request));
	buf_clear(&request->id);
	buf_clear(&request->answer);
	arena_reset(&request->arena);
	request->held = 0;
	request->next_question = NULL;
	return request;
}

static int requests_grow(struct requests *requests)
{
	size_t cap = requests->cap ? requests->cap * 2 : RING_FIRST;
	struct request **ring = malloc(cap * sizeof(struct request *));
	if (!ring)
		return -ENOMEM;
	for (size_t i = 0; i < requests->count; i++)
		ring[i] = requests_get(requests, i);
	free(requests->ring);
	requests->ring = ring;
	requests->cap = cap;
	requests->at = 0;
	return 0;
}

int requests_push(struct requests *requests, struct request *request)
{
	if (requests->count == requests->cap && requests_grow(requests) < 0) {
		requests_free_one(request);
		return -ENOMEM;
	}
	request->ticket = ++requests->next_ticket;
	requests->ring[(requests->at + requests->count) & (requests->cap - 1)] = request;
	requests->count++;
	requests_weigh(requests, request);
	return 0;
}

struct request *requests_get(const struct requests *requests, size_t i)
{
	return requests->ring[(requests->at + i) & (requests->cap - 1)];
}

struct request *requests_first(const struct requests *requests)
{
	return requests->count ? requests_get(requests, 0) : NULL;
}

struct request *requests_find(const struct requests *requests, uint64_t ticket)
{
	uint64_t first = requests->next_ticket - requests->count + 1;
	if (ticket < first || ticket > requests->next_ticket)
		return NULL;
	return requests_get(requests, (size_t)(ticket - first));
}

void requests_pop(struct requests *requests)
{
	struct request *request = requests_get(requests, 0);
	requests->at = (requests->at + 1) & (requests->cap - 1);
	requests->count--;
	requests->held -= request->held;
	if (requests->spare || request->held > SPARE_MAX)
		requests_free_one(request);
	else
		requests->spare = request;
}

void requests_weigh(struct requests *requests, struct request *request)
{
	requests->held -= request->held;
	request->held =
		sizeof(*request) + request->id.cap + request->answer.cap + arena_size(&request->arena);
	requests->held += request->held;
}
