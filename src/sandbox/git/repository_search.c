/* A walk through directories that somebody else has filled. A directory that waits for its turn is
 * a name and the number of the one that holds it, so that the longest paths take no more memory
 * than the names in them. */
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
#include "base/str.h"
#include "base/vec.h"

struct node {
	uint32_t holder; /* its number, counted from 1; 0 = the root holds it */
	uint32_t name;   /* where it begins in `names` */
};

enum { LISTING_SIZE = 8192 };

struct search {
	struct search_budget *budget;
	const char *root;
	struct node *nodes;
	size_t count;
	size_t cap;
	struct buf names;
	_Alignas(struct dirent64) char listing[LISTING_SIZE];
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

/* What the kernel makes up is nobody's project, and asking about it may take long. */
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

/* The path of a node (counted from 1; 0 = the root), written from its end. NULL: it is too long
 * to be opened by anybody. */
static const char *repository_search_path(
	const struct search *search, size_t node, char out[PATH_MAX])
{
	char *at = out + PATH_MAX - 1;
	*at = '\0';
	while (node) {
		const struct node *one = &search->nodes[node - 1];
		const char *name = search->names.data + one->name;
		size_t len = strlen(name);
		if ((size_t)(at - out) < len + 1)
			return NULL;
		at -= len;
		memcpy(at, name, len);
		*--at = '/';
		node = one->holder;
	}
	size_t len = strcmp(search->root, "/") == 0 ? 0 : strlen(search->root);
	if ((size_t)(at - out) < len)
		return NULL;
	at -= len;
	memcpy(at, search->root, len);
	return *at ? at : "/";
}

static int repository_search_add(struct search *search, size_t holder, const char *name)
{
	struct node *nodes =
		vec_grow(search->nodes, &search->cap, search->count + 1, sizeof(*search->nodes));
	if (!nodes)
		return -ENOMEM;
	search->nodes = nodes;
	nodes[search->count++] = (struct node){ (uint32_t)holder, (uint32_t)search->names.len };
	buf_append(&search->names, name, strlen(name) + 1);
	return search->names.failed ? -ENOMEM : 0;
}

/* What is not there, or not for us, is -ENOENT; that we have no memory or descriptors left must
 * not look like that. What is ours and cannot be listed was left out: one can still go there. */
static int repository_search_open(struct search_budget *budget, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK,
		.resolve = RESOLVE_NO_SYMLINKS };
	if (list_has(not_searched, path))
		return -ENOENT;
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	if (fd >= 0)
		return fd_above_stdio(fd);
	int error = -errno;
	struct stat info;
	bool is_our_fault = error == -ENOMEM || error == -EMFILE || error == -ENFILE;
	if (error == -EACCES && lstat(path, &info) == 0 && info.st_uid == geteuid())
		budget->is_cut = true;
	return is_our_fault ? error : -ENOENT;
}

/* One name; a directory, or what may be one, waits for its turn behind the others. */
static int repository_search_take(
	struct search *search, size_t holder, const struct dirent64 *item, unsigned *names)
{
	if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
		return 0;
	unsigned bit = repository_search_bit_of(item->d_name);
	bool may_be_one = item->d_type == DT_DIR || item->d_type == DT_UNKNOWN;
	*names |= bit;
	search->budget->names--;
	return may_be_one && bit != SEARCH_DOT_GIT ? repository_search_add(search, holder, item->d_name)
											   : 0;
}

/* Reads the names. Not by a DIR: that takes twice the system calls, of which this is all made. */
static int repository_search_list(struct search *search, size_t holder, int fd, unsigned *ret_names)
{
	ssize_t len = 0;
	int r = 0;
	while (r == 0 && (len = getdents64(fd, search->listing, sizeof(search->listing))) > 0) {
		for (ssize_t at = 0; r == 0 && at < len;) {
			const struct dirent64 *item = (const struct dirent64 *)(search->listing + at);
			if (!search->budget->names) {
				search->budget->is_cut = true;
				return 0;
			}
			r = repository_search_take(search, holder, item, ret_names);
			at += item->d_reclen;
		}
	}
	return r;
}

static int repository_search_look(struct search *search, size_t node, search_fn *look, void *data)
{
	char buffer[PATH_MAX];
	const char *path = repository_search_path(search, node, buffer);
	if (!path || !search->budget->directories) {
		search->budget->is_cut = true;
		return 0;
	}
	_cleanup_fd_ int fd = repository_search_open(search->budget, path);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	search->budget->directories--;
	size_t count = search->count;
	size_t len = search->names.len;
	unsigned names = 0;
	int r = repository_search_list(search, node, fd, &names);
	if (r == 0)
		r = look(data, path, names);
	if (r == 0) {
		search->count = count;
		search->names.len = len;
	}
	return r < 0 ? r : 0;
}

int search_run(struct search_budget *budget, const char *root, search_fn *look, void *data)
{
	struct search search = { .budget = budget, .root = root };
	int r = repository_search_look(&search, 0, look, data);
	for (size_t node = 1; r == 0 && node <= search.count; node++) {
		r = repository_search_look(&search, node, look, data);
		if (!budget->directories && node < search.count)
			budget->is_cut = true;
		if (!budget->directories)
			break;
	}
	free(search.nodes);
	buf_free(&search.names);
	return r;
}
