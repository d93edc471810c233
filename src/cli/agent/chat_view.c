/* What a person sees and types of a conversation. On a terminal that can be drawn on there is
 * always a line to type in, below all other text; else, and through pipes, a line is a message, and
 * the next one is read when its turn is over. */
#include "cli/agent/chat.h"

#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/paths.h"
#include "proc/host.h"
#include "term/style.h"
#include "term/term.h"

enum { CHAT_LINE_MAX = 8 * 1024 * 1024 };

/* ---- typing -------------------------------------------------------------- */

static void chat_view_answered(void *data, const struct answer *answer);

static void chat_view_ask(struct chat *chat)
{
	struct str name = str_from(chat->session_name);
	chat->prompt = (perch_question){
		.number = chat->prompt.number + 1,
		.kind = PERCH_QUESTION_PROMPT,
		.message = str_is(name, "default") ? NO_TEXT : text_of(name),
	};
	const struct question_manner manner = {
		.is_conversation = true,
		.typed = { chat->typed.data, chat->typed.len },
		.history = chat->history.lines,
		.history_count = chat->history.count,
	};
	chat->has_prompt = true;
	chat->terminal->answered = chat_view_answered;
	chat->terminal->answered_data = chat;
	chat->terminal->table->ask(chat->terminal, &chat->prompt, &manner);
}

/* The terminal belongs to the prompt, unless an agent asks or the prompt would be in the way. */
static bool chat_view_may_ask(const struct chat *chat)
{
	return !chat->is_leaving && !chat->editor && !chat->asker.first &&
		(chat_is_over(chat) || term_draws(chat->terminal));
}

static void chat_view_remember(struct chat *chat, struct str line)
{
	perch_err err = { 0 };
	if (history_add(&chat->history, line, &err) < 0)
		chat_show_note(chat, "warning", str_from(err.text));
}

/* Ctrl+C stops the turn; without one it empties the line; in an empty line it
 * leaves, the second time. */
static void chat_view_interrupted(struct chat *chat, struct str typed)
{
	bool was_warned = chat->is_warned;
	chat->is_warned = false;
	buf_clear(&chat->typed);
	if (chat_stop(chat)) {
		buf_append(&chat->typed, typed.data, typed.len);
	} else if (!typed.len && was_warned) {
		chat_leave(chat, false);
	} else if (!typed.len) {
		chat->is_warned = true;
		chat_show_note(chat, NULL, STR("Ctrl+C again, or Ctrl+D, leaves"));
	}
}

/* The line ends of a message, as its line shows them, and back. */
static void chat_view_replace(struct buf *out, struct str text, struct str from, struct str to)
{
	while (text.len) {
		bool is_it = str_has_prefix(text, from);
		buf_append(out, is_it ? to.data : text.data, is_it ? to.len : 1);
		text.data += is_it ? from.len : 1;
		text.len -= is_it ? from.len : 1;
	}
}

void chat_view_draft(struct chat *chat, struct str text)
{
	struct buf shown = { 0 };
	chat_view_replace(&shown, text, STR("\n"), STR(FRONTEND_NEWLINE));
	buf_free(&chat->typed);
	chat->typed = shown;
}

static void chat_view_take(struct chat *chat, struct str shown)
{
	struct buf text = { 0 };
	chat->is_warned = false;
	buf_clear(&chat->typed);
	chat->ends_line = true;
	chat_view_remember(chat, shown);
	chat_view_replace(&text, shown, STR(FRONTEND_NEWLINE), STR("\n"));
	chat_line(chat, (struct str){ text.data, text.len });
	buf_free(&text);
}

static void chat_view_answered(void *data, const struct answer *answer)
{
	struct chat *chat = data;
	chat->has_prompt = false;
	if (answer->is_end) {
		chat_leave(chat, false);
	} else if (answer->wants_editor) {
		buf_clear(&chat->typed);
		chat_view_replace(&chat->typed, answer->text, STR(FRONTEND_NEWLINE), STR("\n"));
		chat_editor_open(chat);
	} else if (answer->cancelled) {
		chat_view_interrupted(chat, answer->text);
	} else {
		chat_view_take(chat, answer->text);
	}
	if (chat_view_may_ask(chat))
		chat_view_ask(chat);
}

/* ---- lines --------------------------------------------------------------- */

static bool chat_view_take_line(void *data, const perch_line *line)
{
	struct chat *chat = data;
	if (line->flags & PERCH_LINE_TOO_LONG)
		chat_show_note(chat, "error", STR("a line is too long (at most 8 MiB) and is not sent"));
	else
		chat_line(chat, (struct str){ line->data, line->len });
	return chat_is_over(chat);
}

static void chat_view_lines_ended(void *data, int error)
{
	if (error < 0)
		chat_show_note(data, "error", str_from(perch_strerror(error)));
	chat_leave(data, true);
}

static const struct intake_events line_events = { .line = chat_view_take_line,
	.ended = chat_view_lines_ended };

/* ---- opening ------------------------------------------------------------- */

static void chat_view_open_history(struct chat *chat)
{
	_cleanup_free_ char *directory = NULL;
	_cleanup_free_ char *path = NULL;
	perch_err err = { 0 };
	int r = paths_user(PATH_STATE, "perch", &directory, &err);
	if (r == 0)
		r = paths_make(directory, &err);
	if (r == 0 && !(path = str_join(directory, "/history", NULL)))
		r = err_no_memory(&err);
	if (r == 0)
		r = history_open(&chat->history, path, &err);
	if (r < 0)
		chat_show_note(chat, "warning", str_from(err.text));
}

static void chat_view_greet(const struct chat *chat, bool goes_on)
{
	const struct look look = { .colored = cli_wants_color(chat->cli, stderr) };
	if (chat->cli->quiet)
		return;
	fprintf(stderr, "%sCtrl+D leaves, /help lists the commands%s%s\n",
		style_begin(&look, STYLE_HINT),
		goes_on ? "\nthe conversation goes on; /new begins another" : "",
		style_end(&look, STYLE_HINT));
}

static int chat_view_open_terminal(struct chat *chat, bool goes_on, perch_err *err)
{
	const struct term_options options = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDERR_FILENO,
		.text_fd = STDOUT_FILENO,
		.colored = cli_wants_color(chat->cli, stderr),
		.quiet = chat->cli->quiet,
		.verbose = chat->cli->verbose,
		.utf8 = cli_is_utf8(),
		.guard = &chat->host->guard,
	};
	int r = term_new(&chat->host->loop, &options, &chat->terminal, err);
	if (r < 0)
		return r;
	struct prose *prose = &chat->print.prose;
	prose->look =
		(struct look){ .utf8 = cli_is_utf8(), .colored = cli_wants_color(chat->cli, stdout) };
	prose->has_colors = prose->look.colored;
	prose->has_markdown = !chat->words.is_plain && isatty(STDOUT_FILENO);
	chat_view_greet(chat, goes_on);
	chat_view_open_history(chat);
	chat_view_ask(chat);
	return 0;
}

static void chat_view_say(void *data, struct str text)
{
	chat_show_note(data, "warning", text);
}

int chat_view_open(struct chat *chat, bool goes_on, perch_err *err)
{
	chat->outlet = (struct outlet){ .source.fd = STDOUT_FILENO };
	agent_print_open(&chat->print, chat->cli, &chat->outlet);
	chat->asker = (struct agent_asker){
		.cli = chat->cli, .host = chat->host, .say = chat_view_say, .say_data = chat
	};
	chat->ends_line = true;
	chat->thinking = agent_thinking_of(chat->words.thinking);
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && !chat->cli->non_interactive)
		return chat_view_open_terminal(chat, goes_on, err);
	int r = intake_new(
		&chat->host->loop, STDIN_FILENO, CHAT_LINE_MAX, &line_events, chat, &chat->intake);
	return r < 0 ? err_set(err, r, "the input cannot be read: %s", perch_strerror(r)) : 0;
}

void chat_view_close(struct chat *chat)
{
	chat->asker.terminal = NULL; /* it was lent */
	agent_asker_free(&chat->asker);
	if (chat->terminal)
		chat->terminal->table->free(chat->terminal);
	intake_free(chat->intake);
	agent_print_close(&chat->print);
	outlet_close(&chat->outlet);
	history_free(&chat->history);
	chat_editor_free(chat);
	buf_free(&chat->typed);
}

/* ---- what the agent asks for --------------------------------------------- */

/* The prompt gives way to the question; chat_view_flush brings it back, with the text that was
 * typed in it. */
void chat_view_permission(struct chat *chat, perch_job *job, const perch_ask *ask)
{
	if (chat->terminal) {
		chat_show_make_way(chat);
		if (chat->has_prompt) {
			buf_clear(&chat->typed);
			term_withdraw_draft(chat->terminal, &chat->typed);
		}
		chat->has_prompt = false;
		chat->asker.terminal = chat->terminal;
	}
	agent_asker_ask(&chat->asker, job, ask);
}

void chat_view_flush(struct chat *chat)
{
	if (!chat->terminal) {
		agent_print_flush(&chat->print);
		return;
	}
	if (!chat->has_prompt && chat_view_may_ask(chat))
		chat_view_ask(chat);
	chat->terminal->table->flush(chat->terminal);
}

int chat_view_error(const struct chat *chat)
{
	return chat->terminal ? term_output_error(chat->terminal) : chat->outlet.error;
}

void chat_view_suspend(struct chat *chat)
{
	signals_suspend(chat->terminal);
}

void chat_view_resized(struct chat *chat)
{
	if (chat->terminal)
		term_resized(chat->terminal);
}
