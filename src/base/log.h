/* The log hook. The library never prints: it calls the function that the program has set. `{0}` is
 * a log without a reader. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "perch/base.h"

struct log {
	perch_log_fn *fn;
	void *data;
	perch_log_level lowest; /* quieter messages are not even formatted */
};

/* Tells the hook, in one line: line breaks become blanks, and what is longer
 * than 1023 bytes is cut at a character boundary. `log` may be NULL. */
void log_write(const struct log *log, perch_log_level level, const char *format, ...)
	PERCH_PRINTF(3, 4);

#define log_debug(log, ...) log_write((log), PERCH_LOG_DEBUG, __VA_ARGS__)
#define log_info(log, ...) log_write((log), PERCH_LOG_INFO, __VA_ARGS__)
#define log_warn(log, ...) log_write((log), PERCH_LOG_WARN, __VA_ARGS__)
#define log_error(log, ...) log_write((log), PERCH_LOG_ERROR, __VA_ARGS__)

#endif
