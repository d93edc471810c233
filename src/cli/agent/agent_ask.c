/* Asking the user for a permission that an agent wants. */
#include "cli/agent/agent_ask.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "term/term.h"

/* Bytes of the tool's input that are shown: more than a screen holds. */
enum { INPUT_SHOWN = 16 * 1024 };

/* A question that is open, or waits for the one before it. */
struct wish {
	struct wish *next;
	uint64_t number; /* that the job has for it */
	struct buf text;
	perch_question question;
};

static void agent_ask_free_wish(struct wish *wish)
{
	buf_free(&wish->text);
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
	static const struct question_manner manner = { .is_deliberate = true };
	if (asker->first)
		asker->terminal->table->ask(asker->terminal, &asker->first->question, &manner);
}

static void agent_ask_answer(perch_job *job, uint64_t number, bool yes, const char *why_not)
{
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.yes = yes;
	answer.message = yes ? NULL : why_not;
	perch_job_answer(job, number, &answer, NULL);
}

static void agent_ask_answered(void *data, const struct answer *answer)
{
	struct agent_asker *asker = data;
	if (!asker->first)
		return;
	if (answer->cancelled) {
		agent_asker_end(asker);
		perch_job_cancel(asker->job, SIGINT);
		return;
	}
	uint64_t number = asker->first->number;
	agent_ask_drop_first(asker);
	agent_ask_answer(asker->job, number, answer->yes, "the user said no");
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
	struct str input = str_of(ask->detail);
	bool is_cut = input.len > INPUT_SHOWN;
	buf_append_text(text, "May the agent use ");
	buf_append(text, name.data, name.len);
	buf_append_text(text, "? ");
	buf_append(text, input.data, is_cut ? INPUT_SHOWN : input.len);
	if (is_cut)
		buf_append_text(text, cli_is_utf8() ? "…" : "...");
}

static struct wish *agent_ask_make_wish(const perch_ask *ask)
{
	struct wish *wish = calloc(1, sizeof(*wish));
	if (!wish)
		return NULL;
	wish->number = ask->number;
	agent_ask_write_question(&wish->text, ask);
	if (buf_terminate(&wish->text) < 0)
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
		agent_ask_answer(job, ask->number, false, "nobody is there to be asked");
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
