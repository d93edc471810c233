/* Finding a part of a text, whatever its case. */
#include "term/menu.h"

#include "base/macros.h"
#include "base/utf8.h"

enum { LOOKED_AT_MAX = 4096 };

/* Capital letters that have their small one at a fixed distance. Enough for
 * the alphabets of Europe; others have no case, or are typed as they stand. */
static const struct {
	uint32_t first;
	uint32_t last;
	uint32_t distance;
} capitals[] = {
	{ 'A', 'Z', 32 }, { 0xC0, 0xD6, 32 }, /* Latin */
	{ 0xD8, 0xDE, 32 },                   /* Latin */
	{ 0x391, 0x3A9, 32 },                 /* Greek */
	{ 0x400, 0x40F, 80 },                 /* Cyrillic */
	{ 0x410, 0x42F, 32 },                 /* Cyrillic */
};

static uint32_t match_fold(uint32_t character)
{
	for (size_t i = 0; i < COUNT(capitals); i++) {
		if (character >= capitals[i].first && character <= capitals[i].last)
			return character + capitals[i].distance;
	}
	/* Latin Extended-A: pairs, the capital first, at even or at odd places. */
	bool is_even_pair =
		(character >= 0x100 && character <= 0x137) || (character >= 0x14A && character <= 0x177);
	bool is_odd_pair =
		(character >= 0x139 && character <= 0x148) || (character >= 0x179 && character <= 0x17E);
	return is_even_pair ? character | 1 : is_odd_pair ? (character + 1) & ~1u : character;
}

static bool match_begins_with(struct str text, struct str part)
{
	while (part.len) {
		if (!text.len)
			return false;
		uint32_t a;
		uint32_t b;
		size_t a_len = utf8_decode(text.data, text.len, &a);
		size_t b_len = utf8_decode(part.data, part.len, &b);
		if (match_fold(a) != match_fold(b))
			return false;
		text = (struct str){ text.data + a_len, text.len - a_len };
		part = (struct str){ part.data + b_len, part.len - b_len };
	}
	return true;
}

bool match_contains(struct str text, struct str part)
{
	if (text.len > LOOKED_AT_MAX)
		text.len = LOOKED_AT_MAX;
	while (text.len >= 1 || !part.len) {
		if (match_begins_with(text, part))
			return true;
		uint32_t character;
		size_t used = utf8_decode(text.data, text.len, &character);
		text = (struct str){ text.data + used, text.len - used };
	}
	return false;
}
