/* Turns of a service: the profiles it keeps, in which order turns run, that each ends once, and
 * that who writes to the sessions stops nobody. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utime.h>

#include "agent/profiles.h"
#include "agent/sessions_parts.h"
#include "base/clock.h"
#include "base/file.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "service/service_parts.h"

/* ---- profiles ------------------------------------------------------------ */

static void write_profile(const char *name, const char *command, long age)
{
	char text[256];
	snprintf(text, sizeof(text), "command: %s\n", command);
	folder_write(name, text);
	/* A file that has not just been changed can be trusted. */
	struct utimbuf times = { 1000000000 + age, 1000000000 + age };
	ck_assert_int_eq(utime(folder_path("%s", name), &times), 0);
}

START_TEST(profiles_are_read_again_when_they_change)
{
	struct profiles profiles = { 0 };
	struct cached_profile *first, *second, *third;
	perch_err err = { 0 };
	folder_new();
	write_profile("a.yaml", "one", 0);
	const char *path = folder_path("a.yaml");
	ck_assert_int_eq(profiles_take(&profiles, path, &first, &err), 0);
	write_profile("a.yaml", "two", 1);
	ck_assert_int_eq(profiles_take(&profiles, path, &second, &err), 0);
	ck_assert_str_eq(cached_profile(first)->command, "one");
	ck_assert_str_eq(cached_profile(second)->command, "two");
	profiles_give(&profiles, first);
	ck_assert_int_eq(remove(path), 0);
	ck_assert_int_eq(profiles_take(&profiles, path, &third, &err), -ENOENT);
	ck_assert_str_eq(cached_profile(second)->command, "two");
	profiles_give(&profiles, second);
	profiles_free(&profiles);
}
END_TEST

static int take_profiles(void *data)
{
	struct profiles profiles = { 0 };
	struct cached_profile *profile;
	int r = 0;
	for (int i = 0; i < PROFILES_IDLE_MAX + 8 && r == 0; i++) {
		r = profiles_take(
			&profiles, folder_path("%s%d.yaml", (const char *)data, i % 3), &profile, NULL);
		if (r == 0)
			profiles_give(&profiles, profile);
	}
	profiles_free(&profiles);
	return r;
}

START_TEST(profiles_without_memory)
{
	folder_new();
	for (int i = 0; i < 3; i++) {
		char name[32];
		snprintf(name, sizeof(name), "p%d.yaml", i);
		write_profile(name, "x", 0);
	}
	ck_assert_uint_ge(oom_every(take_profiles, (void *)"p"), 5);
}
END_TEST

/* ---- turns --------------------------------------------------------------- */

enum { TURNS_MAX = 1200 };

struct rig;

struct taken {
	struct rig *rig;
	unsigned id;
	perch_job *job;
	bool is_running;
};

struct rig {
	perch_host *host;
	perch_service *service;
	char profile[4096];
	unsigned started, ended, failed, running, most_running, warnings, partials;
	char last_code[32];
	char last_warning[256];
	bool checks_records; /* at each end: that it is on disk */
	bool is_over;
	uint64_t last_partial_ns, longest_gap_ns;
	struct taken turns[TURNS_MAX];
	bool has_ended[TURNS_MAX];
	unsigned order[TURNS_MAX]; /* the ids in the order in which they began */
};

static void on_started(struct taken *turn)
{
	struct rig *rig = turn->rig;
	rig->order[rig->started++] = turn->id;
	turn->is_running = true;
	if (++rig->running > rig->most_running)
		rig->most_running = rig->running;
}

static void on_partial(struct rig *rig)
{
	rig->partials++;
	uint64_t now_ns = clock_now_ns();
	uint64_t gap_ns = rig->last_partial_ns ? now_ns - rig->last_partial_ns : 0;
	rig->longest_gap_ns = gap_ns > rig->longest_gap_ns ? gap_ns : rig->longest_gap_ns;
	rig->last_partial_ns = now_ns;
}

/* All turns that are on disk, as another process sees them. */
static int64_t turns_on_disk(void)
{
	perch_sessions *sessions;
	const perch_session *list;
	size_t count;
	int64_t turns = 0;
	ck_assert_int_eq(perch_sessions_open(&sessions, NULL), 0);
	ck_assert_int_eq(perch_sessions_list(sessions, NULL, &list, &count, NULL), 0);
	for (size_t i = 0; i < count; i++)
		turns += list[i].turns;
	perch_sessions_free(sessions);
	return turns;
}

static void on_end(struct taken *turn, const perch_job_end *end)
{
	struct rig *rig = turn->rig;
	ck_assert_msg(!rig->has_ended[turn->id], "%u ended twice", turn->id);
	if (rig->checks_records)
		ck_assert_int_eq(turns_on_disk(), rig->ended + 1);
	rig->has_ended[turn->id] = true;
	rig->running -= turn->is_running;
	rig->failed += !end->success;
	rig->is_over = ++rig->ended && perch_service_jobs(rig->service) == 0;
}

static void on_event(perch_job *job, void *data, const perch_event *event)
{
	struct taken *turn = data;
	struct rig *rig = turn->rig;
	ck_assert_ptr_eq(job, turn->job);
	if (event->kind == PERCH_EVENT_START)
		on_started(turn);
	else if (event->kind == PERCH_EVENT_PARTIAL)
		on_partial(rig);
	else if (event->kind == PERCH_EVENT_ERROR)
		snprintf(rig->last_code, sizeof(rig->last_code), "%s", event->code);
	else if (event->kind == PERCH_EVENT_END)
		on_end(turn, event->end);
	if (event->kind != PERCH_EVENT_WARNING)
		return;
	rig->warnings++;
	snprintf(rig->last_warning, sizeof(rig->last_warning), "%s", event->text.data);
}

/* queue 0: nobody may wait. */
static void rig_open(struct rig *rig, const char *command, size_t max_turns, size_t queue)
{
	folder_new();
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	write_profile("bot.yaml", command, 0);
	*rig = (struct rig){ .host = proc_host() };
	snprintf(rig->profile, sizeof(rig->profile), "%s", folder_path("bot.yaml"));
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = max_turns;
	options.queue = queue ? queue : SIZE_MAX;
	ck_assert_int_eq(perch_service_new(rig->host, &options, &rig->service, NULL), 0);
}

static void rig_close(struct rig *rig)
{
	perch_service_free(rig->service);
	perch_host_free(rig->host);
}

static int take(struct rig *rig, unsigned id, unsigned session)
{
	char name[16];
	snprintf(name, sizeof(name), "s%u", session);
	struct taken *turn = &rig->turns[id];
	*turn = (struct taken){ .rig = rig, .id = id };
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_AGENT;
	request.profile = rig->profile;
	request.message = "hi";
	request.session = name;
	request.sink = on_event;
	request.data = turn;
	return perch_job_submit(rig->service, &request, &turn->job, NULL);
}

static void cancel(struct rig *rig, unsigned id)
{
	perch_job_cancel(rig->turns[id].job, SIGINT);
}

START_TEST(each_session_in_order)
{
	static struct rig rig;
	enum { SESSIONS = 7, TURNS = 140 };
	char command[8192];
	snprintf(command, sizeof(command), "%s exit 0", proc_child_path());
	rig_open(&rig, command, 4, TURNS);
	for (unsigned i = 0; i < TURNS; i++)
		ck_assert_int_eq(take(&rig, i, i % SESSIONS), 0);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.ended, TURNS);
	ck_assert_uint_eq(rig.failed, 0);
	ck_assert_uint_le(rig.most_running, 4);
	ck_assert_uint_ge(rig.most_running, 2);
	unsigned last[SESSIONS] = { 0 };
	for (unsigned i = 0; i < TURNS; i++) {
		unsigned session = rig.order[i] % SESSIONS;
		ck_assert_uint_ge(rig.order[i], last[session]);
		last[session] = rig.order[i];
	}
	rig_close(&rig);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

START_TEST(room_is_counted)
{
	static struct rig rig;
	rig_open(&rig, "sleep 60", 2, 1);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	ck_assert_int_eq(take(&rig, 1, 0), 0);      /* waits for the first */
	ck_assert_int_eq(take(&rig, 2, 1), 0);      /* runs */
	ck_assert_int_eq(take(&rig, 3, 2), -EBUSY); /* would wait for a place */
	ck_assert_int_eq(take(&rig, 4, 0), -EBUSY); /* would wait for its session */
	while (rig.started < 2)
		perch_host_wait(rig.host, 1000);
	ck_assert_int_eq(take(&rig, 5, 2), -EBUSY);
	cancel(&rig, 1);
	while (!rig.ended)
		perch_host_wait(rig.host, 1000);
	ck_assert_str_eq(rig.last_code, "cancelled");
	ck_assert(rig.has_ended[1]);
	cancel(&rig, 1); /* changes nothing */
	ck_assert_int_eq(take(&rig, 6, 2), 0);
	perch_service_cancel(rig.service, SIGTERM);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.ended, 4);
	ck_assert_uint_eq(rig.failed, 4);
	rig_close(&rig);
}
END_TEST

START_TEST(freed_with_turns_under_way)
{
	static struct rig rig;
	rig_open(&rig, "sleep 60", 2, 10);
	for (unsigned i = 0; i < 6; i++)
		ck_assert_int_eq(take(&rig, i, i % 3), 0);
	while (rig.started < 2)
		perch_host_wait(rig.host, 1000);
	rig_close(&rig);
	ck_assert_uint_eq(rig.ended, 0);
	ck_assert_uint_eq(proc_children(), 0);
}
END_TEST

/* An agent that keeps others from writing to the sessions, as long as it lives. */
#define HOLDS_SESSIONS                                                            \
	"python3\nargs: ['-c', 'import sqlite3, time;"                                \
	" d = sqlite3.connect(\"state/perch/sessions.db\", isolation_level=None);"    \
	" d.execute(\"begin immediate\"); print(\"AGENT_PARTIAL:held\", flush=True);" \
	" time.sleep(60)']\ncwd: '.'"

static int take_new(struct rig *rig, unsigned id)
{
	struct taken *turn = &rig->turns[id];
	*turn = (struct taken){ .rig = rig, .id = id };
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_AGENT;
	request.profile = rig->profile;
	request.message = "hi";
	request.session = "s0";
	request.is_new = true;
	request.sink = on_event;
	request.data = turn;
	return perch_job_submit(rig->service, &request, &turn->job, NULL);
}

static perch_session session_on_disk(struct rig *rig)
{
	perch_sessions *sessions;
	perch_session session = { 0 };
	ck_assert_int_eq(perch_sessions_open(&sessions, NULL), 0);
	ck_assert_int_eq(perch_sessions_find(sessions, rig->profile, NULL, "s0", &session, NULL), 1);
	perch_sessions_free(sessions);
	return session;
}

/* Says what it has used, and ends by itself. */
#define SPENDS                                                                                 \
	"sh\nprotocol: '0.4'\nargs: ['-c', 'read turn; echo ''{\"type\":\"result\",\"text\":\"\"," \
	"\"usage\":{\"input_tokens\":5,\"output_tokens\":2,\"cost_usd\":0.5}}''']"

START_TEST(what_the_turns_of_a_session_have_used)
{
	static struct rig rig;
	rig_open(&rig, SPENDS, 1, 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(take(&rig, i, 0), 0);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.failed, 0);
	perch_session session = session_on_disk(&rig);
	ck_assert_uint_eq(session.usage.input_tokens, 15);
	ck_assert_uint_eq(session.usage.output_tokens, 6);
	ck_assert_uint_eq(session.usage.total_tokens, 21);
	ck_assert_uint_eq(session.usage.cost_micros, 1500000);
	ck_assert_int_eq(session.turns, 3);
	rig.is_over = false;
	ck_assert_int_eq(take_new(&rig, 3), 0);
	proc_until(rig.host, &rig.is_over);
	session = session_on_disk(&rig);
	ck_assert_uint_eq(session.usage.total_tokens, 7);
	ck_assert_int_eq(session.turns, 4);
	rig_close(&rig);
}
END_TEST

START_TEST(a_session_whose_time_is_used_up)
{
	static struct rig rig;
	rig_open(&rig, "sleep 3600\nbudget_secs: 0.01", 1, 3);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	proc_until(rig.host, &rig.is_over);
	ck_assert_str_eq(rig.last_code, "timeout");
	ck_assert_uint_ge(session_on_disk(&rig).spent_ns, 10 * NSEC_PER_MSEC);
	rig.is_over = false;
	ck_assert_int_eq(take(&rig, 1, 0), 0);
	proc_until(rig.host, &rig.is_over);
	ck_assert_str_eq(rig.last_code, "budget");
	ck_assert_uint_eq(rig.started, 1);
	rig.is_over = false;
	ck_assert_int_eq(take_new(&rig, 2), 0);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.started, 2);
	rig_close(&rig);
}
END_TEST

/* Nobody may begin in a session whose agent still lives. */
START_TEST(a_session_is_left_behind_its_agent)
{
	static struct rig rig;
	rig_open(&rig, HOLDS_SESSIONS, 1, 1);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	while (!rig.partials)
		perch_host_wait(rig.host, 1000);
	perch_job_free(rig.turns[0].job);
	ck_assert_uint_eq(rig.service->stored.sessions->turns[TURN_LEAVING].count, 0);
	rig_close(&rig);
}
END_TEST

START_TEST(an_end_is_recorded_before_it_is_told)
{
	static struct rig rig;
	enum { TURNS = 12 };
	char command[8192];
	snprintf(command, sizeof(command), "%s one-line", proc_child_path());
	rig_open(&rig, command, 1, TURNS);
	rig.checks_records = true;
	for (unsigned i = 0; i < TURNS; i++)
		ck_assert_int_eq(take(&rig, i, i % 3), 0);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.ended, TURNS);
	ck_assert_uint_eq(rig.warnings, 0);
	rig_close(&rig);
}
END_TEST

/* Streams until there is a file `go`. */
#define STREAMS_UNTIL_GO \
	"sh\nargs: ['-c', 'until [ -e go ]; do echo AGENT_PARTIAL:x; sleep 0.005; done']\ncwd: '.'"

/* Another process writes for seconds: an end cannot be recorded, which is told; those who stream do
 * not notice. */
START_TEST(who_writes_for_long_stops_no_turn)
{
	static struct rig rig;
	rig_open(&rig, STREAMS_UNTIL_GO, 2, 8);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	while (rig.partials < 3)
		perch_host_wait(rig.host, 1000);
	struct database stuck;
	ck_assert_int_eq(database_open(folder_path("state/perch/sessions.db"), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	rig.longest_gap_ns = 0;
	ck_assert_int_eq(take(&rig, 1, 1), 0); /* gets no place in its session */
	ck_assert_int_eq(take(&rig, 2, 0), 0);
	cancel(&rig, 2); /* not recorded either */
	cancel(&rig, 2);
	while (rig.ended < 2)
		perch_host_wait(rig.host, 1000);
	ck_assert(rig.has_ended[1] && rig.has_ended[2] && !rig.has_ended[0]);
	ck_assert_uint_lt(rig.longest_gap_ns, 500 * NSEC_PER_MSEC);
	folder_write("go", "");
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_ge(rig.warnings, 1);
	ck_assert_ptr_nonnull(strstr(rig.last_warning, "the end of the turn is not recorded"));
	ck_assert_ptr_nonnull(strstr(rig.last_warning, "another process"));
	database_close(&stuck);
	rig_close(&rig);
}
END_TEST

/* No more than may are seen at a time, also while an end cannot be recorded. */
START_TEST(a_turn_takes_its_place_until_its_end_is_told)
{
	static struct rig rig;
	rig_open(&rig, STREAMS_UNTIL_GO, 1, 8);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	ck_assert_int_eq(take(&rig, 1, 1), 0);
	while (rig.partials < 3)
		perch_host_wait(rig.host, 1000);
	struct database stuck;
	ck_assert_int_eq(database_open(folder_path("state/perch/sessions.db"), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	folder_write("go", "");
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.ended, 2);
	ck_assert_uint_eq(rig.most_running, 1);
	database_close(&stuck);
	rig_close(&rig);
}
END_TEST

/* Says something, notes that it has, and stays until it may go. */
#define SPEAKS_AND_WAITS                                                               \
	"sh\nargs: ['-c', 'echo AGENT_PARTIAL:x; : >said-$AGENT_SESSION_NAME; until [ -e " \
	"go-$AGENT_SESSION_NAME ]; do sleep 0.005; done']\ncwd: '.'"

static void until_said(const struct rig *rig, const char *name)
{
	while (access(folder_path("%s", name), F_OK) < 0)
		perch_host_wait(rig->host, 10);
}

/* It is told of behind that end all the same. */
START_TEST(an_agent_runs_while_the_end_of_another_is_written)
{
	static struct rig rig;
	struct database stuck;
	rig_open(&rig, SPEAKS_AND_WAITS, 1, 8);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	ck_assert_int_eq(take(&rig, 1, 1), 0);
	until_said(&rig, "said-s0");
	ck_assert_int_eq(database_open(folder_path("state/perch/sessions.db"), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	folder_write("go-s1", "");
	folder_write("go-s0", "");
	until_said(&rig, "said-s1");
	for (int i = 0; i < 20; i++)
		perch_host_wait(rig.host, 10);
	ck_assert(!rig.has_ended[0]);
	ck_assert_uint_eq(rig.started, 1);
	ck_assert_uint_eq(rig.partials, 1);
	database_close(&stuck);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.ended, 2);
	ck_assert_uint_eq(rig.partials, 2);
	ck_assert_uint_eq(rig.most_running, 1);
	rig_close(&rig);
}
END_TEST

/* Jobs go while the ends of their turns are not recorded yet. */
START_TEST(freed_while_ends_are_recorded)
{
	static struct rig rig;
	rig_open(&rig, STREAMS_UNTIL_GO, 2, 8);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	while (rig.partials < 3)
		perch_host_wait(rig.host, 1000);
	struct database stuck;
	ck_assert_int_eq(database_open(folder_path("state/perch/sessions.db"), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	perch_service_cancel(rig.service, SIGKILL);
	ck_assert_int_eq(take(&rig, 1, 1), 0);
	for (int i = 0; i < 20; i++)
		perch_host_wait(rig.host, 10);
	perch_job_free(rig.turns[0].job);
	perch_job_free(rig.turns[1].job);
	database_close(&stuck);
	rig_close(&rig);
	ck_assert_uint_eq(rig.ended, 0);
	ck_assert_int_eq(turns_on_disk(), 1);
}
END_TEST

/* The service goes while a turn is over and its end waits for another process: it is told all the
 * same, once, and recorded. */
START_TEST(freed_while_an_end_waits)
{
	static struct rig rig;
	rig_open(&rig, STREAMS_UNTIL_GO, 2, 8);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	while (rig.partials < 3)
		perch_host_wait(rig.host, 1000);
	struct database stuck;
	ck_assert_int_eq(database_open(folder_path("state/perch/sessions.db"), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	perch_service_cancel(rig.service, SIGKILL);
	while (!rig.service->jobs[JOB_ENDING].count)
		perch_host_wait(rig.host, 1000);
	ck_assert_uint_eq(rig.ended, 0);
	database_close(&stuck);
	rig_close(&rig);
	ck_assert_uint_eq(rig.ended, 1);
	ck_assert_int_eq(turns_on_disk(), 1);
}
END_TEST

/* The other process does not let go: that is told, too. */
START_TEST(freed_while_an_end_cannot_be_recorded)
{
	static struct rig rig;
	rig_open(&rig, STREAMS_UNTIL_GO, 2, 8);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	while (rig.partials < 3)
		perch_host_wait(rig.host, 1000);
	struct database stuck;
	ck_assert_int_eq(database_open(folder_path("state/perch/sessions.db"), &stuck, NULL), 0);
	ck_assert_int_eq(database_run(&stuck, SQL_BEGIN, NULL, NULL), 0);
	perch_service_cancel(rig.service, SIGKILL);
	while (!rig.service->jobs[JOB_ENDING].count)
		perch_host_wait(rig.host, 1000);
	rig_close(&rig);
	ck_assert_uint_eq(rig.ended, 1);
	ck_assert_ptr_nonnull(strstr(rig.last_warning, "the end of the turn is not recorded"));
	database_close(&stuck);
}
END_TEST

/* ---- what a turn may have instead ------------------------------------------- */

struct heard {
	struct buf log;
	bool is_over;
	int exit_code;
};

static void hear(perch_job *job, void *data, const perch_event *event)
{
	struct heard *heard = data;
	perch_text line;
	ck_assert_int_eq(perch_event_json(job, event, NULL, &line), 0);
	buf_printf(&heard->log, "%s\n", line.data);
	if (event->kind != PERCH_EVENT_END)
		return;
	heard->exit_code = event->end->exit_code;
	heard->is_over = true;
}

/* A turn of bot.yaml with these; what it told. */
static struct heard hear_turn(
	struct rig *rig, const perch_agent_turn_options *turn, const char *protocol, bool shows_stderr)
{
	struct heard heard = { 0 };
	perch_job *job;
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_AGENT;
	request.profile = rig->profile;
	request.message = "hi";
	request.turn = turn;
	request.protocol = protocol;
	request.shows_stderr = shows_stderr;
	request.sink = hear;
	request.data = &heard;
	ck_assert_int_eq(perch_job_submit(rig->service, &request, &job, NULL), 0);
	ck_assert_uint_eq(perch_job_grace_ns(job), 7 * NSEC_PER_SEC);
	ck_assert_ptr_null(perch_job_sandbox(job)); /* it has not begun */
	proc_until(rig->host, &heard.is_over);
	perch_job_free(job);
	return heard;
}

static void assert_heard(struct heard *heard, const char *text)
{
	buf_terminate(&heard->log);
	ck_assert_msg(strstr(heard->log.data, text), "%s is not in %s", text, heard->log.data);
	buf_free(&heard->log);
}

#define SAYS_ITS_SESSION                                                                \
	"sh\nkill_grace_secs: 7\nargs: ['-c', 'echo \"AGENT_SESSION:s-$AGENT_SESSION_ID\";" \
	" echo odd >&2; case $AGENT_SESSION_ID in slow) sleep 60;; esac; echo fine']"

START_TEST(a_turn_with_an_id_and_a_clock_of_its_own)
{
	static struct rig rig;
	rig_open(&rig, SAYS_ITS_SESSION, 1, 8);
	perch_agent_turn_options turn = PERCH_AGENT_TURN_OPTIONS_INIT;
	turn.session_id = "mine";
	struct heard heard = hear_turn(&rig, &turn, NULL, true);
	assert_heard(&heard, "{\"event\":\"session\",\"session_id\":\"s-mine\"}");
	heard = hear_turn(&rig, NULL, NULL, true);
	assert_heard(&heard, "{\"event\":\"stderr\",\"text\":\"odd\\n\"}");

	perch_sessions *sessions;
	perch_session session;
	ck_assert_int_eq(perch_service_sessions(rig.service, &sessions, NULL), 0);
	ck_assert_int_eq(perch_sessions_find(sessions, rig.profile, NULL, NULL, &session, NULL), 1);
	ck_assert_str_eq(session.id, "s-s-mine");
	ck_assert_int_eq(session.turns, 2);
	ck_assert_int_eq(perch_sessions_find(sessions, rig.profile, "ann", NULL, &session, NULL), 0);
	ck_assert_int_eq(perch_sessions_find(sessions, rig.profile, NULL, "b", &session, NULL), 0);

	turn.session_id = "slow";
	turn.has_timeout = true;
	turn.timeout_ns = 50 * NSEC_PER_MSEC;
	heard = hear_turn(&rig, &turn, NULL, false);
	ck_assert_int_eq(heard.exit_code, 124);
	assert_heard(&heard, "\"code\":\"timeout\"");
	rig_close(&rig);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
	static struct rig rig;
	perch_err err = { 0 };
	perch_job *job;
	rig_open(&rig, SAYS_ITS_SESSION, 1, 8);
	perch_agent_turn_options turn = PERCH_AGENT_TURN_OPTIONS_INIT;
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_AGENT;
	request.profile = rig.profile;
	request.message = "hi";
	request.sink = hear;
	request.turn = &turn;
	turn.session_id = "a/b";
	ck_assert_int_eq(perch_job_submit(rig.service, &request, &job, &err), -EINVAL);
	ck_assert_str_eq(err.stage, "session_id");
	turn.session_id = NULL;
	request.protocol = "0.7";
	ck_assert_int_eq(perch_job_submit(rig.service, &request, &job, &err), -EINVAL);
	ck_assert_str_eq(err.text, "there is no protocol '0.7' of agents");
	rig_close(&rig);
}
END_TEST

/* The lines of 0.1 mean nothing in 0.4. */
START_TEST(a_protocol_instead_of_the_profiles)
{
	static struct rig rig;
	rig_open(&rig, SAYS_ITS_SESSION, 1, 8);
	struct heard heard = hear_turn(&rig, NULL, "0.4", false);
	assert_heard(&heard, "\"protocol\":\"0.4\"");
	rig_close(&rig);
}
END_TEST

START_TEST(a_service_records_what_it_hosts)
{
	static struct rig rig;
	rig_open(&rig, SAYS_ITS_SESSION, 1, 8);
	perch_service_free(rig.service);
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	perch_err err = { 0 };
	options.trace = folder_path("no/such");
	ck_assert_int_eq(perch_service_new(rig.host, &options, &rig.service, &err), -ENOENT);
	options.trace = folder_path("trace");
	ck_assert_int_eq(perch_service_new(rig.host, &options, &rig.service, &err), 0);
	struct heard heard = hear_turn(&rig, NULL, NULL, false);
	buf_free(&heard.log);
	perch_host_wait(rig.host, 0); /* what was recorded is written before the loop waits */
	struct buf trace = { 0 };
	ck_assert_int_eq(file_read(folder_path("trace"), 1 << 20, &trace, NULL), 0);
	buf_terminate(&trace);
	ck_assert_ptr_nonnull(strstr(trace.data, "\"command\":\"sh\""));
	ck_assert_ptr_nonnull(strstr(trace.data, "AGENT_SESSION:s-"));
	buf_free(&trace);
	rig_close(&rig);
}
END_TEST

/* Three descriptors for each of a thousand: many a login has fewer, and may have more. */
static void open_as_many_as_allowed(void)
{
	struct rlimit limit;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A thousand agents at once are the kernel's business; ours stays small. */
START_TEST(a_thousand_at_once)
{
	static struct rig rig;
	enum { TURNS = 1000 };
	open_as_many_as_allowed();
	char command[8192];
	snprintf(command, sizeof(command), "%s deaf", proc_child_path());
	rig_open(&rig, command, TURNS, 0);
	long before = proc_peak_memory_kib();
	for (unsigned i = 0; i < TURNS; i++)
		ck_assert_int_eq(take(&rig, i, i), 0);
	while (rig.started < TURNS)
		perch_host_wait(rig.host, 1000);
	ck_assert_uint_eq(rig.running, TURNS);
	long used = proc_peak_memory_kib() - before;
	printf("# %ld KiB for %d turns\n", used, TURNS);
	/* A sanitizer keeps what is freed, and more of it with every turn. */
	ck_assert_int_lt(used, 64 * 1024 + 8 * SANITIZER_SLACK_KIB);
	perch_service_cancel(rig.service, SIGTERM);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.ended, TURNS);
	rig_close(&rig);
}
END_TEST

SUITE_MAIN("service_turns", profiles_are_read_again_when_they_change, profiles_without_memory,
	each_session_in_order, room_is_counted, freed_with_turns_under_way,
	what_the_turns_of_a_session_have_used, a_session_whose_time_is_used_up,
	a_session_is_left_behind_its_agent, an_end_is_recorded_before_it_is_told,
	who_writes_for_long_stops_no_turn, a_turn_takes_its_place_until_its_end_is_told,
	an_agent_runs_while_the_end_of_another_is_written, freed_while_ends_are_recorded,
	freed_while_an_end_waits, freed_while_an_end_cannot_be_recorded,
	a_turn_with_an_id_and_a_clock_of_its_own, what_cannot_be_is_refused,
	a_protocol_instead_of_the_profiles, a_service_records_what_it_hosts, a_thousand_at_once)
