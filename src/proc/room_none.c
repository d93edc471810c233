/* A stand-in for room.c: there are no rooms here. To be removed with its line in
 * src/meson.build as soon as there are. */
#include <errno.h>

#include "base/err.h"
#include "proc/room.h"

int room_open(perch_host *host, const struct room_mount *mounts, size_t count,
	struct room **ret_room, perch_err *err)
{
	(void)host;
	(void)mounts;
	(void)count;
	(void)ret_room;
	return err_set(err, PERCH_ESANDBOX, "rooms are not built yet");
}

bool room_has_own_proc(const struct room *room)
{
	(void)room;
	return false;
}

int room_root(const struct room *room)
{
	(void)room;
	return -ENOSYS;
}

void room_close(struct room *room)
{
	(void)room;
}
