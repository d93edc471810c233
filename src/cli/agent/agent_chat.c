/* perch agent chat: a conversation with an agent. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/agent/chat.h"
#include "cli/ui/granted.h"
#include "proc/host.h"

enum { CHAT_QUEUE = 64 }; /* messages typed ahead */

/* ---- turns --------------------------------------------------------------- */

static struct chat *agent_chat_of(void *data)
{
	return bridge_turn_data(data);
}

struct turn_id {
	char text[32];
};

static struct turn_id agent_chat_turn_id(unsigned number)
{
	struct turn_id id;
	snprintf(id.text, sizeof(id.text), "%u", number);
	return id;
}

static void agent_chat_on_started(void *data, struct agent_turn *turn)
{
	(void)turn;
	struct chat *chat = agent_chat_of(data);
	chat->running = (unsigned)strtoul(bridge_turn_id(data), NULL, 10);
	for (const char *const *warning = bridge_turn_options(data)->profile->warnings; *warning;
		 warning++)
		chat_view_note(chat, "warning", str_from(*warning));
	chat_view_begin(chat);
}

static void agent_chat_on_partial(
	void *data, struct agent_turn *turn, struct str text, struct str raw)
{
	(void)turn, (void)raw;
	chat_view_text(agent_chat_of(data), text);
}

static void agent_chat_on_warning(void *data, struct agent_turn *turn, struct str text)
{
	(void)turn;
	chat_view_note(agent_chat_of(data), "warning", text);
}

static void agent_chat_on_error(
	void *data, struct agent_turn *turn, const char *code, struct str text)
{
	(void)turn;
	if (strcmp(code, "cancelled") == 0)
		chat_view_note(agent_chat_of(data), NULL, STR("(stopped)"));
	else
		chat_view_note(agent_chat_of(data), "error", text);
}

static void agent_chat_on_reply(void *data, struct agent_turn *turn, struct str text)
{
	(void)turn;
	chat_view_reply(agent_chat_of(data), text);
}

static void agent_chat_on_permission(
	void *data, struct agent_turn *turn, const struct agent_permission *permission)
{
	chat_view_permission(agent_chat_of(data), turn, permission);
}

static void agent_chat_on_end(void *data, struct agent_turn *turn, const perch_agent_end *end)
{
	(void)turn;
	struct chat *chat = agent_chat_of(data);
	if (!end->success && !chat->terminal)
		chat->code = end->exit_code;
	if (end->hint[0])
		chat_view_note(chat, "hint", str_from(end->hint));
	chat_view_end(chat);
}

static const struct agent_turn_events turn_events = {
	.started = agent_chat_on_started,
	.partial = agent_chat_on_partial,
	.warning = agent_chat_on_warning,
	.error = agent_chat_on_error,
	.reply = agent_chat_on_reply,
	.permission = agent_chat_on_permission,
	.end = agent_chat_on_end,
};

void chat_send(struct chat *chat, struct str message)
{
	perch_err err = { 0 };
	const struct turn_id id = agent_chat_turn_id(++chat->turns);
	const struct bridge_request request = {
		.id = id.text,
		.profile = chat->profile,
		.message = message,
		.session_name = chat->session_name,
		.from = chat->from,
		.is_new = chat->is_new,
		.no_stream = chat->no_stream,
	};
	if (bridge_take(chat->bridge, &request, &err) == 0) {
		chat->is_new = false;
		return;
	}
	chat_view_note(chat, "error", str_from(err.text));
	if (!chat->terminal)
		chat->code = EXIT_HOST;
}

static bool agent_chat_stop(struct chat *chat, unsigned number)
{
	return bridge_cancel(chat->bridge, agent_chat_turn_id(number).text, SIGINT);
}

bool chat_stop(struct chat *chat)
{
	if (agent_chat_stop(chat, chat->running))
		return true;
	while (chat->oldest <= chat->turns && !agent_chat_stop(chat, chat->oldest))
		chat->oldest++;
	return chat->oldest <= chat->turns;
}

void chat_leave(struct chat *chat, bool patiently)
{
	chat->is_leaving = true;
	if (!patiently)
		bridge_cancel_all(chat->bridge, SIGTERM);
}

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

/* Called with every turn: rights that are granted meanwhile count from the next one on. */
static int agent_chat_amend(
	void *data, struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	const struct chat *chat = data;
	return granted_agent(chat->cli, arena, profile, err);
}

static void agent_chat_host_log(void *data, perch_log_level level, const char *text)
{
	if (level >= PERCH_LOG_WARN)
		chat_view_note(data, "warning", str_from(text));
}

/* Only for the greeting: a failure is told by the first turn. */
static bool agent_chat_goes_on(const struct chat *chat)
{
	char path[PATH_MAX];
	if (chat->is_new || !realpath(chat->profile, path))
		return false;
	const struct session_key key = { path, chat->from, chat->session_name };
	_cleanup_free_ char *id = NULL;
	return sessions_id(chat->sessions, &key, &id, NULL) == 0 && id[0];
}

static int agent_chat_open_chat(struct chat *chat, perch_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0 };
	int r = cli_make_host(agent_chat_host_log, chat, &chat->host, err);
	if (r == 0)
		r = sessions_open(chat->host, &chat->sessions, err);
	if (r < 0)
		return r;
	const struct bridge_options bridge_options = {
		.host = chat->host,
		.sessions = chat->sessions,
		.max_turns = 1,
		.queue = CHAT_QUEUE,
		.events = &turn_events,
		.data = chat,
		.amend = agent_chat_amend,
	};
	r = bridge_new(&bridge_options, &chat->bridge, err);
	if (r < 0)
		return r;
	r = signals_watch(&chat->signals, &chat->host->loop, signals, agent_chat_signal_arrived, chat);
	chat->has_signals = r == 0;
	if (r < 0)
		return err_set(err, r, "signals cannot be watched: %s", perch_strerror(r));
	return chat_view_open(chat, agent_chat_goes_on(chat), err);
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
	while (r >= 0 && !(chat->is_leaving && bridge_count(chat->bridge) == 0)) {
		r = perch_host_wait(chat->host, -1);
		agent_chat_flush(chat);
	}
	if (r < 0)
		return err_set(err, r, "%s", perch_strerror(r));
	return cli_check_output(chat->output_error, chat->output_error ? EXIT_SUCCESS : chat->code);
}

static void agent_chat_close_chat(struct chat *chat)
{
	chat_view_close(chat);
	bridge_free(chat->bridge);
	sessions_close(chat->sessions);
	if (chat->has_signals)
		signals_close(&chat->signals);
	perch_host_free(chat->host);
	free(chat->session_name);
}

/* A profile that cannot be used is told before the user begins to type. */
static int agent_chat_check_profile(const struct chat *chat, perch_err *err)
{
	struct arena arena = { 0 };
	struct agent_profile profile;
	int r = agent_profile_read(chat->profile, &arena, &profile, err);
	arena_free(&arena);
	return r;
}

static int agent_chat_talk(struct chat *chat, const char *session_name)
{
	perch_err err = { 0 };
	chat->session_name = str_dup(str_from(session_name));
	int r = chat->session_name ? agent_chat_check_profile(chat, &err) : err_no_memory(&err);
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
	struct chat chat = { .cli = cli, .from = "", .oldest = 1 };
	const char *session_name = "default";
	const struct option_spec specs[] = {
		{ "profile", 'p', OPTION_TEXT, &chat.profile },
		{ "session-name", 0, OPTION_TEXT, &session_name },
		{ "new", 0, OPTION_FLAG, &chat.is_new },
		{ "from", 0, OPTION_TEXT, &chat.from },
		{ "no-stream", 0, OPTION_FLAG, &chat.no_stream },
		{ "sandbox", 0, OPTION_MAYBE, &cli->sandbox },
		{ "quiet", 'q', OPTION_FLAG, &cli->quiet },
		{ "verbose", 'v', OPTION_FLAG, &cli->verbose },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0)
		r = cli_check_sandbox(cli);
	if (r == 0 && at < argc && !chat.profile)
		chat.profile = argv[at++];
	if (r == 0 && at < argc)
		r = cli_usage_error("see: perch agent chat --help", "chat takes no '%s'", argv[at]);
	if (r == 0 && !chat.profile)
		r = cli_usage_error("write: --profile FILE", "which agent? --profile is missing");
	return r ? r : agent_chat_talk(&chat, session_name);
}

const struct command agent_chat_command = {
	.name = "chat",
	.summary = "a conversation",
	.help = "usage: perch agent chat --profile FILE [OPTIONS]\n"
			"\n"
			"A conversation: every line is a message, and what the agent says appears above\n"
			"the line you type in. Up and down bring back what you said before. Ctrl+C stops\n"
			"the turn that runs, not those that wait; Ctrl+D leaves. Without a terminal,\n"
			"every line of stdin is a message.\n"
			"\n"
			"  /new  /session NAME  /stop  /quit  /help; //TEXT: a message that begins with /\n"
			"\n"
			"  -p, --profile FILE    the agent\n"
			"  --session-name NAME   which session (default)\n"
			"  --new                 begin a new one\n"
			"  --from USER           who speaks\n"
			"  --no-stream           replies alone, no partials\n"
			"  --sandbox[=off]       confine it, or not, whatever the profile says\n"
			"\n"
			"example:\n"
			"  perch agent chat --profile bot.yaml --session-name work\n",
	.run = agent_chat,
};
