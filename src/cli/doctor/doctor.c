/* perch doctor: what this machine offers, and what is missing. Each check is a function in a table;
 * it fills in a finding, which is then printed for people or as JSON. */
#include "cli/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/ui/envelope.h"
#include "cli/ui/page.h"

static const char *const status_names[] = { "ok", "warning", "failure" };
static const enum style status_styles[] = { STYLE_INFO, STYLE_WARN, STYLE_ERROR };

void doctor_found(
	struct finding *finding, enum status status, const char *fix, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(finding->detail, sizeof(finding->detail), format, args);
	va_end(args);
	finding->status = status;
	finding->fix = status == STATUS_OK ? NULL : fix;
}

static const struct check {
	const char *section;
	const char *name;
	doctor_check_fn *run;
} checks[] = {
	{ "processes", "kernel", doctor_check_kernel },
	{ "processes", "pidfd", doctor_check_pidfd },
	{ "processes", "guard", doctor_check_guard },
	{ "sandbox", "landlock", doctor_check_landlock },
	{ "sandbox", "seccomp", doctor_check_seccomp },
	{ "sandbox", "user namespaces", doctor_check_user_namespaces },
	{ "programs", "git", doctor_check_git },
	{ "programs", "shell", doctor_check_shell },
	{ "plugins", "installed", doctor_check_installed },
	{ "directories", "plugins", doctor_check_fledge_config },
	{ "directories", "config", doctor_check_config },
	{ "directories", "state", doctor_check_state },
	{ "directories", "cache", doctor_check_cache },
	{ "agents", "sessions", doctor_check_sessions },
	{ "frontends", "exposed", doctor_check_exposed },
};
enum { CHECKS = COUNT(checks) };

/* ---- telling ------------------------------------------------------------- */

/* Where the text of a finding begins. */
enum { DETAIL_COLUMN = 28 };

static void doctor_print_finding(struct page *page, const struct finding *finding)
{
	char status[16];
	snprintf(status, sizeof(status), "%-8s", status_names[finding->status]);
	buf_append_text(&page->out, "  ");
	page_style(page, status_styles[finding->status], status);
	buf_printf(&page->out, " %-16s ", finding->name);
	page_wrap(page, str_from(finding->detail), DETAIL_COLUMN);
	if (finding->fix) {
		buf_printf(&page->out, "\n%*s", DETAIL_COLUMN, "");
		page_wrap(page, str_from(finding->fix), DETAIL_COLUMN);
	}
	buf_append_char(&page->out, '\n');
}

/* What it all comes to. */
static void doctor_print_sum(struct page *page, const struct finding *findings)
{
	int failures = 0;
	int warnings = 0;
	for (int i = 0; i < CHECKS; i++) {
		failures += findings[i].status == STATUS_FAILURE;
		warnings += findings[i].status == STATUS_WARNING;
	}
	buf_append_char(&page->out, '\n');
	if (failures)
		buf_printf(&page->out, "perch cannot do its work here: %d of these must be mended first.\n",
			failures);
	else if (warnings)
		buf_printf(
			&page->out, "perch works here; %d of these would be better otherwise.\n", warnings);
	else
		buf_append_text(&page->out, "perch works here, and nothing is missing.\n");
}

static int doctor_print_for_people(const struct cli *cli, const struct finding *findings)
{
	struct page page;
	page_begin(&page, cli);
	const char *section = "";
	buf_printf(&page.out, "perch %s\n", perch_version());
	for (int i = 0; i < CHECKS; i++) {
		if (strcmp(section, findings[i].section) != 0)
			buf_printf(&page.out, "%s\n", findings[i].section);
		section = findings[i].section;
		doctor_print_finding(&page, &findings[i]);
	}
	doctor_print_sum(&page, findings);
	return page_end(&page);
}

static int doctor_print_json(const struct finding *findings, bool is_healthy)
{
	struct envelope envelope;
	perch_json_writer *writer = &envelope.writer;
	envelope_begin(&envelope);
	member_text(writer, "version", perch_version());
	member_bool(writer, "healthy", is_healthy);
	member_array(writer, "findings");
	for (int i = 0; i < CHECKS; i++) {
		perch_json_begin_object(writer);
		member_text(writer, "section", findings[i].section);
		member_text(writer, "name", findings[i].name);
		member_text(writer, "status", status_names[findings[i].status]);
		member_text(writer, "detail", findings[i].detail);
		member_text(writer, "fix", findings[i].fix);
		perch_json_end_object(writer);
	}
	perch_json_end_array(writer);
	return envelope_end(&envelope);
}

static int cli_doctor(struct cli *cli, int argc, char **argv)
{
	bool may_fix = false;
	const struct option_spec options[] = {
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ "fix", 0, OPTION_FLAG, &may_fix },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(options, argc, argv, &at);
	if (r)
		return r;
	if (at < argc)
		return cli_usage_error("see: perch help doctor", "doctor takes no '%s'", argv[at]);
	struct finding findings[CHECKS];
	bool is_healthy = true;
	for (int i = 0; i < CHECKS; i++) {
		findings[i] = (struct finding){
			.section = checks[i].section,
			.name = checks[i].name,
			.may_fix = may_fix,
		};
		checks[i].run(&findings[i]);
		is_healthy = is_healthy && findings[i].status != STATUS_FAILURE;
	}
	r = cli->json ? doctor_print_json(findings, is_healthy)
				  : doctor_print_for_people(cli, findings);
	if (r)
		return r;
	return is_healthy ? EXIT_SUCCESS : EXIT_FAILURE;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "see what this machine offers, and what is missing",
	.help = "usage: perch doctor [--fix] [--json]\n"
			"\n"
			"Looks at the kernel, the programs and the directories that perch relies on and\n"
			"at the installed plugins, and says for each what it found, and what to do where\n"
			"something is missing. Ends with 0 when perch can do its work here, with 1 when\n"
			"it cannot.\n"
			"\n"
			"  --fix    repair what can be repaired safely: installs that were interrupted,\n"
			"           links that are missing or lead nowhere, a broken session database\n"
			"  --json   one object, for programs\n"
			"\n"
			"example:\n"
			"  perch doctor --json | jq '.findings[] | select(.status != \"ok\")'\n",
	.run = cli_doctor,
};
