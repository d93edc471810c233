/* Whether a file has changed since it was looked at, by its times. */
#ifndef BASE_STAMP_H
#define BASE_STAMP_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

/* File systems count time in ticks of up to 10 ms, some in seconds: a change right
 * behind a recent one may leave the same time. */
enum { STAMP_SETTLED_SECONDS = 2 };

static inline bool stamp_is_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Equal times of writing and of change: what is known of the settled file holds still. */
static inline bool stamp_is_same(const struct stat *a, const struct stat *b)
{
	return stamp_is_time(a->st_mtim, b->st_mtim) && stamp_is_time(a->st_ctim, b->st_ctim);
}

static inline bool stamp_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The same file, and nothing of it written or changed in between. */
static inline bool stamp_is_unchanged(const struct stat *a, const struct stat *b)
{
	return stamp_is_same_file(a, b) && a->st_size == b->st_size && stamp_is_same(a, b);
}

static inline time_t stamp_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec;
}

/* Whether every change since `then` shows in the times of a file: its last change was long
 * before. */
static inline bool stamp_is_settled_at(const struct stat *info, time_t then)
{
	return then > info->st_ctim.tv_sec + STAMP_SETTLED_SECONDS;
}

static inline bool stamp_is_settled(const struct stat *info)
{
	return stamp_is_settled_at(info, stamp_now());
}

#endif
