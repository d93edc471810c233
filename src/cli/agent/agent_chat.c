/* perch agent chat: a conversation with an agent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/agent/chat.h"
#include "proc/host.h"

enum { CHAT_QUEUE = 64 }; /* messages typed ahead */

/* ---- the conversation ---------------------------------------------------- */

static void agent_chat_signal_arrived(void *data, int signal)
{
	struct chat *chat = data;
	if (signal == SIGWINCH) {
		chat_view_resized(chat);
	} else if (signal == SIGTSTP) {
		chat_view_suspend(chat);
	} else if (signal != SIGINT || !chat_stop(chat)) {
		chat->code = EXIT_SIGNAL + signal;
		chat_leave(chat, false);
	}
}

static void agent_chat_host_log(void *data, perch_log_level level, const char *text)
{
	if (level >= PERCH_LOG_WARN)
		chat_show_note(data, "warning", str_from(text));
}

static void agent_chat_service_warns(perch_service *service, void *data, const char *text)
{
	(void)service;
	chat_show_note(data, "warning", str_from(text));
}

/* Whether the session has earlier turns, for the greeting: a failure is left to the first turn. */
static bool agent_chat_goes_on(const struct chat *chat, perch_sessions *sessions)
{
	perch_session session;
	const struct agent_words *words = &chat->words;
	return !words->is_new && !words->no_store &&
		perch_sessions_find(
			sessions, words->profile, words->from, chat->session_name, &session, NULL) > 0 &&
		session.id[0];
}

static int agent_chat_open_service(struct chat *chat, perch_sessions **ret_sessions, perch_err *err)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 1;
	options.queue = CHAT_QUEUE;
	options.no_store = chat->words.no_store;
	options.trace = chat->cli->trace;
	options.trace_secrets = chat->cli->trace_secrets;
	options.warn = agent_chat_service_warns;
	options.data = chat;
	int r = perch_service_new(chat->host, &options, &chat->service, err);
	if (r < 0 || chat->words.no_store)
		return r;
	r = perch_service_sessions(chat->service, ret_sessions, err);
	return r < 0 ? err_set(err, r, "%s; " AGENT_NO_STORE, err->text) : 0;
}

static int agent_chat_open_chat(struct chat *chat, perch_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0 };
	perch_sessions *sessions = NULL;
	int r = cli_make_host(agent_chat_host_log, chat, &chat->host, err);
	if (r == 0)
		r = agent_chat_open_service(chat, &sessions, err);
	if (r < 0)
		return r;
	r = signals_watch(&chat->signals, &chat->host->loop, signals, agent_chat_signal_arrived, chat);
	chat->has_signals = r == 0;
	if (r < 0)
		return err_set(err, r, "signals cannot be watched: %s", perch_strerror(r));
	return chat_view_open(chat, agent_chat_goes_on(chat, sessions), err);
}

/* Without a reader the conversation is over. */
static void agent_chat_flush(struct chat *chat)
{
	chat_view_flush(chat);
	if (chat->output_error || !chat_view_error(chat))
		return;
	chat->output_error = chat_view_error(chat);
	chat_leave(chat, false);
}

static int agent_chat_run_to_the_end(struct chat *chat, perch_err *err)
{
	int r = 0;
	agent_chat_flush(chat);
	while (r >= 0 && !(chat->is_leaving && chat_is_over(chat))) {
		r = perch_host_wait(chat->host, -1);
		agent_chat_flush(chat);
	}
	if (r < 0)
		return err_set(err, r, "%s", perch_strerror(r));
	return cli_check_output(chat->output_error, chat->output_error ? EXIT_SUCCESS : chat->code);
}

static void agent_chat_close_chat(struct chat *chat)
{
	agent_end_service(chat->host, chat->service);
	chat_view_close(chat);
	chat_free_turns(chat);
	if (chat->has_signals)
		signals_close(&chat->signals);
	perch_host_free(chat->host);
	free(chat->session_name);
	buf_free(&chat->last);
	buf_free(&chat->reply);
	free(chat->warnings);
	arena_free(&chat->told);
	chat_attach_free(&chat->last_words);
	arena_free(&chat->last_attached);
	arena_free(&chat->attached);
	agent_words_free(&chat->words);
}

/* A profile that cannot be used is told before the user begins to type. */
static int agent_chat_check_profile(const struct chat *chat, perch_err *err)
{
	perch_agent_profile *profile = NULL;
	int r = perch_agent_profile_load(chat->words.profile, &profile, err);
	perch_agent_profile_free(profile);
	return r;
}

static int agent_chat_talk(struct chat *chat)
{
	struct agent_words *words = &chat->words;
	perch_err err = { 0 };
	chat->session_name = str_dup(str_from(words->session_name ? words->session_name : "default"));
	int r = chat->session_name
		? agent_find_profile(words->profile, &chat->told, &words->profile, &err)
		: err_no_memory(&err);
	if (r == 0)
		r = agent_chat_check_profile(chat, &err);
	if (r == 0)
		r = agent_chat_open_chat(chat, &err);
	if (r == 0)
		r = agent_chat_run_to_the_end(chat, &err);
	agent_chat_close_chat(chat);
	if (r < 0)
		cli_error(NULL, "%s", err.text);
	return r < 0 ? EXIT_HOST : r;
}

static int agent_chat(struct cli *cli, int argc, char **argv)
{
	struct chat chat = { .cli = cli };
	int r = agent_words_read_chat(&chat.words, cli, argc, argv);
	if (r)
		agent_words_free(&chat.words);
	return r ? r : agent_chat_talk(&chat);
}

const struct command agent_chat_command = {
	.name = "chat",
	.summary = "a conversation",
	.help = "usage: perch agent chat NAME|FILE [OPTIONS]\n"
			"\n"
			"A conversation: what you type is a message, replies appear above it. Alt+Enter,\n"
			"Ctrl+J or a \\ before Enter begin a new line, Ctrl+X Ctrl+E opens your editor, Up\n"
			"and Down bring messages back. Ctrl+C stops the turn that runs, Ctrl+D leaves.\n"
			"Without a terminal, every line of stdin is a message.\n"
			"\n"
			"  /new  /session NAME  /sessions  /attach FILE  /retry  /edit  /copy  /usage\n"
			"  /now TEXT  /stop  /quit  /help; //TEXT: a message that begins with /\n"
			"\n"
			"  -p, --profile NAME|FILE, --protocol 0.1|0.4|acp   the agent, and how it speaks\n"
			"  --session ID | --session-name NAME | --new   which session is continued\n"
			"  --from USER               the sender of the messages\n"
			"  --image, --file, --audio, --video URL   what is attached to the first message\n"
			"  --cwd DIR, --env NAME=VALUE, --timeout SECS   instead of the profile's\n"
			"  --no-stream, --no-store   no partials; no stored session, read or written\n"
			"  --allow-shell-message     let a shell read {{MESSAGE}} as a script\n"
			"  --sandbox[=off]           confine it, or not, instead of what the profile says\n"
			"  --line-limit BYTES, --output-limit BYTES   (8388608, 67108864)\n"
			"  --thinking show|fold|hide, --trace FILE   as in run; --plain: no Markdown\n"
			"  -v, -q                    with the agent's stderr; without warnings\n"
			"\n"
			"example:\n"
			"  perch agent chat bot --session-name work\n",
	.words = WORDS_AGENTS,
	.run = agent_chat,
};
