/* perch tool log: what was called, by whom, and how it ended; from the audit log. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/err.h"
#include "base/glob.h"
#include "base/macros.h"
#include "cli/tool/tool_commands.h"
#include "cli/ui/page.h"
#include "data/json.h"
#include "tool/audit_reader.h"
#include "tool/result.h"

enum { LOG_NAME_COLUMNS = 30, LOG_TIME_SIZE = 32 };

struct tool_log {
	struct cli *cli;
	const char *pattern; /* BINDING or BINDING/TOOL, with *; NULL = all */
	const char *verdict;
	const char *since;
	const char *lines;
	bool follows;
	char from[LOG_TIME_SIZE]; /* the first time that is wanted, as the log writes it */
	uint64_t last;            /* only so many, from the end; 0 = all */
	struct option_list kept;  /* while only the last ones are wanted: a ring once it is full, */
	size_t oldest;            /* which begins here */
	perch_json *json;
	struct audit_reader reader;
};

/* ---- which ----------------------------------------------------------------------- */

static struct str tool_log_member(const perch_json_value *record, const char *name)
{
	const perch_json_value *value = perch_json_get(record, name);
	return perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : STR("");
}

/* What was called: a tool, or the command or agent that a frontend has started. */
static void tool_log_name(const perch_json_value *record, struct buf *name)
{
	struct str binding = tool_log_member(record, "binding");
	struct str tool = tool_log_member(record, "tool");
	struct str other = tool_log_member(record, "name");
	buf_printf(name, "%.*s%s%.*s%.*s", (int)binding.len, binding.data, tool.len ? "/" : "",
		(int)tool.len, tool.data, (int)other.len, other.data);
	buf_terminate(name);
}

static bool tool_log_matches(const char *pattern, const char *name)
{
	if (!pattern || glob_match(pattern, name))
		return true;
	size_t len = strlen(pattern);
	return strncmp(name, pattern, len) == 0 && name[len] == '/';
}

static struct str tool_log_verdict(const perch_json_value *record)
{
	struct str verdict = tool_log_member(record, "verdict");
	return verdict.len ? verdict : tool_log_member(record, "kind");
}

static bool tool_log_wants(
	const struct tool_log *log, const perch_json_value *record, const char *name)
{
	struct str time = tool_log_member(record, "time");
	struct str verdict = tool_log_verdict(record);
	size_t from = strlen(log->from);
	if (time.len < from || (from && memcmp(time.data, log->from, from) < 0))
		return false;
	if (log->verdict && !str_is(verdict, log->verdict))
		return false;
	return tool_log_matches(log->pattern, name);
}

/* ---- how it is shown ---------------------------------------------------------------- */

static void tool_log_add_cell(struct page *page, struct str text, size_t columns)
{
	size_t width = page_cut(page, text, page->look.columns ? columns : 0);
	while (width++ <= columns)
		buf_append_char(&page->out, ' ');
}

/* "2026-11-18 08:30:03": UTC, as the log has it. */
static void tool_log_add_time(struct page *page, struct str time)
{
	struct str day = { time.data, time.len < 10 ? time.len : 10 };
	struct str hour = time.len > 19 ? (struct str){ time.data + 11, 8 } : STR("");
	tool_log_add_cell(page, day, 10);
	tool_log_add_cell(page, hour, 8);
}

static void tool_log_print(
	const struct tool_log *log, const perch_json_value *record, const char *name)
{
	struct page page;
	struct str verdict = tool_log_verdict(record);
	struct str caller = tool_log_member(record, "caller");
	const perch_json_value *duration = perch_json_get(record, "duration_ms");
	int64_t ms = 0;
	page_begin(&page, log->cli);
	tool_log_add_time(&page, tool_log_member(record, "time"));
	tool_log_add_cell(&page, str_from(name), LOG_NAME_COLUMNS);
	bool is_well = str_is(verdict, "ok");
	buf_append_text(&page.out, style_begin(&page.look, is_well ? STYLE_PLAIN : STYLE_WARN));
	tool_log_add_cell(&page, verdict, 16);
	buf_append_text(&page.out, style_end(&page.look, is_well ? STYLE_PLAIN : STYLE_WARN));
	if (duration && perch_json_int64(duration, &ms) == 0)
		buf_printf(&page.out, "%6lld ms", (long long)ms);
	if (str_is(tool_log_member(record, "kind"), "exit"))
		buf_append_text(&page.out, "  behind its answer");
	if (caller.len) {
		buf_append_text(&page.out, "  ");
		page_cut(&page, caller, 0);
	}
	buf_append_char(&page.out, '\n');
	page_end(&page);
}

static void tool_log_show(
	const struct tool_log *log, struct str line, const perch_json_value *record, const char *name)
{
	if (!log->cli->json) {
		tool_log_print(log, record, name);
		return;
	}
	cli_pass_json(stdout, line);
	putchar('\n');
}

/* ---- the lines ------------------------------------------------------------------------ */

/* Of the last N, the oldest goes when a new one comes. */
static void tool_log_keep(struct tool_log *log, struct str line)
{
	struct option_list *kept = &log->kept;
	char *copy = strndup(line.data, line.len);
	if (!copy)
		return;
	if (kept->count < log->last) {
		if (options_add(kept, copy))
			free(copy);
		return;
	}
	free((char *)kept->items[log->oldest]);
	kept->items[log->oldest] = copy;
	log->oldest = (log->oldest + 1) % kept->count;
}

/* The record of a line, and what was called. NULL: another program has written it, or there is no
 * memory for it. */
static const perch_json_value *tool_log_read(
	struct tool_log *log, struct str line, struct buf *name)
{
	const perch_json_value *record = NULL;
	perch_json_clear(log->json);
	if (perch_json_parse(log->json, line.data, line.len, &record, NULL) < 0)
		return NULL;
	tool_log_name(record, name);
	return name->failed ? NULL : record;
}

static bool tool_log_take(void *data, const perch_line *line)
{
	struct tool_log *log = data;
	struct str text = { line->data, line->len };
	_cleanup_(buf_free) struct buf name = { 0 };
	bool is_whole = !(line->flags & PERCH_LINE_TOO_LONG);
	const perch_json_value *record = is_whole ? tool_log_read(log, text, &name) : NULL;
	if (!record || !tool_log_wants(log, record, name.data))
		return true;
	if (log->last)
		tool_log_keep(log, text);
	else
		tool_log_show(log, text, record, name.data);
	return true;
}

static void tool_log_show_kept(struct tool_log *log)
{
	for (size_t i = 0; i < log->kept.count; i++) {
		_cleanup_(buf_free) struct buf name = { 0 };
		char *line = (char *)log->kept.items[(log->oldest + i) % log->kept.count];
		const perch_json_value *record = tool_log_read(log, str_from(line), &name);
		if (record)
			tool_log_show(log, str_from(line), record, name.data);
		free(line);
	}
	log->kept.count = 0;
	log->last = 0; /* what comes now is shown as it comes */
}

static int tool_log_run(struct tool_log *log, perch_err *err)
{
	int r = audit_reader_open(&log->reader, tool_log_take, log, err);
	if (r == 0)
		r = audit_reader_read(&log->reader, err);
	tool_log_show_kept(log);
	while (r == 0 && log->follows && fflush(stdout) == 0 && !ferror(stdout)) {
		if (audit_reader_wait(&log->reader) == 0)
			r = audit_reader_read(&log->reader, err);
	}
	audit_reader_close(&log->reader);
	return r;
}

/* ---- the command ----------------------------------------------------------------------- */

/* A span until now ("2h"), or a day with or without a time, as far as it is written. */
static int tool_log_read_since(struct tool_log *log)
{
	int64_t seconds;
	struct tm parts;
	if (!log->since)
		return 0;
	if (duration_parse(log->since, &seconds)) {
		time_t from = time(NULL) - (time_t)seconds;
		gmtime_r(&from, &parts);
		strftime(log->from, sizeof(log->from), "%Y-%m-%dT%H:%M:%S", &parts);
		return 0;
	}
	memset(&parts, 0, sizeof(parts));
	const char *end = strptime(log->since, "%Y-%m-%d", &parts);
	if (end && (*end == 'T' || *end == ' '))
		end = strptime(end + 1, "%H:%M", &parts);
	if (!end || *end)
		return cli_usage_error("write 15m, 2h, 7d, 2026-01-31 or 2026-01-31T12:00 (UTC)",
			"--since: '%s' is no time", log->since);
	strftime(log->from, sizeof(log->from), "%Y-%m-%dT%H:%M", &parts);
	return 0;
}

/* What stands where a record has no verdict. */
static const char *const tool_log_kinds[] = { "run", "turn", "answer", "refusal" };

static bool tool_log_is_verdict(const char *word)
{
	bool is_known = false;
	for (size_t i = 0; i < TOOL_CODES; i++)
		is_known |= strcmp(word, tool_codes[i].name) == 0;
	for (size_t i = 0; i < COUNT(tool_log_kinds); i++)
		is_known |= strcmp(word, tool_log_kinds[i]) == 0;
	return is_known;
}

static int tool_log_check_verdict(const struct tool_log *log)
{
	_cleanup_(buf_free) struct buf hint = { 0 };
	if (!log->verdict || tool_log_is_verdict(log->verdict))
		return 0;
	buf_append_text(&hint, "there are:");
	for (size_t i = 0; i < TOOL_CODES; i++)
		buf_printf(&hint, " %s,", tool_codes[i].name);
	for (size_t i = 0; i < COUNT(tool_log_kinds); i++)
		buf_printf(&hint, " %s%s", tool_log_kinds[i], i + 1 < COUNT(tool_log_kinds) ? "," : "");
	return cli_usage_error(buf_terminate(&hint) == 0 ? hint.data : NULL,
		"--verdict: '%s' is no verdict", log->verdict);
}

static int tool_log_read_words(struct tool_log *log, int argc, char **argv)
{
	const char *words[1] = { NULL };
	const struct option_spec options[] = {
		{ "verdict", 0, OPTION_TEXT, &log->verdict },
		{ "since", 0, OPTION_TEXT, &log->since },
		{ "lines", 'n', OPTION_TEXT, &log->lines },
		{ "follow", 'f', OPTION_FLAG, &log->follows },
		TOOL_GLOBALS(log->cli),
	};
	int r = tool_words(options, argc, argv, "perch tool log [NAME] [OPTIONS]", 0, 1, words);
	if (r)
		return r;
	log->pattern = words[0];
	if (log->lines && (!options_amount(log->lines, false, &log->last) || !log->last))
		return cli_usage_error(NULL, "--lines takes a number from 1, not '%s'", log->lines);
	r = tool_log_check_verdict(log);
	return r ? r : tool_log_read_since(log);
}

static int cli_tool_log(struct cli *cli, int argc, char **argv)
{
	struct tool_log log = { .cli = cli };
	perch_err err = { 0 };
	int r = tool_log_read_words(&log, argc, argv);
	if (r)
		return r;
	r = perch_json_new(NULL, &log.json);
	r = r < 0 ? err_no_memory(&err) : tool_log_run(&log, &err);
	perch_json_free(log.json);
	free(log.kept.items);
	if (r < 0)
		cli_error(NULL, "%s", err.text);
	return r < 0 ? EXIT_HOST : EXIT_SUCCESS;
}

const struct command tool_verb_log = {
	.name = "log",
	.words = WORDS_TOOLS,
	.summary = "what was called, by which caller, and how it ended",
	.help = "usage: perch tool log [NAME] [OPTIONS]\n"
			"\n"
			"Shows the audit log: each call of a tool, and the runs and turns that came by a\n"
			"frontend such as perch serve, the oldest first, times in UTC. NAME is a binding\n"
			"or BINDING/TOOL; * stands for anything.\n"
			"\n"
			"  --verdict V     only those that ended so: ok, timeout, crashed …\n"
			"  --since TIME    15m, 2h, 7d, or a day: 2026-01-31, 2026-01-31T12:00\n"
			"  -n, --lines N   only the last N of them\n"
			"  -f, --follow    go on, and show each as it comes\n"
			"  --json          the records, one on each line\n"
			"\n"
			"example:\n"
			"  perch tool log acme --since 1d --json | jq -r .verdict | sort | uniq -c\n",
	.run = cli_tool_log,
};
