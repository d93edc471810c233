/* Asking the user for a permission that an agent wants, or what it wants to know. */
#include "cli/agent/agent_ask.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "term/term.h"

/* Bytes of the tool's input that are shown: more than a screen holds. */
enum { INPUT_SHOWN = 16 * 1024 };

/* The most answers that mean yes, and the length of the longest one. */
enum { WAYS_MAX = 6, WAY_WORD_MAX = 12 };

/* A question that is open, or waits for the one before it. */
struct wish {
	struct wish *next;
	uint64_t number; /* that the job has for it */
	struct buf text;
	const char *ways[WAYS_MAX + 1]; /* ends with NULL; texts of the question */
	struct buf hint;                /* what these mean */
	perch_question question;
	bool is_permission; /* else the question is the agent's, as it is */
};

static void agent_ask_free_wish(struct wish *wish)
{
	buf_free(&wish->text);
	buf_free(&wish->hint);
	free(wish);
}

static void agent_ask_drop_first(struct agent_asker *asker)
{
	struct wish *wish = asker->first;
	asker->first = wish->next;
	if (!asker->first)
		asker->last = NULL;
	agent_ask_free_wish(wish);
}

static void agent_ask_show_first(struct agent_asker *asker)
{
	struct wish *wish = asker->first;
	if (!wish)
		return;
	const struct question_manner manner = {
		.is_deliberate = true,
		.yes_words = wish->ways,
		.hint = { wish->hint.data, wish->hint.len },
	};
	asker->terminal->table->ask(
		asker->terminal, &wish->question, wish->is_permission ? &manner : NULL);
}

/* way: one of the ways to say yes; NULL = none of them. */
static void agent_ask_answer(
	perch_job *job, uint64_t number, bool yes, const char *way, const char *why_not)
{
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.yes = yes;
	answer.option = way;
	answer.message = yes ? NULL : why_not;
	perch_job_answer(job, number, &answer, NULL);
}

static void agent_ask_refuse(perch_job *job, uint64_t number)
{
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.cancel = true;
	answer.message = "nobody is there to be asked";
	perch_job_answer(job, number, &answer, NULL);
}

/* An answer that does not fit is told, and asked for again. */
static void agent_ask_give(struct agent_asker *asker, const struct answer *answer)
{
	perch_answer given = PERCH_ANSWER_INIT;
	perch_err err = { 0 };
	_cleanup_free_ char *text = str_dup(answer->text.data ? answer->text : STR(""));
	given.cancel = answer->cancelled || !text;
	given.text = text;
	given.text_len = answer->text.len;
	given.yes = answer->yes;
	given.chosen = answer->chosen;
	given.chosen_count = answer->chosen_count;
	if (perch_job_answer(asker->job, asker->first->number, &given, &err) != -EINVAL)
		agent_ask_drop_first(asker);
	else if (asker->say)
		asker->say(asker->say_data, str_from(err.text));
	agent_ask_show_first(asker);
}

static void agent_ask_answered(void *data, const struct answer *answer)
{
	struct agent_asker *asker = data;
	if (!asker->first)
		return;
	if (!asker->first->is_permission) {
		agent_ask_give(asker, answer);
		return;
	}
	if (answer->cancelled) {
		agent_asker_end(asker);
		perch_job_cancel(asker->job, SIGINT);
		return;
	}
	uint64_t number = asker->first->number;
	agent_ask_drop_first(asker);
	agent_ask_answer(asker->job, number, answer->yes, answer->word, "the user said no");
	agent_ask_show_first(asker);
}

static bool agent_ask_open_terminal(struct agent_asker *asker)
{
	const struct term_options options = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDERR_FILENO,
		.text_fd = STDOUT_FILENO,
		.colored = cli_wants_color(asker->cli, stderr),
		.utf8 = cli_is_utf8(),
		.guard = &asker->host->guard,
	};
	if (!asker->terminal &&
		(asker->cli->json || asker->cli->non_interactive || !isatty(STDIN_FILENO) ||
			!isatty(STDERR_FILENO) ||
			term_new(&asker->host->loop, &options, &asker->terminal, NULL) < 0))
		return false;
	asker->terminal->answered = agent_ask_answered;
	asker->terminal->answered_data = asker;
	return true;
}

static void agent_ask_write_question(struct buf *text, const perch_ask *ask)
{
	struct str name = str_of(ask->subject);
	struct str about = str_of(ask->description);
	struct str input = str_of(ask->detail);
	bool is_cut = input.len > INPUT_SHOWN;
	buf_append_text(text, "May the agent use ");
	buf_append(text, name.data, name.len);
	buf_append_text(text, "? ");
	if (about.len) {
		buf_append(text, about.data, about.len < INPUT_SHOWN ? about.len : INPUT_SHOWN);
		buf_append_char(text, ' ');
	}
	buf_append(text, input.data, is_cut ? INPUT_SHOWN : input.len);
	if (is_cut)
		buf_append_text(text, cli_is_utf8() ? "…" : "...");
}

/* A way that is a word to be typed, and is not yes or no itself. */
static bool agent_ask_is_way(const perch_ask_option *option)
{
	size_t letters = strspn(option->id.data, "abcdefghijklmnopqrstuvwxyz");
	return str_has_prefix(str_of(option->kind), STR("allow")) && letters > 1 &&
		letters == option->id.len && letters <= WAY_WORD_MAX && !str_is(str_of(option->id), "yes");
}

/* "(session: always in this session)" behind the question. */
static void agent_ask_write_ways(struct wish *wish, const perch_ask *ask)
{
	size_t count = 0;
	for (size_t i = 0; i < ask->option_count && count < WAYS_MAX; i++) {
		const perch_ask_option *option = &ask->options[i];
		if (!agent_ask_is_way(option))
			continue;
		buf_append_text(&wish->hint, count ? "; " : "(");
		buf_printf(&wish->hint, "%s: ", option->id.data);
		buf_append(&wish->hint, option->name.data, option->name.len);
		wish->ways[count++] = option->id.data;
	}
	buf_append_text(&wish->hint, count ? ")" : "");
}

static struct wish *agent_ask_make_wish(const perch_ask *ask)
{
	struct wish *wish = calloc(1, sizeof(*wish));
	if (!wish)
		return NULL;
	wish->number = ask->number;
	if (ask->question) {
		wish->question = *ask->question;
		return wish;
	}
	wish->is_permission = true;
	agent_ask_write_question(&wish->text, ask);
	agent_ask_write_ways(wish, ask);
	if (buf_terminate(&wish->text) < 0 || wish->hint.failed)
		wish->text.failed = true;
	wish->question = (perch_question){
		.kind = PERCH_QUESTION_CONFIRM,
		.message = { wish->text.data, wish->text.len },
		.has_default = true,
	};
	if (!wish->text.failed)
		return wish;
	agent_ask_free_wish(wish);
	return NULL;
}

void agent_asker_ask(struct agent_asker *asker, perch_job *job, const perch_ask *ask)
{
	struct wish *wish = agent_ask_open_terminal(asker) ? agent_ask_make_wish(ask) : NULL;
	if (!wish) {
		agent_ask_refuse(job, ask->number);
		return;
	}
	asker->job = job;
	if (asker->last)
		asker->last->next = wish;
	else
		asker->first = wish;
	asker->last = wish;
	if (asker->first == wish)
		agent_ask_show_first(asker);
}

void agent_asker_withdraw(struct agent_asker *asker, uint64_t number)
{
	struct wish **at = &asker->first, *before = NULL;
	while (*at && (*at)->number != number) {
		before = *at;
		at = &before->next;
	}
	struct wish *wish = *at;
	if (!wish)
		return;
	if (wish == asker->first)
		asker->terminal->table->withdraw(asker->terminal);
	*at = wish->next;
	if (asker->last == wish)
		asker->last = before;
	agent_ask_free_wish(wish);
	if (!before)
		agent_ask_show_first(asker);
}

void agent_asker_resized(struct agent_asker *asker)
{
	if (asker->terminal)
		term_resized(asker->terminal);
}

void agent_asker_give_way(struct agent_asker *asker)
{
	if (asker->first)
		term_give_way(asker->terminal);
}

void agent_asker_note(
	struct agent_asker *asker, struct agent_print *print, const char *kind, struct str text)
{
	agent_asker_give_way(asker);
	agent_print_note(print, kind, text);
}

/* Text above a question is written in whole lines, too. */
void agent_asker_print(struct agent_asker *asker, struct agent_print *print)
{
	if (!asker->first || !print->out.len) {
		agent_print_flush(print);
		return;
	}
	agent_asker_give_way(asker);
	agent_print_make_way(print);
}

void agent_asker_flush(struct agent_asker *asker)
{
	if (asker->terminal)
		asker->terminal->table->flush(asker->terminal);
}

void agent_asker_end(struct agent_asker *asker)
{
	if (asker->first)
		asker->terminal->table->withdraw(asker->terminal);
	while (asker->first)
		agent_ask_drop_first(asker);
}

void agent_asker_free(struct agent_asker *asker)
{
	while (asker->first)
		agent_ask_drop_first(asker);
	if (asker->terminal)
		asker->terminal->table->free(asker->terminal);
	asker->terminal = NULL;
}
