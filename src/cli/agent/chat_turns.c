/* The turns of a conversation: messages become jobs, and what these tell is shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/vec.h"
#include "cli/agent/chat.h"

enum { CHAT_WARNINGS_MAX = 1000 }; /* that are told once */

/* ---- turns --------------------------------------------------------------- */

/* One that has not ended. */
struct chat_turn {
	struct link link;
	struct chat *chat;
	perch_job *job;
	bool has_begun;
	bool is_moved; /* it waited, and waits again behind another: nothing is told of its end */
	/* What it was sent with: its message, session and attachments are its own. */
	struct agent_words words;
	struct arena arena;
	struct arena attached;
};

static void chat_turns_free_turn(struct chat_turn *turn)
{
	if (!turn)
		return;
	chat_attach_free(&turn->words);
	arena_free(&turn->arena);
	arena_free(&turn->attached);
	free(turn);
}

/* Why it may have failed, or said nothing. */
static void chat_turns_explain(struct chat_turn *turn, const perch_job_end *end)
{
	struct chat *chat = turn->chat;
	struct str lines = { 0 };
	char text[PERCH_ERR_TEXT_MAX];
	bool is_odd = end->success ? !chat->reply.len : !end->was_cancelled;
	if (is_odd && !chat->cli->verbose)
		lines = agent_last_lines(end->turn);
	while (lines.len)
		chat_show_note(chat, "stderr", str_cut(&lines, '\n'));
	if (end->turn->hint[0])
		chat_show_note(chat, "hint", str_from(end->turn->hint));
	if (agent_end_is_own_failure(end->turn) && agent_check_explain(chat->cli, &turn->words, text))
		chat_show_note(chat, "hint", str_from(text));
}

static void chat_turns_end(struct chat_turn *turn, const perch_job_end *end)
{
	struct chat *chat = turn->chat;
	if (!end->success && !chat->terminal)
		chat->code = end->exit_code;
	chat_turns_explain(turn, end);
	char words[AGENT_SPENT_MAX];
	agent_spent_add(&chat->used, &end->turn->usage);
	if (chat->cli->verbose && agent_spent_words(&end->turn->usage, words))
		chat_show_note(chat, "usage", str_from(words));
	list_remove(&chat->turns, turn);
	perch_job_free(turn->job);
	chat_turns_free_turn(turn);
	chat_show_end(chat);
}

static void chat_turns_begin(struct chat_turn *turn)
{
	turn->has_begun = true;
	buf_clear(&turn->chat->reply);
	chat_show_begin(turn->chat);
}

/* A profile has the same warnings at every turn: they are shown once. */
static void chat_turns_warn(struct chat *chat, struct str text)
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
	chat_show_note(chat, "warning", text);
}

static void chat_turns_say(struct chat *chat, struct str text, bool is_reply)
{
	buf_append(&chat->reply, text.data, text.len);
	if (is_reply)
		chat_show_reply(chat, text);
	else
		chat_show_text(chat, text);
}

static void chat_turns_error(struct chat *chat, const perch_event *event)
{
	if (strcmp(event->code, "cancelled") == 0)
		chat_show_note(chat, NULL, STR("(stopped)"));
	else
		chat_show_note(chat, "error", str_of(event->text));
}

static void chat_turns_activity(struct chat *chat, const perch_event *event)
{
	_cleanup_(buf_free) struct buf words = { 0 };
	if (agent_activity_words(event, &words))
		chat_show_note(chat, event->code, (struct str){ words.data, words.len });
}

static void chat_turns_event(perch_job *job, void *data, const perch_event *event)
{
	struct chat_turn *turn = data;
	struct chat *chat = turn->chat;
	if (turn->is_moved && event->kind != PERCH_EVENT_END)
		return;
	switch (event->kind) {
	case PERCH_EVENT_START:
		chat_turns_begin(turn);
		break;
	case PERCH_EVENT_PARTIAL:
		chat_turns_say(chat, str_of(event->text), false);
		break;
	case PERCH_EVENT_REPLY:
		chat_turns_say(chat, str_of(event->text), true);
		break;
	case PERCH_EVENT_WARNING:
		chat_turns_warn(chat, str_of(event->text));
		break;
	case PERCH_EVENT_THINKING:
		chat_show_thought(chat, str_of(event->text));
		break;
	case PERCH_EVENT_ACTIVITY:
		chat_turns_activity(chat, event);
		break;
	case PERCH_EVENT_STDERR:
		chat_show_stderr(chat, str_of(event->text));
		break;
	case PERCH_EVENT_ERROR:
		chat_turns_error(chat, event);
		break;
	case PERCH_EVENT_ASK:
		chat_view_permission(chat, job, event->ask);
		break;
	case PERCH_EVENT_WITHDRAW:
		agent_asker_withdraw(&chat->asker, event->number);
		break;
	case PERCH_EVENT_END:
		chat_turns_end(turn, event->end);
		break;
	default:
		break;
	}
}

static int chat_turns_submit(struct chat_turn *turn, perch_err *err)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	perch_agent_turn_options options = PERCH_AGENT_TURN_OPTIONS_INIT;
	const struct chat *chat = turn->chat;
	struct arena arena = { 0 };
	int r = agent_words_apply(&turn->words, &arena, &request, &options, err);
	request.sandbox = cli_sandbox_choice(chat->cli);
	request.shows_stderr = chat->cli->verbose;
	request.sink = chat_turns_event;
	request.data = turn;
	if (r == 0)
		r = perch_job_submit(chat->service, &request, &turn->job, err);
	arena_free(&arena);
	return r;
}

/* With what counts for it alone: the next one has none of that. */
static void chat_turns_take_attached(struct chat_turn *turn)
{
	struct chat *chat = turn->chat;
	turn->attached = chat->attached;
	chat->attached = (struct arena){ 0 };
	chat_attach_forget(&chat->words);
	chat->words.is_new = false;
	chat->words.session = NULL;
}

static void chat_turns_refuse(struct chat *chat, const perch_err *err)
{
	chat_show_note(chat, "error", str_from(err->text));
	if (!chat->terminal)
		chat->code = EXIT_HOST;
}

static struct chat_turn *chat_turns_make(struct chat *chat, struct str message, perch_err *err)
{
	struct chat_turn *turn = calloc(1, sizeof(*turn));
	if (!turn) {
		err_no_memory(err);
		return NULL;
	}
	turn->chat = chat;
	turn->words = chat->words;
	turn->words.prompt = arena_dup(&turn->arena, message);
	turn->words.session_name = arena_dup(&turn->arena, str_from(chat->session_name));
	if (turn->words.prompt && turn->words.session_name)
		return turn;
	err_no_memory(err);
	chat_attach_forget(&turn->words); /* they are the next message's still */
	chat_turns_free_turn(turn);
	return NULL;
}

static void chat_turns_send(struct chat *chat, struct str message)
{
	perch_err err = { 0 };
	int r = memchr(message.data, '\0', message.len)
		? err_set(&err, -EINVAL, "refused: the message has a NUL byte in it")
		: 0;
	struct chat_turn *turn = r == 0 ? chat_turns_make(chat, message, &err) : NULL;
	if (turn && chat_turns_submit(turn, &err) == 0) {
		list_append(&chat->turns, turn);
		chat_turns_take_attached(turn);
		return;
	}
	if (turn)
		chat_attach_forget(&turn->words);
	chat_turns_free_turn(turn);
	chat_turns_refuse(chat, &err);
}

/* What is attached to it is kept, to be sent again. */
static void chat_turns_keep_last(struct chat *chat, struct str message)
{
	chat_attach_free(&chat->last_words);
	arena_free(&chat->last_attached);
	chat->last_attached = (struct arena){ 0 };
	buf_clear(&chat->last);
	buf_append(&chat->last, message.data, message.len);
	chat_attach_copy(&chat->words, &chat->last_words, &chat->last_attached);
}

void chat_send(struct chat *chat, struct str message)
{
	chat_turns_keep_last(chat, message);
	chat_turns_send(chat, message);
}

struct str chat_last(struct chat *chat)
{
	if (!chat_attach_any(&chat->words) &&
		chat_attach_copy(&chat->last_words, &chat->words, &chat->attached) < 0)
		chat_show_note(chat, "error", STR("out of memory"));
	return (struct str){ chat->last.data, chat->last.len };
}

/* Those that wait, with all that they have; they are on their way no more. */
static void chat_turns_take_back(struct chat *chat, struct list *waiting)
{
	struct chat_turn *next;
	for (struct chat_turn *turn = list_first(&chat->turns); turn; turn = next) {
		next = list_next(turn);
		struct chat_turn *again =
			turn->has_begun || turn->is_moved ? NULL : calloc(1, sizeof(*again));
		if (!again)
			continue;
		again->chat = chat;
		again->words = turn->words;
		again->arena = turn->arena;
		again->attached = turn->attached;
		turn->words = (struct agent_words){ 0 };
		turn->arena = turn->attached = (struct arena){ 0 };
		list_append(waiting, again);
		turn->is_moved = true;
		perch_job_cancel(turn->job, SIGINT);
	}
}

void chat_send_now(struct chat *chat, struct str message)
{
	struct list waiting = { 0 };
	struct chat_turn *turn;
	chat_stop(chat);
	chat_turns_take_back(chat, &waiting);
	chat_send(chat, message);
	while ((turn = list_first(&waiting))) {
		perch_err err = { 0 };
		list_remove(&waiting, turn);
		if (chat_turns_submit(turn, &err) == 0) {
			list_append(&chat->turns, turn);
			continue;
		}
		chat_turns_free_turn(turn);
		chat_turns_refuse(chat, &err);
	}
}

void chat_hold(struct chat *chat, bool is_held)
{
	for (struct chat_turn *turn = list_first(&chat->turns); turn; turn = list_next(turn))
		perch_job_hold(turn->job, is_held);
}

/* ---- what is known of them ------------------------------------------------- */

void chat_list_sessions(struct chat *chat)
{
	perch_sessions *sessions = NULL;
	const perch_session *list = NULL;
	const char *from = chat->words.from ? chat->words.from : "";
	size_t count = 0;
	bool is_any = false;
	perch_err err = { 0 };
	char text[256];
	int r = perch_service_sessions(chat->service, &sessions, &err);
	if (r == 0)
		r = perch_sessions_list(sessions, chat->words.profile, &list, &count, &err);
	if (r < 0)
		chat_show_note(chat, "error", str_from(err.text));
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (strcmp(list[i].from, from) != 0)
			continue; /* /session leads to none of another sender */
		is_any = true;
		bool is_this = strcmp(list[i].name, chat->session_name) == 0;
		snprintf(text, sizeof(text), "%s %.100s  (%lld turn%s)", is_this ? "*" : " ", list[i].name,
			(long long)list[i].turns, list[i].turns == 1 ? "" : "s");
		chat_show_note(chat, NULL, str_from(text));
	}
	if (r == 0 && !is_any)
		chat_show_note(chat, NULL, STR("no session is stored yet"));
}

static void chat_turns_tell_used(struct chat *chat, const char *what, const perch_agent_usage *used)
{
	char words[AGENT_SPENT_MAX];
	char text[AGENT_SPENT_MAX + 64];
	agent_spent_words(used, words);
	snprintf(text, sizeof(text), "%s: %s", what, words);
	chat_show_note(chat, NULL, str_from(text));
}

/* The usage of the stored session, with turns of earlier conversations; without a store, that
 * of this conversation. */
void chat_tell_usage(struct chat *chat)
{
	perch_sessions *sessions = NULL;
	perch_session session = { 0 };
	const struct agent_words *words = &chat->words;
	if (!words->no_store && perch_service_sessions(chat->service, &sessions, NULL) == 0)
		perch_sessions_find(
			sessions, words->profile, words->from, chat->session_name, &session, NULL);
	bool is_session = agent_spent_is_known(&session.usage);
	if (is_session)
		chat_turns_tell_used(chat, "this session", &session.usage);
	if (agent_spent_is_known(&chat->used))
		chat_turns_tell_used(chat, "this conversation", &chat->used);
	else if (!is_session)
		chat_show_note(chat, NULL, STR("the agent said nothing about what it uses"));
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

void chat_free_turns(struct chat *chat)
{
	struct chat_turn *turn;
	while ((turn = list_first(&chat->turns))) {
		list_remove(&chat->turns, turn);
		chat_turns_free_turn(turn);
	}
}
