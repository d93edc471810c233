/* The processes of agents that are kept between turns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/resident_parts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "sandbox/sandbox.h"

int residents_new(perch_host *host, struct residents **ret_residents)
{
	struct residents *residents = calloc(1, sizeof(*residents));
	if (!residents)
		return -ENOMEM;
	residents->host = host;
	*ret_residents = residents;
	return 0;
}

static struct resident *residents_find(struct residents *residents, const char *key)
{
	struct resident *resident = list_first(&residents->all);
	while (resident && (resident->is_leaving || strcmp(resident->key, key) != 0))
		resident = list_next(resident);
	return resident;
}

/* path: of one profile alone; NULL = of all. */
static size_t residents_count_of(
	const struct residents *residents, const char *path, struct resident **ret_idle)
{
	size_t count = 0;
	*ret_idle = NULL;
	for (struct resident *one = list_first(&residents->all); one; one = list_next(one)) {
		if (path && (one->is_leaving || strcmp(one->profile.path, path) != 0))
			continue;
		count++;
		if (!one->seats.count && (!*ret_idle || one->used_ns < (*ret_idle)->used_ns))
			*ret_idle = one;
	}
	return count;
}

/* A place for one more: the one that has been idle for longest is ended at once. */
static int residents_make_room(
	struct residents *residents, const struct agent_profile *profile, perch_err *err)
{
	const size_t own = profile->acp.max_processes ? profile->acp.max_processes : RESIDENTS_MAX;
	struct resident *idle;
	if (residents_count_of(residents, profile->path, &idle) >= own) {
		if (!idle)
			return err_set(err, PERCH_ELIMIT,
				"%zu processes of this agent run already, each in a directory of its own and with "
				"a turn: wait, or raise acp.max_processes of its profile",
				own);
		resident_free(idle);
	}
	if (residents_count_of(residents, NULL, &idle) >= RESIDENTS_MAX) {
		if (!idle)
			return err_set(err, PERCH_ELIMIT,
				"%d processes of agents run already, each with a turn", (int)RESIDENTS_MAX);
		resident_free(idle);
	}
	return 0;
}

int residents_choose(struct residents *residents, const struct seat_options *options,
	struct resident **ret_resident, bool *ret_is_fresh, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	const char *key = resident_key(&arena, options);
	struct resident *resident = key ? residents_find(residents, key) : NULL;
	*ret_is_fresh = !resident;
	int r = key ? 0 : err_no_memory(err);
	if (r == 0 && !resident) {
		r = residents_make_room(residents, options->turn->profile, err);
		if (r == 0)
			r = resident_start(residents->host, options, &resident, err);
		if (r == 0) {
			resident->residents = residents;
			list_append(&residents->all, resident);
		}
	}
	if (r == 0)
		*ret_resident = resident;
	return r;
}

void residents_stop(struct residents *residents)
{
	residents->is_closing = true;
	for (struct resident *one = list_first(&residents->all); one; one = list_next(one)) {
		if (!one->seats.count && !one->is_leaving)
			resident_stop(one);
	}
}

size_t residents_count(const struct residents *residents)
{
	return residents->all.count;
}

void residents_show(const struct residents *residents, perch_spare_fn *take, void *data)
{
	const uint64_t now_ns = clock_now_ns();
	for (const struct resident *one = list_first(&residents->all); one; one = list_next(one)) {
		const perch_spare shown = {
			.kind = PERCH_ENTRY_AGENT,
			.name = one->profile.path,
			.is_ready = acp_client_is_ready(one->client),
			.waits_ns = now_ns - one->used_ns,
			.sandbox = one->sandbox ? sandbox_layers(one->sandbox) : NULL,
		};
		if (!one->seats.count && !one->is_leaving)
			take(data, &shown);
	}
}

void residents_free(struct residents *residents)
{
	if (!residents)
		return;
	while (residents->all.count)
		resident_free(list_first(&residents->all));
	free(residents);
}
