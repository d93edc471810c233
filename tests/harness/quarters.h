/* For tests of rooms: a place that root and a normal user can use alike, and
 * rooms in it. */
#ifndef HARNESS_QUARTERS_H
#define HARNESS_QUARTERS_H

#include "harness/proc.h"
#include "proc/confine.h"
#include "proc/room.h"

/* Runs the test as who we are; and if that is root, in a process of its own as
 * a normal user as well. Skips it where there are no rooms. The current
 * directory is an empty one, the same for all, gone with the test. */
void quarters_run(void (*test)(void));

/* A test that runs so; its body follows. */
#define QUARTERS_TEST(name)               \
	static void name##_in_quarters(void); \
	START_TEST(name)                      \
	{                                     \
		quarters_run(name##_in_quarters); \
	}                                     \
	END_TEST                              \
	static void name##_in_quarters(void)

/* In there: the programs of this build, readable for everybody. */
const char *quarters_directory(void);
const char *quarters_path(const char *name); /* in memory that stays */
const char *quarters_guard(void);
const char *quarters_child(void);

#define QUARTERS_CHILD(...) ((const char *const[]){ quarters_child(), __VA_ARGS__, NULL })

/* A host whose guard everybody can execute. */
perch_host *quarters_host(void);

/* Runs a shell script out here, which must succeed. */
void quarters_prepare(const char *script);

/* Opens a room or fails the test. */
struct room *quarters_open(perch_host *host, const struct room_mount *mounts, size_t count);

/* Starts argv in the room; or runs it, with what it printed in record. */
void quarters_start(
	perch_host *host, struct room *room, const char *const *argv, struct record *record);
void quarters_exec(
	perch_host *host, struct room *room, const char *const *argv, struct record *record);

/* Runs a shell script in the room. It must succeed and print just this. */
void quarters_expect(perch_host *host, struct room *room, const char *script, const char *output);

/* Reaps one child. 0 when none has ended in time, -1 when there is none. */
pid_t quarters_reap_one(void);

/* Everything that a killed host leaves becomes a child of the test (PR_SET_CHILD_SUBREAPER), and
 * must end. */
void quarters_expect_no_heirs(void);

#endif
