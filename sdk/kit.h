/* What all three kits share: texts, and what they use of JSON. */
#ifndef SDK_KIT_H
#define SDK_KIT_H

#include <stdarg.h>

#include "base/arena.h"
#include "data/json.h"

/* The text of a format, to be freed; NULL without memory. */
char *kit_format(const char *format, va_list arguments);

/* A copy of JSON without newlines, which separate the messages; NULL without memory. */
const char *kit_one_line(struct arena *arena, const char *json);

/* A member with this text; none when it is NULL. */
static inline void kit_put(struct perch_json_writer *writer, const char *name, const char *text)
{
	if (!text)
		return;
	perch_json_write_name(writer, name);
	perch_json_write_string(writer, text);
}

/* A text that stays, "" when there is none; NULL without memory. */
static inline const char *kit_keep(struct arena *arena, const perch_json_value *string)
{
	size_t len;
	const char *text = perch_json_string(string, &len);
	return text ? arena_dup(arena, (struct str){ text, len }) : "";
}

#endif
