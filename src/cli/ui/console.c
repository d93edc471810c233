/* The surroundings of a command that runs for a while and may ask questions. */
#include "cli/ui/console.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "proc/host.h"
#include "term/term.h"

static void console_answered(void *data, const struct answer *answer)
{
	struct console *console = data;
	console->is_answered = true;
	console->is_cancelled = answer->cancelled;
	console->said_yes = answer->yes;
	console->chosen = answer->chosen_count ? answer->chosen[0] : 0;
}

/* The terminal is gone: no answer will come. */
static void console_went_away(void *data)
{
	struct console *console = data;
	console->is_answered = true;
	console->is_cancelled = true;
}

/* A window that changes its size and Ctrl+Z concern the terminal; every other signal ends the
 * command, which notices `is_stopped` between its steps. */
static void console_signal_arrived(void *data, int signal)
{
	struct console *console = data;
	if (signal == SIGWINCH) {
		if (console->workshop.frontend)
			term_resized(console->workshop.frontend);
	} else if (signal == SIGTSTP) {
		signals_suspend(console->workshop.frontend);
	} else {
		console->signal = signal;
		console->workshop.is_stopped = true;
	}
}

static int console_make_frontend(struct console *console, perch_err *err)
{
	const struct cli *cli = console->cli;
	const struct term_options options = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDERR_FILENO,
		.text_fd = STDERR_FILENO,
		.colored = cli_wants_color(cli, stderr),
		.verbose = cli->verbose,
		.quiet = cli->quiet,
		.utf8 = cli_is_utf8(),
		.guard = &console->workshop.host->guard,
	};
	if (cli->json)
		return 0;
	struct frontend *frontend;
	int r = term_new(&console->workshop.host->loop, &options, &frontend, err);
	if (r < 0)
		return r;
	frontend->answered = console_answered;
	frontend->went_away = console_went_away;
	frontend->answered_data = console;
	console->workshop.frontend = frontend;
	console->workshop.is_interactive = frontend->is_interactive && !cli_forbids_asking(cli);
	return 0;
}

int console_open(struct console *console, const struct cli *cli, perch_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0 };
	*console = (struct console){ .cli = cli };
	int r = cli_make_host(NULL, NULL, &console->workshop.host, err);
	if (r == 0)
		r = console_make_frontend(console, err);
	if (r < 0)
		return r;
	r = signals_watch(
		&console->signals, &console->workshop.host->loop, signals, console_signal_arrived, console);
	console->has_signals = r == 0;
	return r < 0 ? err_set(err, r, "signals cannot be watched: %s", perch_strerror(r)) : 0;
}

void console_close(struct console *console)
{
	struct frontend *frontend = console->workshop.frontend;
	if (frontend) {
		frontend->table->flush(frontend);
		frontend->table->free(frontend);
	}
	if (console->has_signals)
		signals_close(&console->signals);
	perch_host_free(console->workshop.host);
}

static int console_ask(struct console *console, const perch_question *question)
{
	struct frontend *frontend = console->workshop.frontend;
	if (!console->workshop.is_interactive)
		return -ENOTTY;
	console->is_answered = false;
	frontend->table->ask(frontend, question, NULL);
	int r = 0;
	while (!console->is_answered && !console->signal && r >= 0) {
		frontend->table->flush(frontend);
		r = perch_host_wait(console->workshop.host, -1);
	}
	if (!console->is_answered)
		frontend->table->withdraw(frontend);
	return !console->is_answered || console->is_cancelled ? -ECANCELED : 0;
}

int console_confirm(struct console *console, const char *message)
{
	const perch_question question = {
		.number = 1,
		.kind = PERCH_QUESTION_CONFIRM,
		.message = text_from(message),
		.has_default = true,
	};
	int r = console_ask(console, &question);
	return r < 0 ? r : console->said_yes;
}

int console_select(struct console *console, const char *message, const char *const *options,
	size_t count, size_t standard)
{
	enum { CONSOLE_OPTIONS_MAX = 8 };
	perch_text texts[CONSOLE_OPTIONS_MAX];
	if (count > CONSOLE_OPTIONS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		texts[i] = text_from(options[i]);
	const size_t defaults[] = { standard };
	const perch_question question = {
		.number = 1,
		.kind = PERCH_QUESTION_SELECT,
		.message = text_from(message),
		.options = texts,
		.option_count = count,
		.has_default = true,
		.defaults = defaults,
		.default_count = 1,
	};
	int r = console_ask(console, &question);
	return r < 0 ? r : (int)console->chosen;
}

void console_tell_failure(const struct console *console, const char *about, const perch_err *err)
{
	const char *name = about ? about : "";
	const char *colon = about ? ": " : "";
	if (err->code == -ECANCELED && !console->signal)
		cli_tell(stderr, "%s%s%s\n", name, colon, err->text);
	else
		cli_error(NULL, "%s%s%s", name, colon, err->text);
}

int console_failure_code(const struct console *console)
{
	/* Ctrl+C at a question is an answer of the terminal's, and no signal. */
	return exit_status_of(console->signal ? console->signal
			: console->is_cancelled       ? SIGINT
										  : 0,
		EXIT_FAILURE);
}
