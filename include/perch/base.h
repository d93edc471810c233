/* What every perch header needs: the export mark, the error type, the log
 * hook and the version. */
#ifndef PERCH_BASE_H
#define PERCH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PERCH_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define PERCH_PRINTF(format_index, first)
#endif

/* Defined as empty by a build that makes these sources part of another program. */
#if !defined(PERCH_API) && defined(__GNUC__)
#define PERCH_API __attribute__((visibility("default")))
#elif !defined(PERCH_API)
#define PERCH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Every function that can fail returns an int: 0 or positive is success, a negative errno or one of
 * these is failure. What it hands out by a ret_ parameter is written on success only.
 *
 * A structure whose first member is `size` may grow in a later version: …_INIT sets the size, 0
 * stands for the first published size. Members of a larger structure that the library does not know
 * must be zero (-EINVAL), except callbacks: they are never called. */
enum {
	PERCH_ESYNTAX = -5001,      /* text that is not what its format demands */
	PERCH_ELIMIT = -5002,       /* a named limit was crossed */
	PERCH_ESANDBOX = -5003,     /* the policy cannot be enforced on this machine */
	PERCH_EGUARD = -5004,       /* perch-guard could not be started */
	PERCH_EBUSY = -5005,        /* called from inside a callback where it may not be */
	PERCH_EINTERPRETER = -5006, /* a script whose interpreter (#! line) is missing */
};

enum { PERCH_ERR_TEXT_MAX = 512 };

/* An error with words. Owned by the caller, needs no freeing; `= {0}` starts
 * it. Every function that takes one accepts NULL. On success it is left
 * alone. `line` and `column` count from 1 and are 0 where there is no text to
 * point into. `stage` names the step of starting a child that failed ("exec",
 * "chdir" …); it is a constant, NULL elsewhere. */
typedef struct perch_err {
	int code;
	unsigned line;
	unsigned column;
	const char *stage;
	char text[PERCH_ERR_TEXT_MAX];
} perch_err;

/* Says in a few words what a negative errno or PERCH_E… code means. The
 * result is a constant and never NULL. */
PERCH_API const char *perch_strerror(int code);

/* A text with its length, and a NUL behind it that is not counted. Never NULL. */
typedef struct perch_text {
	const char *data;
	size_t len;
} perch_text;

typedef enum perch_log_level {
	PERCH_LOG_DEBUG,
	PERCH_LOG_INFO,
	PERCH_LOG_WARN,
	PERCH_LOG_ERROR,
} perch_log_level;

/* Receives the messages of the library; `text` is one line without newline, valid during the call
 * only. The library itself never prints. */
typedef void perch_log_fn(void *data, perch_log_level level, const char *text);

/* "0.1.0": the version of the library that is running. */
PERCH_API const char *perch_version(void);

#ifdef __cplusplus
}
#endif

#endif
