/* A mistake in a file of a plugin, as people see it. */
#include "cli/plugins/plugins_commands.h"

#include "base/cleanup.h"

/* The line of the file that has it, and a caret; nothing where its place is not known. */
static void plugins_finding_put_place(
	struct page *page, const char *directory, const char *file, const struct finding *finding)
{
	_cleanup_(buf_free) struct buf whole = { 0 };
	_cleanup_(buf_free) struct buf lines = { 0 };
	buf_printf(&whole, "%s/", directory);
	finding_put(&whole, file, finding);
	if (buf_terminate(&whole) < 0)
		return;
	message_append_place(&lines, whole.data, page->look.columns);
	for (struct str rest = { lines.data, lines.len }; rest.len;) {
		page_cut(page, str_cut(&rest, '\n'), 0);
		buf_append_char(&page->out, '\n');
	}
}

void plugins_finding_put(struct page *page, const char *directory, const char *file,
	const struct finding *finding, bool is_wrong)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	page_style(page, is_wrong ? STYLE_ERROR : STYLE_WARN, is_wrong ? "error" : "warning");
	buf_append_text(&page->out, ": ");
	finding_put(&text, file, finding);
	page_cut(page, (struct str){ text.data, text.len }, 0);
	buf_append_char(&page->out, '\n');
	if (file && finding->at.line)
		plugins_finding_put_place(page, directory, file, finding);
}
