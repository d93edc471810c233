/* What a walk has seen, so that a later one reads only those directories again that have changed
 * since; and what a file system tells of a directory that was not read. */
#ifndef SANDBOX_GIT_SEARCH_MEMORY_H
#define SANDBOX_GIT_SEARCH_MEMORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"

/* One that was seen; the first is the root, and those that one holds follow each other. */
struct search_directory {
	const char *name;
	size_t first; /* of those that it holds */
	size_t count;
	dev_t device;
	ino_t inode;
	struct timespec changed;
	unsigned names;  /* see enum search_names */
	bool is_settled; /* it was read to its end, and every later change in it shows */
};

struct search_memory {
	const struct search_directory *directories;
	size_t count;
};

/* A memory while it is made. */
struct search_notes {
	struct search_directory *items;
	size_t count;
	size_t cap;
};

/* The one with that number, which is made if need be. NULL: there is no memory. */
struct search_directory *search_notes_at(struct search_notes *notes, size_t number);

/* What is known of the file system that was looked at last. */
struct search_file_system {
	dev_t device;
	bool is_known;
	bool has_times;    /* a name that comes or goes changes the time of its directory */
	bool counts_links; /* a directory with two links holds no other one */
};

/* Asks about the file system of an open directory, unless it is known. */
void search_file_system_ask(struct search_file_system *system, int fd, dev_t device);

/* Whether a directory there holds no other one. False says nothing. */
bool search_file_system_is_leaf(const struct search_file_system *system, const struct stat *info);

/* Notes what stat said of a directory before it was read. */
void search_memory_note(struct search_directory *directory, const struct stat *info,
	const struct search_file_system *system, time_t began);

/* Whether it is the same directory, and holds the same names. */
bool search_memory_holds(const struct search_directory *directory, const struct stat *info);

/* The number of the one with that name in another; 0 = it is not known. *at is where to look
 * first, which follows: listings come in the same order again. */
size_t search_memory_find(
	const struct search_memory *memory, size_t holder, const char *name, size_t *at);

/* ---- search_queue.c -------------------------------------------------------------- */

/* The directories that a walk has met, in the order of their turns. Each is a name and the number
 * of its holder, so that the longest paths take no more memory than the names in them. */

struct search_node {
	uint32_t holder; /* its number, counted from 1; 0 = the root holds it */
	uint32_t name;   /* where it begins in `names` */
	uint32_t known;  /* its number in a search_memory; 0 = unknown */
};

/* `{0}` is empty. */
struct search_queue {
	struct search_node *nodes;
	size_t count;
	size_t cap;
	struct buf names;
};

void search_queue_free(struct search_queue *queue);

/* -ENOMEM. */
int search_queue_add(struct search_queue *queue, size_t holder, const char *name, size_t known);

/* The path of a directory (counted from 1; 0 = the root). NULL: it is too long to be opened. */
const char *search_queue_path(
	const struct search_queue *queue, const char *root, size_t number, char out[PATH_MAX]);

#endif
