/* Any bytes as what an agent says, in pieces: bounded, no escape but SGR on the screen. */
#include "fuzz.h"

#include <string.h>

#include "term/prose.h"

static void check_escapes(const struct buf *out)
{
	for (size_t i = 0; i < out->len; i++) {
		if (out->data[i] != '\x1B')
			continue;
		check(i + 2 < out->len && out->data[i + 1] == '[');
		for (i += 2; i < out->len && out->data[i] != 'm'; i++)
			check(out->data[i] && strchr("0123456789;:", out->data[i]));
		check(i < out->len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	struct prose prose = {
		.has_markdown = data[0] & 1,
		.has_colors = data[0] & 2,
		.look = { .colored = data[0] & 4, .utf8 = data[0] & 8 },
	};
	struct prose pipe = { 0 };
	struct buf out = { 0 };
	struct buf stripped = { 0 };
	size_t piece = data[1] ? data[1] : 1;
	for (size_t at = 2; at < size; at += piece) {
		const struct str text = { (const char *)data + at, at + piece < size ? piece : size - at };
		prose_append(&prose, &out, text);
		prose_strip(&pipe, &stripped, text);
	}
	prose_end(&prose, &out);
	check_escapes(&out);
	check(stripped.len <= size);
	buf_free(&out);
	buf_free(&stripped);
	return 0;
}
