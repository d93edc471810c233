/* What all three kits share. */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>

char *kit_format(const char *format, va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = length < 0 ? NULL : malloc((size_t)length + 1);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, arguments);
	return text;
}

/* In a string they are escaped, elsewhere they are blanks. */
const char *kit_one_line(struct arena *arena, const char *json)
{
	char *line = arena_dup(arena, str_from(json));
	for (char *at = line; at && *at; at++) {
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	}
	return line;
}
