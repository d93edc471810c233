/* Descriptors that a host caches from one sandbox to the next. */
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

static void dir_cache_empty(struct dir_cache *cache, struct entry *entry)
{
	for (size_t i = 0; i < entry->listing.count; i++) {
		free(entry->listing.items[i].name);
		fd_close(entry->listing.items[i].fd);
	}
	cache->descriptors -= entry->listing.count;
	free(entry->listing.items);
	*entry = (struct entry){ 0 };
}

static void dir_cache_leave(struct host_guest *guest)
{
	struct dir_cache *cache = (struct dir_cache *)guest;
	for (size_t i = 0; i < cache->count; i++)
		dir_cache_empty(cache, &cache->entries[i]);
	free(cache);
}

struct dir_cache *dir_cache_of(perch_host *host)
{
	struct dir_cache *cache = (struct dir_cache *)host_find_guest(host, dir_cache_leave);
	if (cache)
		return cache;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return NULL;
	cache->guest.leave = dir_cache_leave;
	host_add_guest(host, &cache->guest);
	return cache;
}

/* The directory that was asked for longest ago; not one of this round, which a caller is
 * reading. */
static struct entry *dir_cache_oldest(struct dir_cache *cache)
{
	struct entry *found = &cache->entries[0];
	for (size_t i = 1; i < cache->count; i++) {
		if (cache->entries[i].round < found->round)
			found = &cache->entries[i];
	}
	return found->round == cache->round ? NULL : found;
}

static bool dir_cache_make_place_for_item(struct dir_cache *cache)
{
	struct entry *old;
	while (cache->descriptors >= DESCRIPTORS_MAX && (old = dir_cache_oldest(cache))) {
		dir_cache_empty(cache, old);
		old->round = cache->round; /* nothing is left to be taken */
	}
	return cache->descriptors < DESCRIPTORS_MAX;
}

static bool dir_cache_add_item(
	struct dir_cache *cache, struct entry *entry, int directory, const char *name)
{
	_cleanup_fd_ int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return true;
	struct dir_cache_directory *listing = &entry->listing;
	struct dir_cache_item *items = dir_cache_make_place_for_item(cache)
		? vec_grow(listing->items, &entry->cap, listing->count + 1, sizeof(*items))
		: NULL;
	if (!items)
		return false;
	listing->items = items;
	char *copy = str_dup(str_from(name));
	if (!copy)
		return false;
	items[listing->count++] = (struct dir_cache_item){ copy, fd_steal(&fd) };
	cache->descriptors++;
	return true;
}

static bool dir_cache_fill(struct dir_cache *cache, struct entry *entry, int directory)
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
			is_complete = dir_cache_add_item(cache, entry, dirfd(listing), item->d_name);
	}
	closedir(listing);
	return is_complete;
}

void dir_cache_begin(struct dir_cache *cache)
{
	if (cache)
		cache->round++;
}

static struct entry *dir_cache_find(struct dir_cache *cache, const struct stat *info)
{
	for (size_t i = 0; i < cache->count; i++) {
		if (stamp_is_same_file(&cache->entries[i].seen, info))
			return &cache->entries[i];
	}
	return NULL;
}

static struct entry *dir_cache_make_place(struct dir_cache *cache)
{
	bool has_place = cache->count < DIRECTORIES_MAX;
	return has_place ? &cache->entries[cache->count++] : dir_cache_oldest(cache);
}

static void dir_cache_read_anew(
	struct dir_cache *cache, struct entry *entry, int directory, const struct stat *info)
{
	dir_cache_empty(cache, entry);
	entry->round = cache->round;
	bool is_young = !stamp_is_settled(info);
	bool is_too_much = !is_young && !dir_cache_fill(cache, entry, directory);
	if (is_too_much)
		dir_cache_empty(cache, entry);
	entry->round = cache->round;
	entry->seen = *info;
	entry->is_young = is_young;
	entry->is_too_much = is_too_much;
}

const struct dir_cache_directory *dir_cache_get(struct dir_cache *cache, int directory)
{
	struct stat info;
	if (!cache || fstat(directory, &info) < 0)
		return NULL;
	struct entry *entry = dir_cache_find(cache, &info);
	bool is_known = entry &&
		(entry->round == cache->round || (!entry->is_young && stamp_is_same(&entry->seen, &info)));
	if (!entry)
		entry = dir_cache_make_place(cache);
	if (!entry)
		return NULL;
	if (!is_known)
		dir_cache_read_anew(cache, entry, directory, &info);
	entry->round = cache->round;
	return entry->is_young || entry->is_too_much ? NULL : &entry->listing;
}
