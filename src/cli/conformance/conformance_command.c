/* perch conformance: does a host, or a plugin, keep the contracts? */
#include "cli/conformance/conformance_command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/ui/signals.h"
#include "proc/host.h"

struct conformance {
	struct cli *cli;
	const struct conformance_wish *wish;
	struct conformance_output output;
	struct arena arena;
	const char *cases;
	struct kit kit;
	struct signals signals;
	bool has_signals;
	int stopped_by;
	struct conformance_target target;
	size_t counts[OUTCOME_SKIPPED + 1];
	struct option_list broken; /* ids */
};

/* ---- what is needed ------------------------------------------------------------- */

static void conformance_command_signal_arrived(void *data, int signal)
{
	struct conformance *conformance = data;
	conformance->stopped_by = signal;
	conformance->kit.is_stopped = true;
}

static int conformance_command_make_host(struct conformance *conformance)
{
	static const int list[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	perch_err err = { 0 };
	int r = cli_host_new(&conformance->kit.host, &err);
	if (r == 0) {
		r = signals_watch(&conformance->signals, &conformance->kit.host->loop, list,
			conformance_command_signal_arrived, conformance);
		conformance->has_signals = r == 0;
	}
	if (r == 0)
		return 0;
	cli_error(NULL, "%s", err.text[0] ? err.text : "signals cannot be watched");
	return EXIT_HOST;
}

static int conformance_command_find_tree(struct conformance *conformance)
{
	static char self[PATH_MAX], perch[PATH_MAX], cases[PATH_MAX];
	int r = installed_path(INSTALLED_PROGRAMS, "perch-conformance", self);
	if (r == 0)
		r = installed_path(INSTALLED_COMMANDS, "perch", perch);
	if (r == 0)
		r = installed_path(INSTALLED_DATA, "conformance", cases);
	if (r < 0) {
		cli_error(NULL, "the path of perch itself cannot be read: %s", perch_strerror(r));
		return EXIT_HOST;
	}
	conformance->kit.self = self;
	conformance->kit.perch = perch;
	conformance->cases = conformance->wish->cases ? conformance->wish->cases : cases;
	return 0;
}

/* ---- running -------------------------------------------------------------------- */

/* F-4.2 names one case, F-4 a section, F a protocol. */
static bool conformance_command_is_wanted(const struct conformance *conformance, const char *id)
{
	const struct option_list *only = &conformance->wish->only;
	for (size_t i = 0; i < only->count; i++) {
		size_t len = strlen(only->items[i]);
		if (strncmp(id, only->items[i], len) == 0 && strchr("-.", id[len]))
			return true;
	}
	return only->count == 0;
}

static int conformance_command_note_broken(struct conformance *conformance, const char *id)
{
	const char *copy = arena_dup(&conformance->arena, str_from(id));
	return copy ? options_add(&conformance->broken, copy) : -ENOMEM;
}

static int conformance_command_run_case(struct conformance *conformance,
	const struct library_file *file, const struct conformance_case *test)
{
	struct trial_report report;
	perch_err err = { 0 };
	trial_report_init(&report);
	int r = conformance->wish->host
		? trial_of_host(&conformance->kit, file, test, conformance->wish->host, &report, &err)
		: trial_of_plugin(&conformance->kit, test, &conformance->target.plugin, &report, &err);
	if (r == 0) {
		conformance->counts[report.outcome]++;
		conformance_tell(
			conformance->cli, &conformance->output, conformance->kit.protocol, file, test, &report);
	}
	if (r == 0 && report.outcome == OUTCOME_FAILED)
		r = conformance_command_note_broken(conformance, test->id);
	trial_report_free(&report);
	if (r < 0 && !conformance->stopped_by)
		cli_error(NULL, "%s: %s", test->id, err.text[0] ? err.text : perch_strerror(r));
	return conformance->stopped_by ? EXIT_SIGNAL + conformance->stopped_by : r < 0 ? EXIT_HOST : r;
}

static int conformance_command_run_library(
	struct conformance *conformance, const struct library *library)
{
	enum side side = conformance->wish->host ? SIDE_HOST : SIDE_PLUGIN;
	int r = 0;
	for (size_t f = 0; f < library->count; f++) {
		const struct library_file *file = &library->files[f];
		for (size_t i = 0; r == 0 && i < file->file.count; i++) {
			if (file->file.items[i].side == side &&
				conformance_command_is_wanted(conformance, file->file.items[i].id))
				r = conformance_command_run_case(conformance, file, &file->file.items[i]);
		}
	}
	return r;
}

static int conformance_command_do_protocol(struct conformance *conformance, enum protocol protocol)
{
	struct library library = { 0 };
	perch_err err = { 0 };
	int r = 0;
	conformance->kit.protocol = protocol;
	if (library_read(conformance->cases, protocol, &library, &err) < 0) {
		cli_error("say where they are: --cases DIRECTORY", "%s", err.text);
		r = EXIT_HOST;
	} else if (conformance->wish->lists) {
		conformance_list(&conformance->output, conformance->wish->markdown, protocol, &library);
	} else {
		r = conformance_command_run_library(conformance, &library);
	}
	library_free(&library);
	return r;
}

/* Without --protocol, all of them. */
static int conformance_command_do_protocols(struct conformance *conformance)
{
	enum protocol only = PROTOCOL_FLEDGE;
	const struct conformance_wish *wish = conformance->wish;
	int r = 0;
	if (wish->plugin)
		return conformance_command_do_protocol(conformance, conformance->target.protocol);
	if (wish->protocol)
		return (r = conformance_protocol(wish->protocol, &only))
			? r
			: conformance_command_do_protocol(conformance, only);
	for (int i = 0; r == 0 && i < PROTOCOL_COUNT; i++)
		r = conformance_command_do_protocol(conformance, (enum protocol)i);
	return r;
}

/* ---- telling -------------------------------------------------------------------- */

static size_t conformance_command_total(const struct conformance *conformance)
{
	return conformance->counts[OUTCOME_PASSED] + conformance->counts[OUTCOME_FAILED] +
		conformance->counts[OUTCOME_SKIPPED];
}

static int conformance_command_answer_programs(struct conformance *conformance)
{
	struct envelope envelope;
	perch_json_writer *writer = &envelope.writer;
	const struct conformance_wish *wish = conformance->wish;
	envelope_begin(&envelope);
	if (!wish->lists) {
		member_text(writer, "checks", wish->host ? "host" : "plugin");
		member_text(writer, "target", wish->host ? wish->host : wish->plugin);
	}
	member_array(writer, "cases");
	conformance->output.envelope = &envelope;
	int r = conformance_command_do_protocols(conformance);
	perch_json_end_array(writer);
	if (!wish->lists) {
		member_object(writer, "summary");
		member_number(writer, "total", (int64_t)conformance_command_total(conformance));
		member_number(writer, "passed", (int64_t)conformance->counts[OUTCOME_PASSED]);
		member_number(writer, "failed", (int64_t)conformance->counts[OUTCOME_FAILED]);
		member_number(writer, "skipped", (int64_t)conformance->counts[OUTCOME_SKIPPED]);
		member_array(writer, "broken");
		for (size_t i = 0; i < conformance->broken.count; i++)
			perch_json_write_string(writer, conformance->broken.items[i]);
		perch_json_end_array(writer);
		perch_json_end_object(writer);
	}
	int printed = envelope_end(&envelope);
	return r ? r : printed;
}

static int conformance_command_answer_people(struct conformance *conformance)
{
	struct page page;
	page_begin(&page, conformance->cli);
	conformance->output.page = &page;
	int r = conformance_command_do_protocols(conformance);
	if (r == 0 && !conformance->wish->lists) {
		buf_printf(&page.out, "%zu passed, %zu failed, %zu skipped",
			conformance->counts[OUTCOME_PASSED], conformance->counts[OUTCOME_FAILED],
			conformance->counts[OUTCOME_SKIPPED]);
		for (size_t i = 0; i < conformance->broken.count; i++)
			buf_printf(&page.out, "%s%s", i ? ", " : "; broken: ", conformance->broken.items[i]);
		buf_append_char(&page.out, '\n');
	}
	int printed = page_end(&page);
	return r ? r : printed;
}

/* ---- the command ---------------------------------------------------------------- */

static int conformance_command_check_wish(const struct conformance_wish *wish)
{
	int asked = (wish->host != NULL) + (wish->plugin != NULL) + wish->lists;
	if (asked != 1)
		return cli_usage_error("see: perch help conformance",
			"say one of --host \"COMMAND …\", --plugin PATH and --list");
	if (wish->plugin && !wish->plugin[0])
		return cli_usage_error(NULL, "--plugin needs a path");
	int r = wish->host ? conformance_check_host(wish) : 0;
	if (r)
		return r;
	if (wish->args.count && !wish->plugin)
		return cli_usage_error(NULL, "'%s': only a plugin takes words", wish->args.items[0]);
	return 0;
}

static int conformance_command_conform(struct conformance *conformance)
{
	const struct conformance_wish *wish = conformance->wish;
	uint64_t within_ns = 0;
	int r = wish->within ? options_seconds("--within", wish->within, &within_ns) : 0;
	if (r == 0)
		r = conformance_command_find_tree(conformance);
	if (r == 0 && wish->plugin)
		r = conformance_target_read(wish, &conformance->arena, &conformance->target);
	if (r == 0 && !wish->lists)
		r = conformance_command_make_host(conformance);
	if (r)
		return r;
	conformance->kit.within_max = (double)within_ns / 1e9;
	r = conformance->cli->json ? conformance_command_answer_programs(conformance)
							   : conformance_command_answer_people(conformance);
	if (r == 0 && !wish->lists && !conformance_command_total(conformance))
		return cli_usage_error("perch conformance --list shows them", "there is no such case");
	return r ? r : conformance->counts[OUTCOME_FAILED] != 0;
}

static void conformance_command_close_conformance(struct conformance *conformance)
{
	conformance_target_close(&conformance->target);
	if (conformance->has_signals)
		signals_close(&conformance->signals);
	perch_host_free(conformance->kit.host);
	free(conformance->broken.items);
	arena_free(&conformance->arena);
}

static int conformance_command_cli_conformance(struct cli *cli, int argc, char **argv)
{
	struct conformance_wish wish = { 0 };
	const struct option_spec specs[] = {
		{ "host", 0, OPTION_TEXT, &wish.host },
		{ "plugin", 0, OPTION_TEXT, &wish.plugin },
		{ "protocol", 0, OPTION_TEXT, &wish.protocol },
		{ "case", 0, OPTION_LIST, &wish.only },
		{ "cases", 0, OPTION_TEXT, &wish.cases },
		{ "command", 0, OPTION_TEXT, &wish.command },
		{ "tool", 0, OPTION_TEXT, &wish.tool },
		{ "input", 0, OPTION_TEXT, &wish.input },
		{ "within", 0, OPTION_TEXT, &wish.within },
		{ "list", 0, OPTION_FLAG, &wish.lists },
		{ "markdown", 0, OPTION_FLAG, &wish.markdown },
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ "verbose", 'v', OPTION_FLAG, &cli->verbose },
		{ "quiet", 'q', OPTION_FLAG, &cli->quiet },
		{ 0 },
	};
	int r = options_parse_words(specs, argc, argv, &wish.args);
	if (r == 0)
		r = options_add(&wish.args, NULL);
	if (r == 0) {
		wish.args.count--;
		r = conformance_command_check_wish(&wish);
	}
	struct conformance conformance = { .cli = cli, .wish = &wish };
	if (r == 0)
		r = conformance_command_conform(&conformance);
	conformance_command_close_conformance(&conformance);
	free(wish.only.items);
	free(wish.args.items);
	return r;
}

const struct command command_conformance = {
	.name = "conformance",
	.help = "usage: perch conformance --host \"COMMAND …\" [--protocol P] [OPTIONS]\n"
			"       perch conformance --plugin PATH [--protocol P] [OPTIONS] [-- ARGUMENTS]\n"
			"       perch conformance --list [--markdown] [--protocol P]\n"
			"\n"
			"Plays the other side of the wire, case by case, and says by number which rules\n"
			"are broken; then the exit code is 1. P is fledge, tool, agent or acp. COMMAND\n"
			"may have {placeholders}: see perch-conformance(1). PATH is the folder of a\n"
			"plugin or a bundle, a binding, a profile, or a program.\n"
			"\n"
			"  --case ID         only this one, or all that begin so: F-4 (again for more)\n"
			"  --cases DIRECTORY cases of your own\n"
			"  --command NAME    of a plugin that has several\n"
			"  --tool NAME, --input JSON   what a tool is asked for\n"
			"  --within SECONDS  the longest time of a case\n"
			"  -v, -q            with every line that was said; only what is broken\n"
			"  --json            one object, for programs\n"
			"\n"
			"example:\n"
			"  perch conformance --plugin ./my-plugin\n",
	.run = conformance_command_cli_conformance,
};
