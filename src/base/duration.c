#include "base/duration.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"

bool duration_parse(const char *text, int64_t *ret_seconds)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { '\0', 1 }, { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	char *end = NULL;
	errno = 0;
	long number = strtol(text, &end, 10);
	if (errno || end == text || text[0] < '0' || text[0] > '9' || number > INT32_MAX)
		return false;
	for (size_t i = 0; i < COUNT(units); i++) {
		if (end[0] != units[i].unit || (end[0] && end[1]))
			continue;
		*ret_seconds = (int64_t)number * units[i].seconds;
		return true;
	}
	return false;
}
