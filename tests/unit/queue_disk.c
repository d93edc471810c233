/* What the queue in a file waits for, and who does: small rounds are written in the loop, which
 * waits for neither the disk nor a lock; all that does is the thread's. */
#include "harness/suite.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "harness/folder.h"
#include "harness/queue_world.h"
#include "queue/desk.h"
#include "queue/sql.h"

/* ---- what SQLite calls ------------------------------------------------------------------------
 */

static atomic_int syncs, syncs_here, writes, writes_here, sleeps, sleeps_here;

static bool is_here(void)
{
	return syscall(SYS_gettid) == getpid();
}

/* In the place of libc's. */
PERCH_API int fdatasync(int fd)
{
	atomic_fetch_add(is_here() ? &syncs_here : &syncs, 1);
	return (int)syscall(SYS_fdatasync, fd);
}

PERCH_API int fsync(int fd)
{
	atomic_fetch_add(is_here() ? &syncs_here : &syncs, 1);
	return (int)syscall(SYS_fsync, fd);
}

PERCH_API ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	atomic_fetch_add(is_here() ? &writes_here : &writes, 1);
	return syscall(SYS_pwrite64, fd, data, len, at);
}

/* So it waits for a lock. */
PERCH_API int usleep(useconds_t us)
{
	atomic_fetch_add(is_here() ? &sleeps_here : &sleeps, 1);
	return nanosleep(&(struct timespec){ .tv_nsec = 1000L * (long)us }, NULL);
}

/* Waits until the thread does nothing any more. */
static void await_asleep(void)
{
	char path[64], state = 'R';
	while (state != 'S') {
		DIR *tasks = opendir("/proc/self/task");
		for (struct dirent *task; tasks && (task = readdir(tasks));) {
			snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", task->d_name);
			FILE *file = atoi(task->d_name) > getpid() ? fopen(path, "r") : NULL;
			if (file && fscanf(file, "%*d %*s %c", &state) != 1)
				state = 'R';
			if (file)
				fclose(file);
		}
		closedir(tasks);
	}
}

/* ---- jobs --------------------------------------------------------------------------------------
 */

struct accepted {
	int count, error;
	char order[2000]; /* the numbers of jobs, as they were accepted */
};

static struct accepted accepted;

static void note_accepted(void *data, int error)
{
	int *number = data;
	size_t len = strlen(accepted.order);
	accepted.count++;
	if (error < 0)
		accepted.error = error;
	snprintf(accepted.order + len, sizeof(accepted.order) - len, "%d ", *number);
	free(number);
}

static void put(int number, size_t size)
{
	static char request[2 * DESK_HERE_MAX];
	struct queue *queue = queue_world_gate();
	int *kept = malloc(sizeof(*kept));
	char id[32];
	*kept = number;
	memset(request, 'x', size);
	snprintf(id, sizeof(id), "j%d", number);
	const struct queue_job job = { .id = str_from(id),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.request = { request, size } };
	ck_assert_int_eq(queue->table->put(queue, &job, note_accepted, kept), 0);
}

static void await_accepted(int count)
{
	while (accepted.count < count)
		ck_assert_int_ge(perch_host_wait(queue_world_host(), -1), 0);
}

/* Puts one and waits for it. */
static void put_one(int number, size_t size)
{
	int before = accepted.count;
	put(number, size);
	await_accepted(before + 1);
}

/* The thread tells before it has tidied up. */
static void await_thread(int *number)
{
	int before;
	do {
		before = atomic_load(&writes_here);
		put_one((*number)++, 2);
	} while (atomic_load(&writes_here) == before);
}

/* Opens it, and has its log begun. */
static int open_world(bool is_durable)
{
	const struct queue_world_options options = { .is_durable = is_durable };
	int number = 0;
	accepted = (struct accepted){ 0 };
	queue_world_open(QUEUE_WORLD_FILE, &options);
	if (!is_durable)
		await_thread(&number);
	atomic_store(&syncs, 0);
	atomic_store(&syncs_here, 0);
	atomic_store(&writes, 0);
	atomic_store(&writes_here, 0);
	return number;
}

/* ---- who writes ---------------------------------------------------------------------------------
 */

START_TEST(small_rounds_are_written_in_the_loop)
{
	int number = open_world(false);
	for (int i = 0; i < 20; i++)
		put_one(number++, 100);
	ck_assert_int_gt(atomic_load(&writes_here), 0);
	ck_assert_int_eq(atomic_load(&writes), 0);
	put_one(number++, DESK_HERE_MAX); /* too large with what is around it */
	ck_assert_int_gt(atomic_load(&writes), 0);
	queue_world_close();
}
END_TEST

static void note_claimed(void *data, const struct queue_claim *claim)
{
	*(size_t *)data = claim->job.request.len;
}

/* Claims the next one: how large its request is. */
static size_t claim_size(void)
{
	struct queue *queue = queue_world_hands();
	size_t size = 0;
	ck_assert_int_eq(queue->table->claim(queue, true, note_claimed, &size), 0);
	while (!size)
		ck_assert_int_ge(perch_host_wait(queue_world_host(), -1), 0);
	return size;
}

/* Reading a large one is as much work as writing it. */
START_TEST(large_jobs_are_read_by_the_thread)
{
	static char request[DESK_HERE_MAX];
	const struct queue_job large = { .id = STR("large"),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.need = STR("agent:bot#00"),
		.request = { memset(request, 'x', sizeof(request)), sizeof(request) } };
	queue_world_open(QUEUE_WORLD_FILE, NULL);
	queue_world_put("small", "", "", 0);
	queue_world_put_job(&large);
	const struct {
		size_t size;
		bool is_here;
	} claims[] = { { 15, true }, { sizeof(request), false } };
	for (size_t i = 0; i < COUNT(claims); i++) {
		atomic_store(&writes, 0);
		atomic_store(&writes_here, 0);
		ck_assert_uint_eq(claim_size(), claims[i].size);
		ck_assert_int_eq(atomic_load(&writes_here) > 0, claims[i].is_here);
		ck_assert_int_eq(atomic_load(&writes) > 0, !claims[i].is_here);
	}
	queue_world_close();
}
END_TEST

START_TEST(the_order_holds_whoever_writes)
{
	int number = open_world(false);
	char expected[sizeof(accepted.order)] = "";
	int before = accepted.count;
	accepted.order[0] = '\0';
	for (int i = 0; i < 60; i++) {
		put(number, i % 7 ? 10 : DESK_HERE_MAX);
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%d ", number++);
		if (i % 3 == 0) /* several rounds are under way */
			perch_host_wait(queue_world_host(), 0);
	}
	await_accepted(before + 60);
	ck_assert_str_eq(accepted.order, expected);
	ck_assert_int_eq(accepted.error, 0);
	queue_world_close();
}
END_TEST

/* ---- what is waited for -------------------------------------------------------------------------
 */

/* More than three logs: each was written back, and begun anew. */
START_TEST(the_loop_waits_for_no_disk)
{
	struct stat log;
	int number = open_world(false);
	for (int i = 0, before = 0; i < 3 * SQL_LOG_PAGES; i++) {
		put_one(number++, 2);
		if (atomic_load(&syncs) != before)
			await_asleep(); /* so that only what it must do is the thread's */
		before = atomic_load(&syncs);
	}
	ck_assert_int_ge(atomic_load(&syncs), 3);
	ck_assert_int_eq(atomic_load(&syncs_here), 0);
	ck_assert_int_gt(atomic_load(&writes_here), atomic_load(&writes));
	ck_assert_int_eq(stat(folder_path("queue.db-wal"), &log), 0);
	ck_assert_int_lt(log.st_size, 3 * SQL_LOG_PAGES / 2 * 4096);
	queue_world_close();
}
END_TEST

/* Who holds the lock is this very thread: a loop that waited for it would do so in vain. */
START_TEST(the_loop_waits_for_no_lock)
{
	sqlite3 *other;
	int number = open_world(false);
	int before = accepted.count;
	ck_assert_int_eq(sqlite3_open(folder_path("queue.db"), &other), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	put(number, 2);
	while (!atomic_load(&sleeps) && !atomic_load(&sleeps_here))
		perch_host_wait(queue_world_host(), 0);
	ck_assert_int_eq(accepted.count, before);
	ck_assert_int_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	await_accepted(before + 1);
	ck_assert_int_eq(accepted.error, 0);
	ck_assert_int_eq(atomic_load(&writes_here), 0);
	ck_assert_int_eq(atomic_load(&sleeps_here), 0);
	ck_assert_int_gt(atomic_load(&sleeps), 0);
	queue_world_close();
}
END_TEST

/* How often the disk was waited for, until all were accepted that were put before the loop waited.
 */
static int syncs_of(int first, int count)
{
	int before = atomic_load(&syncs), was = accepted.count;
	for (int i = first; i < first + count; i++)
		put(i, 2);
	await_accepted(was + count);
	return atomic_load(&syncs) - before;
}

START_TEST(durable_is_on_the_disk)
{
	for (int is_durable = 0; is_durable < 2; is_durable++) {
		int number = open_world(is_durable) + 1000 * is_durable;
		for (int i = 0; i < 5; i++)
			ck_assert_int_eq(syncs_of(number++, 1) > 0, is_durable);
		/* All that came in one round of the loop is one commit, or a few. */
		ck_assert_int_lt(syncs_of(number, 200), is_durable ? 100 : 1);
		ck_assert_int_eq(atomic_load(&syncs_here), 0);
		ck_assert_int_eq(accepted.error, 0);
		queue_world_close();
	}
}
END_TEST

/* ---- accepted is written ------------------------------------------------------------------------
 */

/* Kills itself as soon as the last of these is accepted. */
static void put_and_die(int count)
{
	int number = open_world(false);
	while (accepted.count < count)
		put_one(number++, 2);
	ck_assert_int_gt(atomic_load(&writes_here), 0);
	kill(getpid(), SIGKILL);
}

START_TEST(what_the_loop_has_accepted_is_there_behind_a_kill)
{
	enum { COUNT = 50 };
	char id[32];
	int status = 0;
	queue_world_folder();
	pid_t pid = fork();
	if (pid == 0)
		put_and_die(COUNT);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	queue_world_open(QUEUE_WORLD_FILE, NULL);
	for (int i = 0; i < COUNT; i++) {
		snprintf(id, sizeof(id), "j%d", i);
		queue_world_await(id, QUEUE_WAITING, 0);
	}
	queue_world_close();
}
END_TEST

/* Small ones, which the loop refuses; the next that finds room is accepted. */
START_TEST(a_full_disk_under_the_loop)
{
	queue_world_folder();
	folder_write("small/x", "");
	if (!folder_mount(folder_path("small")))
		suite_skip("no file system can be mounted");
	if (symlink("small/queue.db", folder_path("queue.db")) < 0)
		ck_abort_msg("no link");
	int number = open_world(false);
	for (int i = 0; i < 5000 && accepted.error == 0; i++)
		put_one(number++, 2000);
	ck_assert_int_eq(accepted.error, -ENOSPC);
	ck_assert_int_gt(atomic_load(&writes_here), 0);
	char refused[32];
	snprintf(refused, sizeof(refused), "j%d", number - 1);
	ck_assert_int_eq(queue_world_renew(refused, 1), QUEUE_FENCED); /* it is nobody's */
	queue_world_close();
}
END_TEST

SUITE_MAIN("queue-disk", small_rounds_are_written_in_the_loop, large_jobs_are_read_by_the_thread,
	the_order_holds_whoever_writes, the_loop_waits_for_no_disk, the_loop_waits_for_no_lock,
	durable_is_on_the_disk, what_the_loop_has_accepted_is_there_behind_a_kill,
	a_full_disk_under_the_loop)
