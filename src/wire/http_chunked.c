/* The chunked coding as a table: state × kind of byte → state. A byte that has no place in
 * its row is a fault; so is every line end that is not CR LF. */
#include "wire/http_chunked.h"

/* As many as a number of 64 bits has. */
enum { CHUNKED_DIGITS_MAX = 16 };

enum chunked_state {
	CHUNKED_FAULT,
	CHUNKED_SIZE_FIRST,
	CHUNKED_SIZE,
	CHUNKED_BEFORE_EXTENSION, /* blanks, then ';' */
	CHUNKED_NAME_FIRST,
	CHUNKED_NAME,
	CHUNKED_AFTER_NAME,
	CHUNKED_VALUE_FIRST,
	CHUNKED_VALUE,
	CHUNKED_QUOTED,
	CHUNKED_ESCAPED,
	CHUNKED_AFTER_QUOTED,
	CHUNKED_SIZE_LF,
	CHUNKED_BYTES, /* of the chunk itself: not by the table */
	CHUNKED_BYTES_CR,
	CHUNKED_BYTES_LF,
	CHUNKED_STATE_COUNT,
};

enum chunked_kind {
	CHUNKED_IS_HEX,
	CHUNKED_IS_TOKEN,
	CHUNKED_IS_SEMICOLON,
	CHUNKED_IS_EQUALS,
	CHUNKED_IS_QUOTE,
	CHUNKED_IS_BACKSLASH,
	CHUNKED_IS_BLANK,
	CHUNKED_IS_OTHER,
	CHUNKED_IS_CR,
	CHUNKED_IS_LF,
	CHUNKED_IS_CONTROL,
	CHUNKED_KIND_COUNT,
};

/* What is not named is a fault. */
static const uint8_t chunked_next[CHUNKED_STATE_COUNT][CHUNKED_KIND_COUNT] = {
	[CHUNKED_SIZE_FIRST] = { [CHUNKED_IS_HEX] = CHUNKED_SIZE },
	[CHUNKED_SIZE] = {
		[CHUNKED_IS_HEX] = CHUNKED_SIZE,
		[CHUNKED_IS_BLANK] = CHUNKED_BEFORE_EXTENSION,
		[CHUNKED_IS_SEMICOLON] = CHUNKED_NAME_FIRST,
		[CHUNKED_IS_CR] = CHUNKED_SIZE_LF,
	},
	[CHUNKED_BEFORE_EXTENSION] = {
		[CHUNKED_IS_BLANK] = CHUNKED_BEFORE_EXTENSION,
		[CHUNKED_IS_SEMICOLON] = CHUNKED_NAME_FIRST,
	},
	[CHUNKED_NAME_FIRST] = {
		[CHUNKED_IS_BLANK] = CHUNKED_NAME_FIRST,
		[CHUNKED_IS_HEX] = CHUNKED_NAME,
		[CHUNKED_IS_TOKEN] = CHUNKED_NAME,
	},
	[CHUNKED_NAME] = {
		[CHUNKED_IS_HEX] = CHUNKED_NAME,
		[CHUNKED_IS_TOKEN] = CHUNKED_NAME,
		[CHUNKED_IS_BLANK] = CHUNKED_AFTER_NAME,
		[CHUNKED_IS_EQUALS] = CHUNKED_VALUE_FIRST,
		[CHUNKED_IS_SEMICOLON] = CHUNKED_NAME_FIRST,
		[CHUNKED_IS_CR] = CHUNKED_SIZE_LF,
	},
	[CHUNKED_AFTER_NAME] = {
		[CHUNKED_IS_BLANK] = CHUNKED_AFTER_NAME,
		[CHUNKED_IS_EQUALS] = CHUNKED_VALUE_FIRST,
		[CHUNKED_IS_SEMICOLON] = CHUNKED_NAME_FIRST,
	},
	[CHUNKED_VALUE_FIRST] = {
		[CHUNKED_IS_BLANK] = CHUNKED_VALUE_FIRST,
		[CHUNKED_IS_HEX] = CHUNKED_VALUE,
		[CHUNKED_IS_TOKEN] = CHUNKED_VALUE,
		[CHUNKED_IS_QUOTE] = CHUNKED_QUOTED,
	},
	[CHUNKED_VALUE] = {
		[CHUNKED_IS_HEX] = CHUNKED_VALUE,
		[CHUNKED_IS_TOKEN] = CHUNKED_VALUE,
		[CHUNKED_IS_BLANK] = CHUNKED_BEFORE_EXTENSION,
		[CHUNKED_IS_SEMICOLON] = CHUNKED_NAME_FIRST,
		[CHUNKED_IS_CR] = CHUNKED_SIZE_LF,
	},
	[CHUNKED_QUOTED] = {
		[CHUNKED_IS_HEX] = CHUNKED_QUOTED,
		[CHUNKED_IS_TOKEN] = CHUNKED_QUOTED,
		[CHUNKED_IS_SEMICOLON] = CHUNKED_QUOTED,
		[CHUNKED_IS_EQUALS] = CHUNKED_QUOTED,
		[CHUNKED_IS_BLANK] = CHUNKED_QUOTED,
		[CHUNKED_IS_OTHER] = CHUNKED_QUOTED,
		[CHUNKED_IS_BACKSLASH] = CHUNKED_ESCAPED,
		[CHUNKED_IS_QUOTE] = CHUNKED_AFTER_QUOTED,
	},
	[CHUNKED_ESCAPED] = {
		[CHUNKED_IS_HEX] = CHUNKED_QUOTED,
		[CHUNKED_IS_TOKEN] = CHUNKED_QUOTED,
		[CHUNKED_IS_SEMICOLON] = CHUNKED_QUOTED,
		[CHUNKED_IS_EQUALS] = CHUNKED_QUOTED,
		[CHUNKED_IS_QUOTE] = CHUNKED_QUOTED,
		[CHUNKED_IS_BACKSLASH] = CHUNKED_QUOTED,
		[CHUNKED_IS_BLANK] = CHUNKED_QUOTED,
		[CHUNKED_IS_OTHER] = CHUNKED_QUOTED,
	},
	[CHUNKED_AFTER_QUOTED] = {
		[CHUNKED_IS_BLANK] = CHUNKED_BEFORE_EXTENSION,
		[CHUNKED_IS_SEMICOLON] = CHUNKED_NAME_FIRST,
		[CHUNKED_IS_CR] = CHUNKED_SIZE_LF,
	},
	[CHUNKED_SIZE_LF] = { [CHUNKED_IS_LF] = CHUNKED_BYTES },
	[CHUNKED_BYTES_CR] = { [CHUNKED_IS_CR] = CHUNKED_BYTES_LF },
	[CHUNKED_BYTES_LF] = { [CHUNKED_IS_LF] = CHUNKED_SIZE_FIRST },
};

static const char *const chunked_faults[CHUNKED_STATE_COUNT] = {
	[CHUNKED_SIZE_FIRST] = "a chunk without a size",
	[CHUNKED_SIZE] = "the size of a chunk is no number",
	[CHUNKED_SIZE_LF] = "the size of a chunk does not end with CR LF",
	[CHUNKED_BYTES_CR] = "a chunk is longer than its size",
	[CHUNKED_BYTES_LF] = "a chunk does not end with CR LF",
};

static enum chunked_kind chunked_kind_of(char c)
{
	switch (c) {
	case ';':
		return CHUNKED_IS_SEMICOLON;
	case '=':
		return CHUNKED_IS_EQUALS;
	case '"':
		return CHUNKED_IS_QUOTE;
	case '\\':
		return CHUNKED_IS_BACKSLASH;
	case '\r':
		return CHUNKED_IS_CR;
	case '\n':
		return CHUNKED_IS_LF;
	default:
		break;
	}
	if (http_is_blank(c))
		return CHUNKED_IS_BLANK;
	if (http_hex_value(c) >= 0)
		return CHUNKED_IS_HEX;
	if (http_is_token_char(c))
		return CHUNKED_IS_TOKEN;
	return http_is_line_char(c) ? CHUNKED_IS_OTHER : CHUNKED_IS_CONTROL;
}

void http_chunked_begin(struct http_chunked *chunked, uint64_t body_max, size_t extensions_max)
{
	*chunked = (struct http_chunked){
		.room = body_max,
		.extension_room = extensions_max < UINT32_MAX ? (uint32_t)extensions_max : UINT32_MAX,
		.state = CHUNKED_SIZE_FIRST,
	};
}

static bool chunked_is_extension(uint8_t state)
{
	return state >= CHUNKED_BEFORE_EXTENSION && state <= CHUNKED_AFTER_QUOTED;
}

/* What comes with entering a state by this byte. Returns 0, HTTP_CHUNKED_LAST, or a fault. */
static int chunked_enter(struct http_chunked *chunked, char c, struct http_fault *fault)
{
	if (chunked->state == CHUNKED_SIZE) {
		if (chunked->digits++ == CHUNKED_DIGITS_MAX)
			return http_fault_set(fault, 400, "the size of a chunk has too many digits");
		chunked->left = chunked->left << 4 | (uint64_t)http_hex_value(c);
	} else if (chunked_is_extension(chunked->state)) {
		if (chunked->extension_room-- == 0)
			return http_fault_set(fault, 400, "the chunk extensions are too long");
	} else if (chunked->state == CHUNKED_BYTES) {
		if (chunked->left > chunked->room)
			return http_fault_set(fault, 413, "the body is too long");
		chunked->room -= chunked->left;
		chunked->digits = 0;
		return chunked->left ? 0 : HTTP_CHUNKED_LAST;
	}
	return 0;
}

static int chunked_step(struct http_chunked *chunked, char c, struct http_fault *fault)
{
	uint8_t before = chunked->state;
	chunked->state = chunked_next[before][chunked_kind_of(c)];
	if (chunked->state == CHUNKED_FAULT) {
		const char *text = chunked_faults[before];
		return http_fault_set(fault, 400, text ? text : "a chunk extension that is none");
	}
	return chunked_enter(chunked, c, fault);
}

static void chunked_take_bytes(
	struct http_chunked *chunked, struct str *input, struct str *ret_data)
{
	size_t len = chunked->left < input->len ? (size_t)chunked->left : input->len;
	*ret_data = (struct str){ input->data, len };
	input->data += len;
	input->len -= len;
	chunked->left -= len;
	if (chunked->left == 0)
		chunked->state = CHUNKED_BYTES_CR;
}

int http_chunked_take(
	struct http_chunked *chunked, struct str *input, struct str *ret_data, struct http_fault *fault)
{
	int r = 0;
	while (input->len && r == 0) {
		if (chunked->state == CHUNKED_BYTES) {
			chunked_take_bytes(chunked, input, ret_data);
			return HTTP_CHUNKED_DATA;
		}
		r = chunked_step(chunked, *input->data, fault);
		if (r < 0)
			return r;
		input->data++;
		input->len--;
	}
	return r;
}
