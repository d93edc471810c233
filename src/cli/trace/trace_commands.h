/* What the verbs of `perch trace` share. */
#ifndef CLI_TRACE_TRACE_COMMANDS_H
#define CLI_TRACE_TRACE_COMMANDS_H

#include "cli/cli.h"
#include "cli/ui/page.h"
#include "trace/reader.h"

/* Each verb stands at the end of its own file. */
extern const struct command trace_verb_show;
extern const struct command trace_verb_replay;

/* The global options that a verb takes, too: the last lines of its table. */
#define TRACE_GLOBALS(cli)                                                                \
	{ "json", 0, OPTION_FLAG, &(cli)->json }, { "color", 0, OPTION_TEXT, &(cli)->color }, \
		{ "line-limit", 0, OPTION_TEXT, &(cli)->line_limit },                             \
	{                                                                                     \
		0                                                                                 \
	}

/* What is read, and how. */
struct trace_source {
	const char *file; /* "-" = stdin */
	size_t record_max;
};

/* The one word behind a verb, and its options; `usage` is told when there are others.
 * Returns 0 or EXIT_USAGE. */
int trace_words(const struct option_spec *specs, struct cli *cli, int argc, char **argv,
	const char *usage, struct trace_source *ret_source);

/* Hands every record to `take`. Fails as trace_read does, and as open. */
int trace_read_source(const struct trace_source *source,
	int (*take)(void *data, const struct trace_record *record), void *data, perch_err *err);

/* ---- trace_view.c ---------------------------------------------------------- */

struct trace_view {
	struct page page;
	bool is_full; /* nothing is cut, the facts are shown */
	perch_json *json;
};

/* -ENOMEM. */
int trace_view_open(struct trace_view *view, const struct cli *cli);
void trace_view_close(struct trace_view *view);

/* Appends a record that is not wrong to the page. */
void trace_view_add(struct trace_view *view, const struct trace_record *record);

#endif
