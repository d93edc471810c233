/* Follows the column of text that is written verbatim. */
#include "term/screen.h"

enum { TAB_STOP = 8 };

enum state {
	STATE_TEXT,
	STATE_ESCAPE,        /* after ESC */
	STATE_CONTROL,       /* after ESC [ */
	STATE_STRING,        /* after ESC ] and the like, up to BEL or ESC \ */
	STATE_STRING_ESCAPE, /* ESC inside of one */
};

static void column_advance(struct column *column, size_t columns, size_t width)
{
	if (column->at + columns > width)
		column->at = columns < width ? columns : width;
	else
		column->at += columns;
}

static void column_control(struct column *column, unsigned char byte, size_t width)
{
	column->partial_len = 0;
	switch (byte) {
	case '\n':
	case '\r':
		column->at = 0;
		column->is_lost = false;
		break;
	case '\b':
		column->at -= column->at > 0;
		break;
	case '\t':
		column->at += TAB_STOP - column->at % TAB_STOP;
		if (column->at >= width)
			column->at = width - 1;
		break;
	case 0x1B:
		column->state = STATE_ESCAPE;
		break;
	default:
		break;
	}
}

/* One byte of a character: complete it, or keep it for the next. */
static void column_character_byte(struct column *column, char byte, size_t width)
{
	column->partial[column->partial_len++] = byte;
	uint32_t character;
	size_t used = utf8_decode(column->partial, column->partial_len, &character);
	bool is_cut_short = used < column->partial_len;
	bool may_grow = character == 0xFFFD && used < UTF8_MAX && !is_cut_short &&
		(unsigned char)column->partial[0] >= 0xC2;
	if (may_grow)
		return;
	column->partial_len = 0;
	column_advance(column, utf8_character_width(character), width);
	if (is_cut_short)
		column_character_byte(column, byte, width);
}

static bool column_is_one_of(char byte, const char *set)
{
	return byte && strchr(set, byte);
}

static void column_after_escape(struct column *column, char byte)
{
	column->state = STATE_TEXT;
	if (byte == '[')
		column->state = STATE_CONTROL;
	else if (column_is_one_of(byte, "]PX^_"))
		column->state = STATE_STRING;
	else if (column_is_one_of(byte, "78DEMc"))
		column->is_lost = true;
}

/* Bytes inside a sequence. Only colours and erasing leave the cursor alone. */
static void column_sequence_byte(struct column *column, char byte)
{
	switch ((enum state)column->state) {
	case STATE_ESCAPE:
		column_after_escape(column, byte);
		break;
	case STATE_CONTROL:
		if ((unsigned char)byte < 0x40)
			break;
		column->state = STATE_TEXT;
		column->is_lost |= !column_is_one_of(byte, "mJKhl");
		break;
	case STATE_STRING:
		column->state = byte == '\a' ? STATE_TEXT
			: byte == 0x1B           ? STATE_STRING_ESCAPE
									 : STATE_STRING;
		break;
	case STATE_STRING_ESCAPE:
	case STATE_TEXT:
		column->state = STATE_TEXT;
		break;
	}
}

void column_follow(struct column *column, struct str text, size_t width)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if (column->state != STATE_TEXT)
			column_sequence_byte(column, text.data[i]);
		else if (byte < 0x20)
			column_control(column, byte, width);
		else if (byte < 0x7F && !column->partial_len)
			column_advance(column, 1, width);
		else if (byte != 0x7F)
			column_character_byte(column, text.data[i], width);
	}
}
