/* Random JSON documents for the tests that compare. The same seed makes the
 * same document everywhere. */
#ifndef UNIT_JSON_RANDOM_H
#define UNIT_JSON_RANDOM_H

#include <stdint.h>

#include "base/buf.h"

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline size_t random_below(uint64_t *state, size_t limit)
{
	return (size_t)(random_next(state) % limit);
}

#define RANDOM_PICK(state, table) ((table)[random_below(state, sizeof(table) / sizeof((table)[0]))])

static inline void random_blanks(struct buf *out, uint64_t *state)
{
	static const char *const blanks[] = { "", "", "", "", "", " ", "\n", "\t", "\r\n", "  " };
	buf_append_text(out, RANDOM_PICK(state, blanks));
}

static inline void random_string(struct buf *out, uint64_t *state)
{
	static const char *const pieces[] = { "a", "b", "type", "plain text of some length", " ", "/",
		"\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0041", "\\u00e9", "\\uFFFF",
		"\\ud83d\\ude00", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\x7F", "\\u001f",
		"\\u0061" };
	buf_append_char(out, '"');
	for (size_t i = random_below(state, 5); i > 0; i--)
		buf_append_text(out, RANDOM_PICK(state, pieces));
	buf_append_char(out, '"');
}

static inline void random_scalar(struct buf *out, uint64_t *state)
{
	static const char *const words[] = { "true", "false", "null", "0", "-0", "1", "-1", "1.5",
		"1e3", "1E-3", "0.1", "123456789", "9223372036854775807", "-9223372036854775808", "1.0",
		"2.2250738585072014e-308", "1.7976931348623157e308", "0.30000000000000004", "1e-400" };
	if (random_below(state, 3) == 0)
		buf_printf(out, "%lld", (long long)random_next(state) >> random_below(state, 64));
	else if (random_below(state, 2))
		random_string(out, state);
	else
		buf_append_text(out, RANDOM_PICK(state, words));
}

/* Appends a value, with blanks around everything, at most `depth` deep. */
static inline void random_json(struct buf *out, uint64_t *state, int depth)
{
	random_blanks(out, state);
	size_t kind = depth > 0 ? random_below(state, 4) : 0;
	if (kind < 2) {
		random_scalar(out, state);
	} else {
		buf_append_char(out, kind == 2 ? '[' : '{');
		size_t count = random_below(state, 6);
		for (size_t i = 0; i < count; i++) {
			random_blanks(out, state);
			if (kind == 3) {
				random_string(out, state);
				random_blanks(out, state);
				buf_append_char(out, ':');
			}
			random_json(out, state, depth - 1);
			if (i + 1 < count)
				buf_append_char(out, ',');
		}
		random_blanks(out, state);
		buf_append_char(out, kind == 2 ? ']' : '}');
	}
	random_blanks(out, state);
}

#endif
