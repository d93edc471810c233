/* perch trace show: a recording, for people or (--json) for programs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/trace/trace_commands.h"
#include "data/json.h"

enum {
	WRITE_SIZE = 64 * 1024, /* written when it is that much */
	WRONG_TOLD_MAX = 20,    /* then they are counted */
};

struct show {
	struct cli *cli;
	struct trace_source source;
	const char *only; /* a direction, NULL = all */
	const char *grep; /* NULL = all */
	struct trace_view view;
	uint64_t records;
	uint64_t wrong;
};

/* ---- what is printed -------------------------------------------------------- */

/* -EPIPE when the output cannot be written; main says why. */
static int trace_show_write_out(struct show *show)
{
	struct buf *out = &show->view.page.out;
	if (out->failed)
		return -ENOMEM;
	if (show->cli->json)
		cli_pass_json(stdout, (struct str){ out->data, out->len });
	else
		buf_write_to(out, stdout);
	buf_clear(out);
	return ferror(stdout) ? -EPIPE : 0;
}

static void trace_show_add_json(struct show *show, const struct trace_record *record)
{
	struct buf *out = &show->view.page.out;
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "event");
	perch_json_write_string(&writer, record->kind == TRACE_WRONG ? "warning" : "record");
	perch_json_write_name(&writer, "line");
	perch_json_write_uint64(&writer, record->number);
	if (record->kind == TRACE_WRONG) {
		perch_json_write_name(&writer, "text");
		perch_json_write_string(&writer, record->why);
	} else {
		perch_json_write_name(&writer, "record");
		perch_json_write_value(&writer, record->object);
	}
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
}

/* The lines gathered so far are printed before it. */
static int trace_show_tell_wrong(struct show *show, const struct trace_record *record)
{
	if (++show->wrong > WRONG_TOLD_MAX)
		return 0;
	if (show->cli->json) {
		trace_show_add_json(show, record);
		return 0;
	}
	int r = trace_show_write_out(show);
	fflush(stdout);
	cli_error("a recording is made by: perch --trace FILE run …",
		"line %llu of %s cannot be read: %s", (unsigned long long)record->number, show->source.file,
		record->why);
	return r;
}

static bool trace_show_is_wanted(const struct show *show, const struct trace_record *record)
{
	if (record->kind == TRACE_HEAD)
		return !show->only && !show->grep;
	const struct trace_entry *entry = &record->entry;
	if (show->only && strcmp(show->only, trace_direction_name(entry->direction)) != 0)
		return false;
	return !show->grep ||
		memmem(entry->line.data, entry->line.len, show->grep, strlen(show->grep)) != NULL;
}

static int trace_show_take(void *data, const struct trace_record *record)
{
	struct show *show = data;
	if (record->kind == TRACE_WRONG)
		return trace_show_tell_wrong(show, record);
	show->records++;
	if (!trace_show_is_wanted(show, record))
		return 0;
	if (show->cli->json)
		trace_show_add_json(show, record);
	else
		trace_view_add(&show->view, record);
	return show->view.page.out.len >= WRITE_SIZE ? trace_show_write_out(show) : 0;
}

static bool trace_show_is_empty(const struct show *show)
{
	return !show->records && !show->wrong;
}

static void trace_show_tell_end(struct show *show)
{
	if (!show->cli->json) {
		if (show->wrong > WRONG_TOLD_MAX)
			cli_error(NULL, "%llu lines of %s cannot be read", (unsigned long long)show->wrong,
				show->source.file);
		if (trace_show_is_empty(show))
			cli_error(NULL, "there is nothing in %s", show->source.file);
		return;
	}
	buf_printf(&show->view.page.out,
		"{\"event\":\"end\",\"success\":%s,\"records\":%llu,\"wrong\":%llu}\n",
		show->wrong || trace_show_is_empty(show) ? "false" : "true",
		(unsigned long long)show->records, (unsigned long long)show->wrong);
}

/* ------------------------------------------------------------------------------ */

static int trace_show_file(struct show *show)
{
	perch_err err = { 0 };
	int r = trace_view_open(&show->view, show->cli);
	if (r == 0)
		r = trace_read_source(&show->source, trace_show_take, show, &err);
	if (r == 0) {
		trace_show_tell_end(show);
		r = trace_show_write_out(show);
	}
	if (r == -EPIPE)
		return EXIT_HOST;
	if (r < 0) {
		trace_show_write_out(show);
		fflush(stdout);
		cli_error(NULL, "%s", err.text[0] ? err.text : perch_strerror(r));
		return EXIT_HOST;
	}
	return show->wrong || trace_show_is_empty(show) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int trace_show_check_words(const struct show *show)
{
	for (int i = 0; show->only && i < TRACE_DIRECTIONS; i++) {
		if (strcmp(show->only, trace_direction_name((enum trace_direction)i)) == 0)
			return 0;
	}
	return show->only
		? cli_usage_error(NULL, "--only is in, out, err or host, not '%s'", show->only)
		: 0;
}

static int trace_show_run_show(struct cli *cli, int argc, char **argv)
{
	struct show show = { .cli = cli };
	const struct option_spec specs[] = {
		{ "full", 0, OPTION_FLAG, &show.view.is_full },
		{ "only", 0, OPTION_TEXT, &show.only },
		{ "grep", 0, OPTION_TEXT, &show.grep },
		TRACE_GLOBALS(cli),
	};
	int r = trace_words(specs, cli, argc, argv, "write: perch trace show FILE", &show.source);
	if (r == 0)
		r = trace_show_check_words(&show);
	if (r == 0)
		r = trace_show_file(&show);
	trace_view_close(&show.view);
	return r;
}

const struct command trace_verb_show = {
	.name = "show",
	.summary = "show a recording: when, which way, what, and what the host did",
	.help = "usage: perch trace show FILE [OPTIONS]\n"
			"\n"
			"A line goes to the program (→, in), comes from it (←, out) or from its stderr\n"
			"(!, err); what the host did about it stands behind it (·, host). FILE may be -.\n"
			"\n"
			"  --full          cut nothing to the width of the terminal; show all facts\n"
			"  --only WHAT     in, out, err or host\n"
			"  --grep TEXT     lines with this text in them\n"
			"  --line-limit N  bytes of a record that are read at most (67108864)\n"
			"  --json          every record as one line: {\"event\":\"record\",\"line\":2,…}\n"
			"\n"
			"Lines that cannot be read are named on stderr, and it ends with 1.\n"
			"\n"
			"example:\n"
			"  perch trace show t.ndjson --only err\n",
	.run = trace_show_run_show,
};
