/* Descriptors that a host keeps from one sandbox to the next. */
#include "sandbox/reuse/dir_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/stamp.h"
#include "base/vec.h"
#include "proc/host.h"

enum {
	DIRECTORIES_MAX = 32,
	DESCRIPTORS_MAX = 384, /* of a host's; the usual limit is 1024 */
};

struct entry {
	struct dir_cache_directory listing;
	size_t cap;
	struct stat seen;    /* the directory, when it was read */
	unsigned long round; /* when it was last compared */
	bool is_young;       /* it may change again without showing it */
	bool is_too_much;    /* to be kept */
};

struct dir_cache {
	struct host_guest guest; /* first: it is found by it */
	struct entry entries[DIRECTORIES_MAX];
	size_t count;
	size_t descriptors;
	unsigned long round;
};

static void dir_cache_empty(struct dir_cache *dir_cache, struct entry *entry)
{
	for (size_t i = 0; i < entry->listing.count; i++) {
		free(entry->listing.items[i].name);
		fd_close(entry->listing.items[i].fd);
	}
	dir_cache->descriptors -= entry->listing.count;
	free(entry->listing.items);
	*entry = (struct entry){ 0 };
}

static void dir_cache_leave(struct host_guest *guest)
{
	struct dir_cache *dir_cache = (struct dir_cache *)guest;
	for (size_t i = 0; i < dir_cache->count; i++)
		dir_cache_empty(dir_cache, &dir_cache->entries[i]);
	free(dir_cache);
}

struct dir_cache *dir_cache_of(perch_host *host)
{
	struct dir_cache *dir_cache = (struct dir_cache *)host_find_guest(host, dir_cache_leave);
	if (dir_cache)
		return dir_cache;
	dir_cache = calloc(1, sizeof(*dir_cache));
	if (!dir_cache)
		return NULL;
	dir_cache->guest.leave = dir_cache_leave;
	host_add_guest(host, &dir_cache->guest);
	return dir_cache;
}

/* The one that nobody has asked for the longest time; not one of this round, which somebody is
 * looking at. */
static struct entry *dir_cache_oldest(struct dir_cache *dir_cache)
{
	struct entry *found = &dir_cache->entries[0];
	for (size_t i = 1; i < dir_cache->count; i++) {
		if (dir_cache->entries[i].round < found->round)
			found = &dir_cache->entries[i];
	}
	return found->round == dir_cache->round ? NULL : found;
}

static bool dir_cache_make_place_for_item(struct dir_cache *dir_cache)
{
	struct entry *old;
	while (dir_cache->descriptors >= DESCRIPTORS_MAX && (old = dir_cache_oldest(dir_cache))) {
		dir_cache_empty(dir_cache, old);
		old->round = dir_cache->round; /* nothing is left to be taken */
	}
	return dir_cache->descriptors < DESCRIPTORS_MAX;
}

static bool dir_cache_add_item(
	struct dir_cache *dir_cache, struct entry *entry, int directory, const char *name)
{
	_cleanup_fd_ int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return true;
	struct dir_cache_directory *listing = &entry->listing;
	struct dir_cache_item *items = dir_cache_make_place_for_item(dir_cache)
		? vec_grow(listing->items, &entry->cap, listing->count + 1, sizeof(*items))
		: NULL;
	if (!items)
		return false;
	listing->items = items;
	char *copy = str_dup(str_from(name));
	if (!copy)
		return false;
	items[listing->count++] = (struct dir_cache_item){ copy, fd_steal(&fd) };
	dir_cache->descriptors++;
	return true;
}

static bool dir_cache_fill(struct dir_cache *dir_cache, struct entry *entry, int directory)
{
	int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	if (!listing) {
		fd_close(fd);
		return false;
	}
	bool is_complete = true;
	const struct dirent *item;
	while (is_complete && (item = readdir(listing))) {
		bool counts = strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0 &&
			item->d_type != DT_LNK;
		if (counts)
			is_complete = dir_cache_add_item(dir_cache, entry, dirfd(listing), item->d_name);
	}
	closedir(listing);
	return is_complete;
}

void dir_cache_begin(struct dir_cache *dir_cache)
{
	if (dir_cache)
		dir_cache->round++;
}

static struct entry *dir_cache_find(struct dir_cache *dir_cache, const struct stat *info)
{
	for (size_t i = 0; i < dir_cache->count; i++) {
		if (stamp_is_same_file(&dir_cache->entries[i].seen, info))
			return &dir_cache->entries[i];
	}
	return NULL;
}

static struct entry *dir_cache_make_place(struct dir_cache *dir_cache)
{
	bool has_place = dir_cache->count < DIRECTORIES_MAX;
	return has_place ? &dir_cache->entries[dir_cache->count++] : dir_cache_oldest(dir_cache);
}

static void dir_cache_read_anew(
	struct dir_cache *dir_cache, struct entry *entry, int directory, const struct stat *info)
{
	dir_cache_empty(dir_cache, entry);
	entry->round = dir_cache->round;
	bool is_young = !stamp_is_settled(info);
	bool is_too_much = !is_young && !dir_cache_fill(dir_cache, entry, directory);
	if (is_too_much)
		dir_cache_empty(dir_cache, entry);
	entry->round = dir_cache->round;
	entry->seen = *info;
	entry->is_young = is_young;
	entry->is_too_much = is_too_much;
}

const struct dir_cache_directory *dir_cache_get(struct dir_cache *dir_cache, int directory)
{
	struct stat info;
	if (!dir_cache || fstat(directory, &info) < 0)
		return NULL;
	struct entry *entry = dir_cache_find(dir_cache, &info);
	bool is_known = entry &&
		(entry->round == dir_cache->round ||
			(!entry->is_young && stamp_is_same(&entry->seen, &info)));
	if (!entry)
		entry = dir_cache_make_place(dir_cache);
	if (!entry)
		return NULL;
	if (!is_known)
		dir_cache_read_anew(dir_cache, entry, directory, &info);
	entry->round = dir_cache->round;
	return entry->is_young || entry->is_too_much ? NULL : &entry->listing;
}
