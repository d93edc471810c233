/* A scripted user of the terminal frontend, for the tests in a real terminal:
 *   ask ANSWERS STEP…
 * runs the steps one after the other and writes what was answered to the file
 * ANSWERS, a line each. Its process id is in ANSWERS.pid while it runs.
 * Steps:
 *   prompt MESSAGE            confirm MESSAGE
 *   select MESSAGE A,B,C      multi MESSAGE A,B,C      ("300*" = item 1 … item 300)
 *   default TEXT, validator NAME        for the question behind them
 *   output TEXT   log LEVEL TEXT   warning TEXT   progress TEXT CURRENT/TOTAL
 *   spin TEXT     cleared
 *   many COUNT                so many progress messages at once
 *   flush                     as before the host waits
 *   wait                      until SIGUSR1 comes
 *   during STEP               directly behind a question: on SIGUSR1, while it is open
 *   withdraw                  (only during)
 * Options in the environment: COLOR, VERBOSE, QUIET, ASCII. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "frontend.h"
#include "term/term.h"

enum { OPTIONS_MAX = 100000 };

struct script {
	struct loop loop;
	struct source signals;
	struct frontend *frontend;
	char **next; /* the step that comes next */
	FILE *answers;
	perch_question question;
	perch_text *options;
	size_t defaults[16];
	const char *default_text;
	const char *validator;
	bool is_asking;
	bool is_waiting;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "ask: %s\n", what);
	exit(2);
}

static const char *take(struct script *script)
{
	if (!*script->next)
		fail("a word is missing at the end");
	return *script->next++;
}

static void write_answer(struct script *script, const struct answer *answer)
{
	if (answer->cancelled) {
		fprintf(script->answers, "cancelled\n");
	} else if (script->question.kind == PERCH_QUESTION_PROMPT) {
		fprintf(script->answers, "text <%.*s>\n", (int)answer->text.len, answer->text.data);
	} else if (script->question.kind == PERCH_QUESTION_CONFIRM) {
		fprintf(script->answers, "%s\n", answer->yes ? "yes" : "no");
	} else {
		fprintf(script->answers, "chosen");
		for (size_t i = 0; i < answer->chosen_count; i++) {
			perch_text option = script->options[answer->chosen[i]];
			fprintf(script->answers, " <%.*s>", (int)option.len, option.data);
		}
		fprintf(script->answers, "\n");
	}
	fflush(script->answers);
}

static void answered(void *data, const struct answer *answer)
{
	struct script *script = data;
	if (answer->number != script->question.number || !script->is_asking)
		fail("an answer to nothing");
	write_answer(script, answer);
	script->is_asking = false;
}

/* "a,b,c", or "300*" for that many. */
static void make_options(struct script *script, const char *list)
{
	char *rest;
	size_t count = strtoul(list, &rest, 10);
	script->question.option_count = 0;
	if (*rest == '*' && count <= OPTIONS_MAX) {
		for (size_t i = 0; i < count; i++) {
			char *text = NULL;
			if (asprintf(&text, "item %zu", i + 1) < 0)
				fail("no memory");
			script->options[i] = text_from(text);
		}
		script->question.option_count = count;
		return;
	}
	struct str all = str_from(list);
	while (all.len)
		script->options[script->question.option_count++] = text_of(str_cut(&all, ','));
}

static perch_validator validator_named(const char *name)
{
	static const char *const names[] = { "", "non_empty", "integer", "path_exists", "url" };
	for (size_t i = 1; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return (perch_validator)i;
	}
	return PERCH_VALIDATE_NOTHING;
}

static void set_default(struct script *script)
{
	perch_question *question = &script->question;
	const char *text = script->default_text;
	question->has_default = text != NULL;
	question->default_count = 0;
	if (!text)
		return;
	question->default_text = text_from(text);
	question->default_yes = strcmp(text, "yes") == 0;
	struct str all = str_from(text);
	while (all.len && question->default_count < 16)
		script->defaults[question->default_count++] = strtoul(str_cut(&all, ',').data, NULL, 10);
	question->defaults = script->defaults;
}

static void ask(struct script *script, perch_question_kind kind)
{
	perch_question *question = &script->question;
	question->number++;
	question->kind = kind;
	question->message = text_from(take(script));
	question->validator = validator_named(script->validator);
	set_default(script);
	if (kind == PERCH_QUESTION_SELECT || kind == PERCH_QUESTION_MULTI_SELECT) {
		make_options(script, take(script));
		question->options = script->options;
	}
	script->default_text = NULL;
	script->validator = NULL;
	script->is_asking = true;
	script->frontend->table->ask(script->frontend, question, NULL);
}

static void show(struct script *script, struct shown shown)
{
	shown.plugin = STR("tester");
	script->frontend->table->show(script->frontend, &shown);
}

static void show_progress(struct script *script)
{
	struct shown shown = { .kind = PERCH_SHOWN_PROGRESS, .has_amount = true };
	shown.text = str_from(take(script));
	if (sscanf(take(script), "%lf/%lf", &shown.current, &shown.total) != 2)
		fail("progress needs CURRENT/TOTAL");
	show(script, shown);
}

static void show_many(struct script *script)
{
	double count = strtod(take(script), NULL);
	struct shown shown = { .kind = PERCH_SHOWN_PROGRESS, .text = STR("many"), .has_amount = true };
	shown.total = count;
	for (shown.current = 1; shown.current <= count; shown.current += 1)
		show(script, shown);
}

static void withdraw(struct script *script)
{
	script->frontend->table->withdraw(script->frontend);
	fprintf(script->answers, "withdrawn\n");
	fflush(script->answers);
	script->is_asking = false;
}

static bool step_show(struct script *script, const char *step)
{
	if (strcmp(step, "output") == 0) {
		show(script, (struct shown){ .kind = PERCH_SHOWN_OUTPUT, .text = str_from(take(script)) });
	} else if (strcmp(step, "log") == 0) {
		struct str level = str_from(take(script));
		show(script,
			(struct shown){
				.kind = PERCH_SHOWN_LOG, .level = level, .text = str_from(take(script)) });
	} else if (strcmp(step, "warning") == 0) {
		show(script, (struct shown){ .kind = PERCH_SHOWN_WARNING, .text = str_from(take(script)) });
	} else if (strcmp(step, "progress") == 0) {
		show_progress(script);
	} else if (strcmp(step, "many") == 0) {
		show_many(script);
	} else if (strcmp(step, "spin") == 0) {
		show(
			script, (struct shown){ .kind = PERCH_SHOWN_PROGRESS, .text = str_from(take(script)) });
	} else if (strcmp(step, "cleared") == 0) {
		show(script, (struct shown){ .kind = PERCH_SHOWN_PROGRESS_DONE });
	} else {
		return false;
	}
	return true;
}

static void run_step(struct script *script)
{
	const char *step = take(script);
	if (step_show(script, step))
		return;
	if (strcmp(step, "prompt") == 0)
		ask(script, PERCH_QUESTION_PROMPT);
	else if (strcmp(step, "confirm") == 0)
		ask(script, PERCH_QUESTION_CONFIRM);
	else if (strcmp(step, "select") == 0)
		ask(script, PERCH_QUESTION_SELECT);
	else if (strcmp(step, "multi") == 0)
		ask(script, PERCH_QUESTION_MULTI_SELECT);
	else if (strcmp(step, "default") == 0)
		script->default_text = take(script);
	else if (strcmp(step, "validator") == 0)
		script->validator = take(script);
	else if (strcmp(step, "withdraw") == 0)
		withdraw(script);
	else if (strcmp(step, "wait") == 0)
		script->is_waiting = true;
	else if (strcmp(step, "flush") == 0)
		script->frontend->table->flush(script->frontend);
	else
		fail(step);
}

static bool is_during(const struct script *script)
{
	return *script->next && strcmp(*script->next, "during") == 0;
}

static void on_user_signal(struct script *script)
{
	script->is_waiting = false;
	if (!script->is_asking || !is_during(script))
		return;
	script->next++;
	run_step(script);
}

/* What the command line does on Ctrl+Z. */
static void on_stop(struct script *script)
{
	script->frontend->table->suspend(script->frontend);
	raise(SIGSTOP);
	script->frontend->table->resume(script->frontend);
}

static void on_signal(struct source *source, uint32_t events)
{
	(void)events;
	struct script *script = (struct script *)((char *)source - offsetof(struct script, signals));
	struct signalfd_siginfo info;
	if (read(source->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1)
		on_user_signal(script);
	else if (info.ssi_signo == SIGWINCH)
		term_resized(script->frontend);
	else if (info.ssi_signo == SIGTSTP)
		on_stop(script);
	else if (info.ssi_signo == SIGTERM) {
		script->frontend->table->withdraw(script->frontend);
		_exit(143);
	}
}

static void watch_signals(struct script *script)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	script->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	script->signals.ready = on_signal;
	if (loop_watch(&script->loop, &script->signals, EPOLLIN) < 0)
		fail("cannot watch signals");
}

/* Steps "during" a question that is answered are passed over. */
static void skip_during(struct script *script)
{
	while (is_during(script)) {
		script->next++;
		const char *step = take(script);
		if (strcmp(step, "log") == 0 || strcmp(step, "progress") == 0)
			script->next += 2;
		else if (strcmp(step, "withdraw") != 0 && strcmp(step, "cleared") != 0)
			script->next += 1;
	}
}

static void run(struct script *script)
{
	while (*script->next) {
		run_step(script);
		while (script->is_asking || script->is_waiting) {
			script->frontend->table->flush(script->frontend);
			if (loop_run(&script->loop, -1) < 0)
				fail("the loop fails");
		}
		skip_during(script);
	}
}

static void write_pid(const char *answers)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s.pid", answers);
	FILE *file = fopen(path, "we");
	if (!file)
		fail("cannot write the process id");
	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
}

int main(int argc, char **argv)
{
	static struct script script;
	if (argc < 2)
		fail("usage: ask ANSWERS STEP…");
	script.next = argv + 2;
	script.answers = fopen(argv[1], "we");
	script.options = calloc(OPTIONS_MAX, sizeof(*script.options));
	if (!script.answers || !script.options || loop_init(&script.loop) < 0)
		fail("cannot begin");
	watch_signals(&script);
	signal(SIGPIPE, SIG_IGN);
	struct term_options options = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDERR_FILENO,
		.text_fd = STDOUT_FILENO,
		.colored = getenv("COLOR") != NULL,
		.verbose = getenv("VERBOSE") != NULL,
		.quiet = getenv("QUIET") != NULL,
		.utf8 = getenv("ASCII") == NULL,
	};
	if (term_new(&script.loop, &options, &script.frontend, NULL) < 0)
		fail("no frontend");
	script.frontend->answered = answered;
	script.frontend->answered_data = &script;
	write_pid(argv[1]);
	run(&script);
	script.frontend->table->done(script.frontend, &(perch_fledge_end){ .success = true });
	int error = term_output_error(script.frontend);
	script.frontend->table->free(script.frontend);
	loop_close(&script.loop);
	fclose(script.answers);
	return error ? 3 : 0;
}
