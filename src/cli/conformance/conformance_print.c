/* The cases of the conformance kit, and how they went, for people and programs. */
#include <inttypes.h>

#include "base/clock.h"
#include "cli/conformance/conformance_command.h"
#include "cli/ui/table.h"

static const struct {
	const char *label; /* for people */
	const char *name;  /* for programs */
	enum style style;
} outcomes[] = {
	[OUTCOME_PASSED] = { "ok     ", "passed", STYLE_INFO },
	[OUTCOME_FAILED] = { "FAILED ", "failed", STYLE_ERROR },
	[OUTCOME_SKIPPED] = { "skipped", "skipped", STYLE_HINT },
};

static const char *conformance_print_side_name(enum side side)
{
	return side == SIDE_HOST ? "host" : "plugin";
}

/* ---- a verdict ------------------------------------------------------------------ */

static const char *conformance_print_direction_label(const struct transcript_line *line)
{
	switch (line->direction) {
	case TRACE_TO_PLUGIN:
		return "host";
	case TRACE_FROM_PLUGIN:
		return "plugin";
	case TRACE_PLUGIN_ERR:
		return "stderr";
	default:
		return "event";
	}
}

static void conformance_print_text(struct page *page, const char *label, struct str text)
{
	enum { INDENT = 18 };
	size_t columns = page->look.columns;
	buf_printf(&page->out, "%*s  ", INDENT - 2, label);
	page_cut(page, text, columns > INDENT && label[0] ? columns - INDENT : 0);
	buf_append_char(&page->out, '\n');
}

static void conformance_print_verdict(const struct cli *cli, struct page *page,
	const struct conformance_case *test, const struct trial_report *report)
{
	if (cli->quiet && report->outcome != OUTCOME_FAILED)
		return;
	page_style(page, outcomes[report->outcome].style, outcomes[report->outcome].label);
	buf_printf(&page->out, "  %-7s  ", test->id);
	page_cut(page, str_from(test->rule), 0);
	buf_append_char(&page->out, '\n');
	for (size_t i = 0; i < report->findings.count; i++) {
		if (report->outcome != OUTCOME_PASSED)
			conformance_print_text(page, "", str_from(report->findings.items[i].text));
	}
	for (size_t i = 0; cli->verbose && i < report->transcript.count; i++)
		conformance_print_text(page,
			conformance_print_direction_label(&report->transcript.items[i]),
			report->transcript.items[i].text);
}

static void conformance_print_write_case(perch_json_writer *writer, enum protocol protocol,
	const struct library_file *file, const struct conformance_case *test)
{
	member_text(writer, "id", test->id);
	member_text(writer, "protocol", protocol_names[protocol]);
	member_number(writer, "section", file->file.section);
	member_text(writer, "checks", conformance_print_side_name(test->side));
	member_text(writer, "rule", test->rule);
}

static void conformance_print_write_verdict(
	perch_json_writer *writer, const struct trial_report *report)
{
	member_text(writer, "outcome", outcomes[report->outcome].name);
	member_array(writer, "problems");
	for (size_t i = 0; i < report->findings.count; i++)
		perch_json_write_string(writer, report->findings.items[i].text);
	perch_json_end_array(writer);
	member_number(writer, "duration_ms", (int64_t)(report->duration_ns / NSEC_PER_MSEC));
}

void conformance_tell(const struct cli *cli, const struct conformance_output *output,
	enum protocol protocol, const struct library_file *file, const struct conformance_case *test,
	const struct trial_report *report)
{
	if (output->page) {
		conformance_print_verdict(cli, output->page, test, report);
		page_end(output->page);
		fflush(stdout);
		return;
	}
	perch_json_writer *writer = &output->envelope->writer;
	perch_json_begin_object(writer);
	conformance_print_write_case(writer, protocol, file, test);
	conformance_print_write_verdict(writer, report);
	perch_json_end_object(writer);
}

/* ---- lists ---------------------------------------------------------------------- */

static void conformance_print_list_for_programs(
	perch_json_writer *writer, enum protocol protocol, const struct library *library)
{
	for (size_t f = 0; f < library->count; f++) {
		for (size_t i = 0; i < library->files[f].file.count; i++) {
			perch_json_begin_object(writer);
			conformance_print_write_case(
				writer, protocol, &library->files[f], &library->files[f].file.items[i]);
			perch_json_end_object(writer);
		}
	}
}

static void conformance_print_list_as_markdown(
	struct buf *out, enum protocol protocol, const struct library *library)
{
	buf_printf(out, "\n### %s\n", protocol_names[protocol]);
	for (size_t f = 0; f < library->count; f++) {
		const struct case_file *file = &library->files[f].file;
		buf_printf(out, "\n**%" PRId64 " %s**\n\n| case | checks | rule |\n|---|---|---|\n",
			file->section, file->title);
		for (size_t i = 0; i < file->count; i++)
			buf_printf(out, "| %s | %s | %s |\n", file->items[i].id,
				conformance_print_side_name(file->items[i].side), file->items[i].rule);
	}
}

static void conformance_print_list_for_people(struct page *page, const struct library *library)
{
	struct table table = { .columns = 3 };
	table_add(&table, (const char *const[]){ "case", "checks", "rule" });
	for (size_t f = 0; f < library->count; f++) {
		for (size_t i = 0; i < library->files[f].file.count; i++) {
			const struct conformance_case *test = &library->files[f].file.items[i];
			table_add(&table,
				(const char *const[]){
					test->id, conformance_print_side_name(test->side), test->rule });
		}
	}
	table_print(&table, page);
	table_free(&table);
}

void conformance_list(const struct conformance_output *output, bool markdown,
	enum protocol protocol, const struct library *library)
{
	if (output->envelope)
		conformance_print_list_for_programs(&output->envelope->writer, protocol, library);
	else if (markdown)
		conformance_print_list_as_markdown(&output->page->out, protocol, library);
	else
		conformance_print_list_for_people(output->page, library);
}
