/* What a host shows, as lines. */
#include "term/term_message.h"

#include "base/macros.h"
#include "term/text.h"

enum { NAME_MAX_BYTES = 128 };

static const struct level {
	const char *name;
	const char *label;
	enum style style;
	bool is_quiet; /* not for a user who wants quiet */
	bool is_debug; /* only for a user who asked for more */
} levels[] = {
	{ "debug", "DEBUG", STYLE_DEBUG, true, true },
	{ "info", "INFO", STYLE_INFO, true, false },
	{ "warn", "WARN", STYLE_WARN, false, false },
	{ "error", "ERROR", STYLE_ERROR, false, false },
};

/* The words before what the host itself says. */
static const struct kind {
	const char *label;
	enum style style;
	bool is_debug;
} kinds[] = {
	[PERCH_SHOWN_STORE] = { "store", STYLE_DEBUG, true },
	[PERCH_SHOWN_LOAD] = { "load", STYLE_DEBUG, true },
	[PERCH_SHOWN_EXEC] = { "exec", STYLE_DEBUG, true },
	[PERCH_SHOWN_METADATA] = { "metadata", STYLE_DEBUG, true },
	[PERCH_SHOWN_WARNING] = { "warning", STYLE_WARN, false },
	[PERCH_SHOWN_ERROR] = { "error", STYLE_ERROR, false },
	[PERCH_SHOWN_DEBUG] = { "debug", STYLE_DEBUG, true },
};

static const struct level *term_message_find_level(struct str name)
{
	for (size_t i = 0; i < COUNT(levels); i++) {
		if (str_is(name, levels[i].name))
			return &levels[i];
	}
	return NULL;
}

bool message_is_wanted(const struct shown *shown, struct message_wishes wishes)
{
	if (shown->kind != PERCH_SHOWN_LOG)
		return !kinds[shown->kind].is_debug || wishes.verbose;
	const struct level *level = term_message_find_level(shown->level);
	if (!level)
		return true;
	return (!level->is_debug || wishes.verbose) && (!level->is_quiet || !wishes.quiet);
}

static void term_message_write_label(
	struct buf *lines, const struct look *look, enum style style, struct str label)
{
	buf_append_text(lines, style_begin(look, style));
	text_append(lines, look, label, NAME_MAX_BYTES);
	buf_append_text(lines, style_end(look, style));
}

static void term_message_write_text(
	struct buf *lines, const struct look *look, struct str text, size_t most)
{
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	bool is_cut = text.len > most;
	if (is_cut)
		text.len = most;
	const char *indent = " ";
	do {
		buf_append_text(lines, indent);
		text_append(lines, look, str_cut(&text, '\n'), most);
		indent = "\n  ";
	} while (text.len);
	if (is_cut)
		buf_append_text(lines, style_glyph(look, GLYPH_ELLIPSIS));
	buf_append_char(lines, '\n');
}

static void term_message_write_log(
	const struct shown *shown, const struct look *look, size_t most, struct buf *lines)
{
	const struct level *level = term_message_find_level(shown->level);
	struct str label = level ? str_from(level->label) : shown->level;
	term_message_write_label(lines, look, level ? level->style : STYLE_PLAIN, label);
	if (shown->plugin.len) {
		buf_append_text(lines, " [");
		text_append(lines, look, shown->plugin, NAME_MAX_BYTES);
		buf_append_text(lines, "]");
	}
	term_message_write_text(lines, look, shown->text, most);
}

void message_write(
	const struct shown *shown, const struct look *look, size_t most, struct buf *lines)
{
	if (shown->kind == PERCH_SHOWN_LOG) {
		term_message_write_log(shown, look, most, lines);
		return;
	}
	const struct kind *kind = &kinds[shown->kind];
	term_message_write_label(lines, look, kind->style, str_from(kind->label));
	buf_append_char(lines, ':');
	bool names_key = shown->kind == PERCH_SHOWN_STORE || shown->kind == PERCH_SHOWN_LOAD;
	term_message_write_text(lines, look, names_key ? shown->key : shown->text, most);
}
