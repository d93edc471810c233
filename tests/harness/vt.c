/* A very small terminal. */
#include "harness/vt.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* The right half of a wide character. */
enum { SECOND_HALF = 0xFFFFFFFF };

void vt_init(struct vt *vt, size_t columns, size_t rows)
{
	ck_assert(columns <= VT_COLUMNS_MAX && rows <= VT_ROWS_MAX);
	*vt = (struct vt){ .columns = columns, .rows = rows };
}

static void line_feed(struct vt *vt)
{
	if (vt->y + 1 < vt->rows) {
		vt->y++;
		return;
	}
	memmove(vt->cells[0], vt->cells[1], (VT_ROWS_MAX - 1) * sizeof(vt->cells[0]));
	memset(vt->cells[vt->rows - 1], 0, sizeof(vt->cells[0]));
	vt->scrolled++;
}

static void put(struct vt *vt, uint32_t character)
{
	unsigned width = utf8_character_width(character);
	if (!width)
		return;
	if (vt->wraps || vt->x + width > vt->columns) {
		vt->x = 0;
		vt->wraps = false;
		line_feed(vt);
	}
	vt->cells[vt->y][vt->x++] = character;
	if (width == 2 && vt->x < vt->columns)
		vt->cells[vt->y][vt->x++] = SECOND_HALF;
	if (vt->x >= vt->columns) {
		vt->x = vt->columns - 1;
		vt->wraps = true;
	}
}

static void erase_line(struct vt *vt, size_t y, size_t from)
{
	memset(&vt->cells[y][from], 0, (VT_COLUMNS_MAX - from) * sizeof(uint32_t));
}

static size_t at_least_one(size_t number)
{
	return number ? number : 1;
}

static void control_sequence(struct vt *vt, size_t number, char final)
{
	size_t distance = at_least_one(number);
	bool moves = true;
	switch (final) {
	case 'A':
		ck_assert_msg(number, "a move up by nothing");
		vt->y = distance < vt->y ? vt->y - distance : 0;
		break;
	case 'C':
		vt->x = vt->x + distance < vt->columns ? vt->x + distance : vt->columns - 1;
		break;
	case 'H':
		vt->x = vt->y = 0;
		break;
	case 'J':
		for (size_t y = number == 2 ? 0 : vt->y + 1; y < vt->rows; y++)
			erase_line(vt, y, 0);
		if (number == 2)
			break;
		erase_line(vt, vt->y, vt->x);
		break;
	case 'K':
		ck_assert_msg(!vt->wraps, "erasing behind the last column");
		erase_line(vt, vt->y, vt->x);
		break;
	case 'm':
		vt->is_colored = number != 0;
		moves = false;
		break;
	default:
		ck_abort_msg("an unknown sequence: %zu%c", number, final);
	}
	if (moves)
		vt->wraps = false;
}

/* ESC [ …; returns its length. */
static size_t escape(struct vt *vt, const char *bytes, size_t len)
{
	ck_assert(len > 2 && bytes[1] == '[');
	char *end;
	bool is_private = bytes[2] == '?';
	size_t number = strtoul(bytes + (is_private ? 3 : 2), &end, 10);
	while (*end == ';')
		number = strtoul(end + 1, &end, 10);
	if (!is_private)
		control_sequence(vt, number, *end);
	else if (number == 25)
		vt->cursor_is_hidden = *end == 'l';
	return (size_t)(end + 1 - bytes);
}

void vt_write(struct vt *vt, const char *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		uint32_t character;
		size_t used = utf8_decode(bytes + at, len - at, &character);
		if (character == 0x1B) {
			used = escape(vt, bytes + at, len - at);
		} else if (character == '\r' || character == '\n') {
			/* The terminal's driver adds a return to every line feed. */
			vt->x = 0;
			vt->wraps = false;
			if (character == '\n')
				line_feed(vt);
		} else {
			ck_assert_msg(character >= 0x20, "control character %u", character);
			put(vt, character);
		}
		at += used;
	}
}

const char *vt_text(struct vt *vt)
{
	char *out = vt->text;
	char *end = out;
	for (size_t y = 0; y < vt->rows; y++) {
		char *line_end = out;
		for (size_t x = 0; x < vt->columns; x++) {
			uint32_t cell = vt->cells[y][x];
			if (cell == SECOND_HALF)
				continue;
			out += utf8_encode(cell ? cell : ' ', out);
			if (cell && cell != ' ')
				line_end = out;
		}
		out = line_end;
		if (line_end > vt->text && line_end[-1] != '\n')
			end = line_end;
		*out++ = '\n';
	}
	*end = '\0';
	return vt->text;
}
