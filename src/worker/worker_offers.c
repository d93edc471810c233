/* What a worker offers: what [expose.worker] shows, less what its options leave out, by name and
 * hash, with and without each of its labels. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/glob.h"
#include "base/macros.h"
#include "queue/need.h"
#include "worker/worker_parts.h"

DEFINE_POINTER_CLEANUP(worker_catalog_cleanup, perch_catalog, perch_catalog_free)

static bool worker_offers_matches(const char *const *patterns, const char *name)
{
	if (!patterns || !patterns[0])
		return true;
	for (; *patterns; patterns++) {
		if (glob_match(*patterns, name))
			return true;
	}
	return false;
}

static bool worker_offers_shows(const struct worker *worker, const perch_entry *entry)
{
	const struct worker_options *options = &worker->options;
	switch (entry->kind) {
	case PERCH_ENTRY_AGENT:
		return worker_offers_matches(options->agents, entry->name);
	case PERCH_ENTRY_TOOL:
		return worker_offers_matches(options->tools, entry->name);
	case PERCH_ENTRY_COMMAND:
		return worker_offers_matches(options->plugins, entry->name);
	default:
		return false;
	}
}

static int worker_offers_add(struct worker *worker, struct str *list, size_t *count,
	const perch_entry *entry, const char *hash, const char *label)
{
	_cleanup_free_ char *need = need_write(entry->kind, entry->name, hash, label);
	const char *copy = need ? arena_dup(&worker->offers, str_from(need)) : NULL;
	if (!copy)
		return -ENOMEM;
	list[(*count)++] = str_from(copy);
	return 0;
}

static int worker_offers_add_entry(
	struct worker *worker, struct str *list, size_t *count, const perch_entry *entry)
{
	char hash[NEED_HASH_SIZE] = "*";
	perch_err err = { 0 };
	if (!worker->options.any_profile && need_hash(entry, hash, &err) < 0) {
		worker_say(worker, true, "%s is not offered: %s", entry->name, err.text);
		return 0;
	}
	int r = worker_offers_add(worker, list, count, entry, hash, NULL);
	for (const char *const *label = worker->options.labels; r == 0 && label && *label; label++)
		r = worker_offers_add(worker, list, count, entry, hash, *label);
	return r;
}

static size_t worker_offers_labels(const struct worker *worker)
{
	size_t count = 0;
	while (worker->options.labels && worker->options.labels[count])
		count++;
	return count;
}

/* Into the arena that is empty. */
static int worker_offers_gather(struct worker *worker, perch_err *err)
{
	_cleanup_(worker_catalog_cleanup) perch_catalog *catalog = NULL;
	size_t total = 0, count = 0;
	int r = perch_service_catalog(worker->service, &catalog, err);
	if (r < 0)
		return r;
	const perch_entry *entries = perch_catalog_entries(catalog, &total);
	size_t most = total * (1 + worker_offers_labels(worker)) + 1;
	struct str *list = arena_alloc(&worker->offers, most * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	for (size_t i = 0; r == 0 && i < total; i++) {
		if (!entries[i].problem && worker_offers_shows(worker, &entries[i]))
			r = worker_offers_add_entry(worker, list, &count, &entries[i]);
	}
	if (r < 0)
		return err_no_memory(err);
	if (count + 32 > REDIS_ARGUMENTS_MAX)
		return err_set(err, -E2BIG,
			"it would offer %zu things, more than the queue takes: narrow them by "
			"--agents, --tools and --plugins",
			count);
	worker->self.offers = list;
	worker->self.offer_count = count;
	return 0;
}

/* Which files the profiles of --agent are by now. */
static uint64_t worker_offers_stamp(const struct worker *worker)
{
	uint64_t stamp = 0;
	for (const char *const *path = worker->options.profiles; path && *path; path++) {
		struct stat now = { 0 };
		stat(*path, &now);
		const uint64_t parts[] = { now.st_ino, (uint64_t)now.st_size, (uint64_t)now.st_ctim.tv_sec,
			(uint64_t)now.st_ctim.tv_nsec };
		for (size_t i = 0; i < COUNT(parts); i++)
			stamp = (stamp ^ parts[i]) * UINT64_C(1099511628211);
	}
	return stamp;
}

/* Those that were offered stay where the new ones cannot be. */
int worker_offers_read(struct worker *worker, perch_err *err)
{
	struct arena before = worker->offers;
	worker->offers = (struct arena){ 0 };
	worker->profiles_stamp = worker_offers_stamp(worker);
	int r = worker_offers_gather(worker, err);
	arena_free(r < 0 ? &worker->offers : &before);
	if (r < 0)
		worker->offers = before;
	return r;
}

void worker_offers_renew(struct worker *worker)
{
	perch_err err = { 0 };
	if (worker->is_draining)
		return;
	if (worker_offers_read(worker, &err) < 0)
		worker_say(worker, true, "%s", err.text);
	else if (worker->queue)
		queue_redis_register(worker->queue, &worker->self);
	worker_offers_say(worker);
}

/* The service watches what is in its directories, but not these. */
void worker_offers_look(struct worker *worker)
{
	if (worker_offers_stamp(worker) != worker->profiles_stamp)
		worker_offers_renew(worker);
}

bool worker_offers_has(const struct worker *worker, struct str need)
{
	for (size_t i = 0; i < worker->self.offer_count; i++) {
		if (need_is_met(need, worker->self.offers[i]))
			return true;
	}
	return false;
}

void worker_offers_say(struct worker *worker)
{
	size_t count = worker->self.offer_count / (1 + worker_offers_labels(worker));
	if (worker->is_draining || worker->said_offers == count)
		return;
	worker->said_offers = count;
	if (count)
		worker_say(worker, false,
			"it offers %zu agents, tools and plugin commands; perch worker --check names them",
			count);
	else
		worker_say(worker, true,
			"it offers nothing, so no job comes here: list agents, tools or plugins under "
			"[expose.worker] in perch/config.toml, or give --agent FILE");
}

int worker_describe(struct worker *worker, struct buf *out)
{
	for (size_t i = 0; i < worker->self.offer_count; i++)
		buf_printf(out, "%.*s\n", (int)worker->self.offers[i].len, worker->self.offers[i].data);
	return out->failed ? -ENOMEM : 0;
}
