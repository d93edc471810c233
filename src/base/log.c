/* The log hook. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { LOG_LINE_MAX = 1024 };

/* One line, and no half character where it was too long for one. */
static void log_tidy(char *line, int wanted)
{
	size_t len = strlen(line);
	if (wanted < 0 || (size_t)wanted > len)
		line[utf8_whole_prefix(line, len)] = '\0';
	for (char *at = line; (at = strpbrk(at, "\r\n")) != NULL;)
		*at = ' ';
}

void log_write(const struct log *log, perch_log_level level, const char *format, ...)
{
	if (!log || !log->fn || level < log->lowest)
		return;
	char line[LOG_LINE_MAX];
	va_list args;
	va_start(args, format);
	int wanted = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	log_tidy(line, wanted);
	log->fn(log->data, level, line);
}
