/* Turns that are held, on a process that others share: the lines of their sessions wait here, and
 * the process is read on for the others. Where all are held, it is not read at all. */
#include "agent/resident_parts.h"

/* What is told in one go, before others have their turn in the loop. */
enum { RESIDENT_AGAIN_MAX = 256 * 1024 };

/* One that was asked to end is listened for: its end must be seen. */
static bool resident_has_listener(const struct resident *resident)
{
	const struct seat *seat = list_first(&resident->seats);
	while (seat && seat->is_held && !seat->is_stopping)
		seat = list_next(seat);
	return seat || !resident->seats.count;
}

static bool resident_session_waits(const struct resident_session *session)
{
	return session->seat && session->seat->is_held;
}

static bool resident_has_kept(const struct resident_session *session)
{
	return session->kept_at < session->kept.len;
}

void resident_balance(struct resident *resident)
{
	if (resident->is_over)
		return;
	struct resident_session *session = list_first(&resident->sessions);
	for (; session; session = list_next(session)) {
		bool waits = resident_session_waits(session);
		acp_talk_hold(session->talk, waits || resident_has_kept(session));
		if (!waits && resident_has_kept(session))
			perch_timer_set(resident->again, 0);
	}
	bool is_read = resident_has_listener(resident);
	if (!resident->child || resident->is_read == is_read)
		return;
	resident->is_read = is_read;
	if (is_read)
		perch_child_resume(resident->child, PERCH_STDOUT);
	else
		perch_child_pause(resident->child, PERCH_STDOUT);
}

/* ---- keeping ----------------------------------------------------------------- */

/* Others need the process, and memory has an end: its prompt is cancelled, and what is left of
 * that is told to nobody. */
static void resident_give_up_held(struct resident_session *session, struct str why)
{
	struct seat *seat = session->seat;
	session->seat = NULL;
	seat->session = NULL;
	errands_end(session);
	acp_talk_cancel(session->talk);
	perch_timer_set(session->resident->again, 0);
	seat_fail(seat, why);
}

/* The one for which most waits. NULL = none of them has a turn. */
static struct resident_session *resident_most_held(const struct resident *resident)
{
	struct resident_session *most = NULL, *session = list_first(&resident->sessions);
	for (; session; session = list_next(session)) {
		if (session->seat &&
			(!most || session->kept.len - session->kept_at > most->kept.len - most->kept_at))
			most = session;
	}
	return most;
}

static void resident_check_held(struct resident_session *session)
{
	struct resident *resident = session->resident;
	if (session->kept.len - session->kept_at > RESIDENT_KEPT_MAX && session->seat)
		resident_give_up_held(session,
			STR("what the agent says is not read: more than 8 MiB of it wait, and other turns "
				"need its process"));
	struct resident_session *most =
		resident->kept_bytes > RESIDENT_KEPT_ALL ? resident_most_held(resident) : NULL;
	if (most)
		resident_give_up_held(most,
			STR("what the agent says is not read: more than 32 MiB wait for the turns of its "
				"process, most of it for this one"));
}

void resident_keep(void *data, struct acp_talk *talk, struct str line)
{
	struct resident *resident = data;
	struct resident_session *session = acp_talk_data(talk);
	size_t before = session->kept.len;
	buf_append(&session->kept, line.data, line.len);
	buf_append_char(&session->kept, '\n');
	resident->kept_bytes += session->kept.len - before;
	if (session->kept.failed)
		resident->is_deaf = true;
	else
		resident_check_held(session);
}

/* ---- telling it -------------------------------------------------------------- */

static void resident_tell_line_again(struct resident_session *session)
{
	struct resident *resident = session->resident;
	struct str rest = { session->kept.data + session->kept_at,
		session->kept.len - session->kept_at };
	struct str line = str_cut(&rest, '\n');
	session->kept_at += line.len + 1;
	resident->kept_bytes -= line.len + 1;
	resident->line_bytes = line.len + 1;
	acp_talk_again(session->talk, line);
}

/* A turn that is held again on the way keeps the rest, unless all is to be told. */
static void resident_tell_some(struct resident_session *session, size_t most, bool is_all)
{
	struct resident *resident = session->resident;
	size_t begin = session->kept_at;
	while (!resident->is_over && resident_has_kept(session) && session->kept_at - begin < most &&
		(is_all || !resident_session_waits(session)))
		resident_tell_line_again(session);
	if (resident->is_over)
		return;
	if (!resident_has_kept(session)) {
		buf_free(&session->kept);
		session->kept_at = 0;
	} else if (session->kept_at > session->kept.len / 2) {
		buf_consume(&session->kept, session->kept_at);
		session->kept_at = 0;
	}
	resident_balance(resident);
}

void resident_tell_kept(struct resident_session *session)
{
	resident_tell_some(session, SIZE_MAX, true);
}

void resident_tell_all_kept(struct resident *resident)
{
	struct resident_session *session = list_first(&resident->sessions);
	for (; session && !resident->is_over; session = list_next(session)) {
		if (resident_has_kept(session))
			resident_tell_kept(session);
	}
}

void resident_again_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct resident *resident = resident_enter(data);
	struct resident_session *session = list_first(&resident->sessions);
	for (; session && !resident->is_over; session = list_next(session)) {
		if (resident_has_kept(session))
			resident_tell_some(session, session->seat ? RESIDENT_AGAIN_MAX : SIZE_MAX, false);
	}
	if (!resident->is_over)
		resident_check(resident);
	resident_leave(resident);
}
