/* A line of a conversation: a message, or a command that begins with a slash. */
#include <stdlib.h>

#include "base/macros.h"
#include "base/utf8.h"
#include "cli/agent/chat.h"

static void chat_commands_say(struct chat *chat, const char *text)
{
	chat_show_note(chat, NULL, str_from(text));
}

static void chat_commands_do_new(struct chat *chat, struct str argument)
{
	(void)argument;
	chat->words.is_new = true;
	chat_commands_say(chat, "the next message begins a new session");
}

static void chat_commands_do_session(struct chat *chat, struct str argument)
{
	char *name = argument.len ? str_dup(argument) : NULL;
	if (!name) {
		chat_show_note(chat, "error", STR("which one? write: /session NAME"));
		return;
	}
	free(chat->session_name);
	chat->session_name = name;
	chat->words.is_new = false;
}

static void chat_commands_do_stop(struct chat *chat, struct str argument)
{
	(void)argument;
	if (!chat_stop(chat))
		chat_commands_say(chat, "nothing is under way");
}

static void chat_commands_do_quit(struct chat *chat, struct str argument)
{
	(void)argument;
	chat_leave(chat, false);
}

static void chat_commands_do_attach(struct chat *chat, struct str argument)
{
	char *path = argument.len ? str_dup(argument) : NULL;
	if (path)
		chat_attach(chat, path);
	else
		chat_show_note(chat, "error", STR("which file? write: /attach FILE"));
	free(path);
}

/* The last message, or nothing and words. */
static struct str chat_commands_last(struct chat *chat)
{
	struct str last = chat_last(chat);
	if (!last.len)
		chat_commands_say(chat, "nothing was said yet");
	return last;
}

static void chat_commands_do_retry(struct chat *chat, struct str argument)
{
	(void)argument;
	char *message = str_dup(chat_commands_last(chat));
	if (message && message[0])
		chat_send(chat, str_from(message));
	free(message);
}

static void chat_commands_do_edit(struct chat *chat, struct str argument)
{
	(void)argument;
	struct str last = { 0 };
	if (!chat->terminal)
		chat_show_note(chat, "error", STR("there is no line to type in"));
	else
		last = chat_commands_last(chat);
	if (last.len && chat_attach_any(&chat->words))
		chat_commands_say(chat, "what was attached to it is attached again");
	if (last.len)
		chat_view_draft(chat, last);
}

static void chat_commands_do_copy(struct chat *chat, struct str argument)
{
	(void)argument;
	if (chat->reply.len)
		chat_show_copy(chat, (struct str){ chat->reply.data, chat->reply.len });
	else
		chat_commands_say(chat, "there is no reply yet");
}

static void chat_commands_do_usage(struct chat *chat, struct str argument)
{
	(void)argument;
	chat_tell_usage(chat);
}

static void chat_commands_do_sessions(struct chat *chat, struct str argument)
{
	(void)argument;
	chat_list_sessions(chat);
}

static void chat_commands_do_now(struct chat *chat, struct str argument)
{
	if (argument.len)
		chat_send_now(chat, argument);
	else
		chat_show_note(chat, "error", STR("what? write: /now TEXT"));
}

static void chat_commands_do_help(struct chat *chat, struct str argument);

/* Their help fits a screen of 40 columns. */
static const struct chat_command {
	const char *name;
	const char *help; /* NULL = another word for the one above */
	void (*run)(struct chat *chat, struct str argument);
} chat_commands[] = {
	{ "/new", "/new          a new session", chat_commands_do_new },
	{ "/session", "/session NAME another session", chat_commands_do_session },
	{ "/sessions", "/sessions     those that are stored", chat_commands_do_sessions },
	{ "/attach", "/attach FILE  to the next message", chat_commands_do_attach },
	{ "/retry", "/retry        the last message again", chat_commands_do_retry },
	{ "/edit", "/edit         and change it before", chat_commands_do_edit },
	{ "/copy", "/copy         the reply, to paste it", chat_commands_do_copy },
	{ "/usage", "/usage        what was used so far", chat_commands_do_usage },
	{ "/now", "/now TEXT     stop, and send this", chat_commands_do_now },
	{ "/stop", "/stop         stop the turn (Ctrl+C)", chat_commands_do_stop },
	{ "/quit", "/quit         leave (Ctrl+D)", chat_commands_do_quit },
	{ "/exit", NULL, chat_commands_do_quit },
	{ "/help", "//TEXT        a message that has a /", chat_commands_do_help },
};
enum { CHAT_COMMANDS = COUNT(chat_commands) };

static void chat_commands_do_help(struct chat *chat, struct str argument)
{
	(void)argument;
	for (int i = 0; i < CHAT_COMMANDS; i++) {
		if (chat_commands[i].help)
			chat_commands_say(chat, chat_commands[i].help);
	}
}

static void chat_commands_refuse_command(struct chat *chat, struct str name)
{
	char word[UTF8_QUOTED_MAX + 1];
	char text[256];
	snprintf(word, sizeof(word), "%.*s", utf8_quoted(name), name.data);
	const char *near =
		str_nearest(word, &chat_commands[0].name, CHAT_COMMANDS, sizeof(chat_commands[0]));
	snprintf(text, sizeof(text), "there is no %s; %s%s", word,
		near ? "did you mean " : "/help lists what there is", near ? near : "");
	chat_show_note(chat, "error", str_from(text));
}

static void chat_commands_run_command(struct chat *chat, struct str line)
{
	size_t len = 0;
	while (len < line.len && line.data[len] != ' ' && line.data[len] != '\n')
		len++;
	struct str name = { line.data, len };
	line = (struct str){ line.data + len, line.len - len };
	for (int i = 0; i < CHAT_COMMANDS; i++) {
		if (str_is(name, chat_commands[i].name)) {
			chat_commands[i].run(chat, str_trim(line));
			return;
		}
	}
	chat_commands_refuse_command(chat, name);
}

/* Line ends at the end of a paste are not part of the message. */
static void chat_commands_send(struct chat *chat, struct str line)
{
	while (line.len && line.data[line.len - 1] == '\n')
		line.len--;
	chat_send(chat, line);
}

void chat_line(struct chat *chat, struct str line)
{
	struct str text = str_trim(line);
	if (!text.len || chat->is_leaving)
		return;
	if (str_has_prefix(text, STR("//")))
		chat_send(chat, (struct str){ text.data + 1, text.len - 1 });
	else if (text.data[0] == '/')
		chat_commands_run_command(chat, text);
	else
		chat_commands_send(chat, line);
}
