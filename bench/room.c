/* What a room costs: a child in one that is open, and one opened for a single
 * child and closed behind it, with the mounts of a typical sandbox. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perch/perch.h"
#include "place.h"
#include "proc/confine.h"
#include "proc/room.h"

enum {
	TIMES = 10,
	ROUNDS = 60,
};

static perch_host *host;
static char child_path[4096];
static struct perch_confine confine = { .landlock_fd = -1 };

static const struct room_mount mounts[] = {
	{ ROOM_HIDE, "/root", 0, 0 },
	{ ROOM_HIDE, "/run", 0, 0 },
	{ ROOM_HIDE, "/home", 0, 0 },
	{ ROOM_HIDE, "/etc/shadow", 0, 0 },
	{ ROOM_HIDE, "/var/spool", 0, 0 },
	{ ROOM_READ_ONLY, "/etc", 0, 0 },
	{ ROOM_READ_ONLY, "/srv", 0, 0 },
	{ ROOM_TMP, "/var/tmp", 0, 0 },
};

_Noreturn static void give_up(const perch_err *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

static void on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	if (result->exit_code != 0)
		abort();
	*(bool *)data = true;
}

static const perch_child_events events = { .size = sizeof(events), .ended = on_ended };

static void run(const struct perch_confine *how)
{
	const char *const argv[] = { child_path, NULL };
	bool is_done = false;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.stdout_mode = PERCH_OUTPUT_LINES;
	spec.confine = how;
	spec.events = &events;
	spec.data = &is_done;
	perch_child *child;
	perch_err err = { 0 };
	if (perch_child_start(host, &spec, &child, &err) < 0)
		give_up(&err);
	while (!is_done)
		perch_host_wait(host, -1);
	perch_child_free(child);
}

static void open_room(void)
{
	perch_err err = { 0 };
	if (room_open(host, mounts, sizeof(mounts) / sizeof(mounts[0]), &confine.room, &err) < 0)
		give_up(&err);
}

static double plain_ns(void)
{
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < TIMES; i++)
		run(NULL);
	return (double)(bench_now_ns() - begin) / TIMES;
}

static double further_child_ns(void)
{
	open_room();
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < TIMES; i++)
		run(&confine);
	double ns = (double)(bench_now_ns() - begin) / TIMES;
	room_close(confine.room);
	return ns;
}

/* The end of the room is not waited for by anybody who wants the result. */
static uint64_t closing_ns;

static double room_and_child_ns(void)
{
	uint64_t spent = 0;
	closing_ns = 0;
	for (int i = 0; i < TIMES; i++) {
		uint64_t begin = bench_now_ns();
		open_room();
		run(&confine);
		uint64_t end = bench_now_ns();
		room_close(confine.room);
		spent += end - begin;
		closing_ns += bench_now_ns() - end;
	}
	return (double)spent / TIMES;
}

int main(void)
{
	host = place_host();
	place_find("bench/peer", child_path, sizeof(child_path));
	double plain = plain_ns();
	double further = further_child_ns();
	double opened = room_and_child_ns();
	double closing = (double)closing_ns / TIMES;
	for (int i = 0; i < ROUNDS; i++) {
		plain = bench_smaller(plain, plain_ns());
		further = bench_smaller(further, further_child_ns());
		opened = bench_smaller(opened, room_and_child_ns());
		closing = bench_smaller(closing, (double)closing_ns / TIMES);
	}
	bench_print("room/none", "child", plain / 1e3, "us");
	bench_print("room/further-child", "child", further / 1e3, "us");
	bench_print_most("room/further-child", "over-none", (further - plain) / 1e6, "ms", 0.4);
	bench_print("room/opened-for-it", "room-and-child", opened / 1e3, "us");
	bench_print_most("room/opened-for-it", "over-none", (opened - plain) / 1e6, "ms", 1);
	bench_print("room/closing", "room", closing / 1e3, "us");
	perch_host_free(host);
	return 0;
}
