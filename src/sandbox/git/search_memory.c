/* What a walk has seen. */
#include "sandbox/git/search_memory.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/macros.h"
#include "base/stamp.h"
#include "base/vec.h"

/* A process that fills a directory must not make us compare each name with each. */
enum { FIND_STEPS = 16 };

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* File systems of this machine alone: the times that a server or a user's program reports are not
 * relied on. */
static const struct {
	unsigned long magic;
	bool counts_links;
} known_systems[] = {
	{ EXT4_SUPER_MAGIC, true }, /* and ext2, ext3 */
	{ XFS_SUPER_MAGIC, true },
	{ TMPFS_MAGIC, true },
	{ BTRFS_SUPER_MAGIC, false },
	{ OVERLAYFS_SUPER_MAGIC, false },
};

void search_file_system_ask(struct search_file_system *system, int fd, dev_t device)
{
	struct statfs info;
	if (system->is_known && system->device == device)
		return;
	*system = (struct search_file_system){ .device = device, .is_known = true };
	if (fstatfs(fd, &info) < 0)
		return;
	for (size_t i = 0; i < COUNT(known_systems); i++) {
		if ((unsigned long)info.f_type != known_systems[i].magic)
			continue;
		system->has_times = true;
		system->counts_links = known_systems[i].counts_links;
	}
}

bool search_file_system_is_leaf(const struct search_file_system *system, const struct stat *info)
{
	return system->is_known && system->counts_links && system->device == info->st_dev &&
		info->st_nlink == 2;
}

struct search_directory *search_notes_at(struct search_notes *notes, size_t number)
{
	size_t need = number + 1;
	struct search_directory *items = vec_grow(notes->items, &notes->cap, need, sizeof(*items));
	if (!items)
		return NULL;
	notes->items = items;
	if (need > notes->count) {
		memset(items + notes->count, 0, (need - notes->count) * sizeof(*items));
		notes->count = need;
	}
	return &items[number];
}

void search_memory_note(struct search_directory *directory, const struct stat *info,
	const struct search_file_system *system, time_t began)
{
	directory->device = info->st_dev;
	directory->inode = info->st_ino;
	directory->changed = info->st_ctim;
	directory->is_settled = system->is_known && system->device == info->st_dev &&
		system->has_times && stamp_is_settled_at(info, began);
}

/* By the time of change, which no process can set. */
bool search_memory_holds(const struct search_directory *directory, const struct stat *info)
{
	return directory->is_settled && directory->device == info->st_dev &&
		directory->inode == info->st_ino && stamp_is_time(directory->changed, info->st_ctim);
}

size_t search_memory_find(
	const struct search_memory *memory, size_t holder, const char *name, size_t *at)
{
	const struct search_directory *directory = &memory->directories[holder];
	for (size_t i = 0; i < FIND_STEPS && i < directory->count; i++) {
		size_t place = (*at + i) % directory->count;
		size_t number = directory->first + place;
		if (strcmp(memory->directories[number].name, name) != 0)
			continue;
		*at = place + 1;
		return number;
	}
	return 0;
}
