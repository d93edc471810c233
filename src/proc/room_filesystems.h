/* The file systems that what is put over paths in a room is a part of. In the room's first
 * process: system calls only, see birth.h. All return 0 or an errno. */
#ifndef PROC_ROOM_FILESYSTEMS_H
#define PROC_ROOM_FILESYSTEMS_H

#include "proc/furnish.h"

/* An empty file in the void; the other names there are numbers. */
extern const char room_fs_void_file[];

/* Makes those that are needed, and puts them where nobody will see them. */
int room_fs_open(struct furnishing *furnishing);

/* Does something to each of them that there is. */
int room_fs_each(const struct furnishing *furnishing, int (*act)(int filesystem));

/* For room_fs_each: what lies below the room's /proc goes below its root instead; can be changed
 * although nothing else can; goes away, where nothing covers it: that waits for every processor. */
int room_fs_move_to_root(int filesystem);
int room_fs_make_writable(int filesystem);
int room_fs_take_away(int filesystem);

/* What lies over hidden paths stays, and cannot be changed any more. */
int room_fs_seal_void(const struct furnishing *furnishing);

#endif
