/* The argv of an agent. The template is split, never what is put into it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/launch.h"
#include "agent/template.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "proc/program.h"

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool has_blank(const char *text)
{
	for (; *text; text++) {
		if (is_blank(*text))
			return true;
	}
	return false;
}

/* ---- tokens: templates, one for each element of argv ---------------------- */

struct tokens {
	struct str *items;
	size_t count;
};

static void add_split(struct tokens *tokens, const char *text)
{
	while (*text) {
		while (is_blank(*text))
			text++;
		const char *start = text;
		while (*text && !is_blank(*text))
			text++;
		if (text > start)
			tokens->items[tokens->count++] = (struct str){ start, (size_t)(text - start) };
	}
}

static int make_tokens(const struct agent_profile *profile, bool splits, struct arena *arena,
	struct tokens *ret_tokens)
{
	size_t most = strlen(profile->command) + list_count(profile->args) + 1;
	struct tokens tokens = { .items = arena_alloc(arena, most * sizeof(*tokens.items)) };
	if (!tokens.items)
		return -ENOMEM;
	if (splits)
		add_split(&tokens, profile->command);
	else
		tokens.items[tokens.count++] = str_from(profile->command);
	for (const char *const *arg = profile->args; *arg; arg++)
		tokens.items[tokens.count++] = str_from(*arg);
	*ret_tokens = tokens;
	return 0;
}

/* ---- a shell and the message ---------------------------------------------- */

static bool is_shell(struct str token)
{
	static const char *const shells[] = { "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish",
		"busybox" };
	const char *slash = token.len ? memrchr(token.data, '/', token.len) : NULL;
	size_t skip = slash ? (size_t)(slash - token.data) + 1 : 0;
	struct str name = { token.data + skip, token.len - skip };
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (str_is(name, shells[i]))
			return true;
	}
	return false;
}

static bool is_option(struct str token)
{
	return token.len > 1 && (token.data[0] == '-' || token.data[0] == '+');
}

/* -c, -lc, -ec … */
static bool takes_script(struct str token)
{
	return token.len > 1 && token.data[0] == '-' && token.data[1] != '-' &&
		memchr(token.data, 'c', token.len);
}

/* Where the script of the first shell -c stands; count = there is none. */
static size_t find_script(const struct tokens *tokens)
{
	size_t i = 0;
	while (i < tokens->count && !is_shell(tokens->items[i]))
		i++;
	while (i < tokens->count && !takes_script(tokens->items[i]))
		i++;
	while (i < tokens->count && is_option(tokens->items[i]))
		i++;
	return i;
}

/* Somebody who wrote quotes into a command that is split meant all that follows. */
static bool begins_quote(struct str token)
{
	return token.len && (token.data[0] == '"' || token.data[0] == '\'');
}

static int check_shell(const struct tokens *tokens, perch_err *err)
{
	size_t at = find_script(tokens);
	bool is_quoted = at < tokens->count && begins_quote(tokens->items[at]);
	for (size_t i = at; i < tokens->count && (i == at || is_quoted); i++) {
		if (template_uses_message(tokens->items[i]))
			return err_set(err, -EINVAL,
				"refused: a shell would read {{MESSAGE}} as a part of its script, and run what a "
				"chat user writes; use \"$AGENT_MESSAGE\" in the script instead "
				"(--allow-shell-message runs it all the same)");
	}
	return 0;
}

int command_check_shell(const struct agent_profile *profile, struct arena *arena, perch_err *err)
{
	struct tokens tokens;
	const struct dialect *dialect = dialect_of(profile->dialect);
	if (make_tokens(profile, dialect->splits_command, arena, &tokens) < 0)
		return err_no_memory(err);
	return dialect->has_message ? check_shell(&tokens, err) : 0;
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

/* ---- argv ------------------------------------------------------------------ */

/* Whether the text as a whole names a program, as the child will look for it. */
static bool names_program(const struct launch *launch, const char *text)
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
static int splits(struct launch *launch, bool *ret_splits, perch_err *err)
{
	const struct agent_profile *profile = launch->options->profile;
	*ret_splits = launch->dialect->splits_command;
	if (!*ret_splits || !profile->has_args || !has_blank(profile->command))
		return 0;
	const char *whole;
	int r = launch_expand(launch, str_from(profile->command), false, "command", &whole, err);
	if (r == 0)
		*ret_splits = !names_program(launch, whole);
	return r;
}

int launch_make_argv(struct launch *launch, perch_err *err)
{
	bool is_split = false;
	struct tokens tokens = { 0 };
	int r = splits(launch, &is_split, err);
	if (r < 0)
		return r;
	if (make_tokens(launch->options->profile, is_split, launch->arena, &tokens) < 0)
		return err_no_memory(err);
	const char **argv = arena_alloc(launch->arena, (tokens.count + 1) * sizeof(*argv));
	if (!argv)
		return err_no_memory(err);
	for (size_t i = 0; r == 0 && i < tokens.count; i++)
		r = launch_expand(launch, tokens.items[i], false, "an argument", &argv[i], err);
	if (r < 0)
		return r;
	argv[tokens.count] = NULL;
	launch->argv = argv;
	bool is_checked = launch->dialect->has_message && !launch->options->allow_shell_message;
	return is_checked ? check_shell(&tokens, err) : 0;
}
