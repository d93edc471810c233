/* The birth of a process. Everything is prepared before; between birth and
 * exec the child makes system calls only. */
#ifndef PROC_SPAWN_H
#define PROC_SPAWN_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "perch/base.h"
#include "proc/confine.h"

struct bare_limit;
struct furnishing;

/* Descriptors that a child needs until its exec. The host reserves a number
 * for each, as low as it can get them: the child then copies the descriptor
 * table only up to there, so that a birth costs the same in a host with five
 * thousand open descriptors as in one with five. */
enum spawn_slot {
	SLOT_STDIN,
	SLOT_STDOUT,
	SLOT_STDERR,
	SLOT_LANDLOCK,
	SLOT_CHANNEL,
	SLOT_PROGRAM,
	SLOT_REPORT,
	SLOT_COUNT,
};

struct spawner {
	int slots[SLOT_COUNT];
	int null_fd;
	char *stack; /* one of each kind */
	bool plain_fork;
	bool owns_signals; /* this process changes none but SIGNALS_CHANGED, once it has a child */
	uint64_t settled_signals; /* which a newborn need not look at: a call for each of 64 */
};

/* What our own commands ignore, some of them while they run. */
#define SIGNAL_BIT(number) (UINT64_C(1) << ((number)-1))
#define SIGNALS_CHANGED                                                                     \
	(SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGXFSZ) | SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGQUIT) | \
		SIGNAL_BIT(SIGCHLD))

enum spawn_stage {
	STAGE_NONE,
	STAGE_LOOKUP,
	STAGE_PIPE,
	STAGE_BIRTH,
	STAGE_ROOM,
	STAGE_SESSION,
	STAGE_PARENT,
	STAGE_GUARD,
	STAGE_CGROUP,
	STAGE_DESCRIPTORS,
	STAGE_LIMITS,
	STAGE_PRIVILEGES,
	STAGE_LANDLOCK,
	STAGE_SECCOMP,
	STAGE_SIGNALS,
	STAGE_CWD,
	STAGE_TIME,
	STAGE_EXEC,
	STAGE_COUNT,
};

struct spawn_plan {
	const char *path; /* what is executed: no search any more */
	int program_fd;   /* the same as an open file; 0 = none */
	const char *const *argv;
	const char *const *env;
	const char *cwd;  /* NULL = ours */
	const char *here; /* ours, for a child that enters a room where it does not exist; or NULL */
	int stdio[3];     /* what becomes 0, 1, 2; -1 = ours */
	bool own_session;
	bool die_with_thread;
	_Atomic int32_t *guard_slot;     /* where the child enters itself, or NULL */
	const struct bare_limit *mark;   /* of its tree; or NULL */
	const struct rlimit *open_files; /* its limit of them; NULL = ours */
	uint64_t until_ns;               /* it executes nothing from then on; 0 = at any time */
	const struct perch_confine *confine;
	struct furnishing *furnishing; /* this is a room's init, and these are its mounts; or NULL */
	int entrance; /* this is a room's doorkeeper, who enters by the descriptor of its init; 0 = not
				   */
};

struct spawn_failure {
	enum spawn_stage stage;
	int error; /* an errno */
};

/* Returns 0 or a negative errno. A half-made spawner can be closed. */
int spawner_init(struct spawner *spawner, bool plain_fork);
void spawner_close(struct spawner *spawner);

/* Before that, while a newborn may still be on its stack: its descriptors. */
void spawner_close_slots(struct spawner *spawner);

/* Starts the process. On success writes its id and a pidfd (CLOEXEC, owned by
 * the caller). On failure returns -1, fills *failure, and nothing is left. */
int spawner_spawn(struct spawner *spawner, const struct spawn_plan *plan, pid_t *ret_pid,
	int *ret_pidfd, struct spawn_failure *failure);

/* Starts a process and does not wait for its exec. It has a copy of our descriptors, all signals
 * blocked, and runs in our memory until it executes a program or ends. By then the kernel has
 * cleared *is_running and woken the thread that waits on it (a futex). `run` makes bare calls only.
 * There is one such process at a time, and none with plain_fork. Returns 0 or a negative errno. */
int spawner_start_unwaited(struct spawner *spawner, int (*run)(void *data), void *data,
	_Atomic uint32_t *is_running, pid_t *ret_pid, int *ret_pidfd);

/* The process that runs on a stack between birth and exec. */
enum birth_stack {
	STACK_OF_CHILD,
	STACK_OF_GUIDE,    /* the process that leads a child into a room */
	STACK_OF_INIT,     /* of a room */
	STACK_OF_MIDWIFE,  /* the process that bears an init */
	STACK_OF_NEWCOMER, /* and of its guide: see room_parts.h */
	STACK_OF_UNWAITED, /* of spawner_start_unwaited */
	BIRTH_STACKS,
};

/* Where that stack begins. */
void *spawner_stack(const struct spawner *spawner, enum birth_stack whose);

/* The descriptor that becomes this stream of the child; -1 = ours, as it is. */
int spawn_stdio_source(const struct spawner *spawner, const struct spawn_plan *plan, int fd);

/* "exec", "chdir" … for perch_err's stage. */
const char *spawn_stage_name(enum spawn_stage stage);

/* Turns a failure into a code and words a user understands. Returns the code. */
int spawn_explain(
	const struct spawn_failure *failure, const struct spawn_plan *plan, perch_err *err);

#endif
