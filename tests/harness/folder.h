/* A folder of its own for a test, gone when it ends; a failed test leaves it to be
 * looked at. */
#ifndef HARNESS_FOLDER_H
#define HARNESS_FOLDER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/str.h"

/* Makes it; the path stays valid. One for each process, at most. */
const char *folder_new(void);

/* "<folder>/" and a formatted path, in memory that stays. */
const char *folder_path(const char *format, ...) PERCH_PRINTF(1, 2);

/* Writes a file below the folder, making the folders on the way. */
void folder_write(const char *path, const char *text);
void folder_write_n(const char *path, struct str text);
void folder_write_mode(const char *path, const char *text, mode_t mode);

/* The content of a file (any path), with a NUL behind it; fails the test when there is none. The
 * caller frees. */
char *folder_read(const char *path);

/* Runs a shell command in the folder; fails the test unless it succeeds. What
 * it prints, without the last newline, is returned; the caller frees. */
char *folder_run(const char *format, ...) PERCH_PRINTF(1, 2);

/* Waits until every change of a path below the folder will show by its times: what has changed a
 * moment ago can change again without showing it (base/stamp.h). */
void folder_settle(const char *path);

/* How many names in a directory begin with prefix. */
unsigned folder_count(const char *directory, const char *prefix);

/* Mounts a file system of 256 KiB on a directory, for this process alone. False
 * where that is not allowed. */
bool folder_mount(const char *directory);

#endif
