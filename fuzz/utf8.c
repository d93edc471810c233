/* UTF-8: whatever the bytes are, the functions agree with each other and
 * never look past the end. */
#include "fuzz.h"

#include <string.h>

#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Replacing makes any text valid and leaves a valid one as it is. */
static void check_replaced(const char *text, size_t len)
{
	struct buf once = { 0 };
	struct buf twice = { 0 };
	check(utf8_append_replaced(&once, text, len) == 0);
	check(utf8_is_valid(once.data, once.len));
	check(utf8_append_replaced(&twice, once.data, once.len) == 0);
	check(once.len == twice.len && (len == 0 || memcmp(once.data, twice.data, once.len) == 0));
	if (utf8_is_valid(text, len))
		check(once.len == len && (len == 0 || memcmp(once.data, text, len) == 0));
	check(utf8_count(once.data, once.len) == utf8_count(text, len));
	check(utf8_width(once.data, once.len) == utf8_width(text, len));
	buf_free(&once);
	buf_free(&twice);
}

/* A walk character by character sees what the functions on whole texts see. */
static void check_walk(const char *text, size_t len)
{
	size_t count = 0;
	size_t width = 0;
	size_t valid = 0;
	bool is_valid = true;
	for (size_t at = 0; at < len;) {
		uint32_t character;
		char again[UTF8_MAX];
		size_t length = utf8_decode(text + at, len - at, &character);
		check(length >= 1 && length <= UTF8_MAX && length <= len - at);
		size_t encoded = utf8_encode(character, again);
		is_valid = is_valid && encoded == length && memcmp(again, text + at, length) == 0;
		at += length;
		valid = is_valid ? at : valid;
		width += utf8_character_width(character);
		count++;
	}
	check(count == utf8_count(text, len));
	check(width == utf8_width(text, len) && width <= 2 * count);
	check(valid == utf8_valid_prefix(text, len));
}

/* Cutting a valid text anywhere leaves it valid. */
static void check_cut(const char *text, size_t len)
{
	size_t valid = utf8_valid_prefix(text, len);
	for (size_t cut = valid < 16 ? 0 : valid - 16; cut <= valid; cut++) {
		size_t whole = utf8_whole_prefix(text, cut);
		check(whole <= cut && cut - whole < UTF8_MAX);
		check(utf8_is_valid(text, whole));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	check_replaced(text, len);
	check_walk(text, len);
	check_cut(text, len);
	return 0;
}
