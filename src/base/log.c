/* The log hook. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

enum { LOG_LINE_MAX = 1024 };

void log_write(const struct log *log, perch_log_level level, const char *format, ...)
{
	if (!log || !log->fn || level < log->lowest)
		return;
	char line[LOG_LINE_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	log->fn(log->data, level, line);
}
