/* The argv of an agent. The template is split, never the values put into it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent_launch.h"
#include "agent/template.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "proc/program.h"

static bool command_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool command_has_blank(const char *text)
{
	for (; *text; text++) {
		if (command_is_blank(*text))
			return true;
	}
	return false;
}

/* ---- words: templates, one for each element of argv ---------------------- */

static void command_add_split(struct argv_words *words, const char *text)
{
	while (*text) {
		while (command_is_blank(*text))
			text++;
		const char *start = text;
		while (*text && !command_is_blank(*text))
			text++;
		if (text > start)
			words->items[words->count++] = (struct str){ start, (size_t)(text - start) };
	}
}

static int command_make_words(const struct agent_profile *profile, bool splits, struct arena *arena,
	struct argv_words *ret_words)
{
	size_t most = strlen(profile->command) + list_count(profile->args) + 1;
	struct str *items = arena_alloc(arena, most * sizeof(*items));
	struct argv_words words = { .items = items, .message_on_stdin = profile->message_on_stdin };
	if (!items)
		return -ENOMEM;
	if (splits)
		command_add_split(&words, profile->command);
	else
		words.items[words.count++] = str_from(profile->command);
	for (const char *const *arg = profile->args; *arg; arg++)
		words.items[words.count++] = str_from(*arg);
	*ret_words = words;
	return 0;
}

/* ---- a shell and the message ---------------------------------------------- */

static bool command_uses_nothing(struct str template)
{
	(void)template;
	return false;
}

/* A stranger who writes to a chat writes the message, and often the name of the session too. */
static int command_check_for_shell(
	const struct dialect *dialect, struct argv_words words, perch_err *err)
{
	words.uses = dialect->has_message ? template_uses_message : command_uses_nothing;
	words.message_on_stdin |= dialect->has_turn_line;
	if (shell_reads_message(&words))
		return err_set(err, -EINVAL,
			"refused: a shell would read the message as a part of its script, and run what a chat "
			"user writes; %s (--allow-shell-message runs it all the same)",
			dialect->has_message ? "use \"$AGENT_MESSAGE\" in the script instead"
								 : "give the shell a script");
	words.uses = template_uses_session_name;
	words.message_on_stdin = false;
	if (shell_reads_message(&words))
		return err_set(err, -EINVAL,
			"refused: a shell would read the name of the session as a part of its script, and run "
			"what a chat user writes; give it behind the script, [-c, 'echo \"$1\"', sh, "
			"\"{{SESSION_NAME}}\"] (--allow-shell-message runs it all the same)");
	return 0;
}

/* ---- quotes ------------------------------------------------------------------ */

const char *command_quotes_advice(const struct agent_profile *profile)
{
	const char *quote = strpbrk(profile->command, "'\"");
	if (!quote || !strchr(quote + 1, *quote))
		return NULL;
	return "quotes in command are not read as in a shell: write it without them, and its arguments "
		   "as a list, args: [\"…\", \"…\"]";
}

/* ---- a path that starts somewhere else ------------------------------------------ */

static bool command_is_beside(const struct launch *launch, const char *path)
{
	_cleanup_free_ char *beside = str_join(launch->options->profile->directory, "/", path, NULL);
	return beside && access(beside, F_OK) == 0;
}

bool command_explain_file(
	const struct launch *launch, const char *path, char ret_text[COMMAND_ADVICE_MAX])
{
	const char *below = strncmp(path, "./", 2) == 0 ? path + 2 : path;
	bool is_path = strchr(path, '/');
	if (path[0] == '/' || (!is_path && !command_is_beside(launch, path)))
		return false;
	snprintf(ret_text, COMMAND_ADVICE_MAX,
		"%s; {{PROFILE_DIR}}/%.150s is the one beside the profile",
		is_path ? "a relative path starts in the agent's directory" : "it is named without a path",
		below);
	return true;
}

bool command_explain_path(const struct launch *launch, char ret_text[COMMAND_ADVICE_MAX])
{
	const char *program = launch->argv ? launch->argv[0] : NULL;
	if (!program || launch->dialect->splits_command || !command_has_blank(program))
		return program && command_explain_file(launch, program, ret_text);
	snprintf(ret_text, COMMAND_ADVICE_MAX,
		"AgentProc %s does not split a command: write its arguments as a list, args: [\"…\", "
		"\"…\"]",
		launch->dialect->version);
	return true;
}

/* ---- argv ------------------------------------------------------------------ */

/* Whether the text as a whole names a program, as the child will look for it. */
static bool command_names_program(const struct launch *launch, const char *text)
{
	struct stat info;
	if (!strchr(text, '/')) {
		_cleanup_free_ char *path = NULL;
		return program_find(text, launch->env, &path, NULL) == 0;
	}
	_cleanup_fd_ int cwd = launch->cwd ? open(launch->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int base = launch->cwd ? cwd : AT_FDCWD;
	return fstatat(base, text, &info, 0) == 0 && S_ISREG(info.st_mode) &&
		faccessat(base, text, X_OK, AT_EACCESS) == 0;
}

/* Whether the command is split: not in 0.4, and with args only when it does not
 * name a program as it is. */
static int command_splits(struct launch *launch, bool *ret_splits, perch_err *err)
{
	const struct agent_profile *profile = launch->options->profile;
	*ret_splits = launch->dialect->splits_command;
	if (!*ret_splits || !profile->has_args || !command_has_blank(profile->command))
		return 0;
	const char *whole;
	const struct launch_place place = { "command", .most = AGENT_ARGUMENT_MAX };
	int r = launch_expand(launch, str_from(profile->command), &place, &whole, err);
	if (r == 0)
		*ret_splits = !command_names_program(launch, whole);
	return r;
}

int launch_words(struct launch *launch, struct argv_words *ret_words, perch_err *err)
{
	bool is_split = false;
	int r = command_splits(launch, &is_split, err);
	if (r == 0 &&
		command_make_words(launch->options->profile, is_split, launch->arena, ret_words) < 0)
		r = err_no_memory(err);
	return r;
}

int launch_make_argv(struct launch *launch, perch_err *err)
{
	struct argv_words words = { 0 };
	const struct launch_place place = { "an argument", .most = AGENT_ARGUMENT_MAX };
	int r = launch_words(launch, &words, err);
	if (r < 0)
		return r;
	const char **argv = arena_alloc(launch->arena, (words.count + 1) * sizeof(*argv));
	if (!argv)
		return err_no_memory(err);
	for (size_t i = 0; r == 0 && i < words.count; i++)
		r = launch_expand(launch, words.items[i], &place, &argv[i], err);
	if (r < 0)
		return r;
	argv[words.count] = NULL;
	launch->argv = argv;
	bool is_checked = !launch->options->allow_shell_message;
	return is_checked ? command_check_for_shell(launch->dialect, words, err) : 0;
}
