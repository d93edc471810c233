/* perch tour: two minutes of perch, shown by running it. The scenes are data (tour_scenes.c); here
 * they are announced, run and judged. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/ui/console.h"
#include "cli/ui/page.h"
#include "cli/tour/tour.h"
#include "proc/host.h"
#include "proc/program.h"
#include "term/tty.h"

struct tour {
	const struct cli *cli;
	struct console console;
	struct stage stage;
	bool is_interactive;
	bool is_left;  /* by q, Ctrl+C, Ctrl+D */
	int left_with; /* the exit code then */
	int surprises; /* commands that did not end as told */
};

static bool tour_is_over(const struct tour *tour)
{
	return tour->is_left || tour->console.signal;
}

static void tour_leave(struct tour *tour, int code)
{
	tour->is_left = true;
	tour->left_with = code;
}

/* ---- telling -------------------------------------------------------------------- */

/* Flushed at once: the commands write to the same terminal themselves. */
static void tour_say(const struct tour *tour, enum style style, const char *text)
{
	struct page page;
	page_begin(&page, tour->cli);
	page_style(&page, style, text);
	page_end(&page);
	fflush(stdout);
}

/* A paragraph of the tour's own: its lines fit 80 columns, and are broken anew for fewer. */
static void tour_tell(const struct tour *tour, const char *text)
{
	enum { TOUR_COLUMNS = 80 };
	struct page page;
	_cleanup_free_ char *line = str_dup(str_trim(str_from(text)));
	page_begin(&page, tour->cli);
	if (!line || !page.look.columns || page.look.columns >= TOUR_COLUMNS) {
		page_style(&page, STYLE_PLAIN, text);
	} else {
		for (char *at = line; (at = strchr(at, '\n'));)
			*at = ' ';
		page_wrap(&page, str_from(line), 0);
		buf_append_char(&page.out, '\n');
	}
	page_end(&page);
	fflush(stdout);
}

static void tour_announce(const struct tour *tour, const struct tour_scene *scene)
{
	size_t count = 0;
	while (tour_scenes[count].title)
		count++;
	char number[32];
	snprintf(number, sizeof(number), "\n%zu/%zu ", (size_t)(scene - tour_scenes) + 1, count);
	tour_say(tour, STYLE_MARK, number);
	tour_say(tour, STYLE_MESSAGE, scene->title);
	tour_say(tour, STYLE_PLAIN, "\n\n");
	tour_tell(tour, scene->text);
}

/* The commands that are suggested next work only where the shell finds perch. */
static void tour_tell_where_perch_is(struct page *page)
{
	_cleanup_free_ char *found = NULL;
	if (program_find("perch", (const char *const *)environ, &found, NULL) == 0)
		return;
	_cleanup_free_ char *self = realpath("/proc/self/exe", NULL);
	char *slash = self ? strrchr(self, '/') : NULL;
	if (!slash)
		return;
	buf_append_text(
		&page->out, "perch is not on the PATH yet; for this terminal:\n  export PATH=\"");
	page_cut(page, (struct str){ self, (size_t)(slash - self) }, 0);
	buf_append_text(&page->out, ":$PATH\"\n\n");
}

static void tour_bid_farewell(const struct tour *tour)
{
	struct page page;
	page_begin(&page, tour->cli);
	page_style(&page, STYLE_MESSAGE, "\nThat was it.\n\n");
	tour_tell_where_perch_is(&page);
	if (tour->stage.is_kept) {
		buf_append_text(&page.out, "To try the commands by hand:  cd '");
		page_cut(&page, str_from(tour->stage.cwd), 0);
		buf_append_text(&page.out, "' && . ../env\n");
	} else
		buf_append_text(&page.out,
			"Your own files were not touched. To try the commands by hand, keep what they\n"
			"worked on:  perch tour --keep DIR\n");
	buf_append_text(&page.out,
		"A plugin of your own:  perch plugins create my-plugin\n"
		"What else there is:  perch help\n");
	if (tour->surprises)
		buf_printf(&page.out,
			"\nNot everything ended as it should have (%d of the commands). What this machine\n"
			"lacks:  perch doctor\n",
			tour->surprises);
	page_end(&page);
}

/* ---- waiting for a key ------------------------------------------------------------ */

struct key_wait {
	struct source source;
	struct tour *tour;
	bool is_pressed;
};

static void tour_key_pressed(struct source *source, uint32_t events)
{
	(void)events;
	struct key_wait *wait = container_of(source, struct key_wait, source);
	char keys[64];
	ssize_t len = read(source->fd, keys, sizeof(keys));
	if (len <= 0)
		tour_leave(wait->tour, EXIT_SUCCESS);
	for (ssize_t i = 0; i < len && !wait->is_pressed; i++) {
		if (strchr("qQ\x03\x04", keys[i]) && keys[i])
			tour_leave(wait->tour, keys[i] == '\x03' ? EXIT_SIGNAL + SIGINT : EXIT_SUCCESS);
		wait->is_pressed = strchr("\r\n ", keys[i]) && keys[i];
	}
}

static void tour_wait_for_key(struct tour *tour, perch_host *host)
{
	struct key_wait wait = {
		.source = { .fd = STDIN_FILENO, .ready = tour_key_pressed },
		.tour = tour,
	};
	struct tty tty = { .fd = STDIN_FILENO, .guard = &host->guard };
	int r = tty_enter(&tty);
	if (r == 0)
		r = loop_watch(&host->loop, &wait.source, EPOLLIN);
	while (r >= 0 && !wait.is_pressed && !tour_is_over(tour))
		r = perch_host_wait(host, -1);
	loop_watch(&host->loop, &wait.source, 0);
	tty_leave(&tty);
	if (r < 0)
		tour_leave(tour, EXIT_HOST);
}

/* The line with the offer is erased before the command prints. */
static void tour_offer_to_go_on(struct tour *tour)
{
	tour_say(tour, STYLE_HINT, "  Enter runs it, q leaves ");
	tour_wait_for_key(tour, tour->console.workshop.host);
	fputs(tty_is_dumb() ? "\n" : "\r\x1B[K", stdout);
	fflush(stdout);
}

/* ---- running a command ------------------------------------------------------------- */

/* One command of a scene. */
struct performance {
	bool has_ended;
	int code;
};

static void tour_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct performance *performance = data;
	performance->has_ended = true;
	performance->code = exit_status_of(result->signal, result->exit_code);
}

static const perch_child_events events = { .size = sizeof(events), .ended = tour_ended };

/* On a terminal the command is in our process group, and may ask. Everything it prints is part of
 * the tour, and goes where the tour goes. */
static int tour_start(struct tour *tour, const char *command, struct performance *performance,
	perch_child **ret_child, perch_err *err)
{
	_cleanup_free_ char *script = str_join("exec ", command, NULL);
	if (!script)
		return err_no_memory(err);
	const char *const argv[] = { "sh", "-c", script, NULL };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.program = PROGRAM_SHELL;
	spec.env = tour->stage.env;
	spec.cwd = tour->stage.cwd;
	spec.stdin_mode = tour->is_interactive ? PERCH_STDIN_INHERIT : PERCH_STDIN_NULL;
	spec.session = tour->is_interactive ? PERCH_SESSION_SHARED : PERCH_SESSION_OWN;
	spec.stderr_mode = PERCH_OUTPUT_FD;
	spec.stderr_fd = STDOUT_FILENO;
	spec.events = &events;
	spec.data = performance;
	return perch_child_start(tour->console.workshop.host, &spec, ret_child, err);
}

static int tour_run_command(struct tour *tour, const char *command, int *ret_code, perch_err *err)
{
	struct performance performance = { 0 };
	perch_child *child = NULL;
	int r = tour_start(tour, command, &performance, &child, err);
	bool is_stopping = false;
	while (r >= 0 && !performance.has_ended) {
		if (tour->console.signal && !is_stopping) {
			perch_child_stop(child);
			is_stopping = true;
		}
		r = perch_host_wait(tour->console.workshop.host, -1);
	}
	perch_child_free(child);
	if (r < 0)
		return r;
	*ret_code = performance.code;
	return 0;
}

/* ---- the tour ---------------------------------------------------------------------- */

static int tour_play(struct tour *tour, const struct tour_step *step, perch_err *err)
{
	const char *command =
		step->unattended && !tour->is_interactive ? step->unattended : step->command;
	if (step->text) {
		tour_say(tour, STYLE_PLAIN, "\n");
		tour_tell(tour, step->text);
	}
	tour_say(tour, STYLE_MARK, "\n$ ");
	tour_say(tour, STYLE_ANSWER, command);
	tour_say(tour, STYLE_PLAIN, "\n");
	if (tour->is_interactive)
		tour_offer_to_go_on(tour);
	if (tour_is_over(tour))
		return 0;
	int code = 0;
	int r = tour_run_command(tour, command, &code, err);
	if (r < 0 || tour_is_over(tour))
		return r;
	if (code == EXIT_SIGNAL + SIGINT)
		tour_leave(tour, code);
	else if (code != step->code) {
		tour->surprises++;
		printf("(That ended with %d; %d was expected.)\n", code, step->code);
	}
	return 0;
}

static int tour_play_all(struct tour *tour, perch_err *err)
{
	int r = 0;
	tour_tell(tour,
		"perch hosts programs that live in their own process and talk in lines. Every\n"
		"command of this tour is really run, and can be typed by hand.\n");
	for (const struct tour_scene *scene = tour_scenes; scene->title; scene++) {
		if (r < 0 || tour_is_over(tour))
			break;
		tour_announce(tour, scene);
		for (const struct tour_step *step = scene->steps; step->command; step++) {
			if (r == 0 && !tour_is_over(tour))
				r = tour_play(tour, step, err);
		}
	}
	if (r == 0 && !tour_is_over(tour))
		tour_bid_farewell(tour);
	return r;
}

static int tour_give(struct tour *tour, const char *keep)
{
	perch_err err = { 0 };
	int r = console_open(&tour->console, tour->cli, &err);
	if (r == 0)
		r = stage_set(&tour->stage, keep, &err);
	if (r == 0)
		r = tour_play_all(tour, &err);
	stage_strike(&tour->stage);
	int signal = tour->console.signal;
	console_close(&tour->console);
	if (r < 0)
		cli_error(NULL, "%s", err.text);
	if (signal)
		return EXIT_SIGNAL + signal;
	if (tour->is_left)
		return tour->left_with;
	return r < 0 ? EXIT_HOST : tour->surprises ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int cli_tour(struct cli *cli, int argc, char **argv)
{
	const char *keep = NULL;
	const struct option_spec options[] = {
		{ "keep", 0, OPTION_TEXT, &keep },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(options, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error("see: perch help tour", "tour takes no '%s'", argv[at]);
	if (r)
		return r;
	struct tour tour = {
		.cli = cli,
		.is_interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !cli_forbids_asking(cli),
	};
	return tour_give(&tour, keep);
}

const struct command command_tour = {
	.name = "tour",
	.summary = "two minutes of perch, shown by running it",
	.group = GROUP_BEGIN,
	.help = "usage: perch tour [--keep DIR]\n"
			"\n"
			"Shows plugins, tools, agents and the sandbox by running them: each command is\n"
			"explained, shown and, when you press Enter, run. Without a terminal it runs by\n"
			"itself. It works in a directory and with a home directory of its own, and leaves\n"
			"nothing behind.\n"
			"\n"
			"  --keep DIR   work in DIR, a new directory, and leave it there\n"
			"\n"
			"example:\n"
			"  perch tour --keep ./tour && cd tour/work && . ../env && perch plugins list\n",
	.run = cli_tour,
};
