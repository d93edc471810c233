/* What the host and perch-guard share: a table of what to kill and to restore, in a memory
 * file that both have mapped. The host writes to it without waking the guard,
 * which looks at it only when the host has died. */
#ifndef GUARD_GUARD_TABLE_H
#define GUARD_GUARD_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

/* How many children one host can have guarded at once. */
enum { GUARD_SLOTS = 65536 };

/* The modes of a terminal as the kernel has them (TCGETS); more than there are. */
struct guard_modes {
	uint32_t words[16];
};

/* The first of them are flags, on every machine: by these a raw terminal is known. */
enum {
	GUARD_MODES_INPUT,
	GUARD_MODES_OUTPUT,
	GUARD_MODES_CONTROL,
	GUARD_MODES_LOCAL,
	GUARD_MODES_COMPARED,
};

/* A terminal that the host makes raw for a while. */
struct guard_terminal {
	_Atomic int32_t is_raw; /* or is about to be */
	char path[64];
	struct guard_modes found;
	struct guard_modes raw; /* its flags */
	char restoring[32];     /* what is written to it behind that */
};

/* 0 = free; > 0 = the id of a process group; < 0 = minus the id of one
 * process. A child enters itself before it gives up the host's descriptors. The mark is that of
 * the host, by which the trees of its children are known (guard/mark.h); 0 = they are not. */
struct guard_table {
	_Atomic int32_t slots[GUARD_SLOTS];
	_Atomic uint64_t mark;
	struct guard_terminal terminal;
};

/* The argument that makes perch-guard the init of a room (see proc/room.h)
 * instead, without a table. */
#define GUARD_KEEP_ROOM "room"

/* The descriptors that perch-guard is started with. */
enum {
	GUARD_FD_LIFELINE = 0, /* a pipe whose other end the host holds: EOF = it is gone */
	GUARD_FD_TABLE = 1,
	GUARD_FD_HOST = 2, /* a pidfd of the host: sees its death even while a fork of it
						  still holds the pipe */
};

#endif
