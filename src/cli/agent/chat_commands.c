/* A line of a conversation: a message, or a command that begins with a slash. */
#include <stdlib.h>

#include "base/macros.h"
#include "base/utf8.h"
#include "cli/agent/chat.h"

static void chat_commands_say(struct chat *chat, const char *text)
{
	chat_view_note(chat, NULL, str_from(text));
}

static void chat_commands_do_new(struct chat *chat, struct str argument)
{
	(void)argument;
	chat->is_new = true;
	chat_commands_say(chat, "the next message begins a new session");
}

static void chat_commands_do_session(struct chat *chat, struct str argument)
{
	char *name = argument.len ? str_dup(argument) : NULL;
	if (!name) {
		chat_view_note(chat, "error", STR("which one? write: /session NAME"));
		return;
	}
	free(chat->session_name);
	chat->session_name = name;
	chat->is_new = false;
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

static void chat_commands_do_help(struct chat *chat, struct str argument);

static const struct chat_command {
	const char *name;
	const char *help; /* NULL = another word for the one above */
	void (*run)(struct chat *chat, struct str argument);
} chat_commands[] = {
	{ "/new", "/new           begin a new session with the next message", chat_commands_do_new },
	{ "/session", "/session NAME  talk in the session of that name", chat_commands_do_session },
	{ "/stop", "/stop          stop the turn that runs (as Ctrl+C does); what waits goes on",
		chat_commands_do_stop },
	{ "/quit", "/quit          leave (as Ctrl+D does)", chat_commands_do_quit },
	{ "/exit", NULL, chat_commands_do_quit },
	{ "/help", "//TEXT         a message that begins with /", chat_commands_do_help },
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
	chat_view_note(chat, "error", str_from(text));
}

static void chat_commands_run_command(struct chat *chat, struct str line)
{
	struct str name = str_cut(&line, ' ');
	for (int i = 0; i < CHAT_COMMANDS; i++) {
		if (str_is(name, chat_commands[i].name)) {
			chat_commands[i].run(chat, str_trim(line));
			return;
		}
	}
	chat_commands_refuse_command(chat, name);
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
		chat_send(chat, line);
}
