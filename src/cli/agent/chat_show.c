/* What is shown of a conversation: the text of the agent as it comes, and perch's own lines. */
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "cli/agent/chat.h"
#include "term/style.h"
#include "term/text.h"

enum { CHAT_COPY_MAX = 64 * 1024 };

static void chat_show_put(struct chat *chat, perch_shown_kind kind, struct str text)
{
	const struct shown shown = { .kind = kind, .text = text };
	chat->terminal->table->show(chat->terminal, &shown);
}

static void chat_show_stop_waiting(struct chat *chat)
{
	if (chat->shows_waiting)
		chat_show_put(chat, PERCH_SHOWN_PROGRESS_DONE, STR(""));
	chat->shows_waiting = false;
}

void chat_show_begin(struct chat *chat)
{
	if (!chat->terminal)
		return;
	chat->shows_waiting = true;
	chat_show_put(chat, PERCH_SHOWN_PROGRESS, STR("waiting"));
}

void chat_show_text(struct chat *chat, struct str text)
{
	if (!text.len)
		return;
	if (!chat->terminal) {
		agent_print_text(&chat->print, text);
		return;
	}
	_cleanup_(buf_free) struct buf clean = { 0 };
	prose_append(&chat->print.prose, &clean, text);
	chat_show_stop_waiting(chat);
	chat_show_put(chat, PERCH_SHOWN_OUTPUT, (struct str){ clean.data, clean.len });
	chat->ends_line = text.data[text.len - 1] == '\n';
}

/* Ends what the agent has begun to draw. */
static void chat_show_end_prose(struct chat *chat)
{
	_cleanup_(buf_free) struct buf rest = { 0 };
	prose_end(&chat->print.prose, &rest);
	if (rest.len)
		chat_show_put(chat, PERCH_SHOWN_OUTPUT, (struct str){ rest.data, rest.len });
}

static void chat_show_end_line(struct chat *chat)
{
	if (chat->terminal && !chat->ends_line)
		chat_show_text(chat, STR("\n"));
}

void chat_show_make_way(struct chat *chat)
{
	chat_show_stop_waiting(chat);
	chat_show_end_line(chat);
}

/* Dim, a line each. */
static void chat_show_thought_lines(struct chat *chat, struct str text)
{
	const struct look *look = &chat->print.prose.look;
	_cleanup_(buf_free) struct buf lines = { 0 };
	while (text.len) {
		buf_append_text(&lines, style_begin(look, STYLE_HINT));
		text_append(&lines, look, str_cut(&text, '\n'), SIZE_MAX);
		buf_append_text(&lines, style_end(look, STYLE_HINT));
		buf_append_char(&lines, '\n');
	}
	chat_show_make_way(chat);
	chat_show_put(chat, PERCH_SHOWN_OUTPUT, (struct str){ lines.data, lines.len });
}

void chat_show_thought(struct chat *chat, struct str text)
{
	text = str_trim(text);
	if (chat->thinking == THINKING_SHOW && !chat->terminal) {
		while (text.len)
			agent_print_note(&chat->print, "thinking", str_cut(&text, '\n'));
	} else if (chat->thinking == THINKING_SHOW) {
		chat_show_thought_lines(chat, text);
	} else if (chat->thinking == THINKING_FOLD && chat->terminal) {
		chat_show_end_line(chat);
		chat->shows_waiting = true;
		chat_show_put(chat, PERCH_SHOWN_PROGRESS, STR("thinking"));
	}
}

void chat_show_reply(struct chat *chat, struct str text)
{
	chat_show_end_line(chat);
	if (chat->terminal)
		chat_show_text(chat, text);
	else
		agent_print_reply(&chat->print, text);
}

void chat_show_end(struct chat *chat)
{
	if (chat->terminal)
		chat_show_end_prose(chat);
	chat_show_end_line(chat);
	if (chat->terminal) {
		chat_show_stop_waiting(chat);
		agent_asker_end(&chat->asker);
		return;
	}
	agent_print_end(&chat->print);
	if (!chat->outlet.error)
		intake_resume(chat->intake);
}

/* Names of files and sessions, and the agent's stderr, must not move the cursor. */
static void chat_show_line(struct chat *chat, const char *kind, struct str text)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	if (kind)
		buf_printf(&line, "%s: ", kind);
	text_append(&line, &chat->print.prose.look, text, SIZE_MAX);
	buf_append_char(&line, '\n');
	chat_show_put(chat, PERCH_SHOWN_OUTPUT, (struct str){ line.data, line.len });
}

void chat_show_note(struct chat *chat, const char *kind, struct str text)
{
	if (!chat->terminal) {
		agent_print_note(&chat->print, kind ? kind : "note", text);
		return;
	}
	chat_show_end_line(chat);
	if (kind && strcmp(kind, "error") == 0)
		chat_show_put(chat, PERCH_SHOWN_ERROR, text);
	else if (kind && strcmp(kind, "warning") == 0)
		chat_show_put(chat, PERCH_SHOWN_WARNING, text);
	else if (!kind || !chat->cli->quiet)
		chat_show_line(chat, kind, text);
}

void chat_show_stderr(struct chat *chat, struct str text)
{
	if (!chat->terminal) {
		agent_print_make_way(&chat->print);
		cli_pass(stderr, text);
		return;
	}
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		chat_show_end_line(chat);
		chat_show_put(chat, PERCH_SHOWN_WARNING, line);
	}
}

/* OSC 52, which most terminals obey, and all others ignore. */
void chat_show_copy(struct chat *chat, struct str text)
{
	struct buf sequence = { 0 };
	if (!chat->terminal || !isatty(STDOUT_FILENO)) {
		chat_show_note(chat, "error", STR("there is no terminal to copy to"));
		return;
	}
	if (text.len > CHAT_COPY_MAX) {
		chat_show_note(
			chat, "error", STR("the reply is too long for a clipboard (at most 64 KiB)"));
		return;
	}
	buf_append_text(&sequence, "\x1B]52;c;");
	base64_append(&sequence, text.data, text.len);
	buf_append_char(&sequence, '\a');
	if (!sequence.failed)
		chat_show_put(chat, PERCH_SHOWN_OUTPUT, (struct str){ sequence.data, sequence.len });
	buf_free(&sequence);
	chat_show_note(chat, NULL, STR("copied"));
}
