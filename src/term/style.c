/* How things look: colours and marks, as tables. */
#include "term/style.h"

#include "base/macros.h"

static const char *const colors[] = {
	[STYLE_PLAIN] = "",
	[STYLE_MARK] = "\x1B[1;32m",
	[STYLE_MESSAGE] = "\x1B[1m",
	[STYLE_HINT] = "\x1B[90m",
	[STYLE_ANSWER] = "\x1B[36m",
	[STYLE_CURRENT] = "\x1B[1;36m",
	[STYLE_DEBUG] = "\x1B[90m",
	[STYLE_INFO] = "\x1B[32m",
	[STYLE_WARN] = "\x1B[33m",
	[STYLE_ERROR] = "\x1B[31m",
};

static const struct {
	const char *utf8;
	const char *ascii;
} glyphs[] = {
	[GLYPH_QUESTION] = { "?", "?" },
	[GLYPH_CURSOR] = { "❯", ">" },
	[GLYPH_MARKED] = { "◉", "[x]" },
	[GLYPH_UNMARKED] = { "○", "[ ]" },
	[GLYPH_PLAY] = { "▶", ">" },
	[GLYPH_WRONG] = { "✗", "!" },
	[GLYPH_ELLIPSIS] = { "…", "..." },
	[GLYPH_TO] = { "–", "-" },
};

static const char *const spinner_utf8[] = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" };
static const char *const spinner_ascii[] = { "|", "/", "-", "\\" };

const char *style_begin(const struct look *look, enum style style)
{
	return look->colored ? colors[style] : "";
}

const char *style_end(const struct look *look, enum style style)
{
	return look->colored && style != STYLE_PLAIN ? "\x1B[0m" : "";
}

const char *style_glyph(const struct look *look, enum glyph glyph)
{
	return look->utf8 ? glyphs[glyph].utf8 : glyphs[glyph].ascii;
}

const char *style_spinner(const struct look *look, unsigned step)
{
	if (look->utf8)
		return spinner_utf8[step % COUNT(spinner_utf8)];
	return spinner_ascii[step % COUNT(spinner_ascii)];
}
