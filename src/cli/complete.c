/* perch __complete WORD…: the completions of the last word, one a line, each followed by a tab and
 * a description. When nothing is printed, the shell completes file names. */
#include <string.h>

#include "base/file.h"
#include "cli/agent/agent_commands.h"
#include "cli/cli.h"
#include "registry/registry.h"
#include "service/agent_files.h"
#include "tool/binding.h"

/* Prints a word if it begins as the user's last word does. Its description may be a stranger's
 * text: a line break in it would make another word. */
static void complete_offer(const char *begun, const char *word, const char *what)
{
	char shown[FILE_SHOWN_MAX];
	if (strncmp(word, begun, strlen(begun)) == 0)
		printf("%s\t%s\n", word, file_shown(what, shown));
}

/* ---- words --------------------------------------------------------------- */

static void complete_offer_commands(const char *begun)
{
	const struct command *command;
	for (size_t i = 0; (command = command_at(i)); i++) {
		if (command->summary)
			complete_offer(begun, command->name, command->summary);
	}
}

static void complete_offer_installed(const char *begun, bool wants_commands)
{
	struct arena arena = { 0 };
	struct registry registry;
	if (registry_read(&arena, &registry, NULL) == 0) {
		for (size_t i = 0; i < registry.count; i++) {
			const struct registry_entry *entry = &registry.entries[i];
			if (!wants_commands)
				complete_offer(begun, entry->name, entry->version);
			for (size_t j = 0; wants_commands && entry->commands[j]; j++)
				complete_offer(begun, entry->commands[j], entry->name);
		}
	}
	arena_free(&arena);
}

static void complete_offer_tools(const char *begun)
{
	struct arena arena = { 0 };
	const char *const *names;
	if (tool_binding_names(&arena, &names, NULL) == 0) {
		for (; *names; names++)
			complete_offer(begun, *names, "tool");
	}
	arena_free(&arena);
}

static void complete_offer_agents(const char *begun)
{
	struct arena arena = { 0 };
	const char *const *names;
	if (agent_file_names(&arena, &names, NULL) == 0) {
		for (; *names; names++)
			complete_offer(begun, *names, "agent");
	}
	arena_free(&arena);
}

static void complete_offer_catalogue(const char *begun)
{
	struct arena arena = { 0 };
	for (size_t i = 0; agent_catalogue_name(i).len; i++) {
		const char *name = arena_dup(&arena, agent_catalogue_name(i));
		complete_offer(begun, name ? name : "", "agent");
	}
	arena_free(&arena);
}

static void complete_offer_words(enum command_words words, const char *begun)
{
	switch (words) {
	case WORDS_COMMANDS:
		complete_offer_commands(begun);
		break;
	case WORDS_PLUGIN_COMMANDS:
	case WORDS_PLUGINS:
		complete_offer_installed(begun, words == WORDS_PLUGIN_COMMANDS);
		break;
	case WORDS_TOOLS:
		complete_offer_tools(begun);
		break;
	case WORDS_AGENTS:
		complete_offer_agents(begun);
		break;
	case WORDS_CATALOGUE:
		complete_offer_catalogue(begun);
		break;
	case WORDS_SHELLS:
		for (const struct completion_shell *shell = completion_shells; shell->name; shell++)
			complete_offer(begun, shell->name, "shell");
		break;
	case WORDS_FILES:
		break;
	}
}

/* ---- options ------------------------------------------------------------- */

static size_t complete_option_length(const char *text)
{
	return 2 + strspn(text + 2, "abcdefghijklmnopqrstuvwxyz-");
}

/* The help names every option of a command: nothing needs to be listed twice. */
static void complete_offer_options(const char *help, const char *begun)
{
	for (const char *at = help; at && (at = strstr(at, "--")); at += complete_option_length(at)) {
		size_t len = complete_option_length(at);
		char word[64];
		if (len < 3 || len >= sizeof(word) || (at > help && at[-1] == '-'))
			continue;
		memcpy(word, at, len);
		word[len] = '\0';
		const char *before = strstr(help, word);
		if (before == at)
			complete_offer(begun, word, "option");
	}
}

/* ---- the command -------------------------------------------------------- */

static void complete_offer_subcommands(const struct command *command, const char *begun)
{
	for (const struct command *const *at = command->subcommands; *at; at++)
		complete_offer(begun, (*at)->name, (*at)->summary);
}

/* The words before the last one lead to a command; words that name none are its arguments. */
static int complete_run(struct cli *cli, int argc, char **argv)
{
	const char *begun = argc > 1 ? argv[argc - 1] : "";
	const struct command *command = NULL;
	int words = 0; /* arguments of the command */
	for (int i = 1; i + 1 < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		const struct command *next =
			command ? command_find_in(command->subcommands, argv[i]) : command_find(argv[i]);
		if (!next)
			words++;
		else
			command = next;
	}
	if (command && command->program)
		return companion_become(cli, command);
	if (begun[0] == '-')
		complete_offer_options(command ? command->help : "--json --color --version --help", begun);
	else if (!command)
		complete_offer_commands(begun);
	else if (command->subcommands)
		complete_offer_subcommands(command, begun);
	else if (words == 0)
		complete_offer_words(command->words, begun);
	return 0;
}

const struct command command_complete = { .name = "__complete", .run = complete_run };
