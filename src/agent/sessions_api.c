/* include/perch/sessions.h on top of agent/sessions.h. */
#include "perch/sessions.h"

#include <stdlib.h>

#include "agent/sessions.h"
#include "base/err.h"

struct perch_sessions {
	struct sessions *sessions;
	struct arena arena; /* of the last list */
};

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

int perch_sessions_list(perch_sessions *sessions, const char *profile,
	const perch_session **ret_list, size_t *ret_count, perch_err *err)
{
	struct session_record *records = NULL;
	size_t count = 0;
	arena_reset(&sessions->arena);
	int r = sessions_list(sessions->sessions, profile, &sessions->arena, &records, &count, err);
	if (r < 0)
		return r;
	perch_session *list = arena_alloc(&sessions->arena, count * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++)
		list[i] = (perch_session){
			.profile = records[i].key.profile,
			.from = records[i].key.from,
			.name = records[i].key.name,
			.id = records[i].id,
			.last_used = records[i].last_used,
			.turns = records[i].turns,
		};
	*ret_list = list;
	*ret_count = count;
	return 0;
}

int perch_sessions_forget(perch_sessions *sessions, const char *profile, const char *from,
	const char *name, perch_err *err)
{
	const struct session_key key = {
		.profile = profile,
		.from = from ? from : "",
		.name = name ? name : "default",
	};
	return sessions_remove(sessions->sessions, &key, err);
}

void perch_sessions_free(perch_sessions *sessions)
{
	if (!sessions)
		return;
	sessions_close(sessions->sessions);
	arena_free(&sessions->arena);
	free(sessions);
}
