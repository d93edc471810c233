/* How the tests of a plugin went. */
#include <inttypes.h>

#include "base/clock.h"
#include "cli/plugins/plugins_commands.h"

enum { LABEL = 10 };

static const struct {
	const char *label; /* for people */
	const char *name;  /* for programs, as in a trace */
	enum style style;
} directions[] = {
	[TRACE_TO_PLUGIN] = { "host", "in", STYLE_HINT },
	[TRACE_FROM_PLUGIN] = { "plugin", "out", STYLE_PLAIN },
	[TRACE_PLUGIN_ERR] = { "stderr", "err", STYLE_HINT },
	[TRACE_HOST] = { "note", "host", STYLE_HINT },
};

static const char *plugins_test_print_level_name(enum finding_level level)
{
	return level == FINDING_ERROR ? "error" : "warning";
}

/* ---- for people ------------------------------------------------------------------ */

static void plugins_test_print_line(struct page *page, const struct transcript_line *line)
{
	enum style style = directions[line->direction].style;
	buf_printf(&page->out, "%*s  ", LABEL - 2, directions[line->direction].label);
	buf_append_text(&page->out, style_begin(&page->look, style));
	size_t columns = page->look.columns;
	page_cut(page, line->text, columns > LABEL ? columns - LABEL : columns);
	if (line->is_cut)
		buf_append_text(&page->out, style_glyph(&page->look, GLYPH_ELLIPSIS));
	buf_append_text(&page->out, style_end(&page->look, style));
	buf_append_char(&page->out, '\n');
}

static void plugins_test_print_finding(struct page *page, const struct finding *finding)
{
	buf_printf(&page->out, "%*s", LABEL, "");
	page_style(page, finding->level == FINDING_ERROR ? STYLE_ERROR : STYLE_WARN,
		plugins_test_print_level_name(finding->level));
	buf_append_text(&page->out, ": ");
	page_cut(page, str_from(finding->text), 0);
	buf_append_char(&page->out, '\n');
}

static void plugins_test_print_transcript(struct page *page, const struct test_report *report)
{
	for (size_t i = 0; i < report->transcript.count; i++) {
		const struct transcript_line *line = &report->transcript.items[i];
		plugins_test_print_line(page, line);
		for (size_t n = 0; line->number && n < report->findings.count; n++) {
			if (report->findings.items[n].at.line == line->number)
				plugins_test_print_finding(page, &report->findings.items[n]);
		}
	}
	if (report->transcript.left_out)
		buf_printf(&page->out, "%*s(%zu more lines)\n", LABEL, "", report->transcript.left_out);
}

/* Whether its line was stored, so that the finding was printed below it. */
static bool plugins_test_print_is_told(
	const struct finding *finding, const struct transcript *transcript)
{
	if (!finding->at.line)
		return false;
	for (size_t i = 0; i < transcript->count; i++) {
		if (transcript->items[i].number == finding->at.line)
			return true;
	}
	return false;
}

void verdict_print(
	struct page *page, const struct test_case *test, const struct test_report *report, bool brief)
{
	bool has_passed = !report->findings.errors;
	page_style(page, has_passed ? STYLE_INFO : STYLE_ERROR, has_passed ? "ok    " : "FAILED");
	buf_append_text(&page->out, "  ");
	page_cut(page, str_from(test->name), 0);
	buf_printf(&page->out, " (%" PRIu64 " ms)\n", report->duration_ns / NSEC_PER_MSEC);
	if (brief && !report->findings.count)
		return;
	plugins_test_print_transcript(page, report);
	for (size_t i = 0; i < report->findings.count; i++) {
		if (!plugins_test_print_is_told(&report->findings.items[i], &report->transcript))
			plugins_test_print_finding(page, &report->findings.items[i]);
	}
}

/* ---- for programs ---------------------------------------------------------------- */

static void plugins_test_print_write_findings(
	perch_json_writer *writer, const struct findings *findings)
{
	member_array(writer, "problems");
	for (size_t i = 0; i < findings->count; i++) {
		perch_json_begin_object(writer);
		member_text(writer, "level", plugins_test_print_level_name(findings->items[i].level));
		perch_json_write_name(writer, "line");
		if (findings->items[i].at.line)
			perch_json_write_int64(writer, findings->items[i].at.line);
		else
			perch_json_write_null(writer);
		member_text(writer, "text", findings->items[i].text);
		perch_json_end_object(writer);
	}
	perch_json_end_array(writer);
}

static void plugins_test_print_write_transcript(
	perch_json_writer *writer, const struct transcript *transcript)
{
	member_array(writer, "transcript");
	for (size_t i = 0; i < transcript->count; i++) {
		const struct transcript_line *line = &transcript->items[i];
		perch_json_begin_object(writer);
		member_text(writer, "dir", directions[line->direction].name);
		perch_json_write_name(writer, "line");
		perch_json_write_string_n(writer, line->text.data, line->text.len);
		perch_json_end_object(writer);
	}
	perch_json_end_array(writer);
}

void verdict_write(
	perch_json_writer *writer, const struct test_case *test, const struct test_report *report)
{
	perch_json_begin_object(writer);
	member_text(writer, "name", test->name);
	member_text(writer, "command", test->command->name);
	member_bool(writer, "passed", !report->findings.errors);
	member_number(writer, "exit_code", report->exit_code);
	perch_json_write_name(writer, "signal");
	if (report->signal)
		perch_json_write_int64(writer, report->signal);
	else
		perch_json_write_null(writer);
	member_number(writer, "duration_ms", (int64_t)(report->duration_ns / NSEC_PER_MSEC));
	plugins_test_print_write_findings(writer, &report->findings);
	plugins_test_print_write_transcript(writer, &report->transcript);
	perch_json_end_object(writer);
}
