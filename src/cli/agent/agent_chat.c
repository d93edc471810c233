/* perch agent chat: a conversation with an agent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/agent/chat.h"
#include "proc/host.h"

enum { CHAT_QUEUE = 64 }; /* messages typed ahead */

/* ---- turns --------------------------------------------------------------- */

/* One that has not ended. */
struct chat_turn {
	struct link link;
	struct chat *chat;
	perch_job *job;
	bool has_begun;
};

static void agent_chat_end(struct chat_turn *turn, const perch_job_end *end)
{
	struct chat *chat = turn->chat;
	if (!end->success && !chat->terminal)
		chat->code = end->exit_code;
	struct str lines = { 0 };
	if (!end->success && !end->was_cancelled && !chat->cli->verbose)
		lines = agent_last_lines(end->turn);
	while (lines.len)
		chat_view_note(chat, "stderr", str_cut(&lines, '\n'));
	if (end->turn->hint[0])
		chat_view_note(chat, "hint", str_from(end->turn->hint));
	list_remove(&chat->turns, turn);
	perch_job_free(turn->job);
	free(turn);
	chat_view_end(chat);
}

static void agent_chat_begin(struct chat_turn *turn)
{
	turn->has_begun = true;
	chat_view_begin(turn->chat);
}

static void agent_chat_error(struct chat *chat, const perch_event *event)
{
	if (strcmp(event->code, "cancelled") == 0)
		chat_view_note(chat, NULL, STR("(stopped)"));
	else
		chat_view_note(chat, "error", str_of(event->text));
}

static void agent_chat_event(perch_job *job, void *data, const perch_event *event)
{
	struct chat_turn *turn = data;
	struct chat *chat = turn->chat;
	switch (event->kind) {
	case PERCH_EVENT_START:
		agent_chat_begin(turn);
		break;
	case PERCH_EVENT_PARTIAL:
	case PERCH_EVENT_THINKING:
		chat_view_text(chat, str_of(event->text));
		break;
	case PERCH_EVENT_REPLY:
		chat_view_reply(chat, str_of(event->text));
		break;
	case PERCH_EVENT_WARNING:
		chat_view_note(chat, "warning", str_of(event->text));
		break;
	case PERCH_EVENT_ERROR:
		agent_chat_error(chat, event);
		break;
	case PERCH_EVENT_ASK:
		chat_view_permission(chat, job, event->ask);
		break;
	case PERCH_EVENT_END:
		agent_chat_end(turn, event->end);
		break;
	default:
		break;
	}
}

static int agent_chat_submit(struct chat *chat, struct str message, perch_err *err)
{
	struct chat_turn *turn = calloc(1, sizeof(*turn));
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	if (!turn)
		return err_no_memory(err);
	turn->chat = chat;
	request.kind = PERCH_ENTRY_AGENT;
	request.profile = chat->profile;
	request.message = message.len ? message.data : "";
	request.message_len = message.len;
	request.session = chat->session_name;
	request.from = chat->from;
	request.is_new = chat->is_new;
	request.no_stream = chat->no_stream;
	request.sandbox = cli_sandbox_choice(chat->cli);
	request.sink = agent_chat_event;
	request.data = turn;
	int r = perch_job_submit(chat->service, &request, &turn->job, err);
	if (r == 0)
		list_append(&chat->turns, turn);
	else
		free(turn);
	return r;
}

void chat_send(struct chat *chat, struct str message)
{
	perch_err err = { 0 };
	if (agent_chat_submit(chat, message, &err) == 0) {
		chat->is_new = false;
		return;
	}
	chat_view_note(chat, "error", str_from(err.text));
	if (!chat->terminal)
		chat->code = EXIT_HOST;
}

bool chat_stop(struct chat *chat)
{
	struct chat_turn *first = list_first(&chat->turns);
	struct chat_turn *turn = first;
	while (turn && !turn->has_begun)
		turn = list_next(turn);
	if (turn || first)
		perch_job_cancel((turn ? turn : first)->job, SIGINT);
	return first;
}

bool chat_is_over(const struct chat *chat)
{
	return !list_first(&chat->turns);
}

void chat_leave(struct chat *chat, bool patiently)
{
	chat->is_leaving = true;
	if (!patiently)
		perch_service_cancel(chat->service, SIGTERM);
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

static void agent_chat_host_log(void *data, perch_log_level level, const char *text)
{
	if (level >= PERCH_LOG_WARN)
		chat_view_note(data, "warning", str_from(text));
}

static void agent_chat_service_warns(perch_service *service, void *data, const char *text)
{
	(void)service;
	chat_view_note(data, "warning", str_from(text));
}

/* Only to be told: a failure is told by the first turn. */
static bool agent_chat_goes_on(const struct chat *chat, perch_sessions *sessions)
{
	perch_session session;
	return !chat->is_new &&
		perch_sessions_find(
			sessions, chat->profile, chat->from, chat->session_name, &session, NULL) > 0 &&
		session.id[0];
}

static int agent_chat_open_service(struct chat *chat, perch_sessions **ret_sessions, perch_err *err)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.max_jobs = 1;
	options.queue = CHAT_QUEUE;
	options.warn = agent_chat_service_warns;
	options.data = chat;
	int r = perch_service_new(chat->host, &options, &chat->service, err);
	return r < 0 ? r : perch_service_sessions(chat->service, ret_sessions, err);
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
	struct chat_turn *turn;
	chat_view_close(chat);
	perch_service_free(chat->service);
	while ((turn = list_first(&chat->turns))) {
		list_remove(&chat->turns, turn);
		free(turn);
	}
	if (chat->has_signals)
		signals_close(&chat->signals);
	perch_host_free(chat->host);
	free(chat->session_name);
}

/* A profile that cannot be used is told before the user begins to type. */
static int agent_chat_check_profile(const struct chat *chat, perch_err *err)
{
	perch_agent_profile *profile = NULL;
	int r = perch_agent_profile_load(chat->profile, &profile, err);
	perch_agent_profile_free(profile);
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
	struct chat chat = { .cli = cli, .from = "" };
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
			"  --sandbox[=off]       confine it, or not, instead of what the profile says\n"
			"\n"
			"example:\n"
			"  perch agent chat --profile bot.yaml --session-name work\n",
	.words = WORDS_AGENTS,
	.run = agent_chat,
};
