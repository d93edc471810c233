/* Finds the id in a line that is not JSON: its sender may wait for an answer. The line is read as
 * JSON up to the place where it is broken. */
#include "fledge/fledge_engine_parts.h"

#include <ctype.h>
#include <string.h>

#include "base/macros.h"
#include "base/str.h"

/* Behind the string that begins at `at`; the end where it does not end. */
static size_t broken_line_skip_string(struct str line, size_t at)
{
	for (at++; at < line.len && line.data[at] != '"'; at++) {
		if (line.data[at] == '\\')
			at++;
	}
	return at < line.len ? at + 1 : line.len;
}

static size_t broken_line_skip_blanks(struct str line, size_t at)
{
	while (at < line.len && (line.data[at] == ' ' || line.data[at] == '\t'))
		at++;
	return at;
}

/* The string or the number that begins at `at`; none when the line ends in it. */
static struct str broken_line_value(struct str line, size_t at)
{
	size_t end = at;
	if (at < line.len && line.data[at] == '"')
		end = broken_line_skip_string(line, at);
	else
		while (end < line.len && (isdigit((unsigned char)line.data[end]) || line.data[end] == '-'))
			end++;
	return (struct str){ line.data + at, end < line.len ? end - at : 0 };
}

/* Whether the string from `at` to `end` is the name "id"; then *ret_value is where its value is. */
static bool broken_line_names_id(struct str line, size_t at, size_t end, size_t *ret_value)
{
	size_t colon = broken_line_skip_blanks(line, end);
	*ret_value = broken_line_skip_blanks(line, colon + 1);
	return str_is((struct str){ line.data + at, end - at }, "\"id\"") && colon < line.len &&
		line.data[colon] == ':';
}

struct str broken_line_id(const char *data, size_t len)
{
	const struct str line = str_trim((struct str){ data, len });
	size_t depth = 0;
	for (size_t at = 0; at < line.len;) {
		size_t value;
		char c = line.data[at];
		if (c != '"') {
			depth += c == '{' || c == '[';
			depth -= (c == '}' || c == ']') && depth;
			at++;
			if (!depth)
				break;
			continue;
		}
		size_t end = broken_line_skip_string(line, at);
		if (depth == 1 && broken_line_names_id(line, at, end, &value))
			return broken_line_value(line, value);
		at = end;
	}
	return (struct str){ 0 };
}

bool broken_line_is_told(struct str line)
{
	static const char *const types[] = { "output", "progress", "log", "store" };
	for (size_t i = 0; i < COUNT(types); i++) {
		if (memmem(line.data, line.len, types[i], strlen(types[i])))
			return true;
	}
	return false;
}
