/* Output for people on stdout. */
#include "cli/ui/page.h"

#include <unistd.h>

#include "base/utf8.h"
#include "term/text.h"
#include "term/tty.h"

void page_begin(struct page *page, const struct cli *cli)
{
	*page = (struct page){
		.look.colored = cli_wants_color(cli, stdout),
		.look.utf8 = cli_shows_utf8(stdout),
	};
	if (isatty(STDOUT_FILENO))
		tty_size(STDOUT_FILENO, &page->look.columns, &page->look.rows);
}

int page_end(struct page *page)
{
	return cli_print(&page->out);
}

void page_style(struct page *page, enum style style, const char *text)
{
	buf_append_text(&page->out, style_begin(&page->look, style));
	buf_append_text(&page->out, text);
	buf_append_text(&page->out, style_end(&page->look, style));
}

size_t page_width(const struct page *page, struct str text)
{
	size_t width = 0;
	for (uint32_t character; text_next(&text, &page->look, &character);)
		width += utf8_character_width(character);
	return width;
}

/* The last column is the ellipsis's, when something is cut. */
size_t page_cut(struct page *page, struct str text, size_t columns)
{
	const char *ellipsis = style_glyph(&page->look, GLYPH_ELLIPSIS);
	size_t end = text_columns(ellipsis);
	bool is_cut = columns && page_width(page, text) > columns;
	size_t most = is_cut ? columns - (end < columns ? end : columns) : SIZE_MAX;
	size_t used = 0;
	for (uint32_t character; text_next(&text, &page->look, &character);) {
		char encoded[UTF8_MAX];
		size_t width = utf8_character_width(character);
		if (used + width > most)
			break;
		buf_append(&page->out, encoded, utf8_encode(character, encoded));
		used += width;
	}
	if (!is_cut)
		return used;
	buf_append_text(&page->out, ellipsis);
	return used + end;
}

void page_wrap(struct page *page, struct str text, size_t at)
{
	size_t most = page->look.columns;
	size_t used = at;
	while (text.len) {
		struct str word = str_cut(&text, ' ');
		size_t width = page_width(page, word);
		if (used > at && most && used + 1 + width > most) {
			buf_printf(&page->out, "\n%*s", (int)at, "");
			used = at;
		} else if (used > at) {
			buf_append_char(&page->out, ' ');
			used++;
		}
		used += page_cut(page, word, 0);
	}
}

const char *page_join(struct buf *buf, const char *const *list, const char *none)
{
	buf_clear(buf);
	for (size_t i = 0; list[i]; i++) {
		buf_append_text(buf, i ? ", " : "");
		buf_append_text(buf, list[i]);
	}
	return buf->len && buf_terminate(buf) == 0 ? buf->data : none;
}
