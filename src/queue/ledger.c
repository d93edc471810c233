/* What the queue of one process knows of its jobs. */
#include "queue/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"

/* ---- finding ---------------------------------------------------------------------------- */

static struct ledger_node **ledger_place(struct ledger_index *index, struct str text)
{
	uint32_t hash = STR_HASH;
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (uint8_t)text.data[i]) * 16777619u;
	struct ledger_node **place = &index->buckets[hash % LEDGER_BUCKETS];
	while (*place && !str_eq((*place)->text, text))
		place = &(*place)->next;
	return place;
}

static void ledger_enter(struct ledger_index *index, struct ledger_node *node, struct str text)
{
	struct ledger_node **place = ledger_place(index, text);
	*node = (struct ledger_node){ .next = *place, .text = text };
	*place = node;
}

static void ledger_leave(struct ledger_index *index, struct ledger_node *node)
{
	struct ledger_node **place = ledger_place(index, node->text);
	if (*place == node)
		*place = node->next;
}

struct ledger_job *ledger_find(const struct ledger *ledger, struct str id)
{
	/* Nothing is changed by looking. */
	struct ledger_node *node = *ledger_place((struct ledger_index *)&ledger->by_id, id);
	return node ? container_of(node, struct ledger_job, by_id) : NULL;
}

/* ---- lanes and what is ready --------------------------------------------------------------- */

static void ledger_count(struct ledger *ledger, struct ledger_job *job, enum queue_state state)
{
	ledger->waiting -= job->state == QUEUE_WAITING;
	ledger->running -= job->state == QUEUE_RUNNING;
	job->state = state;
	ledger->waiting += job->state == QUEUE_WAITING;
	ledger->running += job->state == QUEUE_RUNNING;
	job->revision++;
}

static void ledger_make_ready(
	struct ledger *ledger, struct ledger_job *job, bool is_first, int64_t now_ms)
{
	job->readied_ms = now_ms;
	job->is_ready = true;
	list_insert(&ledger->ready, &job->in_ready, is_first ? NULL : ledger->ready.last);
}

static void ledger_unready(struct ledger *ledger, struct ledger_job *job)
{
	if (job->is_ready)
		list_remove(&ledger->ready, &job->in_ready);
	job->is_ready = false;
}

/* The name of the lane: lengths keep apart what others could make look alike. Empty = none. */
static char *ledger_lane_name(const struct queue_job *job, size_t *ret_len)
{
	size_t most = job->name.len + job->owner.len + job->session.len + 64;
	char *name = malloc(most);
	*ret_len = 0;
	if (name && job->session.data)
		*ret_len = (size_t)snprintf(name, most, "%zu:%.*s:%zu:%.*s:%.*s", job->name.len,
			(int)job->name.len, job->name.data, job->owner.len, (int)job->owner.len,
			job->owner.data, (int)job->session.len, job->session.data);
	return name;
}

static struct ledger_lane *ledger_lane(struct ledger *ledger, struct str name)
{
	struct ledger_node *node = *ledger_place(&ledger->lanes, name);
	if (node)
		return container_of(node, struct ledger_lane, node);
	struct ledger_lane *lane = calloc(1, sizeof(*lane) + name.len);
	if (!lane)
		return NULL;
	memcpy(lane->text, name.data, name.len);
	ledger_enter(&ledger->lanes, &lane->node, (struct str){ lane->text, name.len });
	return lane;
}

static struct ledger_job *ledger_lane_first(const struct ledger_lane *lane)
{
	return lane->jobs.first ? container_of(lane->jobs.first, struct ledger_job, in_lane) : NULL;
}

/* Of its session, if it has one. */
static bool ledger_is_next(const struct ledger_job *job)
{
	return !job->lane || ledger_lane_first(job->lane) == job;
}

static int ledger_join_lane(
	struct ledger *ledger, struct ledger_job *job, const struct queue_job *asked)
{
	size_t len;
	_cleanup_free_ char *name = ledger_lane_name(asked, &len);
	if (!name)
		return -ENOMEM;
	if (!len)
		return 0;
	job->lane = ledger_lane(ledger, (struct str){ name, len });
	if (!job->lane)
		return -ENOMEM;
	list_append(&job->lane->jobs, &job->in_lane);
	return 0;
}

/* It no longer stands in the way of its session. The next one may be running: a process that has
 * died may have begun it, and have had no room to write that this one was over. */
static void ledger_leave_lane(struct ledger *ledger, struct ledger_job *job, int64_t now_ms)
{
	struct ledger_lane *lane = steal(&job->lane);
	if (!lane)
		return;
	bool was_first = ledger_lane_first(lane) == job;
	list_remove(&lane->jobs, &job->in_lane);
	struct ledger_job *next = ledger_lane_first(lane);
	if (!next) {
		ledger_leave(&ledger->lanes, &lane->node);
		free(lane);
	} else if (was_first && next->state == QUEUE_WAITING) {
		ledger_make_ready(ledger, next, false, now_ms);
	}
}

/* ---- life ------------------------------------------------------------------------------------ */

static struct str ledger_keep(char **at, struct str text)
{
	if (text.len)
		memcpy(*at, text.data, text.len);
	struct str kept = { *at, text.len };
	*at += text.len;
	return kept;
}

/* The key is its owner's. */
static struct ledger_job *ledger_new(const struct queue_job *job, struct str *ret_key)
{
	enum { NUMBER = 24 };
	size_t most = job->id.len + job->need.len + job->owner.len + job->key.len + NUMBER;
	struct ledger_job *made = calloc(1, sizeof(*made) + most);
	if (!made)
		return NULL;
	char *at = made->texts;
	made->id = ledger_keep(&at, job->id);
	made->need = ledger_keep(&at, job->need);
	made->size = job->request.len;
	made->is_turn = str_is(job->kind, "turn");
	made->retries = job->retries;
	*ret_key = (struct str){ 0 };
	if (job->key.len)
		*ret_key = (struct str){ at,
			(size_t)snprintf(at, NUMBER + job->owner.len + job->key.len, "%zu:%.*s:%.*s",
				job->owner.len, (int)job->owner.len, job->owner.data, (int)job->key.len,
				job->key.data) };
	return made;
}

static void ledger_add(struct ledger *ledger, struct ledger_job *job, struct str key)
{
	list_append(&ledger->jobs, job);
	ledger_enter(&ledger->by_id, &job->by_id, job->id);
	if (key.data && !*ledger_place(&ledger->by_key, key))
		ledger_enter(&ledger->by_key, &job->by_key, key);
	ledger->waiting += job->state == QUEUE_WAITING;
	ledger->running += job->state == QUEUE_RUNNING;
	if (job->place > ledger->last_place)
		ledger->last_place = job->place;
	if (job->fence > ledger->last_fence)
		ledger->last_fence = job->fence;
}

int ledger_put(struct ledger *ledger, const struct queue_job *job, size_t limit, int64_t now_ms,
	struct ledger_job **ret_job)
{
	struct str key;
	*ret_job = ledger_find(ledger, job->id);
	if (*ret_job)
		return 1;
	struct ledger_job *made = ledger_new(job, &key);
	if (!made)
		return -ENOMEM;
	const struct ledger_node *known = key.data ? *ledger_place(&ledger->by_key, key) : NULL;
	int r = known ? -EEXIST : ledger->waiting >= limit ? -EBUSY : 0;
	if (known)
		*ret_job = container_of((struct ledger_node *)known, struct ledger_job, by_key);
	if (r == 0)
		r = ledger_join_lane(ledger, made, job);
	if (r < 0) {
		free(made);
		return r;
	}
	made->revision = 1;
	made->place = ledger->last_place + 1;
	ledger_add(ledger, made, key);
	if (ledger_is_next(made))
		ledger_make_ready(ledger, made, false, now_ms);
	*ret_job = made;
	return 0;
}

int ledger_restore(struct ledger *ledger, const struct queue_job *job,
	const struct ledger_job *found, struct ledger_job **ret_job)
{
	struct str key;
	struct ledger_job *made = ledger_new(job, &key);
	if (!made)
		return -ENOMEM;
	made->state = job->state;
	made->tries = job->tries;
	made->started_ms = job->started_ms;
	made->ended_ms = job->ended_ms;
	made->claims = found->claims;
	made->has_begun = found->has_begun;
	made->is_cancelled = found->is_cancelled;
	made->fence = found->fence;
	made->place = found->place;
	made->revision = 1;
	if (!queue_is_over(job->state) && ledger_join_lane(ledger, made, job) < 0) {
		free(made);
		return -ENOMEM;
	}
	ledger_add(ledger, made, key);
	if (job->state == QUEUE_WAITING && ledger_is_next(made))
		ledger_make_ready(ledger, made, false, job->created_ms);
	*ret_job = made;
	return 0;
}

void ledger_drop(struct ledger *ledger, struct ledger_job *job)
{
	ledger_unready(ledger, job);
	ledger_leave_lane(ledger, job, job->readied_ms);
	ledger_count(ledger, job, QUEUE_FAILED);
	ledger_leave(&ledger->by_id, &job->by_id);
	if (job->by_key.text.data)
		ledger_leave(&ledger->by_key, &job->by_key);
	list_remove(&ledger->jobs, job);
	free(job);
}

void ledger_free(struct ledger *ledger)
{
	struct ledger_job *job;
	while ((job = list_first(&ledger->jobs)))
		ledger_drop(ledger, job);
}

/* ---- holding --------------------------------------------------------------------------------- */

bool ledger_is_offered(struct str need, const struct queue_worker *worker)
{
	if (!need.len)
		return true;
	for (size_t i = 0; i < worker->offer_count; i++) {
		if (str_eq(need, worker->offers[i]))
			return true;
	}
	return false;
}

static struct ledger_job *ledger_of_ready(struct link *link)
{
	return container_of(link, struct ledger_job, in_ready);
}

struct ledger_job *ledger_claim(
	struct ledger *ledger, const struct queue_worker *worker, int64_t now_ms, int64_t lease_ms)
{
	struct link *link = ledger->ready.first;
	while (link && !ledger_is_offered(ledger_of_ready(link)->need, worker))
		link = link->behind;
	if (!link)
		return NULL;
	struct ledger_job *job = ledger_of_ready(link);
	ledger_unready(ledger, job);
	ledger_count(ledger, job, QUEUE_RUNNING);
	job->claims++;
	job->fence = ++ledger->last_fence;
	job->has_begun = false;
	job->published = 0;
	job->started_ms = now_ms;
	job->leased_ms = now_ms + lease_ms;
	return job;
}

bool ledger_holds(struct ledger *ledger, const struct ledger_job *job, uint64_t fence)
{
	if (job && job->state == QUEUE_RUNNING && job->fence == fence)
		return true;
	ledger->fenced++;
	return false;
}

enum queue_answer ledger_begin(
	struct ledger *ledger, struct ledger_job *job, uint64_t fence, int64_t leased_ms)
{
	if (!ledger_holds(ledger, job, fence))
		return QUEUE_FENCED;
	if (job->is_cancelled)
		return QUEUE_CANCEL;
	job->tries += !job->has_begun;
	job->has_begun = true;
	job->leased_ms = leased_ms;
	return QUEUE_OK;
}

size_t ledger_publish(struct ledger_job *job, uint64_t first, size_t count)
{
	uint64_t last = first + count - 1;
	size_t told = first > job->published ? 0
		: last <= job->published         ? count
										 : (size_t)(job->published - first + 1);
	if (last > job->published)
		job->published = last;
	return told;
}

void ledger_again(struct ledger *ledger, struct ledger_job *job, int64_t now_ms)
{
	ledger_count(ledger, job, QUEUE_WAITING);
	job->fence = 0;
	job->started_ms = 0;
	if (ledger_is_next(job))
		ledger_make_ready(ledger, job, true, now_ms);
}

void ledger_end(
	struct ledger *ledger, struct ledger_job *job, enum queue_state state, int64_t now_ms)
{
	ledger_unready(ledger, job);
	ledger_count(ledger, job, state);
	job->ended_ms = now_ms;
	ledger_leave_lane(ledger, job, now_ms);
}

/* ---- what is left of the dead ------------------------------------------------------------------
 */

enum queue_state ledger_fate(const struct ledger_job *job)
{
	if (job->is_cancelled)
		return QUEUE_CANCELLED;
	if (!job->has_begun)
		return job->claims >= QUEUE_CLAIMS_MAX ? QUEUE_DEAD : QUEUE_WAITING;
	if (job->tries <= job->retries)
		return QUEUE_WAITING;
	return job->retries ? QUEUE_DEAD : QUEUE_INTERRUPTED;
}

struct ledger_job *ledger_lapsed(const struct ledger *ledger, int64_t now_ms)
{
	struct ledger_job *job = ledger->running ? list_first(&ledger->jobs) : NULL;
	while (job && (job->state != QUEUE_RUNNING || job->leased_ms > now_ms))
		job = list_next(job);
	return job;
}

struct ledger_job *ledger_hopeless(
	const struct ledger *ledger, const struct queue_worker *worker, int64_t before_ms)
{
	for (struct link *link = ledger->ready.first; link; link = link->behind) {
		struct ledger_job *job = ledger_of_ready(link);
		if (job->readied_ms <= before_ms && !ledger_is_offered(job->need, worker))
			return job;
	}
	return NULL;
}
