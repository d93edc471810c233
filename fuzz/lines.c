/* Cutting into lines against the simplest way to do it: the first bytes choose
 * the limit, the size of the pieces and when the taker has had enough. */
#include "fuzz.h"

#include <string.h>

#include "proc/lines.h"

struct expectation {
	const char *rest;
	size_t left;
	size_t limit;
	unsigned stop_every;
	unsigned taken;
};

/* The next line as a newline and a limit define it. */
static bool take(void *data, const perch_line *line)
{
	struct expectation *expected = data;
	const char *newline = memchr(expected->rest, '\n', expected->left);
	size_t length = newline ? (size_t)(newline - expected->rest) : expected->left;
	size_t used = newline ? length + 1 : length;
	size_t shown = length && expected->rest[length - 1] == '\r' ? length - 1 : length;
	bool is_long = shown > expected->limit;
	check(newline || length);
	check(!!(line->flags & PERCH_LINE_TOO_LONG) == is_long);
	check(line->len == (is_long ? expected->limit : shown));
	check(memcmp(line->data, expected->rest, line->len) == 0);
	check(line->data[line->len] == '\0');
	check(!!(line->flags & PERCH_LINE_UNTERMINATED) == (!newline && !is_long));
	expected->rest += used;
	expected->left -= used;
	expected->taken++;
	return !expected->stop_every || expected->taken % expected->stop_every;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	struct expectation expected = {
		.rest = (const char *)data + 3,
		.left = size - 3,
		.limit = data[0],
		.stop_every = data[2] % 5,
	};
	size_t piece = 1u + data[1];
	struct lines lines;
	lines_init(&lines, expected.limit, take, &expected);
	for (size_t at = 3; at < size; at += piece) {
		char chunk[257];
		size_t n = size - at < piece ? size - at : piece;
		memcpy(chunk, data + at, n);
		check(lines_feed(&lines, chunk, n) == 0);
		if (data[2] & 0x80)
			check(lines_resume(&lines) == 0);
	}
	while (lines_are_held(&lines) || lines.stopped)
		check(lines_resume(&lines) == 0);
	check(lines_finish(&lines) == 0);
	check(expected.left == 0);
	lines_free(&lines);
	return 0;
}
