/* What a host and the doorkeeper of one of its rooms share: a memory file that both have mapped,
 * with the order that is under way. The doorkeeper is perch-guard in another role: it bears the
 * children of a room that is used again (guard/door.c, proc/room_door.c). */
#ifndef GUARD_DOOR_PAGE_H
#define GUARD_DOOR_PAGE_H

#include <linux/filter.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "guard/bare_calls.h"

/* The argument that makes perch-guard a doorkeeper. */
#define GUARD_KEEP_DOOR "door"

/* The descriptors that it is started with. */
enum {
	DOOR_FD_ORDERS = 0, /* a socket: an order is a byte with a bit for each thing, and these */
	DOOR_FD_PAGE = 1,
	DOOR_FD_HOST = 2, /* a pidfd of the host */
};

enum {
	DOOR_TEXT_MAX = 64 * 1024,
	DOOR_WORDS_MAX = 1024,
	DOOR_LIMITS_MAX = 16,
	DOOR_SEAL_MAX = 16,
};

/* The host's word. A child that is born waits for its order, which comes by the socket. */
enum door_word { DOOR_WAITS, DOOR_BEARS, DOOR_LEAVES };

/* What may come with an order: descriptors, in this order. */
enum door_thing {
	DOOR_STDIN,
	DOOR_STDOUT,
	DOOR_STDERR,
	DOOR_CGROUP,
	DOOR_PROGRAM,
	DOOR_CHANNEL,
	DOOR_LANDLOCK, /* with the first one alone, which bears nobody: the doorkeeper enters it */
	DOOR_THINGS,
};

/* How far a birth is, or where it has failed. */
enum door_stage {
	DOOR_NOWHERE,
	DOOR_AT_BIRTH,
	DOOR_AT_SESSION,
	DOOR_AT_PARENT,
	DOOR_AT_CGROUP,
	DOOR_AT_DESCRIPTORS,
	DOOR_AT_LIMITS,
	DOOR_AT_SECCOMP,
	DOOR_AT_CWD,
	DOOR_AT_TIME,
	DOOR_AT_EXEC,
	DOOR_STAGES,
};

struct door_limit {
	int resource;
	struct bare_limit value;
};

/* Texts are places in `text`; 0 = there is none. */
struct door_page {
	uint32_t layout; /* DOOR_LAYOUT, or else the host is of another version */
	_Atomic uint32_t word;
	_Atomic uint32_t is_unborn; /* not 0 until the newborn is there and waits, or cannot be */
	/* Not 0 while the newborn works with this page: the kernel clears it and wakes the host. */
	_Atomic uint32_t is_awaited;
	_Atomic int32_t pid; /* of the newborn, which the kernel writes; 0 = there is none */
	int32_t error;       /* 0, or an errno at this stage */
	enum door_stage stage;

	int channel; /* the number that DOOR_CHANNEL becomes */
	bool own_session;
	bool dies_with_parent;
	uint64_t until_ns; /* it executes nothing from then on; 0 = at any time */
	uint32_t limit_count;
	struct door_limit limits[DOOR_LIMITS_MAX];
	uint32_t seal_count; /* a filter that each child gets beside the one of the doorkeeper */
	struct sock_filter seal[DOOR_SEAL_MAX];
	uint32_t path;
	uint32_t here; /* its directory is found by these two */
	uint32_t cwd;
	uint32_t argument_count;
	uint32_t word_count; /* the arguments, then the environment */
	uint32_t words[DOOR_WORDS_MAX];
	char text[DOOR_TEXT_MAX];
};

#define DOOR_LAYOUT ((uint32_t)sizeof(struct door_page) ^ 3U)

/* The life of a doorkeeper: returns its exit status. */
int door_keep(void);

#endif
