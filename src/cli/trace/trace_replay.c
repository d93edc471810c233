/* perch trace replay: a recording, played again to the host of today. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/trace/trace_commands.h"
#include "data/json.h"
#include "replay/replay.h"

enum {
	CONTEXT = 40,     /* bytes that are shown before the first difference */
	SHOWN_MAX = 4096, /* of a text, where there is no terminal to cut it */
};

/* ---- for people --------------------------------------------------------------- */

/* From a little before the difference on; characters stay whole. */
static struct str trace_replay_excerpt(struct str text, size_t at)
{
	size_t from = at > CONTEXT ? at - CONTEXT : 0;
	from = from < text.len ? from : text.len;
	while (from && from < text.len && ((unsigned char)text.data[from] & 0xC0) == 0x80)
		from--;
	return (struct str){ text.data + from, text.len - from };
}

static void trace_replay_put_text(struct page *page, const char *label, struct str text, size_t at)
{
	struct str shown = trace_replay_excerpt(text, at);
	bool is_cut = shown.len < text.len;
	size_t columns = page->look.columns;
	const char *ellipsis = is_cut ? style_glyph(&page->look, GLYPH_ELLIPSIS) : "";
	size_t room = columns > 24 ? columns - 16 : SHOWN_MAX;
	buf_printf(&page->out, "  %-10s%s", label, ellipsis);
	page_cut(page, shown, room);
	buf_append_char(&page->out, '\n');
}

static void trace_replay_put_difference(
	struct page *page, const char *file, const struct replay_difference *it)
{
	static const char *const words[] = {
		[REPLAY_OTHER] = "the host says something else now",
		[REPLAY_MISSING] = "the host says nothing now",
		[REPLAY_EXTRA] = "the host says something more now, before it",
	};
	page_style(page, STYLE_ERROR, "different");
	buf_printf(&page->out, ": line %llu of ", (unsigned long long)it->line);
	page_cut(page, str_from(file), 0);
	buf_printf(&page->out, ": %s", words[it->kind]);
	if (it->what.len) {
		buf_append_text(&page->out, " (");
		page_cut(page, it->what, 0);
		buf_append_char(&page->out, ')');
	}
	if (it->kind == REPLAY_OTHER)
		buf_printf(&page->out, ", from byte %zu on", it->at + 1);
	buf_append_char(&page->out, '\n');
	if (it->kind != REPLAY_EXTRA)
		trace_replay_put_text(page, "recorded", it->recorded, it->at);
	if (it->kind != REPLAY_MISSING)
		trace_replay_put_text(page, "now", it->now, it->at);
}

static void trace_replay_put_notes(struct page *page, const struct replay_report *report)
{
	struct buf *out = &page->out;
	if (report->lent)
		buf_printf(out,
			"  taken from the recording: %llu results of store and metadata, %llu of commands; "
			"none "
			"was run\n",
			(unsigned long long)(report->lent - report->commands),
			(unsigned long long)report->commands);
	if (report->version.len && !str_is(report->version, perch_version())) {
		buf_append_text(out, "  recorded by perch ");
		page_cut(page, report->version, 40);
		buf_printf(out, ", this is %s\n", perch_version());
	}
	if (report->masked)
		buf_printf(out,
			"  records with masked values: %llu, from line %llu on; only the length is known\n",
			(unsigned long long)report->masked, (unsigned long long)report->masked_first);
	if (report->masked && report->difference.is_found)
		buf_append_text(out,
			"  the difference may come from a masked value: record with --trace-secrets to be "
			"sure\n");
}

static void trace_replay_put_report(
	struct page *page, const char *file, const struct replay_report *report)
{
	if (report->difference.is_found) {
		trace_replay_put_difference(page, file, &report->difference);
	} else {
		page_style(page, STYLE_INFO, "the same");
		buf_printf(&page->out, ": %s, %llu lines played, %llu lines and events compared\n",
			report->protocol, (unsigned long long)report->played,
			(unsigned long long)report->compared);
	}
	trace_replay_put_notes(page, report);
}

/* ---- for programs --------------------------------------------------------------- */

static void trace_replay_write_number(perch_json_writer *writer, const char *name, uint64_t number)
{
	perch_json_write_name(writer, name);
	perch_json_write_uint64(writer, number);
}

static void trace_replay_put_json_difference(struct buf *out, const struct replay_difference *it)
{
	static const char *const kinds[] = {
		[REPLAY_OTHER] = "other",
		[REPLAY_MISSING] = "missing",
		[REPLAY_EXTRA] = "extra",
	};
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "event", STR("difference"));
	json_write_text(&writer, "kind", str_from(kinds[it->kind]));
	trace_replay_write_number(&writer, "line", it->line);
	json_write_text(&writer, "what", it->what.len ? it->what : STR("line"));
	json_write_text(&writer, "recorded", it->recorded);
	json_write_text(&writer, "now", it->now);
	trace_replay_write_number(&writer, "at", it->at);
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
}

static void trace_replay_put_json(struct buf *out, const struct replay_report *report, bool is_same)
{
	if (report->difference.is_found)
		trace_replay_put_json_difference(out, &report->difference);
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "event", STR("end"));
	json_write_flag(&writer, "success", is_same);
	json_write_text(&writer, "protocol", str_from(report->protocol));
	trace_replay_write_number(&writer, "played", report->played);
	trace_replay_write_number(&writer, "compared", report->compared);
	trace_replay_write_number(&writer, "lent", report->lent);
	trace_replay_write_number(&writer, "commands", report->commands);
	trace_replay_write_number(&writer, "masked", report->masked);
	json_write_flag(&writer, "complete", report->has_end);
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
}

/* --------------------------------------------------------------------------------- */

DEFINE_POINTER_CLEANUP(free_replay, struct replay, replay_free)

/* Says why the recording could not be played to its end. Returns whether there was a reason. */
static bool trace_replay_tell_trouble(
	int r, const char *file, const struct replay *replay, const perch_err *err)
{
	if (r < 0 && err->text[0])
		cli_error(NULL, "%s", err->text);
	else if (r < 0)
		cli_error("perch trace show shows what can be read of it", "%s: %s", file,
			replay_error(replay)[0] ? replay_error(replay) : perch_strerror(r));
	else if (r == 0 && !replay_report(replay)->has_end)
		cli_error("what there is of it is the same", "%s: the recording has no end", file);
	else
		return false;
	return true;
}

static int trace_replay_source(struct cli *cli, const struct trace_source *source)
{
	_cleanup_(free_replay) struct replay *replay = NULL;
	perch_err err = { 0 };
	if (replay_new(&replay) < 0)
		return cli_no_memory();
	int r = trace_read_source(source, replay_take, replay, &err);
	if (r == 0)
		r = replay_finish(replay);
	const struct replay_report *report = replay_report(replay);
	bool is_troubled = trace_replay_tell_trouble(r, source->file, replay, &err);
	struct page page;
	page_begin(&page, cli);
	if (cli->json)
		trace_replay_put_json(&page.out, report, r == 0 && !is_troubled);
	else if (!is_troubled)
		trace_replay_put_report(&page, source->file, report);
	int printed = cli->json ? cli_print_json(&page.out) : page_end(&page);
	if (is_troubled)
		return EXIT_HOST;
	return r == 1 ? EXIT_FAILURE : printed;
}

static int trace_replay_run_replay(struct cli *cli, int argc, char **argv)
{
	struct trace_source source = { 0 };
	const struct option_spec specs[] = { TRACE_GLOBALS(cli) };
	int r = trace_words(specs, cli, argc, argv, "write: perch trace replay FILE", &source);
	return r ? r : trace_replay_source(cli, &source);
}

const struct command trace_verb_replay = {
	.name = "replay",
	.summary = "play a recording again; does the host still say the same?",
	.help = "usage: perch trace replay FILE [--json] [--line-limit BYTES]\n"
			"\n"
			"The engine of the recorded exchange is told again what it was told then: the\n"
			"lines of the plugin, tool or agent, the user's answers, the results of what the\n"
			"host had done, signals and times. What the host says now is compared with what\n"
			"it said then. Nothing is started, stored or asked: the recording has it all.\n"
			"\n"
			"It ends with 0 the same, 1 different (the first difference is shown),\n"
			"125 it cannot be replayed to its end.\n"
			"\n"
			"example:\n"
			"  perch --trace t.ndjson run deploy staging; perch trace replay t.ndjson\n",
	.run = trace_replay_run_replay,
};
