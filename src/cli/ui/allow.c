/* The subcommands allow and revoke: read options, change the stored grant, print it. */
#include "cli/ui/allow.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/shell_word.h"
#include "cli/ui/console.h"
#include "proc/program.h"

struct allowing {
	const struct allow_subject *subject;
	struct cli *cli;
	bool revokes;
	struct option_list words;
	struct option_list read, write, env, presets;
	const char *net; /* "full", "none"; NULL = not said */
	bool manifest;
	const char *sandbox;
	struct option_list grants; /* words with commas between them */
	struct option_list tools;
	const char *shell;
	struct arena arena;
	const char *name;
	struct grant grant;
	const char *approved; /* in words */
	const char *granted;  /* the same */
};

/* ---- what the options mean ----------------------------------------------- */

static const char *allow_absolute(struct allowing *allowing, const char *path)
{
	char here[PATH_MAX];
	if (path[0] == '/')
		return path;
	return arena_join(&allowing->arena, getcwd(here, sizeof(here)) ? here : "", "/", path, NULL);
}

/* Refuses a link to a hidden path: the plugin that is to be allowed could have made that link. The
 * user must name the hidden path itself. */
static int allow_check_named(struct allowing *allowing, const char *path, perch_err *err)
{
	const struct policy_plugin nobody = policy_plugin_of(&allowing->arena, getenv("HOME"));
	struct sandbox_policy policy;
	const char *whole = allow_absolute(allowing, path);
	if (!whole || policy_for_plugin(&allowing->arena, &nobody, &policy) < 0)
		return err_no_memory(err);
	return allowing->revokes ? 0 : policy_check_named(whole, policy.hide, err);
}

/* A directory that is to be written and is not there is made, if the user wants that: perch never
 * allows a directory above it instead. 1 when it was made. */
static int allow_make(const struct allowing *allowing, const char *path, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	char question[FILE_SHOWN_MAX + 64];
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	struct console console;
	snprintf(question, sizeof(question), "%s does not exist. Make this directory?",
		file_shown(path, shown));
	int r = console_open(&console, allowing->cli, err);
	int said = r < 0 ? 0 : console_confirm(&console, question);
	console_close(&console);
	if (r < 0)
		return r;
	if (said > 0)
		return paths_make(path, err) < 0 ? err->code : 1;
	return err_set(err, -ENOENT, "%s: %s%s", shown, perch_strerror(-ENOENT),
		shell_advice(advice, shell_word(path, word), "; to make it: mkdir -p %s", word));
}

/* Paths are stored resolved, so that a link that is swapped later changes nothing. A path that is
 * revoked may no longer exist. */
static int allow_resolve_paths(
	struct allowing *allowing, struct option_list *list, bool makes, perch_err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		char resolved[PATH_MAX];
		char shown[FILE_SHOWN_MAX];
		int r = allow_check_named(allowing, list->items[i], err);
		if (r < 0)
			return r;
		if (!realpath(list->items[i], resolved)) {
			if (allowing->revokes && list->items[i][0] == '/')
				continue;
			if (makes && !allowing->revokes && errno == ENOENT) {
				r = allow_make(allowing, list->items[i], err);
				if (r < 0)
					return r;
				i--; /* again */
				continue;
			}
			return err_set(
				err, -errno, "%s: %s", file_shown(list->items[i], shown), perch_strerror(-errno));
		}
		list->items[i] = arena_dup(&allowing->arena, str_from(resolved));
		if (!list->items[i])
			return err_no_memory(err);
	}
	return 0;
}

static int allow_check_variables(const struct option_list *list, perch_err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *name = list->items[i];
		bool is_name = name[0] && !isdigit((unsigned char)name[0]);
		for (const char *c = name; *c && is_name; c++)
			is_name = isalnum((unsigned char)*c) || *c == '_';
		char shown[FILE_SHOWN_MAX];
		if (!is_name)
			return err_set(err, -EINVAL, "'%s' is no name of a variable", file_shown(name, shown));
	}
	return 0;
}

/* An unknown preset is an error now, not at the next run. */
static int allow_check_presets(struct allowing *allowing, perch_err *err)
{
	const char *home = getenv("HOME");
	struct sandbox_policy nothing = { 0 };
	const struct policy_widening widening = { .presets = allowing->grant.widening.presets };
	return policy_widen(&allowing->arena, home ? home : "", &widening, &nothing, err);
}

/* A stored path may have become a link since: then it matches its target as well. */
static bool allow_lists(const struct option_list *list, const char *item)
{
	char resolved[PATH_MAX];
	const char *target = list->count && item[0] == '/' ? realpath(item, resolved) : NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i], item) == 0 || (target && strcmp(list->items[i], target) == 0))
			return true;
	}
	return false;
}

/* Removes the given items from the list, and unless this is a revoke appends them: so no item
 * stands twice. */
static int allow_change_list(struct allowing *allowing, const char *const **list,
	const struct option_list *given, perch_err *err)
{
	size_t most = given->count + 1;
	for (const char *const *old = *list; old && *old; old++)
		most++;
	const char **changed = arena_alloc(&allowing->arena, most * sizeof(*changed));
	if (!changed)
		return err_no_memory(err);
	size_t count = 0;
	for (const char *const *old = *list; old && *old; old++) {
		if (!allow_lists(given, *old))
			changed[count++] = *old;
	}
	for (size_t i = 0; i < given->count && !allowing->revokes; i++)
		changed[count++] = given->items[i];
	changed[count] = NULL;
	*list = changed;
	return 0;
}

static void allow_change_net(struct allowing *allowing)
{
	struct policy_widening *widening = &allowing->grant.widening;
	if (!allowing->net)
		return;
	if (allowing->revokes)
		widening->net = WIDENING_NET_KEEP;
	else
		widening->net = strcmp(allowing->net, "full") == 0 ? WIDENING_NET_FULL : WIDENING_NET_NONE;
}

static int allow_change_grant(struct allowing *allowing, perch_err *err)
{
	struct policy_widening *widening = &allowing->grant.widening;
	int r = allow_resolve_paths(allowing, &allowing->read, false, err);
	if (r == 0)
		r = allow_resolve_paths(allowing, &allowing->write, true, err);
	if (r == 0)
		r = allow_check_variables(&allowing->env, err);
	if (r == 0)
		r = allow_change_list(allowing, &widening->read, &allowing->read, err);
	if (r == 0)
		r = allow_change_list(allowing, &widening->write, &allowing->write, err);
	if (r == 0)
		r = allow_change_list(allowing, &widening->env, &allowing->env, err);
	if (r == 0)
		r = allow_change_list(allowing, &widening->presets, &allowing->presets, err);
	if (r == 0)
		r = allow_change_list(allowing, &allowing->grant.tools, &allowing->tools, err);
	if (r == 0 && !allowing->revokes)
		r = allow_check_presets(allowing, err);
	if (r < 0)
		return r;
	allow_change_net(allowing);
	if (allowing->sandbox) {
		bool is_off = strcmp(allowing->sandbox, "off") == 0;
		widening->is_off = is_off && !allowing->revokes;
		widening->is_on = !is_off && !allowing->revokes;
	}
	return 0;
}

static bool allow_has_options(const struct allowing *allowing)
{
	return allowing->read.count || allowing->write.count || allowing->env.count ||
		allowing->presets.count || allowing->net || allowing->manifest || allowing->sandbox ||
		allowing->grants.count || allowing->shell || allowing->tools.count;
}

/* ---- doing --------------------------------------------------------------- */

static int allow_find(struct allowing *allowing, perch_err *err)
{
	const struct allow_subject *subject = allowing->subject;
	const char *word = allowing->words.items[0];
	allowing->name = word;
	int r = subject->find ? subject->find(word, &allowing->arena, &allowing->name, err) : 0;
	return r < 0
		? r
		: grants_read(subject->kind, allowing->name, &allowing->arena, &allowing->grant, err);
}

static int allow_change_shell(struct allowing *allowing, perch_err *err)
{
	const char *shell = allowing->shell;
	if (!shell)
		return 0;
	allowing->grant.shell = NULL;
	if (allowing->revokes)
		return 0;
	_cleanup_free_ char *path = NULL;
	int r = program_find(shell, (const char *const *)environ, &path, err);
	allowing->grant.shell = shell;
	return r;
}

/* Reads the grant, changes it, and writes it. Without options, revoke takes back everything, and
 * allow shows what is allowed. */
static int allow_apply(struct allowing *allowing, perch_err *err)
{
	const struct allow_subject *subject = allowing->subject;
	int r = allow_find(allowing, err);
	if (r < 0 || (!allowing->revokes && !allow_has_options(allowing)))
		return r;
	const struct grant before = allowing->grant;
	if (allowing->revokes && !allow_has_options(allowing)) {
		allowing->grant.widening = (struct policy_widening){ 0 };
		allowing->grant.callees = NULL;
		allowing->grant.shell = NULL;
		allowing->grant.tools = NULL;
	} else {
		r = allow_change_grant(allowing, err);
	}
	if (r == 0)
		r = allow_change_shell(allowing, err);
	if (r == 0)
		r = allowing->grants.count
			? subject->grant(allowing->name, &allowing->grants, allowing->revokes, &allowing->arena,
				  &allowing->grant, &allowing->granted, err)
			: 0;
	if (r == 0 && allowing->manifest)
		r = subject->approve(
			allowing->name, &allowing->arena, &allowing->grant, &allowing->approved, err);
	else if (r == 0 && subject->settle)
		r = subject->settle(allowing->name, &allowing->arena, &before, &allowing->grant, err);
	return r < 0 ? r : grants_write(subject->kind, allowing->name, &allowing->grant, err);
}

static int allow_check(const struct allowing *allowing)
{
	char hint[128];
	const char *verb = allowing->revokes ? "revoke" : "allow";
	snprintf(hint, sizeof(hint), "see: %s %s --help", allowing->subject->command, verb);
	if (allowing->words.count != 1)
		return cli_usage_error(hint, "%s takes one NAME", verb);
	if (!allowing->revokes && !allow_has_options(allowing) && !allowing->subject->has_tools)
		return cli_usage_error(hint, "allow what? An option is missing");
	if (allowing->sandbox && strcmp(allowing->sandbox, "off") != 0 &&
		strcmp(allowing->sandbox, "on") != 0)
		return cli_usage_error(hint, "--sandbox is on or off, not '%s'", allowing->sandbox);
	return 0;
}

static void allow_release(struct allowing *allowing)
{
	free(allowing->words.items);
	free(allowing->read.items);
	free(allowing->write.items);
	free(allowing->env.items);
	free(allowing->presets.items);
	free(allowing->grants.items);
	free(allowing->tools.items);
	arena_free(&allowing->arena);
}

enum { ALLOW_COMMON_OPTIONS = 7 };

/* Those that not every subject has; there is room for three. */
static void allow_add_own_options(struct allowing *allowing, struct option_spec *options)
{
	const struct allow_subject *subject = allowing->subject;
	if (!allowing->revokes && subject->approve)
		*options++ =
			(struct option_spec){ subject->approve_option, 0, OPTION_FLAG, &allowing->manifest };
	if (subject->has_tools)
		*options++ = (struct option_spec){ "tool", 0, OPTION_LIST, &allowing->tools };
	if (!subject->grant)
		return;
	*options++ = (struct option_spec){ "grant", 0, OPTION_LIST, &allowing->grants };
	*options++ = (struct option_spec){ "shell", 0, OPTION_TEXT, &allowing->shell };
}

static int allow_tell(const struct allowing *allowing)
{
	const struct allow_outcome outcome = {
		.subject = allowing->subject,
		.revokes = allowing->revokes,
		.name = allowing->name,
		.grant = &allowing->grant,
		.approved = allowing->approved,
		.granted = allowing->granted,
	};
	return allowing->cli->json ? allow_print_json(&outcome) : allow_print_for_people(&outcome);
}

static int allow_run(
	struct cli *cli, const struct allow_subject *subject, bool revokes, int argc, char **argv)
{
	struct allowing allowing = { .subject = subject, .cli = cli, .revokes = revokes };
	struct option_spec options[] = {
		{ "read", 0, OPTION_LIST, &allowing.read },
		{ "write", 0, OPTION_LIST, &allowing.write },
		{ "env", 0, OPTION_LIST, &allowing.env },
		{ "preset", 0, OPTION_LIST, &allowing.presets },
		{ "net", 0, OPTION_NET, &allowing.net },
		{ "no-net", 0, OPTION_NO_NET, &allowing.net },
		{ "sandbox", 0, OPTION_TEXT, &allowing.sandbox },
		{ 0 },
		{ 0 },
		{ 0 },
		{ 0 },
	};
	allow_add_own_options(&allowing, options + ALLOW_COMMON_OPTIONS);
	perch_err err = { 0 };
	int r = cli_options(cli, options, argc, argv, &allowing.words);
	if (r == 0)
		r = allow_check(&allowing);
	if (r == 0) {
		r = allow_apply(&allowing, &err);
		if (r < 0) {
			cli_error(NULL, "%s", err.text);
			r = EXIT_FAILURE;
		} else {
			r = allow_tell(&allowing);
		}
	}
	allow_release(&allowing);
	return r;
}

int cli_allow(struct cli *cli, const struct allow_subject *subject, int argc, char **argv)
{
	return allow_run(cli, subject, false, argc, argv);
}

int cli_revoke(struct cli *cli, const struct allow_subject *subject, int argc, char **argv)
{
	return allow_run(cli, subject, true, argc, argv);
}
