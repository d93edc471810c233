/* perch plugins WORD: each is a command of its own, at the end of its file. */
#ifndef CLI_PLUGINS_PLUGINS_COMMANDS_H
#define CLI_PLUGINS_PLUGINS_COMMANDS_H

#include "cli/cli.h"
#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "plugins/plugin_test.h"

extern const struct command plugins_allow;
extern const struct command plugins_audit;
extern const struct command plugins_pin;
extern const struct command plugins_unpin;
extern const struct command plugins_show;
extern const struct command plugins_create;
extern const struct command plugins_hooks;
extern const struct command plugins_inspect;
extern const struct command plugins_install;
extern const struct command plugins_recommend;
extern const struct command plugins_search;
extern const struct command plugins_list;
extern const struct command plugins_remove;
extern const struct command plugins_revoke;
extern const struct command plugins_test;
extern const struct command plugins_update;
extern const struct command plugins_validate;

/* ---- plugins_test_print.c -------------------------------------------------- */

/* How the tests of a plugin went: for people as they end, for programs at the
 * end. */

/* The lines, and what is wrong with them; `brief`: the lines only when something is wrong. */
void verdict_print(
	struct page *page, const struct test_case *test, const struct test_report *report, bool brief);

/* One element of "cases". */
void verdict_write(
	perch_json_writer *writer, const struct test_case *test, const struct test_report *report);

/* ---- plugins_finding.c ----------------------------------------------------- */

/* A line for a mistake in a file of this directory, and the file's line where its place is known.
 */
void plugins_finding_put(struct page *page, const char *directory, const char *file,
	const struct finding *finding, bool is_wrong);

/* NAME or NAME@REF, in the arena; *ret_ref is NULL without one. -EINVAL for a ref that is none. */
int plugins_pin_split(const char *word, struct arena *arena, const char **ret_name,
	const char **ret_ref, perch_err *err);

#endif
