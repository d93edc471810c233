/* include/perch/sessions.h on top of agent/sessions.h. */
#include "perch/sessions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sessions_api.h"
#include "base/clock.h"
#include "base/err.h"

int perch_sessions_open(perch_sessions **ret_sessions, perch_err *err)
{
	perch_sessions *sessions = calloc(1, sizeof(*sessions));
	if (!sessions)
		return err_no_memory(err);
	int r = sessions_open(NULL, &sessions->sessions, err);
	if (r < 0) {
		free(sessions);
		return r;
	}
	*ret_sessions = sessions;
	return 0;
}

/* As a turn has it for the key: the file itself, or what was said where there is none any more. */
static const char *sessions_api_profile(const char *given, char resolved[PATH_MAX])
{
	return given && realpath(given, resolved) ? resolved : given;
}

static struct session_key sessions_api_key(
	const char *profile, const char *from, const char *name, char resolved[PATH_MAX])
{
	return (struct session_key){
		.profile = sessions_api_profile(profile, resolved),
		.from = from ? from : "",
		.name = name ? name : "default",
	};
}

static perch_session sessions_api_session(const struct session_record *record)
{
	return (perch_session){
		.profile = record->key.profile,
		.from = record->key.from,
		.name = record->key.name,
		.id = record->id,
		.last_used = record->last_used,
		.turns = record->turns,
		.usage = record->spending.usage,
		.permits = record->permits,
		.spent_ns = record->spending.spent_ms * NSEC_PER_MSEC,
	};
}

int perch_sessions_list(perch_sessions *sessions, const char *profile,
	const perch_session **ret_list, size_t *ret_count, perch_err *err)
{
	struct session_record *records = NULL;
	size_t count = 0;
	char resolved[PATH_MAX];
	arena_reset(&sessions->arena);
	int r = sessions_list(sessions->sessions, sessions_api_profile(profile, resolved),
		&sessions->arena, &records, &count, err);
	if (r < 0)
		return r;
	perch_session *list = arena_alloc(&sessions->arena, count * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++)
		list[i] = sessions_api_session(&records[i]);
	*ret_list = list;
	*ret_count = count;
	return 0;
}

int perch_sessions_find(perch_sessions *sessions, const char *profile, const char *from,
	const char *name, perch_session *ret_session, perch_err *err)
{
	char resolved[PATH_MAX];
	const struct session_key key = sessions_api_key(profile, from, name, resolved);
	const perch_session *list;
	size_t count = 0;
	int r = perch_sessions_list(sessions, key.profile, &list, &count, err);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (strcmp(list[i].from, key.from) != 0 || strcmp(list[i].name, key.name) != 0)
			continue;
		*ret_session = list[i];
		return 1;
	}
	return r;
}

int perch_sessions_forget(perch_sessions *sessions, const char *profile, const char *from,
	const char *name, perch_err *err)
{
	char resolved[PATH_MAX];
	const struct session_key key = sessions_api_key(profile, from, name, resolved);
	return sessions_remove(sessions->sessions, &key, err);
}

void sessions_api_close(perch_sessions *sessions)
{
	sessions_close(sessions->sessions);
	arena_free(&sessions->arena);
}

void perch_sessions_free(perch_sessions *sessions)
{
	if (!sessions)
		return;
	sessions_api_close(sessions);
	free(sessions);
}
