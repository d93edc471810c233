/* A walk through directories that other processes have filled. */
#include "sandbox/git/repository_search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/macros.h"
#include "base/stamp.h"
#include "base/str.h"
#include "base/vec.h"
#include "sandbox/git/search_memory.h"

enum {
	LISTING_SIZE = 8192,
	WAITING_MORE = 256, /* than will have a turn: some are gone by then, or not looked into */
};

struct search {
	struct search_budget *budget;
	const char *root;
	search_fn *look;
	void *data;
	time_t began;
	struct search_queue queue;
	int above; /* open: what holds those whose turn it is; a negative errno */
	size_t above_of;
	struct search_file_system system;
	const struct search_memory *memory; /* of an earlier walk, or NULL */
	bool is_kept;                       /* what is seen goes into `seen`, as to its number */
	struct search_notes seen;
	_Alignas(struct dirent64) char listing[LISTING_SIZE];
};

/* A directory whose turn it is. */
struct visit {
	size_t node;
	const char *path;
	int above; /* what holds it, open; then its name there */
	const char *name;
	const struct search_directory *known; /* as an earlier walk has seen it, or NULL */
	struct stat info;
	unsigned names;
	bool is_short; /* directories in it were left out */
	bool is_whole; /* all names in it are known */
};

static const struct {
	const char *name;
	unsigned bit;
} known_names[] = {
	{ ".git", SEARCH_DOT_GIT },
	{ "HEAD", SEARCH_HEAD },
	{ "objects", SEARCH_OBJECTS },
	{ "refs", SEARCH_REFS },
	{ "commondir", SEARCH_COMMONDIR },
};

enum { KNOWN_NAMES = COUNT(known_names) };

/* File systems of the kernel hold no project, and reading them may take long. */
static const char *const not_searched[] = { "/proc", "/sys", "/dev", NULL };

bool search_is_git(unsigned names)
{
	const unsigned own = SEARCH_HEAD | SEARCH_OBJECTS | SEARCH_REFS;
	const unsigned shared = SEARCH_HEAD | SEARCH_COMMONDIR;
	return (names & own) == own || (names & shared) == shared;
}

static unsigned repository_search_bit_of(const char *name)
{
	for (size_t i = 0; i < KNOWN_NAMES; i++) {
		if (strcmp(name, known_names[i].name) == 0)
			return known_names[i].bit;
	}
	return 0;
}

/* ---- the names in one --------------------------------------------------------------- */

/* One name; a directory, or what may be one, waits for its turn behind the others. */
static int repository_search_take(
	struct search *search, struct visit *visit, const struct dirent64 *item, size_t *at)
{
	if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
		return 0;
	unsigned bit = repository_search_bit_of(item->d_name);
	bool may_be_one = item->d_type == DT_DIR || item->d_type == DT_UNKNOWN;
	visit->names |= bit;
	search->budget->names--;
	if (!may_be_one || bit == SEARCH_DOT_GIT)
		return 0;
	if (search->queue.count - visit->node >= search->budget->directories + WAITING_MORE) {
		search->budget->is_cut = visit->is_short = true;
		return 0;
	}
	size_t known = visit->known
		? search_memory_find(search->memory, (size_t)(visit->known - search->memory->directories),
			  item->d_name, at)
		: 0;
	return search_queue_add(&search->queue, visit->node, item->d_name, known);
}

/* Reads the names. Not by a DIR: that takes twice as many system calls, and they are what a search
 * costs. */
static int repository_search_list(struct search *search, struct visit *visit, int fd)
{
	ssize_t len = 0;
	size_t at = 0;
	int r = 0;
	while (r == 0 && (len = getdents64(fd, search->listing, sizeof(search->listing))) > 0) {
		for (ssize_t read = 0; r == 0 && read < len;) {
			const struct dirent64 *item = (const struct dirent64 *)(search->listing + read);
			if (!search->budget->names) {
				search->budget->is_cut = true;
				return 0;
			}
			r = repository_search_take(search, visit, item, &at);
			read += item->d_reclen;
		}
	}
	visit->is_whole = len == 0 && !visit->is_short;
	return r;
}

/* ---- what is in one --------------------------------------------------------------------- */

static int repository_search_open_at(int above, const char *name, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, above, name, &how, sizeof(how));
	return fd < 0 ? -errno : fd_above_stdio(fd);
}

/* A lack of memory or descriptors must not look like a missing file. */
static bool repository_search_is_our_fault(int error)
{
	return error == -ENOMEM || error == -EMFILE || error == -ENFILE;
}

/* A directory of our own user that cannot be listed was left out: a process can still enter it. */
static int repository_search_read(struct search *search, struct visit *visit)
{
	_cleanup_fd_ int fd =
		repository_search_open_at(visit->above, visit->name, O_RDONLY | O_NONBLOCK);
	if (fd == -EACCES && visit->info.st_uid == geteuid())
		search->budget->is_cut = true;
	if (fd < 0)
		return repository_search_is_our_fault(fd) ? fd : -ENOENT;
	search_file_system_ask(&search->system, fd, visit->info.st_dev);
	return repository_search_list(search, visit, fd);
}

/* As an earlier walk has seen it. */
static int repository_search_recall(struct search *search, struct visit *visit)
{
	const struct search_directory *known = visit->known;
	int r = 0;
	visit->names = known->names;
	visit->is_whole = true;
	for (size_t i = 0; r == 0 && i < known->count; i++) {
		size_t number = known->first + i;
		const char *name = search->memory->directories[number].name;
		r = search_queue_add(&search->queue, visit->node, name, number);
	}
	return r;
}

/* Whether "directory/name" is not there for sure. */
static bool repository_search_lacks(const struct visit *visit, const char *name)
{
	char path[NAME_MAX + 16];
	struct stat info;
	size_t len = strlen(visit->name);
	if (len + 1 + strlen(name) >= sizeof(path))
		return false;
	memcpy(path, visit->name, len);
	path[len] = '/';
	strcpy(path + len + 1, name);
	return fstatat(visit->above, path, &info, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

/* Where a directory holds no other one, two questions take a quarter of the time of a listing.
 * Without a HEAD it is not git's. */
static bool repository_search_is_empty(const struct search *search, const struct visit *visit)
{
	return search_file_system_is_leaf(&search->system, &visit->info) &&
		repository_search_lacks(visit, ".git") && repository_search_lacks(visit, "HEAD");
}

static int repository_search_see(struct search *search, struct visit *visit)
{
	if (visit->known && search_memory_holds(visit->known, &visit->info))
		return repository_search_recall(search, visit);
	if (visit->node && repository_search_is_empty(search, visit)) {
		visit->is_whole = true;
		return 0;
	}
	return repository_search_read(search, visit);
}

/* ---- keeping what was seen ----------------------------------------------------------------- */

static int repository_search_note(struct search *search, const struct visit *visit, size_t first)
{
	struct search_directory *one = search_notes_at(&search->seen, visit->node);
	if (!one)
		return -ENOMEM;
	search_memory_note(one, &visit->info, &search->system, search->began);
	one->is_settled &= visit->is_whole;
	one->names = visit->names;
	one->first = first + 1; /* behind the root */
	one->count = search->queue.count - first;
	return 0;
}

/* Every directory that waited has a place, also one that had no turn. */
static int repository_search_keep(
	const struct search *search, struct arena *arena, const struct search_memory **ret_memory)
{
	const struct search_queue *queue = &search->queue;
	size_t count = queue->count + 1;
	struct search_memory *memory = arena_alloc(arena, sizeof(*memory));
	struct search_directory *all = arena_alloc(arena, count * sizeof(*all));
	const char *names = arena_dup(arena, (struct str){ queue->names.data, queue->names.len });
	if (!memory || !all || !names)
		return -ENOMEM;
	memset(all, 0, count * sizeof(*all));
	if (search->seen.count)
		memcpy(all, search->seen.items, search->seen.count * sizeof(*all));
	for (size_t i = 1; i < count; i++)
		all[i].name = names + queue->nodes[i - 1].name;
	*memory = (struct search_memory){ all, count };
	*ret_memory = memory;
	return 0;
}

/* ---- the walk ------------------------------------------------------------------------ */

/* Directories with the same holder follow each other: the holder is opened once for them all. */
static int repository_search_go_to(struct search *search, struct visit *visit)
{
	const struct search_node *node = &search->queue.nodes[visit->node - 1];
	visit->name = search->queue.names.data + node->name;
	if (search->memory && node->known)
		visit->known = &search->memory->directories[node->known];
	if (search->above_of != node->holder) {
		char buffer[PATH_MAX];
		const char *path = search_queue_path(&search->queue, search->root, node->holder, buffer);
		fd_close(search->above);
		search->above = path ? repository_search_open_at(AT_FDCWD, path, O_PATH) : -ENAMETOOLONG;
		search->above_of = node->holder;
	}
	visit->above = search->above;
	return search->above < 0 ? search->above : 0;
}

/* Its own directory, and not the target of a link. -ENOENT where it is missing, or may not be
 * opened by us. */
static int repository_search_find(struct search *search, struct visit *visit)
{
	int r = 0;
	if (list_has(not_searched, visit->path))
		return -ENOENT;
	if (visit->node)
		r = repository_search_go_to(search, visit);
	if (r == 0 &&
		fstatat(visit->above, visit->name, &visit->info, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		r = -errno;
	if (r < 0)
		return repository_search_is_our_fault(r) ? r : -ENOENT;
	return S_ISDIR(visit->info.st_mode) ? 0 : -ENOENT;
}

static int repository_search_look(struct search *search, size_t node)
{
	char buffer[PATH_MAX];
	size_t count = search->queue.count;
	size_t len = search->queue.names.len;
	struct visit visit = { .node = node, .above = AT_FDCWD, .name = search->root };
	visit.path = search_queue_path(&search->queue, search->root, node, buffer);
	if (!visit.path || !search->budget->directories) {
		search->budget->is_cut = true;
		return 0;
	}
	if (!node && search->memory)
		visit.known = search->memory->directories;
	int r = repository_search_find(search, &visit);
	if (r == 0)
		r = repository_search_see(search, &visit);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	search->budget->directories--;
	r = search->look(search->data, visit.path, visit.names);
	if (r == 0) {
		visit.is_whole = false;
		search->queue.count = count;
		search->queue.names.len = len;
	}
	if (r >= 0 && search->is_kept)
		r = repository_search_note(search, &visit, count);
	return r < 0 ? r : 0;
}

static int repository_search_run(struct search *search)
{
	struct search_budget *budget = search->budget;
	search->above = -1;
	search->above_of = SIZE_MAX;
	search->began = stamp_now();
	int r = repository_search_look(search, 0);
	for (size_t node = 1; r == 0 && node <= search->queue.count; node++) {
		r = repository_search_look(search, node);
		if (!budget->directories && node < search->queue.count)
			budget->is_cut = true;
		if (!budget->directories)
			break;
	}
	fd_close(search->above);
	return r;
}

static void repository_search_free(struct search *search)
{
	search_queue_free(&search->queue);
	free(search->seen.items);
}

int search_run(struct search_budget *budget, const char *root, search_fn *look, void *data,
	const struct search_memory *memory)
{
	struct search search = {
		.budget = budget, .root = root, .look = look, .data = data, .memory = memory
	};
	int r = repository_search_run(&search);
	repository_search_free(&search);
	return r;
}

int search_run_first(struct search_budget *budget, const char *root, search_fn *look, void *data,
	struct arena *arena, const struct search_memory **ret_memory)
{
	struct search search = {
		.budget = budget, .root = root, .look = look, .data = data, .is_kept = true
	};
	int r = repository_search_run(&search);
	if (r == 0)
		r = repository_search_keep(&search, arena, ret_memory);
	repository_search_free(&search);
	return r;
}
