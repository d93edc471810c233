/* An agent of ACP as a process: its lines are those of the engine, its end is that of its turns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/resident_parts.h"
#include "base/clock.h"
#include "base/macros.h"
#include "wire/acp_tape.h"

struct resident *resident_enter(struct resident *resident)
{
	resident->entered++;
	return resident;
}

void resident_leave(struct resident *resident)
{
	if (--resident->entered == 0 && resident->is_over)
		resident_free(resident);
}

void resident_tell_seats(
	struct resident *resident, void (*tell)(struct seat *seat, const void *what), const void *what)
{
	unsigned round = ++resident->round;
	struct seat *seat = list_first(&resident->seats);
	while (seat) {
		bool is_new = seat->round != round;
		seat->round = round;
		if (is_new)
			tell(seat, what);
		/* Any may be gone now. */
		seat = list_first(&resident->seats);
		while (seat && seat->round == round)
			seat = list_next(seat);
	}
}

/* ---- sessions -------------------------------------------------------------- */

void resident_forget_session(struct resident_session *session)
{
	errands_end(session);
	acp_talk_close(session->talk);
	list_remove(&session->resident->sessions, session);
	session->resident->kept_bytes -= session->kept.len - session->kept_at;
	buf_free(&session->kept);
	free(session);
}

/* Not while the engine speaks of one. */
static void resident_sweep_sessions(struct resident *resident)
{
	struct resident_session *session = list_first(&resident->sessions), *next;
	for (; session; session = next) {
		next = list_next(session);
		if (session->is_dead && !session->seat)
			resident_forget_session(session);
	}
}

/* ---- what the engine says -------------------------------------------------- */

static void resident_tell_noise(struct seat *seat, const void *what)
{
	if (seat->state != SEAT_DONE)
		seat_tell(seat, what);
}

static void resident_tell_failure(struct seat *seat, const void *what)
{
	const struct acp_said *said = what;
	if (seat->state != SEAT_DONE)
		seat_fail(seat, said->text);
}

static void resident_open_waiting(struct seat *seat, const void *what)
{
	(void)what;
	if (seat->state == SEAT_WAITING && seat->resident)
		seat_open(seat);
}

static void resident_failed(struct resident *resident, const struct acp_said *said)
{
	resident->is_leaving = true;
	resident_tell_seats(resident, resident_tell_failure, said);
	if (!resident->is_over)
		resident_stop(resident);
}

static void resident_take_open(struct resident_session *session, const struct acp_said *said)
{
	memcpy(session->id, said->text.data, said->text.len);
	session->id[said->text.len] = '\0';
	session->is_open = true;
	if (session->seat)
		seat_tell(session->seat, said);
	if (session->seat)
		seat_prompt(session->seat);
}

/* The prompt is over, or never was: whoever waits for it is told last of all. */
static void resident_take_end(struct resident_session *session, const struct acp_said *said)
{
	struct seat *seat = session->seat;
	errands_end(session);
	session->is_busy = false;
	session->is_dead = !session->is_open;
	session->used_ns = clock_now_ns();
	if (!seat)
		return;
	session->seat = NULL;
	seat->session = NULL;
	seat->state = SEAT_DONE;
	seat_tell(seat, said);
}

static void resident_take(struct resident_session *session, const struct acp_said *said)
{
	if (said->kind == ACP_SAID_WITHDRAWN)
		errand_withdraw(session, said->number);
	if (said->kind == ACP_SAID_OPEN)
		resident_take_open(session, said);
	else if (said->kind == ACP_SAID_STOPPED || said->kind == ACP_SAID_ERROR)
		resident_take_end(session, said);
	else if (said->kind == ACP_SAID_ASKED)
		errand_take(session, said);
	else if (session->seat)
		seat_tell(session->seat, said);
	else if (said->kind == ACP_SAID_PERMISSION)
		acp_talk_permit(session->talk, said->wanted->number, (struct str){ 0 });
	else if (said->kind == ACP_SAID_FORM)
		acp_talk_answer(session->talk, said->number, STR("{\"action\":\"cancel\"}"));
}

static void resident_said(void *data, const struct acp_said *said)
{
	struct resident *resident = data;
	if (resident->is_over)
		return;
	if (said->talk)
		resident_take(acp_talk_data(said->talk), said);
	else if (said->kind == ACP_SAID_READY)
		resident_tell_seats(resident, resident_open_waiting, NULL);
	else if (said->kind == ACP_SAID_NOISE)
		resident_tell_seats(resident, resident_tell_noise, said);
	else if (said->kind == ACP_SAID_FAILED)
		resident_failed(resident, said);
}

struct resident_line {
	bool is_ours;
	struct str text;
};

static void resident_tell_line(struct seat *seat, const void *what)
{
	const struct resident_line *line = what;
	seat->options.events->line(seat->options.data, line->is_ours, line->text);
}

/* An agent that does not read what it is told will never answer. */
static void resident_send(void *data, struct str text)
{
	struct resident *resident = data;
	const struct resident_line line = { true, text };
	if (resident->is_over)
		return;
	acp_tape(resident, "client", true, text);
	resident_tell_seats(resident, resident_tell_line, &line);
	int r = resident->child ? perch_child_write(resident->child, text.data, text.len + 1) : 0;
	resident->is_deaf = resident->is_deaf || r == -ENOMEM;
	if (r == -ENOBUFS)
		resident_stop(resident);
}

static bool resident_is_broken(const struct resident *resident)
{
	return !resident->is_leaving && (resident->is_deaf || acp_client_is_broken(resident->client));
}

void resident_check(struct resident *resident)
{
	if (resident_is_broken(resident))
		perch_timer_set(resident->idle, 0);
}

static void resident_break(struct resident *resident)
{
	const struct acp_said broken = { .kind = ACP_SAID_FAILED, .text = STR("out of memory") };
	if (!resident->is_over && resident_is_broken(resident))
		resident_failed(resident, &broken);
}

const struct acp_client_table resident_client_table = {
	.send = resident_send,
	.said = resident_said,
	.keep = resident_keep,
};

/* ---- the process ----------------------------------------------------------- */

static void resident_on_line(
	perch_child *child, void *data, perch_stream stream, const perch_line *line)
{
	(void)child;
	(void)stream;
	struct resident *resident = resident_enter(data);
	const struct resident_line told = { false, { line->data, line->len } };
	acp_tape(resident, "client", false, told.text);
	resident_tell_seats(resident, resident_tell_line, &told);
	resident->line_bytes = line->len + 1;
	if (!resident->is_over)
		acp_client_line(resident->client, told.text, line->flags & PERCH_LINE_TOO_LONG);
	if (!resident->is_over)
		resident_sweep_sessions(resident);
	resident_break(resident);
	resident_leave(resident);
}

static void resident_tell_bytes(struct seat *seat, const void *what)
{
	const struct str *bytes = what;
	seat->options.events->bytes(seat->options.data, bytes->data, bytes->len);
}

static void resident_on_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)child;
	(void)stream;
	struct resident *resident = resident_enter(data);
	const struct str text = { bytes, len };
	resident_tell_seats(resident, resident_tell_bytes, &text);
	resident_leave(resident);
}

/* Nothing more comes: the turns need not wait for it to exit. */
static void resident_on_closed(perch_child *child, void *data, perch_stream stream)
{
	struct resident *resident = data;
	if (stream != PERCH_STDOUT || resident->is_leaving)
		return;
	resident->is_leaving = true;
	perch_child_stop(child);
}

static void resident_tell_gone(struct seat *seat, const void *what)
{
	seat->state = SEAT_DONE;
	seat->options.events->gone(seat->options.data, what);
}

static void resident_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	(void)result; /* the child keeps it */
	struct resident *resident = resident_enter(data);
	resident->is_leaving = true;
	resident_tell_all_kept(resident);
	struct resident_session *session = list_first(&resident->sessions);
	for (; session; session = list_next(session))
		errands_end(session);
	resident->has_ended = true;
	resident_finish(resident);
	resident_leave(resident);
}

void resident_finish(struct resident *resident)
{
	if (!resident->has_ended || resident->is_over || resident->errands.all.count)
		return;
	resident_tell_seats(resident, resident_tell_gone, perch_child_result(resident->child));
	if (!resident->is_over)
		resident_free(resident);
}

const perch_child_events resident_child_events = {
	.size = sizeof(perch_child_events),
	.line = resident_on_line,
	.bytes = resident_on_bytes,
	.closed = resident_on_closed,
	.ended = resident_on_ended,
};

/* ---- the end --------------------------------------------------------------- */

void resident_stop(struct resident *resident)
{
	resident->is_leaving = true;
	if (resident->child)
		perch_child_stop(resident->child);
}

void resident_settle(struct resident *resident)
{
	uint64_t idle_ns = resident->profile.acp.idle_ns;
	if (resident->is_over || resident->seats.count)
		return;
	resident->used_ns = clock_now_ns();
	if (resident->is_leaving || resident_is_broken(resident) || !resident->residents ||
		resident->residents->is_closing)
		resident_stop(resident);
	else
		perch_timer_set(resident->idle, idle_ns ? idle_ns : UINT64_MAX);
}

/* It has seats that wait for a call from the loop, or to be told that it is broken; or nobody has
 * come for so long. */
void resident_idle_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct resident *resident = resident_enter(data);
	if (!resident->seats.count)
		resident_stop(resident);
	else if (acp_client_is_ready(resident->client))
		resident_tell_seats(resident, resident_open_waiting, NULL);
	resident_break(resident);
	resident_leave(resident);
}

static void resident_lose(struct seat *seat, const void *what)
{
	(void)what;
	seat_detach(seat);
}

void resident_free(struct resident *resident)
{
	if (!resident)
		return;
	if (!resident->is_over && resident->residents)
		list_remove(&resident->residents->all, resident);
	resident->is_over = true;
	perch_child_free(resident->child);
	resident->child = NULL;
	resident_tell_seats(resident, resident_lose, NULL);
	if (resident->entered)
		return;
	while (resident->sessions.count)
		resident_forget_session(list_first(&resident->sessions));
	errands_close(resident);
	acp_client_free(resident->client);
	perch_timer_free(resident->idle);
	perch_timer_free(resident->again);
	sandbox_close(resident->sandbox);
	launch_free(&resident->launch);
	arena_free(&resident->arena);
	free(resident);
}
