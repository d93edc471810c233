/* What a turn has of an agent's process: one prompt of one session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/resident_parts.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "proc/child.h"

/* ---- telling --------------------------------------------------------------- */

void seat_tell(struct seat *seat, const struct acp_said *said)
{
	size_t bytes = seat->resident ? seat->resident->line_bytes : 0;
	seat->options.events->said(seat->options.data, said, bytes);
}

void seat_fail(struct seat *seat, struct str text)
{
	const struct acp_said said = { .kind = ACP_SAID_FAILED, .text = text };
	seat->state = SEAT_DONE;
	seat_tell(seat, &said);
}

/* ---- the session ----------------------------------------------------------- */

void seat_prompt(struct seat *seat)
{
	struct resident *resident = seat->resident;
	_cleanup_(buf_free) struct buf blocks = { 0 };
	seat->options.events->prompt(
		seat->options.data, acp_client_abilities(resident->client), &blocks);
	struct resident_session *session = seat->session;
	if (!session) /* its turn is over: the session could not be stored */
		return;
	seat->state = SEAT_PROMPTED;
	session->is_busy = true;
	if (blocks.failed ||
		acp_talk_prompt(session->talk, (struct str){ blocks.data, blocks.len }) < 0)
		seat_fail(seat, STR("out of memory"));
}

static struct resident_session *seat_find_session(const struct seat *seat)
{
	const char *id = seat->options.turn->session_id;
	struct resident_session *session = list_first(&seat->resident->sessions);
	while (session && (!id[0] || session->is_dead || strcmp(session->id, id) != 0))
		session = list_next(session);
	return session;
}

/* A place for one more: the session that was used last of all is closed. */
static bool seat_close_oldest(struct resident *resident)
{
	struct resident_session *oldest = NULL, *session = list_first(&resident->sessions);
	for (; session; session = list_next(session)) {
		if (!session->seat && (!oldest || session->used_ns < oldest->used_ns))
			oldest = session;
	}
	if (oldest)
		resident_forget_session(oldest);
	return oldest != NULL;
}

static int seat_open_session(struct seat *seat, struct resident_session *session)
{
	struct resident *resident = seat->resident;
	_cleanup_(buf_free) struct buf servers = { 0 };
	_cleanup_(buf_free) struct buf directories = { 0 };
	seat->options.events->place(
		seat->options.data, acp_client_abilities(resident->client), &servers, &directories);
	if (servers.failed || directories.failed)
		return -ENOMEM;
	const struct acp_talk_options options = {
		.cwd = str_from(resident->cwd),
		.servers = { servers.data, servers.len },
		.directories = { directories.data, directories.len },
		.id = str_from(seat->options.turn->session_id),
		.data = session,
	};
	int r;
	do
		r = acp_talk_open(resident->client, &options, &session->talk);
	while (r == PERCH_ELIMIT && seat_close_oldest(resident));
	return r;
}

static void seat_join(struct seat *seat, struct resident_session *session)
{
	const struct acp_said said = { .kind = ACP_SAID_OPEN, .text = str_from(session->id) };
	session->seat = seat;
	seat->session = session;
	seat->state = SEAT_OPENING;
	resident_balance(seat->resident);
	seat_tell(seat, &said);
	if (seat->session)
		seat_prompt(seat);
}

/* One that still has the prompt of a turn that went away is opened anew. */
void seat_open(struct seat *seat)
{
	struct resident_session *session = seat_find_session(seat);
	if (session && session->is_open && !session->is_busy && !session->seat) {
		seat_join(seat, session);
		return;
	}
	if (session && session->seat) {
		seat_fail(seat, STR("its session has another turn"));
		return;
	}
	if (session)
		resident_forget_session(session);
	session = calloc(1, sizeof(*session));
	if (!session || seat_open_session(seat, session) < 0) {
		free(session);
		seat_fail(seat, STR("out of memory, or it has too many sessions"));
		return;
	}
	session->resident = seat->resident;
	session->seat = seat;
	list_append(&seat->resident->sessions, session);
	seat->session = session;
	seat->state = SEAT_OPENING;
	resident_balance(seat->resident);
}

void seat_detach(struct seat *seat)
{
	if (seat->session) {
		errands_end(seat->session);
		seat->session->seat = NULL;
		seat->session->used_ns = clock_now_ns();
	}
	seat->session = NULL;
	struct resident *resident = seat->resident;
	if (!resident)
		return;
	list_remove(&resident->seats, seat);
	seat->resident = NULL;
	resident_balance(resident);
}

/* ---- the end --------------------------------------------------------------- */

/* Its process goes on with other turns, if it has some; none that is new. */
static void seat_give_up(struct seat *seat)
{
	seat->resident->is_leaving = true;
	seat->state = SEAT_DONE;
	if (seat->session) {
		errands_end(seat->session);
		seat->session->seat = NULL;
	}
	seat->session = NULL;
	seat->options.events->gone(seat->options.data, NULL);
}

/* A process that was not asked to end yet gets no time for it. */
static void seat_force(struct seat *seat)
{
	struct resident *resident = seat->resident;
	if (resident && seat_is_own(seat)) {
		if (!resident->is_leaving)
			resident_stop(resident);
		resident_stop(resident);
	} else if (resident && seat->state != SEAT_DONE) {
		seat_give_up(seat);
	}
}

/* That it has ended may be among what was kept, and the turn be gone behind it. */
static void seat_grace_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct seat *seat = data;
	struct resident_session *session = seat->session;
	struct resident *resident = seat->resident ? resident_enter(seat->resident) : NULL;
	if (resident && session)
		resident_tell_kept(session);
	if (!resident || !session || session->seat == seat)
		seat_force(seat);
	if (resident)
		resident_leave(resident);
}

void seat_stop(struct seat *seat)
{
	bool asks = seat->state == SEAT_PROMPTED && seat->session && !seat->is_stopping;
	uint64_t grace_ns = seat->options.turn->profile->kill_grace_ns;
	if (seat->state == SEAT_DONE && !seat_is_own(seat))
		return;
	seat->is_stopping = true;
	if (seat->resident)
		resident_balance(seat->resident);
	if (asks) {
		acp_talk_cancel(seat->session->talk);
		perch_timer_set(seat->grace, grace_ns);
	} else {
		perch_timer_set(seat->grace, 0);
	}
}

void seat_leave(struct seat *seat)
{
	struct resident *resident = seat->resident;
	seat->state = SEAT_DONE;
	perch_timer_set(seat->grace, UINT64_MAX);
	if (resident && seat_is_own(seat)) {
		resident_stop(resident);
	} else if (resident) {
		seat_detach(seat);
		resident_settle(resident);
	}
}

void seat_free(struct seat *seat)
{
	if (!seat)
		return;
	struct resident *resident = seat->resident;
	bool is_own = resident && seat_is_own(seat);
	if (resident && seat->session && seat->state == SEAT_PROMPTED && !is_own)
		acp_talk_cancel(seat->session->talk);
	seat_detach(seat);
	if (is_own)
		resident_free(resident);
	else if (resident)
		resident_settle(resident);
	perch_timer_free(seat->grace);
	free(seat);
}

/* ---- what it is ------------------------------------------------------------ */

bool seat_is_own(const struct seat *seat)
{
	return !seat->options.residents;
}

bool seat_is_fresh(const struct seat *seat)
{
	return seat->is_fresh;
}

size_t seat_unfinished(const struct seat *seat)
{
	const struct resident *resident = seat->resident;
	return resident && resident->child
		? child_stream(resident->child, PERCH_STDOUT)->lines.partial.len
		: 0;
}

const struct launch *seat_launch(const struct seat *seat)
{
	return seat->resident ? &seat->resident->launch : NULL;
}

const struct sandbox *seat_sandbox(const struct seat *seat)
{
	return seat->resident ? seat->resident->sandbox : NULL;
}

perch_reach seat_reach(const struct seat *seat)
{
	const struct resident *resident = seat->resident;
	return resident && resident->child ? perch_child_result(resident->child)->reach
									   : PERCH_REACH_GROUP;
}

void seat_permit(struct seat *seat, uint64_t number, struct str option)
{
	if (!seat->session || seat->state != SEAT_PROMPTED)
		return;
	acp_talk_permit(seat->session->talk, number, option);
	resident_check(seat->resident);
}

void seat_answer(struct seat *seat, uint64_t number, struct str result)
{
	if (!seat->session)
		return;
	acp_talk_answer(seat->session->talk, number, result);
	resident_check(seat->resident);
}

void seat_refuse(struct seat *seat, uint64_t number, struct str why)
{
	if (!seat->session)
		return;
	acp_talk_refuse(seat->session->talk, number, JSONRPC_INVALID_PARAMS, why);
	resident_check(seat->resident);
}

void seat_hold(struct seat *seat, bool is_held)
{
	if (!seat->resident || seat->is_held == is_held)
		return;
	seat->is_held = is_held;
	resident_balance(seat->resident);
}

/* ---- the beginning --------------------------------------------------------- */

DEFINE_POINTER_CLEANUP(seat_cleanup, struct seat, seat_free)

int seat_take(
	perch_host *host, const struct seat_options *options, struct seat **ret_seat, perch_err *err)
{
	_cleanup_(seat_cleanup) struct seat *seat = calloc(1, sizeof(*seat));
	struct resident *resident = NULL;
	if (!seat)
		return err_no_memory(err);
	seat->options = *options;
	int r = perch_timer_new(host, seat_grace_due, seat, &seat->grace, err);
	if (r == 0 && options->residents) {
		r = residents_choose(options->residents, options, &resident, &seat->is_fresh, err);
	} else if (r == 0) {
		r = resident_start(host, options, &resident, err);
		seat->is_fresh = true;
	}
	if (r < 0)
		return r;
	perch_timer_set(resident->idle, UINT64_MAX);
	seat->resident = resident;
	list_append(&resident->seats, seat);
	resident_balance(resident);
	if (acp_client_is_ready(resident->client))
		perch_timer_set(resident->idle, 0); /* from the loop */
	*ret_seat = steal(&seat);
	return 0;
}
