/* A turn, as a person sees it: partials and the reply on stdout as they come, everything else on
 * stderr. */
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/agent/agent_commands.h"
#include "term/text.h"

enum { PRINT_BUFFER = 64 * 1024 };

void agent_print_open(struct agent_print *print, const struct cli *cli, struct outlet *outlet)
{
	*print = (struct agent_print){ .is_quiet = cli->quiet, .ends_line = true, .outlet = outlet };
	print->is_terminal = isatty(STDOUT_FILENO);
	print->is_utf8 = print->is_terminal && cli_is_utf8();
	print->prose.look.utf8 = print->is_utf8;
	print->prose.has_colors = cli_wants_color(cli, stdout);
}

void agent_print_flush(struct agent_print *print)
{
	if (print->outlet) /* before it was opened there is nothing to write */
		outlet_take(print->outlet, &print->out);
}

/* Appends text without characters that could move the cursor of a terminal. */
static void agent_print_clean(struct buf *out, bool is_utf8, struct str text)
{
	const struct look look = { .utf8 = is_utf8 };
	while (text.len) {
		bool has_end = memchr(text.data, '\n', text.len) != NULL;
		text_append(out, &look, str_cut(&text, '\n'), SIZE_MAX);
		if (has_end)
			buf_append_char(out, '\n');
	}
}

void agent_print_text(struct agent_print *print, struct str text)
{
	if (!text.len)
		return;
	print->ends_line = text.data[text.len - 1] == '\n';
	if (print->is_terminal)
		prose_append(&print->prose, &print->out, text);
	else
		prose_strip(&print->prose, &print->out, text);
	if (print->out.len >= PRINT_BUFFER)
		agent_print_flush(print);
}

static void agent_print_end_line(struct agent_print *print)
{
	if (!print->ends_line)
		agent_print_text(print, STR("\n"));
}

void agent_print_reply(struct agent_print *print, struct str text)
{
	agent_print_end_line(print);
	agent_print_text(print, text);
}

void agent_print_make_way(struct agent_print *print)
{
	if (print->is_terminal)
		agent_print_end_line(print);
	agent_print_flush(print);
}

void agent_print_hint(struct agent_print *print, struct str text)
{
	if (print->is_quiet)
		return;
	agent_print_make_way(print);
	cli_hint(text);
}

void agent_print_note(struct agent_print *print, const char *kind, struct str text)
{
	if (print->is_quiet && strcmp(kind, "error") != 0)
		return;
	agent_print_make_way(print);
	_cleanup_(buf_free) struct buf shown = { 0 };
	agent_print_clean(&shown, cli_shows_utf8(stderr), text);
	if (buf_terminate(&shown) < 0)
		return;
	bool has_lines = memchr(shown.data, '\n', shown.len);
	if (!has_lines && strcmp(kind, "error") == 0)
		cli_error(NULL, "%s", shown.data);
	else if (!has_lines && strcmp(kind, "warning") == 0)
		cli_warning(shown.data);
	else
		fprintf(stderr, "%s: %s\n", kind, shown.data);
}

struct str agent_last_lines(const perch_agent_end *end)
{
	struct str tail = str_trim((struct str){ end->stderr_tail, end->stderr_len });
	size_t from = tail.len;
	unsigned lines = 0;
	while (from && !(tail.data[from - 1] == '\n' && ++lines == LAST_LINES))
		from--;
	return (struct str){ tail.data + from, tail.len - from };
}

void agent_print_end(struct agent_print *print)
{
	if (print->is_terminal)
		prose_end(&print->prose, &print->out);
	agent_print_end_line(print);
	agent_print_flush(print);
}

void agent_print_close(struct agent_print *print)
{
	buf_free(&print->out);
}
