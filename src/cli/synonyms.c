/* Words of other tools for what perch calls otherwise: as a subcommand they work, as a command they
 * are answered by what there is. */
#include <string.h>

#include "base/buf.h"
#include "base/macros.h"
#include "cli/cli.h"

static const struct {
	const char *word;
	const char *names[2]; /* what it stands for here, the first that there is */
} synonyms[] = {
	{ "ls", { "list" } },
	{ "rm", { "remove" } },
	{ "uninstall", { "remove" } },
	{ "delete", { "remove" } },
	{ "new", { "create" } },
	{ "init", { "create" } },
	{ "info", { "show", "audit" } },
	{ "describe", { "show" } },
	{ "upgrade", { "update" } },
	{ "exec", { "run" } },
	{ "logs", { "log" } },
};

const struct command *synonym_find(const struct command *const *list, const char *word)
{
	const struct command *command = NULL;
	for (size_t i = 0; i < COUNT(synonyms) && !command; i++) {
		for (size_t k = 0; strcmp(synonyms[i].word, word) == 0 && k < 2 && !command; k++)
			command = command_named(list, synonyms[i].names[k]);
	}
	return command;
}

/* "perch plugins list, perch tool list", for a word that is none of perch's own commands. */
void synonym_suggest(const struct command *const *table, const char *word, struct buf *hint)
{
	for (; *table; table++) {
		const struct command *command =
			(*table)->summary ? command_find_in((*table)->subcommands, word) : NULL;
		if (command)
			buf_printf(hint, "%sperch %s %s", hint->len ? ", " : "", (*table)->name, command->name);
	}
}
