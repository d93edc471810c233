/* Names that the kernel watches. Modes and owners of directories are not watched: for a directory
 * the kernel would then tell of every file in it, too. They need not be, because only what we may
 * read and search is watched: a right that is taken away hides more, and the kernel asks for it
 * anyway whenever a process goes there. */
#include "sandbox/reuse/name_watch.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/stamp.h"
#include "base/vec.h"
#include "proc/host.h"
#include "sandbox/reuse/path_record.h"
#include "sandbox/reuse/path_walk.h"

enum {
	WATCH_DIRECTORIES_MAX = 256, /* each holds memory of the kernel's */
	WATCH_NAMES_MAX = 4096,
	WATCH_STAMPS_MAX = 64,
	WATCH_READS_MAX = 64, /* of events that do not matter: more count as a change */
	WATCH_READ_SIZE = 8 * 1024,
	WATCH_XFS_MAGIC = 0x58465342,
};

#define WATCH_EVENTS                                                                       \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | \
		IN_ONLYDIR | IN_DONT_FOLLOW)

/* A directory itself, its file system, or events that were lost. */
#define WATCH_LOSSES (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED | IN_Q_OVERFLOW)

struct name_watch_directory {
	const char *path;
	int number; /* the kernel's */
};

struct name_watch_name {
	int number; /* of its directory */
	const char *name;
};

/* Of what the kernel does not tell: looked at every time. */
struct name_watch_stamp {
	const char *path;
	struct stat seen;
};

struct name_watch {
	struct host_guest guest; /* first: it is found by it */
	pid_t owner;             /* a fork of it shares the events, and must not take them */
	int events;              /* -1 = there are none */
	unsigned long age;
	unsigned long mounts;
	struct arena arena;
	struct name_watch_directory *directories;
	size_t directory_count, directory_cap;
	struct name_watch_name *names;
	size_t name_count, name_cap;
	struct name_watch_stamp stamps[WATCH_STAMPS_MAX];
	size_t stamp_count;
	bool is_last_stamped; /* the directory that was entered last */
};

/* ---- its life ---------------------------------------------------------------------- */

static void name_watch_forget(struct name_watch *watch)
{
	arena_free(&watch->arena);
	free(watch->directories);
	free(watch->names);
	watch->directories = NULL;
	watch->names = NULL;
	watch->directory_count = watch->directory_cap = 0;
	watch->name_count = watch->name_cap = 0;
	watch->stamp_count = 0;
	watch->age++;
}

static void name_watch_leave(struct host_guest *guest)
{
	struct name_watch *watch = (struct name_watch *)guest;
	name_watch_forget(watch);
	fd_close(watch->events);
	free(watch);
}

struct name_watch *name_watch_of(perch_host *host)
{
	struct name_watch *watch = (struct name_watch *)host_find_guest(host, name_watch_leave);
	if (watch)
		return watch;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return NULL;
	watch->guest.leave = name_watch_leave;
	watch->owner = getpid();
	watch->events = -1;
	watch->age = 1;
	host_add_guest(host, &watch->guest);
	return watch;
}

/* ---- what has happened --------------------------------------------------------------- */

static bool name_watch_is_ascii(const char *name)
{
	while (*name && !((unsigned char)*name & 0x80U))
		name++;
	return !*name;
}

/* Some file systems take upper and lower case for the same, and other letters than ASCII's in ways
 * of their own. */
static bool name_watch_may_be(const char *name, const char *other)
{
	return strcasecmp(name, other) == 0 || !name_watch_is_ascii(name) ||
		!name_watch_is_ascii(other);
}

static bool name_watch_matters(const struct name_watch *watch, const struct inotify_event *event)
{
	bool matters = event->mask & WATCH_LOSSES || !event->len;
	for (size_t i = 0; !matters && i < watch->name_count; i++) {
		const struct name_watch_name *watched = &watch->names[i];
		matters = watched->number == event->wd && name_watch_may_be(watched->name, event->name);
	}
	return matters;
}

/* Whether one of these events matters. */
static bool name_watch_look_through(const struct name_watch *watch, const char *bytes, size_t len)
{
	const struct inotify_event *event;
	bool matters = false;
	for (size_t at = 0; !matters && at < len; at += sizeof(*event) + event->len) {
		event = (const struct inotify_event *)(const void *)(bytes + at);
		matters = name_watch_matters(watch, event);
	}
	return matters;
}

/* Takes all events. */
static bool name_watch_has_event(const struct name_watch *watch)
{
	_Alignas(struct inotify_event) char bytes[WATCH_READ_SIZE];
	bool has_one = false;
	for (int reads = 0; reads < WATCH_READS_MAX; reads++) {
		ssize_t n = read(watch->events, bytes, sizeof(bytes));
		if (n < 0 && errno == EAGAIN)
			return has_one;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		has_one = has_one || name_watch_look_through(watch, bytes, (size_t)n);
	}
	return true;
}

static bool name_watch_has_other_stamp(const struct name_watch *watch)
{
	struct stat now;
	bool has_other = false;
	for (size_t i = 0; !has_other && i < watch->stamp_count; i++)
		has_other = stat(watch->stamps[i].path, &now) < 0 ||
			!stamp_is_unchanged(&now, &watch->stamps[i].seen);
	return has_other;
}

static void name_watch_stop(struct name_watch *watch)
{
	for (size_t i = 0; i < watch->directory_count; i++)
		inotify_rm_watch(watch->events, watch->directories[i].number);
	name_watch_forget(watch);
	if (watch->events >= 0)
		name_watch_has_event(watch); /* that they are not watched any more */
}

/* The events are our parent's. */
static void name_watch_become_own(struct name_watch *watch)
{
	watch->events = fd_close(watch->events);
	watch->owner = getpid();
	name_watch_forget(watch);
}

unsigned long name_watch_age(struct name_watch *watch, unsigned long mounts)
{
	if (watch->owner != getpid())
		name_watch_become_own(watch);
	bool is_watching = watch->directory_count || watch->stamp_count;
	if (is_watching &&
		(watch->mounts != mounts || (watch->events >= 0 && name_watch_has_event(watch)) ||
			name_watch_has_other_stamp(watch)))
		name_watch_stop(watch);
	watch->mounts = mounts;
	return watch->age;
}

void name_watch_rest(struct name_watch *watch)
{
	if (watch->owner != getpid())
		name_watch_become_own(watch);
	name_watch_stop(watch);
}

/* ---- what is watched ------------------------------------------------------------------ */

/* File systems whose names are changed by this kernel alone, which tells of every change. What lies
 * below an overlay can be changed behind its back. */
static bool name_watch_is_told_of(const char *directory)
{
	struct statfs info;
	if (statfs(directory, &info) < 0 || path_record_has_encrypted_names(directory))
		return false;
	switch ((unsigned)info.f_type) {
	case EXT4_SUPER_MAGIC:
	case WATCH_XFS_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case TMPFS_MAGIC:
		return true;
	default:
		return false;
	}
}

static const struct name_watch_directory *name_watch_find(
	const struct name_watch *watch, const char *path)
{
	for (size_t i = 0; i < watch->directory_count; i++) {
		if (strcmp(watch->directories[i].path, path) == 0)
			return &watch->directories[i];
	}
	return NULL;
}

static bool name_watch_open(struct name_watch *watch)
{
	if (watch->events < 0)
		watch->events = fd_above_stdio(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
	return watch->events >= 0;
}

static const struct name_watch_directory *name_watch_add_directory(
	struct name_watch *watch, const char *path)
{
	const struct name_watch_directory *known = name_watch_find(watch, path);
	if (known || watch->directory_count == WATCH_DIRECTORIES_MAX || !name_watch_is_told_of(path) ||
		!name_watch_open(watch))
		return known;
	int number = inotify_add_watch(watch->events, path, WATCH_EVENTS);
	if (number < 0)
		return NULL;
	struct name_watch_directory *directories = vec_grow(watch->directories, &watch->directory_cap,
		watch->directory_count + 1, sizeof(*directories));
	const char *kept = arena_dup(&watch->arena, str_from(path));
	if (directories)
		watch->directories = directories;
	if (!directories || !kept) {
		inotify_rm_watch(watch->events, number); /* it may have another name, too: that is told */
		return NULL;
	}
	directories[watch->directory_count] = (struct name_watch_directory){ kept, number };
	return &directories[watch->directory_count++];
}

/* Here or not at all: a directory that we may not read, or whose changes the kernel dates and does
 * not tell. */
static bool name_watch_add_stamp(struct name_watch *watch, const char *path)
{
	for (size_t i = 0; i < watch->stamp_count; i++) {
		if (strcmp(watch->stamps[i].path, path) == 0)
			return true;
	}
	struct name_watch_stamp stamp;
	if (watch->stamp_count == WATCH_STAMPS_MAX || stat(path, &stamp.seen) < 0 ||
		!stamp_is_settled(&stamp.seen))
		return false;
	stamp.path = arena_dup(&watch->arena, str_from(path));
	if (stamp.path)
		watch->stamps[watch->stamp_count++] = stamp;
	return stamp.path != NULL;
}

static bool name_watch_has_name(const struct name_watch *watch, int number, const char *name)
{
	bool has = false;
	for (size_t i = 0; !has && i < watch->name_count; i++)
		has = watch->names[i].number == number && strcmp(watch->names[i].name, name) == 0;
	return has;
}

static bool name_watch_add_name(struct name_watch *watch, int number, const char *name)
{
	if (name_watch_has_name(watch, number, name))
		return true;
	if (watch->name_count == WATCH_NAMES_MAX)
		return false;
	struct name_watch_name *names =
		vec_grow(watch->names, &watch->name_cap, watch->name_count + 1, sizeof(*names));
	const char *kept = arena_dup(&watch->arena, str_from(name));
	if (names)
		watch->names = names;
	if (!names || !kept)
		return false;
	names[watch->name_count++] = (struct name_watch_name){ number, kept };
	return true;
}

static bool name_watch_enter(void *data, const char *directory, const char *name)
{
	struct name_watch *watch = data;
	const struct name_watch_directory *found = name_watch_add_directory(watch, directory);
	watch->is_last_stamped =
		!found && path_record_dates_changes(directory) && name_watch_add_stamp(watch, directory);
	return found ? name_watch_add_name(watch, found->number, name) : watch->is_last_stamped;
}

static bool name_watch_knows(void *data, const char *path)
{
	return name_watch_find(data, path);
}

/* What we may not look at in a directory, nobody with our rights can, as long as it is dated so. */
bool name_watch_add(struct name_watch *watch, const char *path)
{
	const struct path_walker walker = { name_watch_enter, name_watch_knows, watch };
	int r = path_walk(path, &walker);
	return r == 0 || (r == -EACCES && watch->is_last_stamped);
}

bool name_watch_add_contents(struct name_watch *watch, const char *path)
{
	return name_watch_add(watch, path) && name_watch_add_stamp(watch, path);
}
