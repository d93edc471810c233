/* How the tests of a plugin went: for people as they end, for programs at the
 * end. */
#ifndef CLI_PLUGINS_PLUGINS_TEST_PRINT_H
#define CLI_PLUGINS_PLUGINS_TEST_PRINT_H

#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "plugins/plugin_test.h"

/* The lines, and what is wrong with them; `brief`: the lines only when something is wrong. */
void verdict_print(
	struct page *page, const struct test_case *test, const struct test_report *report, bool brief);

/* One element of "cases". */
void verdict_write(
	perch_json_writer *writer, const struct test_case *test, const struct test_report *report);

#endif
