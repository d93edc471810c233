/* A turn's place in its stored session. */
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/agent/agent_commands.h"

int agent_session_begin(struct agent_session *session, perch_host *host,
	const struct session_key *key, session_ready_fn *ready, void *data, perch_err *err)
{
	session->key = *key;
	int r = sessions_open(host, &session->sessions, err);
	return r < 0 ? r : session_turn_begin(session->sessions, key, ready, data, &session->turn, err);
}

static const perch_err nothing_wrong;

void agent_session_forget(struct agent_session *session, session_done_fn *done, void *data)
{
	if (session->turn)
		session_turn_forget(session->turn, done, data);
	else
		done(data, "", 0, &nothing_wrong);
}

void agent_session_said(
	struct agent_session *session, struct str id, session_done_fn *done, void *data)
{
	perch_err err = { 0 };
	_cleanup_free_ char *text = str_dup(id);
	if (!text)
		done(data, "", err_no_memory(&err), &err);
	else if (session->turn)
		session_turn_id(session->turn, text, done, data);
	else
		done(data, text, 0, &nothing_wrong);
}

char *agent_session_id(const struct agent_session *session)
{
	char *id = NULL;
	if (session->turn)
		sessions_id(session->sessions, &session->key, &id, NULL);
	return id;
}

static void agent_session_ended(void *data, const char *id, int r, const perch_err *err)
{
	struct agent_session *session = data;
	session->turn = NULL;
	session->ended(session->data, id, r, err);
}

void agent_session_end(
	struct agent_session *session, bool counts, session_done_fn *done, void *data)
{
	if (!session->turn || session->is_ending) {
		done(data, NULL, 0, &nothing_wrong);
		return;
	}
	session->is_ending = true;
	session->ended = done;
	session->data = data;
	session_turn_end(session->turn, counts, agent_session_ended, session);
}

void agent_session_close(struct agent_session *session)
{
	if (session->turn)
		session_turn_silence(session->turn);
	if (session->turn && !session->is_ending)
		session_turn_end(session->turn, false, NULL, NULL);
	sessions_close(session->sessions);
	session->sessions = NULL;
	session->turn = NULL;
}
