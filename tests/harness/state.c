/* Sessions in a folder of the test's own. */
#include "harness/state.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sessions_parts.h"
#include "harness/folder.h"
#include "harness/proc.h"
#include "harness/suite.h"

const struct session_key state_key = { "/profiles/echo.yaml", "ann", "default" };

void state_new(void)
{
	folder_new();
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
}

const char *state_database(void)
{
	return folder_path("state/perch/sessions.db");
}

perch_host *state_host(void)
{
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard = PERCH_GUARD_OFF;
	perch_host *host = NULL;
	ck_assert_int_eq(perch_host_new(&options, &host, NULL), 0);
	return host;
}

struct sessions *state_sessions(perch_host *host)
{
	struct sessions *sessions = NULL;
	perch_err err = { 0 };
	int r = sessions_open(host, &sessions, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return sessions;
}

void state_close(perch_host *host, struct sessions *sessions)
{
	sessions_close(sessions);
	perch_host_free(host);
}

/* ---- a turn and what it was told ------------------------------------------- */

static unsigned next_order;

void asked_ready(void *data, struct session_turn *turn, const char *id)
{
	struct asked *asked = data;
	ck_assert(!asked->is_ready);
	asked->turn = turn;
	asked->is_ready = true;
	asked->has_failed = !id;
	asked->order = next_order++;
	snprintf(asked->id, sizeof(asked->id), "%s", id ? id : "");
}

void asked_begin_key(struct sessions *sessions, struct asked *asked, const struct session_key *key)
{
	*asked = (struct asked){ .sessions = sessions };
	perch_err err = { 0 };
	int r = session_turn_begin(sessions, key, asked_ready, asked, &asked->turn, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	ck_assert_msg(!asked->is_ready, "told before the loop ran");
}

void asked_begin(struct sessions *sessions, struct asked *asked)
{
	asked_begin_key(sessions, asked, &state_key);
}

void asked_take(perch_host *host, struct sessions *sessions, struct asked *asked)
{
	asked_begin(sessions, asked);
	proc_until(host, &asked->is_ready);
}

/* What was asked of a session, and what came of it. */
struct result {
	bool is_there;
	int code;
	perch_err *err;
};

static void take_result(void *data, const char *id, int r, const perch_err *err)
{
	(void)id;
	struct result *result = data;
	ck_assert(!result->is_there);
	result->is_there = true;
	result->code = r;
	if (result->err)
		*result->err = *err;
}

/* Runs the loop where another process writes. */
static int await_result(struct loop *loop, const struct result *result)
{
	while (!result->is_there)
		ck_assert_int_ge(loop_run(loop, -1), 0);
	return result->code;
}

int state_set_id(
	struct sessions *sessions, struct session_turn *turn, const char *id, perch_err *err)
{
	struct result result = { .err = err };
	session_turn_id(turn, id, take_result, &result);
	return await_result(sessions->loop, &result);
}

int state_end(struct sessions *sessions, struct session_turn *turn, bool counts, perch_err *err)
{
	struct result result = { .err = err };
	const struct session_spending nothing = { 0 };
	session_turn_end(turn, counts ? &nothing : NULL, take_result, &result);
	return await_result(sessions->loop, &result);
}

void asked_set_id(struct asked *asked, const char *id)
{
	perch_err err = { 0 };
	int r = state_set_id(asked->sessions, asked->turn, id, &err);
	ck_assert_msg(r == 0, "%s", err.text);
}

void asked_end(struct asked *asked)
{
	perch_err err = { 0 };
	int r = state_end(asked->sessions, asked->turn, true, &err);
	ck_assert_msg(r == 0, "%s", err.text);
}

void state_settle(perch_host *host)
{
	while (perch_host_wait(host, 0) > 0)
		;
}

const char *state_id_now(perch_host *host, struct sessions *sessions)
{
	static struct asked asked;
	asked_take(host, sessions, &asked);
	ck_assert_int_eq(state_end(sessions, asked.turn, false, NULL), 0);
	return asked.id;
}

struct session_record state_only_record(struct sessions *sessions, struct arena *arena)
{
	struct session_record *records;
	size_t count;
	ck_assert_int_eq(sessions_list(sessions, NULL, arena, &records, &count, NULL), 0);
	ck_assert_uint_eq(count, 1);
	return records[0];
}

struct partner partner_start(void (*body)(int in, int out))
{
	int to[2], from[2];
	ck_assert_int_eq(pipe(to), 0);
	ck_assert_int_eq(pipe(from), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		close(to[1]);
		close(from[0]);
		body(to[0], from[1]);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	return (struct partner){ pid, to[1], from[0] };
}

void partner_tell(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(3);
}

bool partner_hear(int fd)
{
	char byte;
	return read(fd, &byte, 1) == 1;
}

void partner_kill(struct partner *partner)
{
	ck_assert_int_eq(kill(partner->pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(partner->pid, NULL, 0), partner->pid);
	close(partner->to);
	close(partner->from);
}

void partner_finish(struct partner *partner)
{
	int status;
	close(partner->to);
	ck_assert_int_eq(waitpid(partner->pid, &status, 0), partner->pid);
	ck_assert_int_eq(status, 0);
	close(partner->from);
}
