/* Descriptors that a host keeps from one sandbox to the next. */
#include "sandbox/shelf.h"

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
	struct shelf_directory listing;
	size_t cap;
	struct stat seen;    /* the directory, when it was read */
	unsigned long round; /* when it was last compared */
	bool is_young;       /* it may change again without showing it */
	bool is_too_much;    /* to be kept */
};

struct shelf {
	struct host_guest guest; /* first: it is found by it */
	struct entry entries[DIRECTORIES_MAX];
	size_t count;
	size_t descriptors;
	unsigned long round;
};

static void empty(struct shelf *shelf, struct entry *entry)
{
	for (size_t i = 0; i < entry->listing.count; i++) {
		free(entry->listing.items[i].name);
		fd_close(entry->listing.items[i].fd);
	}
	shelf->descriptors -= entry->listing.count;
	free(entry->listing.items);
	*entry = (struct entry){ 0 };
}

static void free_shelf(struct host_guest *guest)
{
	struct shelf *shelf = (struct shelf *)guest;
	for (size_t i = 0; i < shelf->count; i++)
		empty(shelf, &shelf->entries[i]);
	free(shelf);
}

struct shelf *shelf_of(perch_host *host)
{
	struct shelf *shelf = (struct shelf *)host_find_guest(host, free_shelf);
	if (shelf)
		return shelf;
	shelf = calloc(1, sizeof(*shelf));
	if (!shelf)
		return NULL;
	shelf->guest.leave = free_shelf;
	host_add_guest(host, &shelf->guest);
	return shelf;
}

/* The one that nobody has asked for the longest time; not one of this round, which somebody is
 * looking at. */
static struct entry *oldest(struct shelf *shelf)
{
	struct entry *found = &shelf->entries[0];
	for (size_t i = 1; i < shelf->count; i++) {
		if (shelf->entries[i].round < found->round)
			found = &shelf->entries[i];
	}
	return found->round == shelf->round ? NULL : found;
}

static bool make_place_for_item(struct shelf *shelf)
{
	struct entry *old;
	while (shelf->descriptors >= DESCRIPTORS_MAX && (old = oldest(shelf))) {
		empty(shelf, old);
		old->round = shelf->round; /* nothing is left to be taken */
	}
	return shelf->descriptors < DESCRIPTORS_MAX;
}

static bool add_item(struct shelf *shelf, struct entry *entry, int directory, const char *name)
{
	_cleanup_fd_ int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return true;
	struct shelf_directory *listing = &entry->listing;
	struct shelf_item *items = make_place_for_item(shelf)
		? vec_grow(listing->items, &entry->cap, listing->count + 1, sizeof(*items))
		: NULL;
	if (!items)
		return false;
	listing->items = items;
	char *kept = str_dup(str_from(name));
	if (!kept)
		return false;
	items[listing->count++] = (struct shelf_item){ kept, fd_steal(&fd) };
	shelf->descriptors++;
	return true;
}

static bool fill(struct shelf *shelf, struct entry *entry, int directory)
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
			is_complete = add_item(shelf, entry, dirfd(listing), item->d_name);
	}
	closedir(listing);
	return is_complete;
}

void shelf_begin(struct shelf *shelf)
{
	if (shelf)
		shelf->round++;
}

static struct entry *find(struct shelf *shelf, const struct stat *info)
{
	for (size_t i = 0; i < shelf->count; i++) {
		if (stamp_is_same_file(&shelf->entries[i].seen, info))
			return &shelf->entries[i];
	}
	return NULL;
}

static struct entry *make_place(struct shelf *shelf)
{
	bool has_place = shelf->count < DIRECTORIES_MAX;
	return has_place ? &shelf->entries[shelf->count++] : oldest(shelf);
}

static void read_anew(
	struct shelf *shelf, struct entry *entry, int directory, const struct stat *info)
{
	empty(shelf, entry);
	entry->round = shelf->round;
	bool is_young = !stamp_is_settled(info);
	bool is_too_much = !is_young && !fill(shelf, entry, directory);
	if (is_too_much)
		empty(shelf, entry);
	entry->round = shelf->round;
	entry->seen = *info;
	entry->is_young = is_young;
	entry->is_too_much = is_too_much;
}

const struct shelf_directory *shelf_get(struct shelf *shelf, int directory)
{
	struct stat info;
	if (!shelf || fstat(directory, &info) < 0)
		return NULL;
	struct entry *entry = find(shelf, &info);
	bool is_known = entry &&
		(entry->round == shelf->round || (!entry->is_young && stamp_is_same(&entry->seen, &info)));
	if (!entry)
		entry = make_place(shelf);
	if (!entry)
		return NULL;
	if (!is_known)
		read_anew(shelf, entry, directory, &info);
	entry->round = shelf->round;
	return entry->is_young || entry->is_too_much ? NULL : &entry->listing;
}
