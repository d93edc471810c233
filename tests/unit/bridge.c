/* The bridge: the profiles it keeps, in which order turns run, that each ends once. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <utime.h>

#include "agent/bridge.h"
#include "agent/profiles.h"
#include "agent/sessions_parts.h"
#include "base/clock.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"

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
	struct kept_profile *first, *second, *third;
	perch_err err = { 0 };
	folder_new();
	write_profile("a.yaml", "one", 0);
	const char *path = folder_path("a.yaml");
	ck_assert_int_eq(profiles_take(&profiles, path, &first, &err), 0);
	write_profile("a.yaml", "two", 1);
	ck_assert_int_eq(profiles_take(&profiles, path, &second, &err), 0);
	ck_assert_str_eq(kept_profile(first)->command, "one");
	ck_assert_str_eq(kept_profile(second)->command, "two");
	profiles_give(&profiles, first);
	ck_assert_int_eq(remove(path), 0);
	ck_assert_int_eq(profiles_take(&profiles, path, &third, &err), -ENOENT);
	ck_assert_str_eq(kept_profile(second)->command, "two");
	profiles_give(&profiles, second);
	profiles_free(&profiles);
}
END_TEST

static int take_profiles(void *data)
{
	struct profiles profiles = { 0 };
	struct kept_profile *profile;
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

struct rig {
	perch_host *host;
	struct sessions *sessions;
	struct bridge *bridge;
	char profile[4096];
	unsigned started, ended, failed, running, most_running, warnings, partials;
	char last_code[32];
	char last_warning[256];
	bool checks_records; /* at each end: that it is on disk */
	bool is_over;
	uint64_t last_partial_ns, longest_gap_ns;
	bool has_ended[TURNS_MAX];
	unsigned order[TURNS_MAX]; /* the ids in the order in which they began */
};

static void on_started(void *data, struct agent_turn *turn)
{
	(void)turn;
	struct rig *rig = bridge_turn_data(data);
	rig->order[rig->started++] = (unsigned)atoi(bridge_turn_id(data));
	if (++rig->running > rig->most_running)
		rig->most_running = rig->running;
}

static void on_partial(void *data, struct agent_turn *turn, struct str text, struct str raw)
{
	(void)turn, (void)text, (void)raw;
	struct rig *rig = bridge_turn_data(data);
	rig->partials++;
	uint64_t now_ns = clock_now_ns();
	uint64_t gap_ns = rig->last_partial_ns ? now_ns - rig->last_partial_ns : 0;
	rig->longest_gap_ns = gap_ns > rig->longest_gap_ns ? gap_ns : rig->longest_gap_ns;
	rig->last_partial_ns = now_ns;
}

static void on_warning(void *data, struct agent_turn *turn, struct str text)
{
	(void)turn;
	struct rig *rig = bridge_turn_data(data);
	rig->warnings++;
	snprintf(rig->last_warning, sizeof(rig->last_warning), "%.*s", (int)text.len, text.data);
}

/* All turns that are on disk, as another process sees them. */
static int64_t turns_on_disk(void)
{
	struct sessions *sessions;
	struct session_record *records;
	struct arena arena = { 0 };
	size_t count;
	int64_t turns = 0;
	ck_assert_int_eq(sessions_open(NULL, &sessions, NULL), 0);
	ck_assert_int_eq(sessions_list(sessions, NULL, &arena, &records, &count, NULL), 0);
	for (size_t i = 0; i < count; i++)
		turns += records[i].turns;
	arena_free(&arena);
	sessions_close(sessions);
	return turns;
}

static void on_error(void *data, struct agent_turn *turn, const char *code, struct str text)
{
	(void)turn, (void)text;
	struct rig *rig = bridge_turn_data(data);
	snprintf(rig->last_code, sizeof(rig->last_code), "%s", code);
}

static void on_end(void *data, struct agent_turn *turn, const perch_agent_end *end)
{
	struct rig *rig = bridge_turn_data(data);
	unsigned id = (unsigned)atoi(bridge_turn_id(data));
	ck_assert_msg(!rig->has_ended[id], "%u ended twice", id);
	if (rig->checks_records)
		ck_assert_int_eq(turns_on_disk(), rig->ended + 1);
	rig->has_ended[id] = true;
	rig->running -= turn != NULL;
	rig->failed += !end->success;
	rig->is_over = ++rig->ended && bridge_count(rig->bridge) == 0;
}

static const struct agent_turn_events events = {
	.started = on_started,
	.partial = on_partial,
	.warning = on_warning,
	.error = on_error,
	.end = on_end,
};

static void rig_open(struct rig *rig, const char *command, size_t max_turns, size_t queue)
{
	folder_new();
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	write_profile("bot.yaml", command, 0);
	*rig = (struct rig){ .host = proc_host() };
	snprintf(rig->profile, sizeof(rig->profile), "%s", folder_path("bot.yaml"));
	ck_assert_int_eq(sessions_open(rig->host, &rig->sessions, NULL), 0);
	const struct bridge_options options = {
		.host = rig->host,
		.sessions = rig->sessions,
		.max_turns = max_turns,
		.queue = queue,
		.events = &events,
		.data = rig,
	};
	ck_assert_int_eq(bridge_new(&options, &rig->bridge, NULL), 0);
}

static void rig_close(struct rig *rig)
{
	bridge_free(rig->bridge);
	sessions_close(rig->sessions);
	perch_host_free(rig->host);
}

static int take(struct rig *rig, unsigned id, unsigned session)
{
	char id_text[16], name[16];
	snprintf(id_text, sizeof(id_text), "%u", id);
	snprintf(name, sizeof(name), "s%u", session);
	const struct bridge_request request = {
		.id = id_text, .profile = rig->profile, .message = STR("hi"), .session_name = name
	};
	return bridge_take(rig->bridge, &request, NULL);
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
	ck_assert_int_eq(take(&rig, 3, 3), -EEXIST);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.ended, TURNS);
	ck_assert_uint_eq(rig.failed, 0);
	ck_assert_uint_eq(rig.most_running, 4);
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
	ck_assert(
		bridge_cancel(rig.bridge, "1", SIGINT)); /* nobody writes: at once, as it has not begun */
	ck_assert_uint_eq(rig.ended, 1);
	ck_assert_str_eq(rig.last_code, "cancelled");
	ck_assert(!bridge_cancel(rig.bridge, "1", SIGINT));
	ck_assert_int_eq(take(&rig, 6, 2), 0);
	bridge_cancel_all(rig.bridge, SIGTERM);
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

/* Nobody may begin in a session whose agent still lives. */
START_TEST(a_session_is_left_behind_its_agent)
{
	static struct rig rig;
	rig_open(&rig, HOLDS_SESSIONS, 1, 1);
	ck_assert_int_eq(take(&rig, 0, 0), 0);
	while (!rig.partials)
		perch_host_wait(rig.host, 1000);
	bridge_free(rig.bridge);
	rig.bridge = NULL;
	ck_assert_uint_eq(rig.sessions->turns[TURN_LEAVING].count, 0);
	rig_close(&rig);
}
END_TEST

START_TEST(an_end_is_recorded_before_it_is_told)
{
	static struct rig rig;
	enum { TURNS = 12 };
	char command[8192];
	snprintf(command, sizeof(command), "%s exit 0", proc_child_path());
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
	ck_assert(bridge_cancel(rig.bridge, "2", SIGINT)); /* not recorded either */
	ck_assert(bridge_cancel(rig.bridge, "2", SIGINT));
	ck_assert_int_eq(take(&rig, 2, 0), -EEXIST);
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

/* The bridge goes while ends of its turns are not recorded yet. */
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
	bridge_cancel_all(rig.bridge, SIGKILL);
	ck_assert_int_eq(take(&rig, 1, 1), 0);
	for (int i = 0; i < 20; i++)
		perch_host_wait(rig.host, 10);
	bridge_free(rig.bridge);
	rig.bridge = NULL;
	database_close(&stuck);
	rig_close(&rig);
	ck_assert_uint_eq(rig.ended, 0);
	ck_assert_int_eq(turns_on_disk(), 1);
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
	bridge_cancel_all(rig.bridge, SIGTERM);
	proc_until(rig.host, &rig.is_over);
	ck_assert_uint_eq(rig.ended, TURNS);
	rig_close(&rig);
}
END_TEST

SUITE_MAIN("bridge", profiles_are_read_again_when_they_change, profiles_without_memory,
	each_session_in_order, room_is_counted, freed_with_turns_under_way,
	a_session_is_left_behind_its_agent, an_end_is_recorded_before_it_is_told,
	who_writes_for_long_stops_no_turn, a_turn_takes_its_place_until_its_end_is_told,
	freed_while_ends_are_recorded, a_thousand_at_once)
