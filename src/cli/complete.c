/* perch __complete WORD…: the completions of the last word, one a line, each followed by a tab and
 * a description. When nothing is printed, the shell completes file names. */
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/paths.h"
#include "cli/agent/agent_commands.h"
#include "cli/cli.h"
#include "perch/sessions.h"
#include "registry/capabilities.h"
#include "registry/manifest.h"
#include "registry/registry.h"
#include "sandbox/policy/policy.h"
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

/* Opening the sessions would make them where there are none. */
static bool complete_has_sessions(void)
{
	_cleanup_free_ char *path = NULL;
	return paths_user(PATH_STATE, "perch/sessions.db", &path, NULL) == 0 && access(path, R_OK) == 0;
}

/* A name that a shell would take for several words is left out; so is one that was there before. */
static void complete_offer_session(const perch_session *list, size_t at, const char *begun)
{
	const char *name = list[at].name;
	bool is_word = name[0] != '\0';
	for (const char *c = name; *c; c++)
		is_word =
			is_word && (unsigned char)*c > ' ' && *c != 0x7F && !strchr("'\"\\`$&|;<>()*?!", *c);
	for (size_t i = 0; i < at && is_word; i++)
		is_word = strcmp(list[i].name, name) != 0;
	if (is_word)
		complete_offer(begun, name, "session");
}

enum { SESSIONS_OFFERED = 200 };

static void complete_offer_sessions(const char *begun)
{
	perch_sessions *sessions = NULL;
	const perch_session *list = NULL;
	size_t count = 0;
	if (complete_has_sessions() && perch_sessions_open(&sessions, NULL) == 0 &&
		perch_sessions_list(sessions, NULL, &list, &count, NULL) == 0) {
		for (size_t i = 0; i < count && i < SESSIONS_OFFERED; i++)
			complete_offer_session(list, i, begun);
	}
	perch_sessions_free(sessions);
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
	case WORDS_SESSIONS:
		complete_offer(begun, "list", "all of them");
		complete_offer(begun, "show", "one, with all that is known of it");
		complete_offer(begun, "rm", "forget it");
		break;
	case WORDS_HOOKS:
		complete_offer(begun, "run", "the hooks for an event");
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

/* Words that need no explanation. */
static void complete_offer_list(const char *const *words, const char *begun, const char *what)
{
	for (; *words; words++)
		complete_offer(begun, *words, what);
}

/* One command's help names the command itself. */
static bool complete_is_of_plugins(const struct command *command)
{
	return command && command->help && strstr(command->help, "usage: perch plugins ");
}

static void complete_offer_languages(const struct command *command, const char *begun)
{
	static const char *const of_plugins[] = { "bash", "python", "node", "c", NULL };
	static const char *const others[] = { "sh", "python", "javascript", "c", NULL };
	complete_offer_list(complete_is_of_plugins(command) ? of_plugins : others, begun, "language");
}

static void complete_offer_colors(const struct command *command, const char *begun)
{
	static const char *const words[] = { "auto", "always", "never", NULL };
	(void)command;
	complete_offer_list(words, begun, "when");
}

static void complete_offer_presets(const struct command *command, const char *begun)
{
	(void)command;
	for (size_t i = 0; policy_preset(i); i++)
		complete_offer(begun, policy_preset(i), "preset");
}

/* What a tool requests is known when it has said so; a plugin can ask for these. */
static void complete_offer_grants(const struct command *command, const char *begun)
{
	if (!complete_is_of_plugins(command))
		return;
	for (const struct capability *one = capability_table; one->name; one++)
		complete_offer(begun, one->name, one->meaning);
	complete_offer(begun, WISH_PLUGINS, WISH_PLUGINS_MEANING);
	complete_offer(begun, "none", "nothing");
}

static void complete_offer_profiles(const struct command *command, const char *begun)
{
	(void)command;
	complete_offer_agents(begun);
}

static void complete_offer_session_names(const struct command *command, const char *begun)
{
	(void)command;
	complete_offer_sessions(begun);
}

static void complete_offer_thinking(const struct command *command, const char *begun)
{
	(void)command;
	complete_offer(begun, "show", "what the agent thinks, line by line");
	complete_offer(begun, "fold", "one line that it thinks");
	complete_offer(begun, "hide", "nothing of it");
}

static void complete_offer_protocols(const struct command *command, const char *begun)
{
	(void)command;
	complete_offer(begun, "0.1", "AgentProc");
	complete_offer(begun, "0.4", "AgentProc");
}

/* The values of options. */
static const struct complete_value {
	const char *option;
	void (*offer)(const struct command *command, const char *begun);
} complete_values[] = {
	{ "--color", complete_offer_colors },
	{ "--grant", complete_offer_grants },
	{ "--lang", complete_offer_languages },
	{ "-l", complete_offer_languages },
	{ "--preset", complete_offer_presets },
	{ "--profile", complete_offer_profiles },
	{ "-p", complete_offer_profiles },
	{ "--protocol", complete_offer_protocols },
	{ "--session-name", complete_offer_session_names },
	{ "--thinking", complete_offer_thinking },
};

/* Whether the word before is an option whose values are known. */
static bool complete_offer_value(
	const struct command *command, const char *option, const char *begun)
{
	for (size_t i = 0; i < COUNT(complete_values); i++) {
		if (strcmp(complete_values[i].option, option) != 0)
			continue;
		complete_values[i].offer(command, begun);
		return true;
	}
	return false;
}

/* ---- the command -------------------------------------------------------- */

static void complete_offer_subcommands(const struct command *command, const char *begun)
{
	for (const struct command *const *at = command->subcommands; *at; at++)
		complete_offer(begun, (*at)->name, (*at)->summary);
}

/* Behind the name of a binding, its tools. */
static void complete_offer_tools_of(const char *name, const char *begun)
{
	struct arena arena = { 0 };
	struct tool_binding binding;
	if (tool_binding_find(name, &arena, &binding, NULL) == 0) {
		for (size_t i = 0; i < binding.tool_count; i++)
			complete_offer(begun, binding.tools[i].name, binding.tools[i].description);
	}
	arena_free(&arena);
}

/* The second word, where it depends on the first. */
static void complete_offer_second(
	const struct command *command, const char *first, const char *begun)
{
	if (command->words == WORDS_SESSIONS)
		complete_offer_sessions(begun);
	else if (strcmp(command->name, "call") == 0)
		complete_offer_tools_of(first, begun);
	for (size_t i = 0; command->words == WORDS_HOOKS && i < HOOK_COUNT; i++) {
		if (hook_table[i].is_lifecycle)
			complete_offer(begun, hook_table[i].name, "event");
	}
}

/* The words before the last one lead to a command; words that name none are its arguments. Behind
 * `help` they lead to what is explained. */
struct complete_place {
	const struct command *command;
	bool is_help;
	int words; /* arguments of the command */
	const char *first;
};

static struct complete_place complete_find(int argc, char **argv)
{
	struct complete_place place = { 0 };
	for (int i = 1; i + 1 < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		const struct command *at = place.command;
		const struct command *next =
			at ? command_find_in(at->subcommands, argv[i]) : command_find(argv[i]);
		if (next == &command_help)
			place.is_help = true;
		else if (next)
			place.command = next;
		else if (place.words++ == 0)
			place.first = argv[i];
	}
	return place;
}

static int complete_run(struct cli *cli, int argc, char **argv)
{
	const char *begun = argc > 1 ? argv[argc - 1] : "";
	const struct complete_place place = complete_find(argc, argv);
	const struct command *command = place.command;
	int words = place.words;
	if (command && command->program)
		return companion_become(cli, command);
	if (argc > 2 && complete_offer_value(command, argv[argc - 2], begun))
		return 0;
	if (place.is_help && !command)
		complete_offer(begun, "options", "those that every command takes");
	if (begun[0] == '-')
		complete_offer_options(command ? command->help : "--json --color --version --help", begun);
	else if (!command)
		complete_offer_commands(begun);
	else if (command->subcommands)
		complete_offer_subcommands(command, begun);
	else if (words == 0 && !place.is_help)
		complete_offer_words(command->words, begun);
	else if (words == 1 && !place.is_help)
		complete_offer_second(command, place.first, begun);
	return 0;
}

const struct command command_complete = { .name = "__complete", .run = complete_run };
