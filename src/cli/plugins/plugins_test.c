/* perch plugins test. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "cli/plugins/plugins_commands.h"
#include "cli/ui/signals.h"
#include "proc/host.h"

/* All that a call of the command needs. */
struct trial {
	struct cli *cli;
	struct option_list parts; /* of the names of cases; none = all */
	bool lists;               /* the cases are told, not run */
	bool goes_on;             /* behind one that fails */
	struct arena arena;
	perch_host *host;
	struct signals signals;
	bool has_signals;
	int stopped_by; /* a signal; 0 = none */
	char directory[PATH_MAX];
	char *config;
	struct manifest manifest;
	struct test_cases cases;
	struct findings mistakes; /* of perch-test.toml */
	struct plugin_test *test; /* that runs */
	size_t passed;
	size_t failed;
	size_t left; /* not run, behind one that failed */
};

/* ---- getting ready ---------------------------------------------------------------- */

static int plugins_test_read_plugin(struct trial *trial, const char *path)
{
	perch_err err = { 0 };
	if (!realpath(path, trial->directory)) {
		cli_error("name the directory of a plugin: perch plugins test ./my-plugin",
			"cannot use the directory %s: %s", path, perch_strerror(-errno));
		return EXIT_FAILURE;
	}
	int r = manifest_read(trial->directory, &trial->arena, &trial->manifest, &err);
	if (r == 0)
		r = manifest_check_protocol(&trial->manifest, &err);
	if (r < 0) {
		cli_error("perch plugins validate tells more", "%s", err.text);
		return EXIT_FAILURE;
	}
	if (!trial->manifest.protocol[0]) {
		cli_error("write in [plugin] of plugin.toml: protocol = \"" MANIFEST_PROTOCOL "\"",
			"%s is a legacy plugin: there are no messages to test", trial->manifest.name);
		return EXIT_FAILURE;
	}
	return 0;
}

static int plugins_test_read_cases(struct trial *trial)
{
	trial->mistakes.arena = &trial->arena;
	cases_read(trial->directory, &trial->manifest, &trial->arena, &trial->cases, &trial->mistakes);
	if (trial->mistakes.failed)
		return cli_no_memory();
	if (!trial->mistakes.errors && !trial->cases.count)
		findings_add(&trial->mistakes, FINDING_ERROR, NULL, "there is no [[case]] in it");
	return 0;
}

static const char *plugins_test_case_name(const void *data, size_t i)
{
	const struct test_cases *cases = data;
	return i < cases->count ? cases->items[i].name : NULL;
}

/* A whole name means that case alone, a part of one all that have it. */
static bool plugins_test_is_meant(const struct trial *trial, const char *part, const char *name)
{
	for (size_t i = 0; i < trial->cases.count; i++) {
		if (strcmp(trial->cases.items[i].name, part) == 0)
			return strcmp(name, part) == 0;
	}
	return strcasestr(name, part);
}

static bool plugins_test_wants(const struct trial *trial, const char *name)
{
	for (size_t i = 0; i < trial->parts.count; i++) {
		if (plugins_test_is_meant(trial, trial->parts.items[i], name))
			return true;
	}
	return trial->parts.count == 0;
}

static int plugins_test_refuse_unknown(const struct trial *trial)
{
	for (size_t i = 0; i < trial->parts.count && !trial->mistakes.errors; i++) {
		const char *part = trial->parts.items[i];
		size_t at = 0;
		while (at < trial->cases.count &&
			!plugins_test_is_meant(trial, part, trial->cases.items[at].name))
			at++;
		if (at < trial->cases.count)
			continue;
		const char *near = cli_nearest(part, plugins_test_case_name, &trial->cases);
		char hint[256];
		snprintf(hint, sizeof(hint), "did you mean '%s'?", near ? near : "");
		cli_error(
			near ? hint : "perch plugins test --list names them", "there is no case '%s'", part);
		return EXIT_FAILURE;
	}
	return 0;
}

static void plugins_test_signal_arrived(void *data, int signal)
{
	struct trial *trial = data;
	trial->stopped_by = signal;
	if (trial->test)
		plugin_test_interrupt(trial->test);
}

static int plugins_test_make_host(struct trial *trial, perch_err *err)
{
	static const int list[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	int r = paths_user(PATH_CONFIG, "fledge", &trial->config, err);
	if (r == 0)
		r = cli_host_new(&trial->host, err);
	if (r < 0)
		return r;
	r = signals_watch(
		&trial->signals, &trial->host->loop, list, plugins_test_signal_arrived, trial);
	trial->has_signals = r == 0;
	if (r < 0)
		snprintf(err->text, sizeof(err->text), "signals cannot be watched");
	return r;
}

/* ---- running ------------------------------------------------------------------------ */

/* Where verdicts go: one of both. */
struct output {
	struct page *page;
	struct envelope *envelope;
};

/* On a terminal the case that runs is named, until its verdict takes the place. */
static void plugins_test_show_running(const struct trial *trial, const struct test_case *given)
{
	if (trial->cli->json || !isatty(STDOUT_FILENO))
		return;
	struct page page;
	page_begin(&page, trial->cli);
	buf_append_text(&page.out, "runs    ");
	page_cut(&page, str_from(given->name), page.look.columns > 16 ? page.look.columns - 10 : 0);
	page_end(&page);
	fflush(stdout);
}

static void plugins_test_clear_running(const struct trial *trial)
{
	if (!trial->cli->json && isatty(STDOUT_FILENO))
		fputs("\r\033[K", stdout);
}

/* For people it is out before the next case begins. */
static void plugins_test_report(
	struct trial *trial, const struct test_case *given, const struct output *output)
{
	const struct test_report *verdict = plugin_test_report(trial->test);
	if (verdict->findings.errors)
		trial->failed++;
	else
		trial->passed++;
	if (output->envelope)
		verdict_write(&output->envelope->writer, given, verdict);
	if (output->page) {
		plugins_test_clear_running(trial);
		bool is_shown = !trial->cli->quiet || verdict->findings.count;
		if (is_shown)
			verdict_print(output->page, given, verdict, !trial->cli->verbose);
		page_end(output->page);
		fflush(stdout);
	}
}

static int plugins_test_run_case(
	struct trial *trial, const struct test_case *given, const struct output *output)
{
	const struct plugin_test_options options = {
		.directory = trial->directory,
		.manifest = &trial->manifest,
		.test = given,
		.env = (const char *const *)environ,
		.config = trial->config,
	};
	perch_err err = { 0 };
	plugins_test_show_running(trial, given);
	int r = plugin_test_start(trial->host, &options, &trial->test, &err);
	if (r < 0) {
		plugins_test_clear_running(trial);
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	while (r >= 0 && !plugin_test_report(trial->test))
		r = perch_host_wait(trial->host, -1);
	if (r >= 0 && !trial->stopped_by)
		plugins_test_report(trial, given, output);
	else
		plugins_test_clear_running(trial);
	plugin_test_free(trial->test);
	trial->test = NULL;
	return trial->stopped_by ? EXIT_SIGNAL + trial->stopped_by : r < 0 ? EXIT_HOST : 0;
}

/* People mend one thing at a time; programs want to know all of it. */
static bool plugins_test_is_done(const struct trial *trial)
{
	return trial->failed && !trial->goes_on && !trial->cli->json;
}

static int plugins_test_run_cases(struct trial *trial, const struct output *output)
{
	perch_err err = { 0 };
	int r = 0;
	if (!trial->mistakes.errors && plugins_test_make_host(trial, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	for (size_t i = 0; i < trial->cases.count && r == 0; i++) {
		if (!plugins_test_wants(trial, trial->cases.items[i].name))
			continue;
		trial->left += plugins_test_is_done(trial);
		if (!plugins_test_is_done(trial))
			r = plugins_test_run_case(trial, &trial->cases.items[i], output);
	}
	return r;
}

/* ---- telling ------------------------------------------------------------------------ */

static void plugins_test_print_mistakes(struct page *page, const struct trial *trial)
{
	for (size_t i = 0; i < trial->mistakes.count; i++)
		plugins_finding_put(page, trial->directory, CASES_FILE, &trial->mistakes.items[i], true);
}

static int plugins_test_list(const struct trial *trial)
{
	struct page page;
	page_begin(&page, trial->cli);
	plugins_test_print_mistakes(&page, trial);
	for (size_t i = 0; i < trial->cases.count; i++) {
		if (!plugins_test_wants(trial, trial->cases.items[i].name))
			continue;
		page_cut(&page, str_from(trial->cases.items[i].name), 0);
		buf_append_char(&page.out, '\n');
	}
	return page_end(&page);
}

static int plugins_test_for_programs(struct trial *trial, const char *path)
{
	struct envelope envelope;
	perch_json_writer *writer = &envelope.writer;
	envelope_begin(&envelope);
	member_text(writer, "path", path);
	member_text(writer, "plugin_name", trial->manifest.name);
	member_array(writer, "errors");
	for (size_t i = 0; i < trial->mistakes.count; i++) {
		struct buf text = { 0 };
		finding_put(&text, CASES_FILE, &trial->mistakes.items[i]);
		perch_json_write_string_n(writer, text.data, text.len);
		buf_free(&text);
	}
	perch_json_end_array(writer);
	member_array(writer, "cases");
	int r = plugins_test_run_cases(trial, &(struct output){ .envelope = &envelope });
	perch_json_end_array(writer);
	member_object(writer, "summary");
	member_number(writer, "total", (int64_t)(trial->passed + trial->failed));
	member_number(writer, "passed", (int64_t)trial->passed);
	member_number(writer, "failed", (int64_t)trial->failed);
	perch_json_end_object(writer);
	int printed = envelope_end(&envelope);
	return r ? r : printed;
}

static int plugins_test_for_people(struct trial *trial)
{
	struct page page;
	page_begin(&page, trial->cli);
	plugins_test_print_mistakes(&page, trial);
	int r = plugins_test_run_cases(trial, &(struct output){ .page = &page });
	if (r == 0 && !trial->mistakes.errors)
		buf_printf(&page.out, "%zu passed, %zu failed\n", trial->passed, trial->failed);
	if (r == 0 && trial->left)
		buf_printf(
			&page.out, "%zu not run behind the one that failed: --all runs them\n", trial->left);
	int printed = page_end(&page);
	return r ? r : printed;
}

static void plugins_test_close_trial(struct trial *trial)
{
	if (trial->has_signals)
		signals_close(&trial->signals);
	perch_host_free(trial->host);
	findings_free(&trial->mistakes);
	free(trial->config);
	arena_free(&trial->arena);
}

static int plugins_test_test(struct trial *trial, const char *path)
{
	int r = plugins_test_read_plugin(trial, path);
	if (r == 0)
		r = plugins_test_read_cases(trial);
	if (r == 0)
		r = plugins_test_refuse_unknown(trial);
	if (r == 0 && trial->lists)
		r = plugins_test_list(trial);
	else if (r == 0)
		r = trial->cli->json ? plugins_test_for_programs(trial, path)
							 : plugins_test_for_people(trial);
	if (r == 0 && (trial->failed || trial->mistakes.errors))
		r = EXIT_FAILURE;
	return r;
}

static int cli_plugins_test(struct cli *cli, int argc, char **argv)
{
	struct trial trial = { .cli = cli };
	struct option_list words = { 0 };
	const struct option_spec specs[] = {
		{ "case", 0, OPTION_LIST, &trial.parts },
		{ "list", 0, OPTION_FLAG, &trial.lists },
		{ "all", 0, OPTION_FLAG, &trial.goes_on },
		{ 0 },
	};
	int r = cli_options(cli, specs, argc, argv, &words);
	if (r == 0 && words.count > 1)
		r = cli_usage_error("see: perch plugins test --help",
			"test takes one directory, not '%s' too", words.items[1]);
	if (r == 0)
		r = plugins_test_test(&trial, words.count ? words.items[0] : ".");
	plugins_test_close_trial(&trial);
	free(trial.parts.items);
	free(words.items);
	return r;
}

const struct command plugins_test = {
	.name = "test",
	.summary = "try a plugin with the cases of its perch-test.toml",
	.help = "usage: perch plugins test [DIRECTORY] [OPTIONS]\n"
			"\n"
			"Runs the commands of the plugin in DIRECTORY (or here) with the cases of its\n"
			"perch-test.toml: answers its questions, looks at every line it sends, and shows,\n"
			"where something is wrong, what was said. Project and stored values are the\n"
			"test's own. Stops behind a case that fails, and ends with 1 then.\n"
			"\n"
			"  --case PART   only those with this in their names (again for more)\n"
			"  --list        name the cases, and run none\n"
			"  --all         go on behind a case that fails\n"
			"  -v, -q        what was said in every case; only cases with something wrong\n"
			"  --json        one object, for programs: of all cases\n"
			"\n"
			"example:\n"
			"  perch plugins test ./my-plugin --case 'asks for'\n",
	.run = cli_plugins_test,
};
