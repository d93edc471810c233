/* perch agent sessions: the stored sessions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/usage.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/paths.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "cli/ui/table.h"
#include "perch/sessions.h"

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

static void agent_sessions_write_permits(perch_json_writer *json, const char *permits)
{
	struct str rest = str_from(permits);
	member_array(json, "permits");
	while (rest.len) {
		struct str tool = str_cut(&rest, '\n');
		perch_json_write_string_n(json, tool.data, tool.len);
	}
	perch_json_end_array(json);
}

static void agent_sessions_write_record(perch_json_writer *json, const perch_session *record)
{
	perch_json_begin_object(json);
	member_text(json, "profile", record->profile);
	member_text(json, "from", record->from);
	member_text(json, "session_name", record->name);
	member_text(json, "session_id", record->id);
	member_number(json, "last_used", record->last_used);
	member_number(json, "turns", record->turns);
	member_number(json, "spent_ms", (int64_t)(record->spent_ns / NSEC_PER_MSEC));
	member_object(json, "usage");
	usage_write(json, &record->usage);
	perch_json_end_object(json);
	agent_sessions_write_permits(json, record->permits);
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

static void agent_sessions_format_time(int64_t seconds, char out[32])
{
	time_t when = (time_t)seconds;
	struct tm local;
	if (!localtime_r(&when, &local) || !strftime(out, 32, "%Y-%m-%d %H:%M", &local))
		snprintf(out, 32, "?");
}

/* An agent by its name, where it has one. */
static const char *agent_sessions_profile(struct arena *arena, const char *path)
{
	_cleanup_free_ char *directory = NULL;
	if (paths_user(PATH_CONFIG, "perch/agents/", &directory, NULL) < 0)
		return path;
	struct str name = str_from(path);
	if (!str_has_prefix(name, str_from(directory)) || !str_has_suffix(name, STR(".yaml")))
		return path;
	name.data += strlen(directory);
	name.len -= strlen(directory) + strlen(".yaml");
	return memchr(name.data, '/', name.len) ? path : arena_dup(arena, name);
}

enum { LISTED_COLUMNS = 5, LISTED_MAX = 32 };

static void agent_sessions_add_row(
	struct table *table, struct arena *arena, const perch_session *record)
{
	char when[LISTED_MAX];
	char turns[LISTED_MAX];
	agent_sessions_format_time(record->last_used, when);
	snprintf(turns, sizeof(turns), "%lld", (long long)record->turns);
	const char *const cells[LISTED_COLUMNS] = {
		arena_dup(arena, str_from(when)),
		arena_dup(arena, str_from(turns)),
		record->name,
		record->from[0] ? record->from : "-",
		agent_sessions_profile(arena, record->profile),
	};
	if (cells[0] && cells[1] && cells[4])
		table_add(table, cells);
	else
		table->failed = true;
}

static int agent_sessions_print_list(const struct asked *asked)
{
	static const char *const headings[LISTED_COLUMNS] = { "LAST USED", "TURNS", "NAME", "FROM",
		"PROFILE" };
	struct table table = { .columns = LISTED_COLUMNS };
	struct arena arena = { 0 };
	struct page page;
	if (!asked->count) {
		fputs("no sessions\n", stderr);
		return EXIT_SUCCESS;
	}
	table_add(&table, headings);
	for (size_t i = 0; i < asked->count; i++)
		agent_sessions_add_row(&table, &arena, &asked->records[i]);
	page_begin(&page, asked->cli);
	table_print(&table, &page);
	table_free(&table);
	arena_free(&arena);
	return page_end(&page);
}

/* Texts come from strangers: nothing that moves a cursor is printed. */
static void agent_sessions_print_line(const char *label, const char *text)
{
	printf("%-12s ", label);
	cli_put_text(stdout, str_from(text));
	putchar('\n');
}

static void agent_sessions_print_spent(const perch_session *record)
{
	char words[AGENT_SPENT_MAX];
	if (agent_spent_words(&record->usage, words))
		agent_sessions_print_line("used", words);
	if (record->spent_ns)
		printf("%-12s %.1f s\n", "took", (double)record->spent_ns / 1e9);
	struct str rest = str_from(record->permits);
	for (const char *label = "may use"; rest.len; label = "") {
		struct str tool = str_cut(&rest, '\n');
		printf("%-12s ", label);
		cli_put_text(stdout, tool);
		putchar('\n');
	}
}

static int agent_sessions_print_details(const struct asked *asked)
{
	for (size_t i = 0; i < asked->count; i++) {
		const perch_session *record = &asked->records[i];
		char when[LISTED_MAX];
		agent_sessions_format_time(record->last_used, when);
		if (i)
			putchar('\n');
		agent_sessions_print_line("profile", record->profile);
		agent_sessions_print_line("from", record->from[0] ? record->from : "-");
		agent_sessions_print_line("name", record->name);
		agent_sessions_print_line("session id", record->id[0] ? record->id : "(none yet)");
		agent_sessions_print_line("last used", when);
		printf("%-12s %lld\n", "turns", (long long)record->turns);
		agent_sessions_print_spent(record);
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
	.words = WORDS_SESSIONS,
	.run = agent_sessions,
};
