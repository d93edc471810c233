/* perch agent chat: a conversation with an agent. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/vec.h"
#include "cli/agent/chat.h"
#include "data/json.h"
#include "proc/host.h"

enum {
	CHAT_QUEUE = 64, /* messages typed ahead */
	CHAT_WARNINGS_MAX = 1000,
};

/* ---- turns --------------------------------------------------------------- */

/* One that has not ended. */
struct chat_turn {
	struct link link;
	struct chat *chat;
	perch_job *job;
	bool has_begun;
	bool is_moved; /* it waited, and waits again behind another: nothing is told of its end */
	char *message;
};

static void agent_chat_free_turn(struct chat_turn *turn)
{
	free(turn->message);
	free(turn);
}

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
	agent_chat_free_turn(turn);
	chat_view_end(chat);
}

static void agent_chat_begin(struct chat_turn *turn)
{
	turn->has_begun = true;
	buf_clear(&turn->chat->reply);
	chat_view_begin(turn->chat);
}

/* What a profile is warned of is so with every turn. */
static void agent_chat_warn(struct chat *chat, struct str text)
{
	for (size_t i = 0; i < chat->warning_count; i++) {
		if (str_is(text, chat->warnings[i]))
			return;
	}
	const char *kept = arena_dup(&chat->told, text);
	const char **grown =
		vec_grow(chat->warnings, &chat->warning_cap, chat->warning_count + 1, sizeof(*grown));
	if (grown)
		chat->warnings = grown;
	if (kept && grown && chat->warning_count < CHAT_WARNINGS_MAX)
		chat->warnings[chat->warning_count++] = kept;
	chat_view_note(chat, "warning", text);
}

static void agent_chat_add_usage(struct chat *chat, struct str name, double number)
{
	for (size_t i = 0; i < CHAT_USAGE_MAX; i++) {
		struct chat_usage *usage = &chat->usage[i];
		if (!usage->name[0] && name.len < sizeof(usage->name)) {
			memcpy(usage->name, name.data, name.len);
			usage->name[name.len] = '\0';
		}
		if (str_is(name, usage->name)) {
			usage->sum += number;
			return;
		}
	}
}

static void agent_chat_count_usage(struct chat *chat, struct str text)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *usage = NULL;
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, text.data, text.len, &usage, NULL) < 0)
		return;
	perch_json_iter at = perch_json_iterate(usage);
	const perch_json_value *value;
	double number;
	while ((value = perch_json_next(&at))) {
		if (at.name && perch_json_double(value, &number) == 0)
			agent_chat_add_usage(chat, json_str(at.name), number);
	}
}

static void agent_chat_say(struct chat *chat, struct str text, bool is_reply)
{
	buf_append(&chat->reply, text.data, text.len);
	if (is_reply)
		chat_view_reply(chat, text);
	else
		chat_view_text(chat, text);
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
	if (turn->is_moved && event->kind != PERCH_EVENT_END)
		return;
	switch (event->kind) {
	case PERCH_EVENT_START:
		agent_chat_begin(turn);
		break;
	case PERCH_EVENT_PARTIAL:
		agent_chat_say(chat, str_of(event->text), false);
		break;
	case PERCH_EVENT_REPLY:
		agent_chat_say(chat, str_of(event->text), true);
		break;
	case PERCH_EVENT_WARNING:
		agent_chat_warn(chat, str_of(event->text));
		break;
	case PERCH_EVENT_USAGE:
		agent_chat_count_usage(chat, str_of(event->text));
		break;
	case PERCH_EVENT_STDERR:
		chat_view_stderr(chat, str_of(event->text));
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

static int agent_chat_submit(struct chat *chat, struct chat_turn *turn, perch_err *err)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
	struct arena arena = { 0 };
	chat->words.prompt = turn->message;
	chat->words.session_name = chat->session_name;
	int r = agent_words_apply(&chat->words, &arena, &request, &options, err);
	request.sandbox = cli_sandbox_choice(chat->cli);
	request.shows_stderr = chat->cli->verbose;
	request.sink = agent_chat_event;
	request.data = turn;
	if (r == 0)
		r = perch_job_submit(chat->service, &request, &turn->job, err);
	arena_free(&arena);
	return r;
}

/* What counts for one message alone. */
static void agent_chat_reset(struct chat *chat)
{
	struct agent_words *words = &chat->words;
	words->is_new = false;
	words->session = NULL;
	words->images.count = words->files.count = words->audios.count = words->videos.count = 0;
	arena_free(&chat->attached);
	chat->attached = (struct arena){ 0 };
}

static void agent_chat_send(struct chat *chat, struct str message)
{
	perch_err err = { 0 };
	struct chat_turn *turn = calloc(1, sizeof(*turn));
	if (turn)
		turn->message = str_dup(message);
	int r = turn && turn->message ? 0 : err_no_memory(&err);
	if (r == 0 && memchr(message.data, '\0', message.len))
		r = err_set(&err, -EINVAL, "refused: the message has a NUL byte in it");
	if (r == 0) {
		turn->chat = chat;
		r = agent_chat_submit(chat, turn, &err);
	}
	if (r == 0) {
		list_append(&chat->turns, turn);
		agent_chat_reset(chat);
		return;
	}
	if (turn)
		agent_chat_free_turn(turn);
	chat_view_note(chat, "error", str_from(err.text));
	if (!chat->terminal)
		chat->code = EXIT_HOST;
}

void chat_send(struct chat *chat, struct str message)
{
	buf_clear(&chat->last);
	buf_append(&chat->last, message.data, message.len);
	agent_chat_send(chat, message);
}

/* Those that wait are taken back and sent again. */
void chat_send_now(struct chat *chat, struct str message)
{
	struct buf waiting = { 0 };
	struct chat_turn *next;
	chat_stop(chat);
	for (struct chat_turn *turn = list_first(&chat->turns); turn; turn = next) {
		next = list_next(turn);
		if (turn->has_begun || turn->is_moved)
			continue;
		buf_append(&waiting, turn->message, strlen(turn->message) + 1);
		turn->is_moved = true;
		perch_job_cancel(turn->job, SIGINT);
	}
	chat_send(chat, message);
	for (size_t at = 0; at < waiting.len; at += strlen(waiting.data + at) + 1)
		agent_chat_send(chat, str_from(waiting.data + at));
	buf_free(&waiting);
}

void chat_hold(struct chat *chat, bool is_held)
{
	for (struct chat_turn *turn = list_first(&chat->turns); turn; turn = list_next(turn))
		perch_job_hold(turn->job, is_held);
}

/* ---- what is attached ------------------------------------------------------ */

static struct option_list *agent_chat_list_for(struct agent_words *words, const char *path)
{
	static const struct {
		const char *suffix;
		size_t list; /* in struct agent_words */
	} kinds[] = {
		{ ".png", offsetof(struct agent_words, images) },
		{ ".jpg", offsetof(struct agent_words, images) },
		{ ".jpeg", offsetof(struct agent_words, images) },
		{ ".gif", offsetof(struct agent_words, images) },
		{ ".webp", offsetof(struct agent_words, images) },
		{ ".mp3", offsetof(struct agent_words, audios) },
		{ ".wav", offsetof(struct agent_words, audios) },
		{ ".ogg", offsetof(struct agent_words, audios) },
		{ ".mp4", offsetof(struct agent_words, videos) },
		{ ".webm", offsetof(struct agent_words, videos) },
	};
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (str_has_suffix(str_from(path), str_from(kinds[i].suffix)))
			return (struct option_list *)((char *)words + kinds[i].list);
	}
	return &words->files;
}

void chat_attach(struct chat *chat, const char *path)
{
	char full[PATH_MAX];
	char text[PATH_MAX + 64];
	if (!realpath(path, full)) {
		snprintf(text, sizeof(text), "%.200s: %s", path, perch_strerror(-errno));
		chat_view_note(chat, "error", str_from(text));
		return;
	}
	const char *url = arena_join(&chat->attached, "file://", full, NULL);
	struct option_list *list = agent_chat_list_for(&chat->words, path);
	if (!url || options_add(list, url)) {
		chat_view_note(chat, "error", STR("out of memory"));
		return;
	}
	snprintf(text, sizeof(text), "attached to the next message: %s", full);
	chat_view_note(chat, NULL, str_from(text));
}

void chat_list_sessions(struct chat *chat)
{
	perch_sessions *sessions = NULL;
	const perch_session *list = NULL;
	size_t count = 0;
	perch_err err = { 0 };
	char text[256];
	int r = perch_service_sessions(chat->service, &sessions, &err);
	if (r == 0)
		r = perch_sessions_list(sessions, chat->words.profile, &list, &count, &err);
	if (r < 0)
		chat_view_note(chat, "error", str_from(err.text));
	else if (!count)
		chat_view_note(chat, NULL, STR("no session is stored yet"));
	for (size_t i = 0; r == 0 && i < count; i++) {
		bool is_this = strcmp(list[i].name, chat->session_name) == 0;
		snprintf(text, sizeof(text), "%s %.100s  (%lld turn%s)", is_this ? "*" : " ", list[i].name,
			(long long)list[i].turns, list[i].turns == 1 ? "" : "s");
		chat_view_note(chat, NULL, str_from(text));
	}
}

/* ---- stopping ---------------------------------------------------------------- */

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
	return perch_service_sessions(chat->service, ret_sessions, err);
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
		agent_chat_free_turn(turn);
	}
	if (chat->has_signals)
		signals_close(&chat->signals);
	perch_host_free(chat->host);
	free(chat->session_name);
	buf_free(&chat->last);
	buf_free(&chat->reply);
	free(chat->warnings);
	arena_free(&chat->told);
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
			"A conversation: what you type is a message, and what the agent says appears above\n"
			"the line you type in. Alt+Enter, Ctrl+J or a \\ before Enter begin a new line, a\n"
			"pasted text is one message, Ctrl+X Ctrl+E opens your editor. Up and down bring\n"
			"back what you said before. Ctrl+C stops the turn that runs, not those that wait;\n"
			"Ctrl+D leaves. Without a terminal, every line of stdin is a message.\n"
			"\n"
			"  /new  /session NAME  /sessions  /attach FILE  /retry  /edit  /copy  /usage\n"
			"  /now TEXT  /stop  /quit  /help; //TEXT: a message that begins with /\n"
			"\n"
			"  -p, --profile NAME|FILE   the agent\n"
			"  --plain                   replies as they are, no Markdown drawn\n"
			"  --protocol 0.1|0.4        how the agent speaks, whatever the profile says\n"
			"  --session ID | --session-name NAME | --new   which session is continued\n"
			"  --from USER               who speaks\n"
			"  --image, --file, --audio, --video URL   what is attached to the first message\n"
			"  --cwd DIR, --env NAME=VALUE, --timeout SECS   instead of the profile's\n"
			"  --no-stream               replies alone, no partials\n"
			"  --no-store                neither read nor write the stored session\n"
			"  --allow-shell-message     let a shell read {{MESSAGE}} as a script\n"
			"  --sandbox[=off]           confine it, or not, instead of what the profile says\n"
			"  --line-limit BYTES, --output-limit BYTES   (8388608, 67108864)\n"
			"  --trace FILE              record every line\n"
			"  -v, -q                    with the agent's stderr; without warnings\n"
			"\n"
			"example:\n"
			"  perch agent chat bot --session-name work\n",
	.words = WORDS_AGENTS,
	.run = agent_chat,
};
