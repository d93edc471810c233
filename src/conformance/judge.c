/* Compares what was seen with what a case expects. */
#include <errno.h>

#include "base/err.h"
#include "base/utf8.h"
#include "conformance/trial.h"

void trial_report_init(struct trial_report *report)
{
	*report = (struct trial_report){ 0 };
	report->findings.arena = &report->arena;
	report->transcript.arena = &report->arena;
}

void trial_report_free(struct trial_report *report)
{
	findings_free(&report->findings);
	transcript_free(&report->transcript);
	arena_free(&report->arena);
}

double trial_within(const struct kit *kit, const struct conformance_case *test)
{
	bool is_capped = kit->within_max > 0 && kit->within_max < test->within;
	return is_capped ? kit->within_max : test->within;
}

/* 1, 0 with words in why, -ENOMEM. */
static int judge_matches(
	const char *pattern, const struct variable *variables, struct str text, struct buf *why)
{
	struct buf expanded = { 0 };
	int r = pattern_expand(str_from(pattern), variables, (struct str){ 0 }, &expanded);
	if (r == 0)
		r = pattern_match((struct str){ expanded.data, expanded.len }, text, why);
	buf_free(&expanded);
	return r;
}

int judge_text(const char *what, const char *pattern, const struct variable *variables,
	struct str text, struct trial_report *report)
{
	struct buf why = { 0 };
	int r = judge_matches(pattern, variables, text, &why);
	if (r == 0)
		PROBLEM(report, "%s: %.*s", what, (int)why.len, why.data);
	buf_free(&why);
	return r == -ENOMEM ? r : 0;
}

/* ---- stdout --------------------------------------------------------------------- */

static int judge_lines(const struct conformance_case *test, const struct variable *variables,
	struct str output, struct trial_report *report)
{
	const char *const *wanted = test->expect.lines;
	_cleanup_(buf_free) struct buf why = { 0 };
	while (output.len && *wanted) {
		buf_clear(&why);
		int r = judge_matches(*wanted, variables, str_cut(&output, '\n'), &why);
		if (r == -ENOMEM)
			return r;
		wanted += r == 1;
	}
	if (*wanted)
		PROBLEM(report, "no line of stdout (behind those before it) matches %s%s%.*s", *wanted,
			why.len ? "; in the last one " : "", (int)why.len, why.len ? why.data : "");
	return 0;
}

static int judge_no_lines(const struct conformance_case *test, const struct variable *variables,
	struct str output, struct trial_report *report)
{
	_cleanup_(buf_free) struct buf why = { 0 };
	while (output.len) {
		struct str line = str_cut(&output, '\n');
		for (const char *const *forbidden = test->expect.no_lines; *forbidden; forbidden++) {
			buf_clear(&why);
			int r = judge_matches(*forbidden, variables, line, &why);
			if (r == -ENOMEM)
				return r;
			if (r == 1)
				PROBLEM(report, "there should be no such line on stdout: %.*s", utf8_quoted(line),
					line.data);
		}
	}
	return 0;
}

/* ---- all of it ------------------------------------------------------------------ */

static void judge_exit(const struct conformance_case *test, const struct observed *observed,
	struct trial_report *report)
{
	int wanted = test->expect.exit;
	bool is_right = wanted == EXIT_ANY || wanted == observed->code ||
		(wanted == EXIT_FAILURE_ANY && observed->code != 0);
	if (is_right)
		return;
	if (wanted == EXIT_FAILURE_ANY)
		PROBLEM(report, "the exit code must not be 0");
	else
		PROBLEM(report, "the exit code must be %d, but is %d", wanted, observed->code);
}

static void judge_texts(const struct conformance_case *test, const struct observed *observed,
	struct trial_report *report)
{
	const struct expectation *expect = &test->expect;
	if (expect->stdout_is && !str_is(observed->output, expect->stdout_is))
		PROBLEM(report, "stdout must be \"%s\", but is \"%.*s\"", expect->stdout_is,
			utf8_quoted(observed->output), observed->output.len ? observed->output.data : "");
	for (const char *const *wanted = expect->stderr_has; *wanted; wanted++) {
		if (!memmem(observed->errors.data, observed->errors.len, *wanted, strlen(*wanted)))
			PROBLEM(report, "\"%s\" must be on stderr", *wanted);
	}
}

int judge_outside(const struct conformance_case *test, const struct variable *variables,
	const struct observed *observed, struct trial_report *report)
{
	if (observed->timed_out > 0) {
		PROBLEM(report, "it did not end within %g seconds", observed->timed_out);
		return 0;
	}
	judge_exit(test, observed, report);
	judge_texts(test, observed, report);
	int r = judge_lines(test, variables, observed->output, report);
	return r < 0 ? r : judge_no_lines(test, variables, observed->output, report);
}

int judge_end(struct trial_report *report, perch_err *err)
{
	if (report->findings.failed || report->transcript.failed)
		return err_no_memory(err);
	if (report->findings.errors)
		report->outcome = OUTCOME_FAILED;
	return 0;
}
