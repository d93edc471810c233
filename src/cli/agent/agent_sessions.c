/* perch agent sessions: the stored sessions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/envelope.h"
#include "perch/sessions.h"
#include "term/text.h"

struct asked {
	struct cli *cli;
	const char *profile; /* NULL = any */
	const char *from;
	const char *name;
	bool is_all; /* rm: all that fit */
	perch_sessions *sessions;
	perch_session *records; /* those that fit, the last used first */
	size_t count;
};

/* ---- which --------------------------------------------------------------- */

static bool agent_sessions_fits(const struct asked *asked, const perch_session *session)
{
	return (!asked->from || strcmp(asked->from, session->from) == 0) &&
		(!asked->name || strcmp(asked->name, session->name) == 0);
}

static int agent_sessions_find(struct asked *asked, perch_err *err)
{
	const perch_session *all = NULL;
	size_t count = 0;
	int r = perch_sessions_open(&asked->sessions, err);
	if (r == 0)
		r = perch_sessions_list(asked->sessions, asked->profile, &all, &count, err);
	if (r < 0)
		return r;
	asked->records = calloc(count + 1, sizeof(*asked->records));
	if (!asked->records)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		if (agent_sessions_fits(asked, &all[i]))
			asked->records[asked->count++] = all[i];
	}
	return 0;
}

/* ---- telling ------------------------------------------------------------- */

static void agent_sessions_write_record(perch_json_writer *json, const perch_session *record)
{
	perch_json_begin_object(json);
	member_text(json, "profile", record->profile);
	member_text(json, "from", record->from);
	member_text(json, "session_name", record->name);
	member_text(json, "session_id", record->id);
	member_number(json, "last_used", record->last_used);
	member_number(json, "turns", record->turns);
	perch_json_end_object(json);
}

static int agent_sessions_print_json(const struct asked *asked, const char *what)
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_array(&envelope.writer, what);
	for (size_t i = 0; i < asked->count; i++)
		agent_sessions_write_record(&envelope.writer, &asked->records[i]);
	perch_json_end_array(&envelope.writer);
	return envelope_end(&envelope);
}

/* Texts come from strangers: nothing that moves a cursor is printed. */
static void agent_sessions_print_text(const char *text, int width)
{
	_cleanup_(buf_free) struct buf shown = { 0 };
	text_append(&shown, &(struct look){ .utf8 = cli_shows_utf8(stdout) }, str_from(text), SIZE_MAX);
	size_t columns = utf8_width(shown.data, shown.len);
	int blanks = columns < (size_t)width ? width - (int)columns : 0;
	printf("%.*s%*s", (int)shown.len, shown.len ? shown.data : "", blanks, "");
}

static void agent_sessions_format_time(int64_t seconds, char out[32])
{
	time_t when = (time_t)seconds;
	struct tm local;
	if (!localtime_r(&when, &local) || !strftime(out, 32, "%Y-%m-%d %H:%M", &local))
		snprintf(out, 32, "?");
}

static int agent_sessions_print_list(const struct asked *asked)
{
	if (!asked->count) {
		fputs("no sessions\n", stderr);
		return EXIT_SUCCESS;
	}
	printf("%-16s  %5s  %-16s %-12s %s\n", "LAST USED", "TURNS", "NAME", "FROM", "PROFILE");
	for (size_t i = 0; i < asked->count; i++) {
		const perch_session *record = &asked->records[i];
		char when[32];
		agent_sessions_format_time(record->last_used, when);
		printf("%-16s  %5lld  ", when, (long long)record->turns);
		agent_sessions_print_text(record->name, 16);
		putchar(' ');
		agent_sessions_print_text(record->from[0] ? record->from : "-", 12);
		putchar(' ');
		agent_sessions_print_text(record->profile, 0);
		putchar('\n');
	}
	return EXIT_SUCCESS;
}

static void agent_sessions_print_line(const char *label, const char *text)
{
	printf("%-12s ", label);
	agent_sessions_print_text(text, 0);
	putchar('\n');
}

static int agent_sessions_print_details(const struct asked *asked)
{
	for (size_t i = 0; i < asked->count; i++) {
		const perch_session *record = &asked->records[i];
		char when[32];
		agent_sessions_format_time(record->last_used, when);
		if (i)
			putchar('\n');
		agent_sessions_print_line("profile", record->profile);
		agent_sessions_print_line("from", record->from[0] ? record->from : "-");
		agent_sessions_print_line("name", record->name);
		agent_sessions_print_line("session id", record->id[0] ? record->id : "(none yet)");
		agent_sessions_print_line("last used", when);
		printf("%-12s %lld\n", "turns", (long long)record->turns);
	}
	return EXIT_SUCCESS;
}

/* ---- the words ----------------------------------------------------------- */

static int agent_sessions_list(struct asked *asked)
{
	return asked->cli->json ? agent_sessions_print_json(asked, "sessions")
							: agent_sessions_print_list(asked);
}

static int agent_sessions_fail(
	const struct asked *asked, const char *hint, const char *text, int code)
{
	if (asked->cli->json)
		return envelope_fail(text, code);
	cli_error(hint, "%s", text);
	return code;
}

static int agent_sessions_no_such_session(const struct asked *asked)
{
	return agent_sessions_fail(
		asked, "see: perch agent sessions list", "there is no such session", EXIT_FAILURE);
}

static int agent_sessions_show(struct asked *asked)
{
	if (!asked->count)
		return agent_sessions_no_such_session(asked);
	return asked->cli->json ? agent_sessions_print_json(asked, "sessions")
							: agent_sessions_print_details(asked);
}

static int agent_sessions_remove_sessions(struct asked *asked)
{
	perch_err err = { 0 };
	if (!asked->profile && !asked->from && !asked->name && !asked->is_all)
		return agent_sessions_fail(asked,
			"name one, say whose with --profile or --from, or say --all",
			"which sessions shall be removed?", EXIT_USAGE);
	if (!asked->count && !asked->is_all)
		return agent_sessions_no_such_session(asked);
	for (size_t i = 0; i < asked->count; i++) {
		const perch_session *session = &asked->records[i];
		if (perch_sessions_forget(
				asked->sessions, session->profile, session->from, session->name, &err) < 0)
			return agent_sessions_fail(asked, NULL, err.text, EXIT_HOST);
	}
	if (asked->cli->json)
		return agent_sessions_print_json(asked, "removed");
	if (!asked->cli->quiet)
		printf("removed %zu session%s\n", asked->count, asked->count == 1 ? "" : "s");
	return EXIT_SUCCESS;
}

static const struct word {
	const char *name;
	int (*run)(struct asked *asked);
	bool needs_name;
} words[] = {
	{ "list", agent_sessions_list, false },
	{ "show", agent_sessions_show, true },
	{ "rm", agent_sessions_remove_sessions, false },
};
enum { WORDS = COUNT(words) };

static const struct word *agent_sessions_find_word(const char *name)
{
	for (int i = 0; i < WORDS; i++) {
		if (strcmp(words[i].name, name) == 0)
			return &words[i];
	}
	const char *near = str_nearest(name, &words[0].name, WORDS, sizeof(words[0]));
	char hint[64];
	snprintf(hint, sizeof(hint), "did you mean: %s", near ? near : "");
	cli_usage_error(near ? hint : "there are list, show and rm", "sessions has no '%s'", name);
	return NULL;
}

static int agent_sessions_read_words(
	struct asked *asked, const struct word *word, int argc, char **argv)
{
	const struct option_spec specs[] = {
		{ "profile", 'p', OPTION_TEXT, &asked->profile },
		{ "from", 0, OPTION_TEXT, &asked->from },
		{ "all", 0, OPTION_FLAG, &asked->is_all },
		{ "json", 0, OPTION_FLAG, &asked->cli->json },
		{ "quiet", 'q', OPTION_FLAG, &asked->cli->quiet },
		{ 0 },
	};
	/* Options may stand on both sides of the name. */
	int at = 0;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc) {
		asked->name = argv[at++];
		r = options_parse(specs, argc, argv, &at);
	}
	if (r == 0 && at < argc)
		r = cli_usage_error(
			"see: perch agent sessions --help", "'%s' is one word too many", argv[at]);
	if (r == 0 && word->needs_name && !asked->name)
		r = cli_usage_error("perch agent sessions list names them all", "which session?");
	return r;
}

static int agent_sessions(struct cli *cli, int argc, char **argv)
{
	bool has_word = argc > 1 && argv[1][0] != '-';
	const struct word *word = has_word ? agent_sessions_find_word(argv[1]) : &words[0];
	if (!word)
		return EXIT_USAGE;
	struct asked asked = { .cli = cli };
	perch_err err = { 0 };
	int at = has_word ? 2 : 1;
	int r = agent_sessions_read_words(&asked, word, argc - at, argv + at);
	if (r == 0 && agent_sessions_find(&asked, &err) < 0)
		r = agent_sessions_fail(&asked, NULL, err.text, EXIT_HOST);
	else if (r == 0)
		r = word->run(&asked);
	perch_sessions_free(asked.sessions);
	free(asked.records);
	return r;
}

const struct command agent_sessions_command = {
	.name = "sessions",
	.summary = "the sessions that are stored",
	.help = "usage: perch agent sessions [list] [OPTIONS]\n"
			"       perch agent sessions show NAME [OPTIONS]\n"
			"       perch agent sessions rm [NAME] [OPTIONS]\n"
			"\n"
			"A session is known by profile, sender and name; what is left out fits all. `rm`\n"
			"forgets what fits: the next turn begins a new session.\n"
			"\n"
			"  -p, --profile FILE   those of this agent\n"
			"  --from USER          those of this sender\n"
			"  --all                rm: all of them, where nothing else says which\n"
			"  --json               one object, for programs\n"
			"\n"
			"example:\n"
			"  perch agent sessions rm work --profile bot.yaml\n",
	.run = agent_sessions,
};
