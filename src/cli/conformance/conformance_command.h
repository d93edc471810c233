/* perch conformance: what its files share. */
#ifndef CLI_CONFORMANCE_CONFORMANCE_COMMAND_H
#define CLI_CONFORMANCE_CONFORMANCE_COMMAND_H

#include "cli/cli.h"
#include "cli/tool/tool_source.h"
#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "conformance/trial.h"

/* What the words of the command line ask for. */
struct conformance_wish {
	const char *host; /* one of both: a command, or a path */
	const char *plugin;
	const char *protocol; /* NULL = not said */
	const char *cases;    /* a directory; NULL = ours */
	const char *command;  /* of a plugin that has several */
	const char *tool;
	const char *input;
	const char *within;      /* seconds, as text */
	struct option_list only; /* ids, or the beginnings of some */
	struct option_list args;
	bool lists;
	bool markdown;
};

/* Where verdicts go: one of both. */
struct conformance_output {
	struct page *page;
	struct envelope *envelope;
};

/* ---- conformance_target.c -------------------------------------------------------- */

struct conformance_target {
	struct trial_subject plugin;
	enum protocol protocol;
	struct manifest manifest;
	struct tool_source source;
	/* What was written for a program that has no profile; removed with the target. */
	char *profile;
	char *folder;
};

/* Finds out what wish->plugin is. 0, or an exit code after having said what is wrong.
 * conformance_target_close must follow either way. */
int conformance_target_read(
	const struct conformance_wish *wish, struct arena *arena, struct conformance_target *target);
void conformance_target_close(struct conformance_target *target);

/* Whether wish->host can be run: 0, or EXIT_USAGE after having said what is wrong. */
int conformance_check_host(const struct conformance_wish *wish);

/* The protocol of that name; EXIT_USAGE after having said that there is none. */
int conformance_protocol(const char *name, enum protocol *ret_protocol);

/* ---- conformance_print.c --------------------------------------------------------- */

/* How a case went; `cli` says how much of it is told. */
void conformance_tell(const struct cli *cli, const struct conformance_output *output,
	enum protocol protocol, const struct library_file *file, const struct conformance_case *test,
	const struct trial_report *report);

/* All cases of a library, as a table for people, for docs/conformance.md, or for
 * programs. */
void conformance_list(const struct conformance_output *output, bool markdown,
	enum protocol protocol, const struct library *library);

#endif
