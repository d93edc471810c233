/* The stored sessions of agents: which id an agent gave last, by profile, sender and name. Turns
 * that a service (perch/service.h) runs are in it. */
#ifndef PERCH_SESSIONS_H
#define PERCH_SESSIONS_H

#include <perch/agent.h>
#include <perch/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_sessions perch_sessions;

typedef struct perch_session {
	const char *profile; /* its canonical path */
	const char *from;    /* "" = nobody's */
	const char *name;    /* "default" */
	const char *id;      /* "" = none yet */
	int64_t last_used;   /* seconds since 1970 */
	int64_t turns;
	perch_agent_usage usage; /* of all of them */
	uint64_t spent_ns;       /* how long they took */
	const char *permits;     /* tools that are used in it without asking, a line each; "" = none */
} perch_session;

/* Opens $XDG_STATE_HOME/perch/sessions.db, and makes it where there is none. Fails with words: a
 * newer version, no permission, no SQLite … */
PERCH_API int perch_sessions_open(perch_sessions **ret_sessions, perch_err *err);

/* In all of these a profile is a path; links in it are followed, as when a turn begins. */

/* All of a profile's (NULL = of every profile), the last used first. Valid until the next list or
 * find. */
PERCH_API int perch_sessions_list(perch_sessions *sessions, const char *profile,
	const perch_session **ret_list, size_t *ret_count, perch_err *err);

/* The one of that name: 1 and *ret_session, valid as a list is; 0 = there is none. It is
 * resumed by giving its id to a turn (perch_agent_turn_options.session_id); a job of a service
 * finds it by its name. from NULL = "", name NULL = "default". */
PERCH_API int perch_sessions_find(perch_sessions *sessions, const char *profile, const char *from,
	const char *name, perch_session *ret_session, perch_err *err);

/* Removes one: its next turn begins a new session. from NULL = "", name NULL = "default". 1 = it is
 * gone, 0 = there was none. */
PERCH_API int perch_sessions_forget(perch_sessions *sessions, const char *profile, const char *from,
	const char *name, perch_err *err);

/* NULL is fine. */
PERCH_API void perch_sessions_free(perch_sessions *sessions);

#ifdef __cplusplus
}
#endif

#endif
