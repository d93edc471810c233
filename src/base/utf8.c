/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above
 * U+10FFFF. Broken pieces are replaced as Unicode recommends: one U+FFFD for
 * the longest start of a character that was cut short. */
#include "base/utf8.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { REPLACEMENT = 0xFFFD };

/* Which second bytes a lead byte allows, and how long its character is. */
struct lead {
	unsigned char length;
	unsigned char second_low;
	unsigned char second_high;
};

static struct lead utf8_classify(unsigned char byte)
{
	if (byte < 0x80)
		return (struct lead){ 1, 0, 0 };
	if (byte < 0xC2)
		return (struct lead){ 0, 0, 0 };
	if (byte < 0xE0)
		return (struct lead){ 2, 0x80, 0xBF };
	if (byte < 0xF0)
		return (struct lead){ 3, byte == 0xE0 ? 0xA0 : 0x80, byte == 0xED ? 0x9F : 0xBF };
	if (byte < 0xF5)
		return (struct lead){ 4, byte == 0xF0 ? 0x90 : 0x80, byte == 0xF4 ? 0x8F : 0xBF };
	return (struct lead){ 0, 0, 0 };
}

size_t utf8_decode(const char *text, size_t len, uint32_t *ret_character)
{
	const unsigned char *bytes = (const unsigned char *)text;
	struct lead lead = utf8_classify(bytes[0]);
	*ret_character = REPLACEMENT;
	if (lead.length == 0)
		return 1;
	if (lead.length == 1) {
		*ret_character = bytes[0];
		return 1;
	}
	uint32_t character = bytes[0] & (0x7Fu >> lead.length);
	unsigned low = lead.second_low;
	unsigned high = lead.second_high;
	for (size_t i = 1; i < lead.length; i++) {
		if (i >= len || bytes[i] < low || bytes[i] > high)
			return i;
		character = character << 6 | (bytes[i] & 0x3Fu);
		low = 0x80;
		high = 0xBF;
	}
	*ret_character = character;
	return lead.length;
}

/* Most text is ASCII: eight bytes at a time as long as it lasts. */
static size_t utf8_skip_ascii(const char *text, size_t at, size_t len)
{
	while (len - at >= 8) {
		uint64_t word;
		memcpy(&word, text + at, sizeof(word));
		if (word & UINT64_C(0x8080808080808080))
			break;
		at += 8;
	}
	while (at < len && (unsigned char)text[at] < 0x80)
		at++;
	return at;
}

/* Reads a character and says whether it was one: U+FFFD itself is valid. */
static bool utf8_decode_valid(const char *text, size_t len, size_t *ret_length)
{
	uint32_t character;
	*ret_length = utf8_decode(text, len, &character);
	return character != REPLACEMENT || (*ret_length == 3 && memcmp(text, "\xEF\xBF\xBD", 3) == 0);
}

#if defined(__SSE2__)
/* Which of sixteen bytes lead a character, which of these one of three bytes, and which continue
 * one: a bit each. False: there are leads that allow some second bytes only (E0, ED), those of four
 * bytes, or invalid ones, which are not judged here. */
static inline bool utf8_look_at_block(
	const char *text, unsigned *leads, unsigned *threes, unsigned *follow)
{
	__m128i block = _mm_loadu_si128((const __m128i *)(const void *)text);
	__m128i lead_three = _mm_set1_epi8((char)0xE0);
	/* As signed numbers, bytes from 0x80 on are below zero, and in their order. */
	__m128i continues = _mm_cmplt_epi8(block, _mm_set1_epi8((char)0xC0));
	__m128i is_three = _mm_cmpeq_epi8(_mm_max_epu8(block, lead_three), block);
	__m128i is_odd = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, lead_three),
									  _mm_cmpeq_epi8(block, _mm_set1_epi8((char)0xED))),
		_mm_or_si128(_mm_cmpeq_epi8(_mm_and_si128(block, _mm_set1_epi8((char)0xFE)),
						 _mm_set1_epi8((char)0xC0)),
			_mm_cmpeq_epi8(_mm_max_epu8(block, _mm_set1_epi8((char)0xF0)), block)));
	*follow = (unsigned)_mm_movemask_epi8(continues);
	*leads = (unsigned)_mm_movemask_epi8(block) & ~*follow;
	*threes = (unsigned)_mm_movemask_epi8(is_three);
	return _mm_movemask_epi8(is_odd) == 0;
}

/* How many bytes of a text are whole characters, as far as blocks can tell: each continuation has
 * to stand where a lead byte wants one, of this block or the one before. */
static size_t utf8_valid_blocks(const char *text, size_t len)
{
	unsigned wanted = 0, leads, threes, follow;
	size_t at = 0;
	for (; len - at >= 16 && utf8_look_at_block(text + at, &leads, &threes, &follow); at += 16) {
		unsigned now = wanted | leads << 1 | threes << 2;
		if ((now & 0xFFFF) != follow)
			break;
		wanted = now >> 16;
	}
	if (!wanted)
		return at;
	while (((unsigned char)text[at - 1] & 0xC0) == 0x80)
		at--;
	return at - 1;
}
#else
static size_t utf8_valid_blocks(const char *text, size_t len)
{
	(void)text;
	(void)len;
	return 0;
}
#endif

size_t utf8_valid_prefix(const char *text, size_t len)
{
	size_t at = 0;
	while ((at = utf8_skip_ascii(text, at, len)) < len) {
		size_t length = 0;
		at += utf8_valid_blocks(text + at, len - at);
		if (at == len)
			break;
		if (!utf8_decode_valid(text + at, len - at, &length))
			break;
		at += length;
	}
	return at;
}

size_t utf8_whole_prefix(const char *text, size_t len)
{
	for (size_t back = 1; back <= len && back < UTF8_MAX; back++) {
		unsigned char byte = (unsigned char)text[len - back];
		bool continues = (byte & 0xC0) == 0x80;
		if (!continues)
			return utf8_classify(byte).length > back ? len - back : len;
	}
	return len;
}

size_t utf8_encode(uint32_t character, char out[UTF8_MAX])
{
	bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
	if (character > 0x10FFFF || is_surrogate)
		character = REPLACEMENT;
	if (character < 0x80) {
		out[0] = (char)character;
		return 1;
	}
	size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	for (size_t i = length - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (character & 0x3F));
		character >>= 6;
	}
	out[0] = (char)((0xF00u >> length) | character);
	return length;
}

bool utf8_is_unseen(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} unseen[] = {
		{ 0x00, 0x1F },
		{ 0x7F, 0x9F },
		{ 0x061C, 0x061C },
		{ 0x200E, 0x200F },
		{ 0x2028, 0x202E },
		{ 0x2066, 0x2069 },
	};
	for (size_t i = 0; i < COUNT(unseen); i++) {
		if (character >= unseen[i].first && character <= unseen[i].last)
			return true;
	}
	return false;
}

bool utf8_is_seen(const char *text, size_t len)
{
	bool is_seen = utf8_is_valid(text, len);
	for (size_t at = 0; is_seen && at < len;) {
		uint32_t character;
		at += utf8_decode(text + at, len - at, &character);
		is_seen = !utf8_is_unseen(character);
	}
	return is_seen;
}

int utf8_append_replaced(struct buf *buf, const char *text, size_t len)
{
	while (len) {
		size_t valid = utf8_valid_prefix(text, len);
		buf_append(buf, text, valid);
		text += valid;
		len -= valid;
		if (!len)
			break;
		uint32_t character;
		size_t broken = utf8_decode(text, len, &character);
		buf_append_text(buf, "\xEF\xBF\xBD");
		text += broken;
		len -= broken;
	}
	return buf->failed ? -ENOMEM : 0;
}

static bool utf8_in_ranges(const struct width_range *ranges, size_t count, uint32_t character)
{
	size_t low = 0;
	while (low < count) {
		size_t middle = low + (count - low) / 2;
		if (character > ranges[middle].last)
			low = middle + 1;
		else if (character < ranges[middle].first)
			count = middle;
		else
			return true;
	}
	return false;
}

unsigned utf8_character_width(uint32_t character)
{
	if (character < 0x20 || (character >= 0x7F && character < 0xA0))
		return 0;
	if (character < 0x300)
		return 1;
	if (utf8_in_ranges(width_zero, width_zero_count, character))
		return 0;
	return utf8_in_ranges(width_two, width_two_count, character) ? 2 : 1;
}

size_t utf8_width(const char *text, size_t len)
{
	size_t width = 0;
	for (size_t at = 0; at < len;) {
		uint32_t character;
		at += utf8_decode(text + at, len - at, &character);
		width += utf8_character_width(character);
	}
	return width;
}

/* Where no character is broken, every byte that does not continue a character begins one. */
size_t utf8_count(const char *text, size_t len)
{
	size_t count = 0;
	if (utf8_is_valid(text, len)) {
		for (size_t i = 0; i < len; i++)
			count += ((unsigned char)text[i] & 0xC0) != 0x80;
		return count;
	}
	for (size_t at = 0; at < len; count++) {
		uint32_t character;
		at += utf8_decode(text + at, len - at, &character);
	}
	return count;
}

static bool utf8_is_layout(uint32_t character)
{
	return character == '\n' || character == '\t';
}

int utf8_append_seen(struct buf *buf, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		uint32_t character;
		at += utf8_decode(text + at, len - at, &character);
		char encoded[UTF8_MAX];
		if (utf8_is_layout(character) || !utf8_is_unseen(character))
			buf_append(buf, encoded, utf8_encode(character, encoded));
	}
	return buf->failed ? -ENOMEM : 0;
}

/* Outside of its strings JSON has no unseen character but its blanks. */
int utf8_append_seen_json(struct buf *buf, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		uint32_t character;
		at += utf8_decode(text + at, len - at, &character);
		char encoded[UTF8_MAX];
		if (!utf8_is_layout(character) && utf8_is_unseen(character))
			buf_printf(buf, "\\u%04x", (unsigned)character);
		else
			buf_append(buf, encoded, utf8_encode(character, encoded));
	}
	return buf->failed ? -ENOMEM : 0;
}

bool utf8_is_hiding(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} hiding[] = {
		{ 0x00AD, 0x00AD },                                         /* soft hyphen */
		{ 0x034F, 0x034F },                                         /* grapheme joiner */
		{ 0x115F, 0x1160 },                                         /* fillers */
		{ 0x17B4, 0x17B5 }, { 0x180B, 0x180F }, { 0x200B, 0x200F }, /* zero width */
		{ 0x2060, 0x206F },                     /* joiners and invisible operators */
		{ 0x3164, 0x3164 }, { 0xFE00, 0xFE0F }, /* variation selectors */
		{ 0xFEFF, 0xFEFF },                     /* byte order mark */
		{ 0xFFA0, 0xFFA0 }, { 0xFFF0, 0xFFFB }, /* annotations */
		{ 0x1BCA0, 0x1BCA3 },                   /* shorthand format */
		{ 0x1D173, 0x1D17A },                   /* musical format */
		{ 0xE0000, 0xE0FFF },                   /* tags and more selectors */
	};
	for (size_t i = 0; i < COUNT(hiding); i++) {
		if (character >= hiding[i].first && character <= hiding[i].last)
			return true;
	}
	return utf8_is_unseen(character);
}

int utf8_append_revealed(struct buf *buf, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		uint32_t character;
		at += utf8_decode(text + at, len - at, &character);
		char encoded[UTF8_MAX];
		if (character != '\n' && utf8_is_hiding(character))
			buf_printf(buf, "\\u{%04X}", (unsigned)character);
		else
			buf_append(buf, encoded, utf8_encode(character, encoded));
	}
	return buf->failed ? -ENOMEM : 0;
}
