/* Bytes of a terminal become keys. Sequences are those that xterm, the Linux
 * console, rxvt, tmux and screen send; what is not in the tables is skipped as
 * a whole, so that an unknown key never leaves its tail in the line. */
#include "term/keys.h"

#include <string.h>

#include "base/macros.h"
#include "base/str.h"
#include "base/utf8.h"

enum {
	ESCAPE = 0x1B,
	DELETE = 0x7F,
	SEQUENCE_MAX = 64, /* a longer control sequence is not one */
	REPLACEMENT = 0xFFFD,
};

#define PASTE_END "\x1B[201~"
enum { PASTE_END_LENGTH = sizeof(PASTE_END) - 1 };

struct sequence_key {
	unsigned char final;
	unsigned number; /* for the final '~' */
	enum key_code code;
	unsigned modifiers;
};

/* ESC [ … */
static const struct sequence_key csi_keys[] = {
	{ 'A', 0, KEY_UP, 0 },
	{ 'B', 0, KEY_DOWN, 0 },
	{ 'C', 0, KEY_RIGHT, 0 },
	{ 'D', 0, KEY_LEFT, 0 },
	{ 'H', 0, KEY_HOME, 0 },
	{ 'F', 0, KEY_END, 0 },
	{ 'Z', 0, KEY_TAB, KEY_SHIFT },
	{ '~', 1, KEY_HOME, 0 },
	{ '~', 3, KEY_DELETE, 0 },
	{ '~', 4, KEY_END, 0 },
	{ '~', 5, KEY_PAGE_UP, 0 },
	{ '~', 6, KEY_PAGE_DOWN, 0 },
	{ '~', 7, KEY_HOME, 0 },
	{ '~', 8, KEY_END, 0 },
};

/* ESC O … */
static const struct sequence_key ss3_keys[] = {
	{ 'A', 0, KEY_UP, 0 },
	{ 'B', 0, KEY_DOWN, 0 },
	{ 'C', 0, KEY_RIGHT, 0 },
	{ 'D', 0, KEY_LEFT, 0 },
	{ 'H', 0, KEY_HOME, 0 },
	{ 'F', 0, KEY_END, 0 },
	{ 'M', 0, KEY_ENTER, 0 },
	{ 'c', 0, KEY_RIGHT, KEY_CTRL },
	{ 'd', 0, KEY_LEFT, KEY_CTRL },
};

#define LOOK_UP(table, final, number) keys_look_up((table), COUNT(table), (final), (number))

static struct key keys_look_up(
	const struct sequence_key *table, size_t count, unsigned char final, unsigned number)
{
	for (size_t i = 0; i < count; i++) {
		if (table[i].final == final && (final != '~' || table[i].number == number))
			return (struct key){ .code = table[i].code, .modifiers = table[i].modifiers };
	}
	return (struct key){ .code = KEY_NONE };
}

/* The numbers of "1;5": the key and 1 + its modifiers. */
static void keys_read_numbers(const char *bytes, size_t len, unsigned numbers[2])
{
	size_t which = 0;
	for (size_t i = 0; i < len && which < 2; i++) {
		if (bytes[i] == ';')
			which++;
		else if (bytes[i] >= '0' && bytes[i] <= '9' && numbers[which] < 1000)
			numbers[which] = numbers[which] * 10 + (unsigned)(bytes[i] - '0');
	}
}

/* A control sequence whose parameters begin at bytes[2] and whose last byte is
 * at `end`. */
static struct key keys_understand_csi(struct keys *keys, const char *bytes, size_t end)
{
	unsigned numbers[2] = { 0, 0 };
	keys_read_numbers(bytes + 2, end - 2, numbers);
	unsigned char final = (unsigned char)bytes[end];
	if (final == '~' && numbers[0] == 200) {
		*keys = (struct keys){ .is_pasting = true };
		return (struct key){ .code = KEY_NONE };
	}
	struct key key = LOOK_UP(csi_keys, final, numbers[0]);
	if (numbers[1] > 1)
		key.modifiers |= (numbers[1] - 1) & (KEY_SHIFT | KEY_ALT | KEY_CTRL);
	return key;
}

static size_t keys_read_csi(
	struct keys *keys, const char *bytes, size_t len, bool is_final, struct key *ret_key)
{
	size_t at = 2;
	if (at < len && bytes[at] == '[') /* the Linux console's function keys: ESC [ [ A */
		at++;
	while (at < len && at < SEQUENCE_MAX && bytes[at] >= 0x20 && bytes[at] <= 0x3F)
		at++;
	if (at == len)
		return is_final ? len : 0;
	if (bytes[at] < 0x40 || bytes[at] == DELETE)
		return at; /* cut short by something else, which is read next */
	if (bytes[2] != '[')
		*ret_key = keys_understand_csi(keys, bytes, at);
	return at + 1;
}

static struct key keys_control_key(unsigned char byte)
{
	switch (byte) {
	case '\r':
		return (struct key){ .code = KEY_ENTER };
	case '\n':
		return (struct key){ .code = KEY_ENTER, .modifiers = KEY_CTRL };
	case '\t':
		return (struct key){ .code = KEY_TAB };
	case '\b':
	case DELETE:
		return (struct key){ .code = KEY_BACKSPACE };
	case ESCAPE:
		return (struct key){ .code = KEY_ESCAPE };
	default:
		break;
	}
	if (byte < 1 || byte > 26)
		return (struct key){ .code = KEY_NONE };
	return (struct key){ .code = KEY_TEXT, .character = byte + 'a' - 1u, .modifiers = KEY_CTRL };
}

/* Could these bytes, too few for a character, still become one? */
static bool keys_is_unfinished(const char *bytes, size_t len)
{
	if (len >= UTF8_MAX)
		return false;
	char probe[UTF8_MAX];
	uint32_t character;
	memcpy(probe, bytes, len);
	for (size_t length = len + 1; length <= UTF8_MAX; length++) {
		/* No second byte is allowed after every lead; one of these two is. */
		for (int fill = 0x80; fill <= 0xBF; fill += 0x3F) {
			memset(probe + len, fill, length - len);
			if (utf8_decode(probe, length, &character) == length && character != REPLACEMENT)
				return true;
		}
	}
	return false;
}

static size_t keys_read_character(const char *bytes, size_t len, bool is_final, struct key *ret_key)
{
	uint32_t character;
	size_t used = utf8_decode(bytes, len, &character);
	if (used == len && character == REPLACEMENT && !is_final && keys_is_unfinished(bytes, len))
		return 0;
	bool is_c1 = character >= 0x80 && character < 0xA0;
	if (character != REPLACEMENT && !is_c1)
		*ret_key = (struct key){ .code = KEY_TEXT, .character = character };
	return used;
}

static bool keys_is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == DELETE;
}

/* ESC and something: a sequence, Alt with a key, or Escape itself. */
static size_t keys_read_escape(
	struct keys *keys, const char *bytes, size_t len, bool is_final, struct key *ret_key)
{
	bool is_lone = len == 1;
	if (is_lone && !is_final)
		return 0;
	if (is_lone || bytes[1] == ESCAPE) {
		*ret_key = (struct key){ .code = KEY_ESCAPE };
		return 1;
	}
	if (bytes[1] == '[')
		return keys_read_csi(keys, bytes, len, is_final, ret_key);
	if (bytes[1] == 'O') {
		if (len < 3)
			return is_final ? len : 0;
		*ret_key = LOOK_UP(ss3_keys, (unsigned char)bytes[2], 0);
		return 3;
	}
	size_t used = 1;
	if (keys_is_control(bytes[1]))
		*ret_key = keys_control_key((unsigned char)bytes[1]);
	else
		used = keys_read_character(bytes + 1, len - 1, is_final, ret_key);
	ret_key->modifiers |= KEY_ALT;
	if (ret_key->character >= 'A' && ret_key->character <= 'Z')
		ret_key->character += 'a' - 'A';
	return used ? used + 1 : 0;
}

/* The end of a paste is the one sequence that counts inside of it. */
static size_t keys_read_pasted_escape(
	struct keys *keys, const char *bytes, size_t len, bool is_final)
{
	size_t compared = len < PASTE_END_LENGTH ? len : PASTE_END_LENGTH;
	if (memcmp(bytes, PASTE_END, compared) != 0)
		return 1;
	if (compared < PASTE_END_LENGTH)
		return is_final ? 1 : 0;
	keys->is_pasting = false;
	return PASTE_END_LENGTH;
}

static size_t keys_read_pasted(
	struct keys *keys, const char *bytes, size_t len, bool is_final, struct key *ret_key)
{
	bool follows_return = keys->was_return;
	keys->was_return = bytes[0] == '\r';
	if (bytes[0] == ESCAPE)
		return keys_read_pasted_escape(keys, bytes, len, is_final);
	if (!keys_is_control(bytes[0]))
		return keys_read_character(bytes, len, is_final, ret_key);
	struct key key = keys_control_key((unsigned char)bytes[0]);
	if (key.code == KEY_TAB)
		*ret_key = (struct key){ .code = KEY_TEXT, .character = ' ' };
	else if (key.code == KEY_ENTER && !(follows_return && bytes[0] == '\n'))
		*ret_key = (struct key){ .code = KEY_ENTER };
	else if (key_is_ctrl(&key, 'c')) {
		keys->is_pasting = false;
		*ret_key = key;
	}
	return 1;
}

size_t keys_read(
	struct keys *keys, const char *bytes, size_t len, bool is_final, struct key *ret_key)
{
	*ret_key = (struct key){ .code = KEY_NONE };
	if (!len)
		return 0;
	if (keys->is_pasting) {
		size_t used = keys_read_pasted(keys, bytes, len, is_final, ret_key);
		ret_key->is_pasted = true;
		return used;
	}
	if (bytes[0] == ESCAPE)
		return keys_read_escape(keys, bytes, len, is_final, ret_key);
	if (!keys_is_control(bytes[0]))
		return keys_read_character(bytes, len, is_final, ret_key);
	*ret_key = keys_control_key((unsigned char)bytes[0]);
	return 1;
}
