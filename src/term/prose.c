/* What an agent says, drawn. A piece is read character by character; the few that may begin a mark
 * are held until they are one, or none. */
#include "term/prose.h"

#include <string.h>

#include "base/utf8.h"
#include "term/text.h"

#define SGR_OFF "\x1B[0m"

/* ---- styles ---------------------------------------------------------------------- */

/* One sequence for all that is on: terminals have no way to end bold alone. */
static void prose_set_styles(const struct prose *prose, struct buf *out)
{
	if (!prose->look.colored)
		return;
	buf_append_text(out, SGR_OFF);
	if (prose->is_heading || prose->is_bold)
		buf_append_text(out, "\x1B[1m");
	if (prose->is_code || prose->is_fenced)
		buf_append_text(out, "\x1B[36m");
}

static void prose_put(const struct prose *prose, struct buf *out, struct str text)
{
	text_append(out, &prose->look, text, SIZE_MAX);
}

/* ---- what is held -------------------------------------------------------------------- */

static struct str prose_held(const struct prose *prose)
{
	return (struct str){ prose->held, prose->held_len };
}

static bool prose_holds_only(const struct prose *prose, char byte)
{
	for (size_t i = 0; i < prose->held_len; i++) {
		if (prose->held[i] != byte)
			return false;
	}
	return prose->held_len > 0;
}

/* ---- marks inside of a line ------------------------------------------------------------ */

/* ** and ` switch; anything else is text. */
static void prose_settle_mark(struct prose *prose, struct buf *out)
{
	struct str held = prose_held(prose);
	bool is_bold = str_is(held, "**") && !prose->is_code;
	bool is_code = str_is(held, "`");
	prose->held_len = 0;
	if (!is_bold && !is_code) {
		prose_put(prose, out, held);
		return;
	}
	prose->is_bold ^= is_bold;
	prose->is_code ^= is_code;
	prose_set_styles(prose, out);
}

static bool prose_may_be_mark(const struct prose *prose, char byte)
{
	return prose->has_markdown && !prose->is_fenced && (byte == '*' || byte == '`');
}

/* ---- the start of a line ------------------------------------------------------------------ */

static void prose_end_line(struct prose *prose, struct buf *out)
{
	bool had_style = prose->is_heading || prose->is_bold || prose->is_code;
	prose->is_heading = prose->is_bold = prose->is_code = false;
	prose->is_inside_line = false;
	if (had_style)
		prose_set_styles(prose, out);
	buf_append_char(out, '\n');
}

/* "## " is a heading, "- " and "* " are items; blanks before an item stay. */
static void prose_settle_start(struct prose *prose, struct buf *out)
{
	struct str held = prose_held(prose);
	size_t blanks = 0;
	while (blanks < held.len && held.data[blanks] == ' ')
		blanks++;
	struct str mark = { held.data + blanks, held.len - blanks };
	prose->is_inside_line = true;
	prose->held_len = 0;
	bool ends_blank = mark.len > 1 && mark.data[mark.len - 1] == ' ';
	if (!prose->is_fenced && ends_blank && mark.data[0] == '#' && !blanks) {
		prose->is_heading = true;
		prose_set_styles(prose, out);
	} else if (!prose->is_fenced && (str_is(mark, "- ") || str_is(mark, "* "))) {
		prose_put(prose, out, (struct str){ held.data, blanks });
		buf_append_text(out, prose->look.utf8 ? "• " : "- ");
	} else {
		prose_put(prose, out, held);
	}
}

/* Whether this may still become what the function above knows, or a fence. */
static bool prose_is_start(const struct prose *prose, char byte)
{
	struct str held = prose_held(prose);
	if (!byte || held.len + 1 >= PROSE_HELD_MAX)
		return false;
	if (byte == ' ')
		return !held.len || held.data[held.len - 1] == ' ' ||
			strchr("#-*", held.data[held.len - 1]);
	bool is_first = !held.len || held.data[held.len - 1] == ' ';
	if (is_first && held.len && held.data[held.len - 1] == ' ' && strpbrk(held.data, "#-*`"))
		return false;
	if (is_first)
		return strchr("#-*`", byte);
	return (byte == '#' && prose_holds_only(prose, '#')) ||
		(byte == '`' && held.data[held.len - 1] == '`');
}

static bool prose_is_fence(const struct prose *prose)
{
	struct str mark = str_trim(prose_held(prose));
	return mark.len >= 3 && prose->held[prose->held_len - 1] == '`';
}

/* All of a fence's line is left out, but what language it is. */
static void prose_toggle_fence(struct prose *prose, struct buf *out)
{
	prose->is_fenced = !prose->is_fenced;
	prose->is_inside_line = true;
	prose->held_len = 0;
	prose_set_styles(prose, out);
}

/* Returns whether the byte was taken. */
static bool prose_take_start(struct prose *prose, struct buf *out, char byte)
{
	prose->held[prose->held_len] = '\0';
	if (byte != '\n' && prose_is_start(prose, byte)) {
		prose->held[prose->held_len++] = byte;
		bool is_item_or_heading =
			byte == ' ' && prose->held_len > 1 && prose->held[prose->held_len - 2] != ' ';
		if (is_item_or_heading)
			prose_settle_start(prose, out);
		return true;
	}
	if (prose->held_len && prose_is_fence(prose)) {
		prose_toggle_fence(prose, out);
		return false;
	}
	bool may_be_mark = !prose->is_fenced &&
		(str_is(prose_held(prose), "*") || str_is(prose_held(prose), "`") ||
			str_is(prose_held(prose), "**"));
	if (may_be_mark) {
		prose->is_inside_line = true;
		return false;
	}
	prose_settle_start(prose, out);
	return false;
}

/* ---- colours of the agent's own ------------------------------------------------------------ */

/* ESC [ digits and ; m: 1 = it is whole, 0 = it may become one, -1 = it is none. */
static int prose_judge_color(struct str held)
{
	if (held.len > 1 && held.data[1] != '[')
		return -1;
	for (size_t i = 2; i < held.len; i++) {
		bool is_last = i + 1 == held.len;
		if (is_last && held.data[i] == 'm')
			return 1;
		if (!held.data[i] || !strchr("0123456789;:", held.data[i]))
			return -1;
	}
	return held.len + 1 < PROSE_HELD_MAX ? 0 : -1;
}

static bool prose_holds_escape(const struct prose *prose)
{
	return prose->held_len && prose->held[0] == '\x1B';
}

static void prose_pass_color(struct prose *prose, struct buf *out)
{
	struct str held = prose_held(prose);
	bool is_off = str_is(held, SGR_OFF) || str_is(held, "\x1B[m");
	if (prose->has_colors)
		buf_append(out, held.data, held.len);
	prose->is_colored = prose->has_colors && !is_off;
	prose->held_len = 0;
}

/* Returns whether the byte belongs to a sequence. */
static bool prose_take_color(struct prose *prose, struct buf *out, char byte)
{
	if (!prose_holds_escape(prose) && byte != '\x1B')
		return false;
	if (!prose_holds_escape(prose) && prose->held_len)
		return false; /* a mark comes first */
	prose->held[prose->held_len++] = byte;
	int judged = prose_judge_color(prose_held(prose));
	if (judged > 0)
		prose_pass_color(prose, out);
	if (judged >= 0)
		return true;
	prose->held_len--;
	prose_put(prose, out, prose_held(prose));
	prose->held_len = 0;
	return false;
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

/* A byte that may mean something; false = it is text like others. */
static bool prose_take(struct prose *prose, struct buf *out, char byte)
{
	if (prose_take_color(prose, out, byte))
		return true;
	if (prose->has_markdown && !prose->is_inside_line && prose_take_start(prose, out, byte))
		return true;
	bool continues =
		prose->held_len && prose->held[0] == byte && prose->held_len < 2 && byte == '*';
	if (prose->held_len && !continues)
		prose_settle_mark(prose, out);
	if (byte == '\x1B')
		return prose_take_color(prose, out, byte);
	if (prose_may_be_mark(prose, byte)) {
		prose->held[prose->held_len++] = byte;
		return true;
	}
	if (byte != '\n')
		return false;
	prose_end_line(prose, out);
	return true;
}

void prose_append(struct prose *prose, struct buf *out, struct str text)
{
	while (text.len) {
		if (prose_take(prose, out, text.data[0])) {
			text.data++, text.len--;
			continue;
		}
		size_t len = 1; /* up to what may mean something */
		while (len < text.len && !strchr("\x1B*`\n", text.data[len]))
			len++;
		prose_put(prose, out, (struct str){ text.data, len });
		text.data += len, text.len -= len;
	}
}

void prose_end(struct prose *prose, struct buf *out)
{
	if (prose->held_len && !prose_holds_escape(prose)) {
		if (prose->is_inside_line)
			prose_settle_mark(prose, out);
		else if (!prose_is_fence(prose))
			prose_settle_start(prose, out);
	}
	bool has_style = prose->is_heading || prose->is_bold || prose->is_code || prose->is_fenced;
	if (prose->is_colored || (has_style && prose->look.colored))
		buf_append_text(out, SGR_OFF);
	prose->held_len = 0;
	prose->is_inside_line = prose->is_fenced = prose->is_heading = false;
	prose->is_bold = prose->is_code = prose->is_colored = false;
}

void prose_strip(struct prose *prose, struct buf *out, struct str text)
{
	if (!prose->held_len && !(text.len && memchr(text.data, '\x1B', text.len))) {
		buf_append(out, text.data, text.len);
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		char byte = text.data[i];
		if (!prose_holds_escape(prose) && byte != '\x1B') {
			buf_append_char(out, byte);
			continue;
		}
		prose->held[prose->held_len++] = byte;
		int judged = prose_judge_color(prose_held(prose));
		if (judged < 0)
			buf_append(out, prose->held, prose->held_len);
		if (judged != 0)
			prose->held_len = 0;
	}
}
