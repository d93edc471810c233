/* The sessions: opening them, looking at them. */
#include "agent/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/sessions_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/paths.h"
#include "base/vec.h"
#include "proc/host.h"

#define DIRECTORY "perch"
#define DATABASE_NAME "/sessions.db"
#define LOCK_NAME "/sessions.lock"

DEFINE_POINTER_CLEANUP(cleanup_sessions, struct sessions, sessions_close)

/* ---- keys ---------------------------------------------------------------- */

/* Most sessions belong to a few profiles: hashing the paths would help little and take long. */
uint32_t session_key_hash(const struct session_key *key)
{
	return str_hash(str_hash(STR_HASH, key->name), key->from);
}

bool session_key_is(const struct session_key *a, const struct session_key *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->from, b->from) == 0 &&
		strcmp(a->profile, b->profile) == 0;
}

/* ---- opening ------------------------------------------------------------- */

static int sessions_open_files(struct sessions *sessions, const char *directory, perch_err *err)
{
	_cleanup_free_ char *path = str_join(directory, DATABASE_NAME, NULL);
	sessions->lock_path = str_join(directory, LOCK_NAME, NULL);
	if (!path || !sessions->lock_path)
		return err_no_memory(err);
	int r = paths_make(directory, err);
	if (r == 0)
		r = database_open(path, &sessions->database, err);
	if (r == 0 && sessions->loop)
		r = presence_take(sessions->lock_path, &sessions->presence, err);
	if (r == 0 && sessions->loop)
		session_jobs_open(sessions);
	return r;
}

int sessions_open(perch_host *host, struct sessions **ret_sessions, perch_err *err)
{
	_cleanup_free_ char *directory = NULL;
	int r = paths_user(PATH_STATE, DIRECTORY, &directory, err);
	if (r < 0)
		return r;
	_cleanup_(cleanup_sessions) struct sessions *sessions = calloc(1, sizeof(*sessions));
	if (!sessions)
		return err_no_memory(err);
	sessions->presence.fd = -1;
	sessions->told.fd = -1;
	if (host && session_turns_prepare(sessions, host) < 0)
		return err_no_memory(err);
	r = sessions_open_files(sessions, directory, err);
	if (r == 0)
		*ret_sessions = steal(&sessions);
	return r;
}

void sessions_close(struct sessions *sessions)
{
	if (!sessions)
		return;
	session_turns_close(sessions);
	database_close(&sessions->database);
	presence_drop(&sessions->presence);
	free(sessions->lock_path);
	free(sessions);
}

/* ---- a broken database --------------------------------------------------- */

static int sessions_database_path(char **ret_path, perch_err *err)
{
	return paths_user(PATH_STATE, DIRECTORY DATABASE_NAME, ret_path, err);
}

int sessions_examine(perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_(database_close) struct database database = { 0 };
	int r = sessions_database_path(&path, err);
	if (r < 0)
		return r;
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	r = database_open(path, &database, err);
	if (r == 0)
		r = database_examine(&database, err);
	return r < 0 ? r : 1;
}

/* Never over a file that was moved before. */
static int sessions_find_free_name(const char *path, char ret_name[SESSIONS_PATH_MAX])
{
	enum { TRIES = 1000 };
	for (int n = 1; n <= TRIES; n++) {
		int length = snprintf(ret_name, SESSIONS_PATH_MAX, "%s.corrupt-%d", path, n);
		if (length >= SESSIONS_PATH_MAX)
			return -ENAMETOOLONG;
		if (access(ret_name, F_OK) < 0 && errno == ENOENT)
			return 0;
	}
	return -EEXIST;
}

/* The log first: it must not be taken for that of the file that comes next. */
int sessions_set_aside(char ret_path[SESSIONS_PATH_MAX], perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	char name[SESSIONS_PATH_MAX];
	int r = sessions_database_path(&path, err);
	if (r < 0)
		return r;
	_cleanup_free_ char *log = str_join(path, "-wal", NULL);
	_cleanup_free_ char *shared = str_join(path, "-shm", NULL);
	r = log && shared ? sessions_find_free_name(path, name) : -ENOMEM;
	_cleanup_free_ char *log_name = r < 0 ? NULL : str_join(name, "-wal", NULL);
	if (r == 0 && !log_name)
		r = -ENOMEM;
	if (r == 0 && ((rename(log, log_name) < 0 && errno != ENOENT) || rename(path, name) < 0))
		r = -errno;
	if (r < 0)
		return err_set(err, r, "the sessions cannot be moved: %s", perch_strerror(r));
	unlink(shared);
	memcpy(ret_path, name, sizeof(name));
	return 0;
}

/* ---- looking at them ----------------------------------------------------- */

static const char *sessions_copy_text(const struct query *query, int column, struct arena *arena)
{
	const char *text = query_text(query, column);
	return text ? arena_dup(arena, str_from(text)) : NULL;
}

static int sessions_read_record(
	const struct query *query, struct arena *arena, struct session_record *ret_record)
{
	const struct session_record record = {
		.key = { sessions_copy_text(query, 0, arena), sessions_copy_text(query, 1, arena),
			sessions_copy_text(query, 2, arena) },
		.id = sessions_copy_text(query, 3, arena),
		.last_used = query_number(query, 4),
		.turns = query_number(query, 5),
		.spending.usage = {
			.input_tokens = (uint64_t)query_number(query, 6),
			.output_tokens = (uint64_t)query_number(query, 7),
			.total_tokens = (uint64_t)query_number(query, 8),
			.cost_micros = (uint64_t)query_number(query, 9),
		},
		.spending.spent_ms = (uint64_t)query_number(query, 10),
		.permits = sessions_copy_text(query, 11, arena),
	};
	if (!record.key.profile || !record.key.from || !record.key.name || !record.id ||
		!record.permits)
		return -ENOMEM;
	*ret_record = record;
	return 0;
}

static int sessions_read_records(struct query *query, struct arena *arena,
	struct session_record **records, size_t *count, perch_err *err)
{
	size_t cap = 0;
	int r;
	while ((r = query_step(query, err)) > 0) {
		void *grown = vec_grow(*records, &cap, *count + 1, sizeof(**records));
		if (!grown)
			return err_no_memory(err);
		*records = grown;
		if (sessions_read_record(query, arena, &(*records)[*count]) < 0)
			return err_no_memory(err);
		++*count;
	}
	return r;
}

int sessions_list(struct sessions *sessions, const char *profile, struct arena *arena,
	struct session_record **ret_records, size_t *ret_count, perch_err *err)
{
	const struct arguments arguments = { .key.profile = profile };
	_cleanup_free_ struct session_record *records = NULL;
	_cleanup_(query_end) struct query query = { 0 };
	size_t count = 0;
	int r = query_begin(&query, &sessions->database, SQL_SESSION_LIST, &arguments, err);
	if (r == 0)
		r = sessions_read_records(&query, arena, &records, &count, err);
	struct session_record *kept = r < 0 ? NULL : arena_alloc(arena, count * sizeof(*records));
	if (r == 0 && !kept)
		r = err_no_memory(err);
	if (r < 0)
		return r;
	if (count)
		memcpy(kept, records, count * sizeof(*records));
	*ret_records = kept;
	*ret_count = count;
	return 0;
}

void session_left_free(struct session_left *left)
{
	free(left->id);
	free(left->permits);
	*left = (struct session_left){ 0 };
}

static char *sessions_dup_text(const struct query *query, int column)
{
	const char *text = query_text(query, column);
	return text ? str_dup(str_from(text)) : NULL;
}

int sessions_left(struct sessions *sessions, const struct session_key *key,
	struct session_left *ret_left, perch_err *err)
{
	const struct arguments arguments = { .key = *key };
	_cleanup_(query_end) struct query query = { 0 };
	int r = query_begin(&query, &sessions->database, SQL_SESSION_ID, &arguments, err);
	if (r == 0)
		r = query_step(&query, err);
	if (r < 0)
		return r;
	struct session_left left = {
		.is_known = r > 0,
		.id = r > 0 ? sessions_dup_text(&query, 0) : str_dup(STR("")),
		.spent_ms = r > 0 ? (uint64_t)query_number(&query, 1) : 0,
		.permits = r > 0 ? sessions_dup_text(&query, 2) : str_dup(STR("")),
	};
	if (!left.id || !left.permits) {
		session_left_free(&left);
		return err_no_memory(err);
	}
	*ret_left = left;
	return 0;
}

int sessions_remove(struct sessions *sessions, const struct session_key *key, perch_err *err)
{
	const struct arguments arguments = { .key = *key };
	_cleanup_(query_end) struct query query = { 0 };
	int r = query_begin(&query, &sessions->database, SQL_SESSION_REMOVE, &arguments, err);
	if (r == 0)
		r = query_step(&query, err);
	bool was_there = r > 0;
	if (was_there)
		r = query_step(&query, err);
	return r < 0 ? r : was_there;
}
