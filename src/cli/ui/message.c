/* The text of an error, as it stands on the screen. */
#include "cli/cli.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "base/utf8.h"
#include "term/text.h"

enum { INDENT = 2, NARROWEST = 20, PLACE_FILE_MAX = 1024 * 1024, PLACE_COLUMNS = 76 };

/* ---- lines -------------------------------------------------------------------------- */

static void message_append_clean(struct buf *out, struct str text)
{
	text_append(out, &(struct look){ .utf8 = true }, text, SIZE_MAX);
}

/* Whether a command that is to be copied begins behind what was said. */
static bool message_begins_command(struct str rest, struct str before)
{
	return str_has_prefix(rest, STR("perch ")) && str_has_suffix(before, STR(":"));
}

/* Up to the end of the sentence's part: a comma, a semicolon, or the text's end. A quote of the
 * shell holds what it likes. */
static struct str message_cut_command(struct str *rest)
{
	bool is_quoted = false;
	size_t len = 0;
	for (; len < rest->len; len++) {
		is_quoted ^= rest->data[len] == '\'';
		if (!is_quoted && strchr(",;", rest->data[len]) && len + 1 < rest->len &&
			rest->data[len + 1] == ' ')
			break;
	}
	struct str command = { rest->data, len };
	*rest = (struct str){ rest->data + len, rest->len - len };
	return command;
}

void message_append(struct buf *out, const char *text, size_t used, size_t columns)
{
	_cleanup_(buf_free) struct buf clean = { 0 };
	message_append_clean(&clean, str_from(text));
	struct str rest = { clean.data, clean.len };
	struct str before = { 0 };
	if (columns < NARROWEST)
		buf_append(out, rest.data, rest.len);
	while (columns >= NARROWEST && rest.len) {
		bool is_command = message_begins_command(rest, before);
		struct str word = is_command ? message_cut_command(&rest) : str_cut(&rest, ' ');
		size_t width = utf8_width(word.data, word.len);
		bool breaks = is_command || (before.len && used + 1 + width > columns);
		if (breaks)
			buf_printf(out, "\n%*s", INDENT, "");
		else if (before.len)
			buf_append_char(out, ' ');
		used = breaks ? INDENT + width : used + (before.len ? 1 : 0) + width;
		buf_append(out, word.data, word.len);
		if (is_command && rest.len) { /* the comma goes with what follows */
			str_cut(&rest, ' ');
			used = columns;
		}
		before = word;
	}
	buf_append_char(out, '\n');
}

/* ---- a place in a file -------------------------------------------------------------- */

struct place {
	char *path;
	unsigned long line, column;
};

/* Reads ":LINE:COLUMN: " at the colon. */
static bool message_read_place(const char *colon, struct place *place)
{
	char *end;
	if (!isdigit((unsigned char)colon[1]))
		return false;
	place->line = strtoul(colon + 1, &end, 10);
	if (*end != ':' || !isdigit((unsigned char)end[1]))
		return false;
	place->column = strtoul(end + 1, &end, 10);
	return *end == ':' && end[1] == ' ' && place->line && place->column;
}

/* The path stands at the beginning, or behind the last ": ". */
static bool message_find_place(const char *text, struct place *place)
{
	for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		if (!message_read_place(colon, place))
			continue;
		const char *begin = colon;
		while (begin > text && !(begin - text >= 2 && begin[-1] == ' ' && begin[-2] == ':'))
			begin--;
		place->path = str_dup((struct str){ begin, (size_t)(colon - begin) });
		return place->path;
	}
	return false;
}

static struct str message_line_of(struct str text, unsigned long number)
{
	struct str line = str_cut(&text, '\n');
	for (; number > 1 && text.len; number--)
		line = str_cut(&text, '\n');
	return number == 1 ? line : (struct str){ 0 };
}

/* The bytes before a character, which counts from 1. */
static size_t message_offset(struct str line, unsigned long column)
{
	size_t at = 0;
	uint32_t character;
	for (; column > 1 && at < line.len; column--)
		at += utf8_decode(line.data + at, line.len - at, &character);
	return at;
}

/* Of a long line, the part around the place. */
static void message_append_line(struct buf *out, struct str line, size_t at, size_t columns)
{
	size_t most = columns > NARROWEST && columns < PLACE_COLUMNS ? columns - 6 : PLACE_COLUMNS - 6;
	size_t from = at > most * 2 / 3 ? at - most * 2 / 3 : 0;
	while (from < at && ((unsigned char)line.data[from] & 0xC0) == 0x80)
		from++;
	size_t len = line.len - from < most ? line.len - from : most;
	while (from + len < line.len && ((unsigned char)line.data[from + len] & 0xC0) == 0x80)
		len--;
	_cleanup_(buf_free) struct buf before = { 0 };
	message_append_clean(&before, (struct str){ line.data + from, at - from });
	buf_append_text(out, "  | ");
	message_append_clean(out, (struct str){ line.data + from, len });
	buf_printf(out, "\n  | %*s^\n", (int)utf8_width(before.data, before.len), "");
}

void message_append_place(struct buf *out, const char *text, size_t columns)
{
	struct place place = { 0 };
	_cleanup_(buf_free) struct buf content = { 0 };
	bool is_known = message_find_place(text, &place) &&
		file_read(place.path, PLACE_FILE_MAX, &content, NULL) == 0;
	free(place.path);
	if (!is_known)
		return;
	struct str line = message_line_of((struct str){ content.data, content.len }, place.line);
	if (line.len)
		message_append_line(out, line, message_offset(line, place.column), columns);
}
