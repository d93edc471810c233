/* A turn's place in its stored session. */
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/agent.h"

int agent_session_begin(struct agent_session *session, perch_host *host,
	const struct session_key *key, session_ready_fn *ready, void *data, perch_err *err)
{
	session->key = *key;
	int r = sessions_open(host, &session->sessions, err);
	return r < 0 ? r : session_turn_begin(session->sessions, key, ready, data, &session->turn, err);
}

int agent_session_forget(struct agent_session *session, perch_err *err)
{
	return session->turn ? session_turn_forget(session->turn, err) : 0;
}

int agent_session_said(struct agent_session *session, struct str id, perch_err *err)
{
	if (!session->turn)
		return 0;
	_cleanup_free_ char *text = str_dup(id);
	return text ? session_turn_id(session->turn, text, err) : err_no_memory(err);
}

char *agent_session_id(const struct agent_session *session)
{
	char *id = NULL;
	if (session->turn)
		sessions_id(session->sessions, &session->key, &id, NULL);
	return id;
}

int agent_session_end(struct agent_session *session, bool counts, perch_err *err)
{
	struct session_turn *turn = steal(&session->turn);
	return turn ? session_turn_end(turn, counts, err) : 0;
}

void agent_session_close(struct agent_session *session)
{
	agent_session_end(session, false, NULL);
	sessions_close(session->sessions);
	session->sessions = NULL;
}
