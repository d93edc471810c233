/* The policy of `perch sandbox run`, from its options. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/paths.h"
#include "cli/sandbox/sandbox_commands.h"
#include "registry/grants.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/policy/way.h"

/* ---- limits ---------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t offset; /* in struct sandbox_limits */
	bool has_unit;
} limit_names[] = {
	{ "memory", offsetof(struct sandbox_limits, memory), true },
	{ "processes", offsetof(struct sandbox_limits, processes), false },
	{ "files", offsetof(struct sandbox_limits, files), false },
	{ "size", offsetof(struct sandbox_limits, size), true },
	{ "cpu", offsetof(struct sandbox_limits, cpu), false },
};

enum { LIMIT_NAMES = COUNT(limit_names) };

static int sandbox_request_set_limit(struct sandbox_limits *limits, const char *word)
{
	for (size_t i = 0; i < LIMIT_NAMES; i++) {
		size_t len = strlen(limit_names[i].name);
		if (strncmp(word, limit_names[i].name, len) != 0 || word[len] != '=')
			continue;
		uint64_t *amount = (uint64_t *)((char *)limits + limit_names[i].offset);
		if (options_amount(word + len + 1, limit_names[i].has_unit, amount))
			return 0;
		return cli_usage_error("write a number; bytes may have a unit: 512M, 1G (0 = no limit)",
			"--limit %s: '%s' is no amount", limit_names[i].name, word + len + 1);
	}
	return cli_usage_error("there are: memory=1G,processes=64,files=256,size=256M,cpu=60",
		"--limit has no '%s'", word);
}

/* Each --limit may have several, with commas between them. */
static int sandbox_request_set_limits(
	struct sandbox_limits *limits, const struct option_list *given)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < given->count; i++) {
		struct str rest = str_from(given->items[i]);
		while (r == 0 && rest.len) {
			_cleanup_free_ char *word = str_dup(str_cut(&rest, ','));
			r = word ? sandbox_request_set_limit(limits, word) : EXIT_HOST;
		}
	}
	return r;
}

/* ---- paths ------------------------------------------------------------------ */

/* Absolute, because a policy knows no current directory. Links and missing paths stay as they are:
 * the sandbox judges them, see policy_check_named. */
static const char *sandbox_request_absolute(
	struct arena *arena, const char *directory, const char *path)
{
	struct path_list links;
	struct way way;
	const char *joined = path[0] == '/' ? path : arena_join(arena, directory, "/", path, NULL);
	path_list_begin(&links, arena, NULL);
	if (!joined || links.failed)
		return NULL;
	bool is_plain = way_find(&way, joined, &links) == 0 && !links.count;
	way_leave(&way);
	if (links.failed || !is_plain)
		return links.failed ? NULL : joined;
	return arena_dup(arena, str_from(way.path[0] ? way.path : "/"));
}

static const char *const *sandbox_request_absolute_list(
	struct arena *arena, const char *directory, const struct option_list *given)
{
	struct path_list list;
	path_list_begin(&list, arena, NULL);
	for (size_t i = 0; i < given->count; i++) {
		const char *path = sandbox_request_absolute(arena, directory, given->items[i]);
		list.failed |= !path;
		path_list_add(&list, path ? path : "");
	}
	return list.failed ? NULL : list.items;
}

static const char *const *sandbox_request_as_list(
	struct arena *arena, const struct option_list *given)
{
	struct path_list list;
	path_list_begin(&list, arena, NULL);
	for (size_t i = 0; i < given->count; i++)
		path_list_add(&list, given->items[i]);
	return list.failed ? NULL : list.items;
}

/* ---- the policy --------------------------------------------------------------- */

static int sandbox_request_default_policy(const struct sandbox_request *request,
	const char *directory, struct arena *arena, struct sandbox_policy *ret_policy)
{
	const char *home = getenv("HOME");
	const struct policy_tool tool = { .home = home ? home : "", .directory = "" };
	if (strcmp(request->policy_name, "tool") == 0)
		return policy_for_tool(arena, &tool, ret_policy);
	struct policy_plugin plugin = policy_plugin_of(arena, home);
	plugin.project = directory;
	plugin.may_write_project = true;
	return policy_for_plugin(arena, &plugin, ret_policy);
}

/* A file or terminal that one of our own streams is open on can be opened by its name, too:
 * programs write to /dev/stdout. The name counts only if it still leads to the open file. */
static void sandbox_request_add_stream(struct path_list *list, int fd, int mode)
{
	char link[32];
	char path[PATH_MAX];
	struct stat opened;
	struct stat named;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	int flags = fcntl(fd, F_GETFL);
	if (len <= 0 || flags < 0 || (flags & O_ACCMODE) == (mode == O_RDONLY ? O_WRONLY : O_RDONLY))
		return;
	path[len] = '\0';
	if (fstat(fd, &opened) < 0 || !(S_ISREG(opened.st_mode) || isatty(fd)) ||
		stat(path, &named) < 0 || named.st_dev != opened.st_dev || named.st_ino != opened.st_ino)
		return;
	const char *kept = arena_dup(list->arena, str_from(path));
	list->failed |= !kept;
	path_list_add(list, kept ? kept : "");
}

/* Adds --hide, our streams, and the program itself, which is readable in every policy. */
static int sandbox_request_add_lists(const struct sandbox_request *request, const char *directory,
	const char *program, struct arena *arena, struct sandbox_policy *policy)
{
	struct path_list hide;
	struct path_list read;
	struct path_list write;
	path_list_begin(&hide, arena, policy->hide);
	path_list_begin(&read, arena, policy->read);
	path_list_begin(&write, arena, policy->write);
	const char *const *hidden = sandbox_request_absolute_list(arena, directory, &request->hide);
	for (; hidden && *hidden; hidden++)
		path_list_add(&hide, *hidden);
	path_list_add(&read, program);
	sandbox_request_add_stream(&read, STDIN_FILENO, O_RDONLY);
	sandbox_request_add_stream(&write, STDOUT_FILENO, O_WRONLY);
	sandbox_request_add_stream(&write, STDERR_FILENO, O_WRONLY);
	if (!hidden || hide.failed || read.failed || write.failed)
		return cli_no_memory();
	policy->hide = hide.items;
	policy->read = read.items;
	policy->write = write.items;
	return 0;
}

static int sandbox_request_check_words(const struct sandbox_request *request)
{
	const char *policy = request->policy_name;
	if (strcmp(policy, "fledge") != 0 && strcmp(policy, "tool") != 0)
		return cli_usage_error(NULL, "--policy is fledge or tool, not '%s'", policy);
	const char *net = request->net;
	if (net && strcmp(net, "none") != 0 && strcmp(net, "full") != 0)
		return cli_usage_error(NULL, "--net is none or full, not '%s'", net);
	const char *mode = request->on_unsupported;
	if (mode && strcmp(mode, "refuse") != 0 && strcmp(mode, "warn") != 0)
		return cli_usage_error(NULL, "--on-unsupported is refuse or warn, not '%s'", mode);
	return 0;
}

static int sandbox_request_widen(const struct sandbox_request *request, const char *directory,
	struct arena *arena, struct sandbox_policy *policy, struct policy_widening *ret_widening)
{
	struct policy_widening widening = {
		.read = sandbox_request_absolute_list(arena, directory, &request->read),
		.write = sandbox_request_absolute_list(arena, directory, &request->write),
		.env = sandbox_request_as_list(arena, &request->env),
		.presets = sandbox_request_as_list(arena, &request->presets),
	};
	if (!widening.read || !widening.write || !widening.env || !widening.presets)
		return cli_no_memory();
	if (request->net)
		widening.net = strcmp(request->net, "full") == 0 ? WIDENING_NET_FULL : WIDENING_NET_NONE;
	const char *home = getenv("HOME");
	perch_err err = { 0 };
	int r = policy_widen(arena, home ? home : "", &widening, policy, &err);
	if (r == -EINVAL)
		return cli_usage_error(NULL, "%s", err.text);
	if (r < 0)
		return cli_no_memory();
	*ret_widening = widening;
	return 0;
}

/* Protects the files that decide other sandboxes: profiles, bindings and their programs. */
static int sandbox_request_protect(struct arena *arena, struct sandbox_policy *policy)
{
	const char *const *deciding = NULL;
	perch_err err = { 0 };
	int r = grants_deciding(arena, &deciding, &err);
	if (r < 0 && r != -ENOMEM) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	return r < 0 || policy_protect(arena, deciding, policy) < 0 ? cli_no_memory() : 0;
}

int sandbox_request_policy(const struct sandbox_request *request, const char *program,
	struct arena *arena, struct sandbox_policy *ret_policy, struct policy_widening *ret_widening)
{
	int r = sandbox_request_check_words(request);
	if (r)
		return r;
	char directory[PATH_MAX];
	if (!getcwd(directory, sizeof(directory)))
		directory[0] = '\0';
	const char *kept = arena_dup(arena, str_from(directory));
	struct sandbox_policy policy;
	if (!kept || sandbox_request_default_policy(request, kept, arena, &policy) < 0)
		return cli_no_memory();
	r = sandbox_request_add_lists(request, kept, program, arena, &policy);
	if (r == 0)
		r = sandbox_request_widen(request, kept, arena, &policy, ret_widening);
	if (r == 0)
		r = sandbox_request_set_limits(&policy.limits, &request->limits);
	if (r == 0)
		r = sandbox_request_protect(arena, &policy);
	if (r)
		return r;
	if (request->on_unsupported)
		policy.refuses_unsupported = strcmp(request->on_unsupported, "refuse") == 0;
	policy.is_strict = request->is_strict;
	*ret_policy = policy;
	return 0;
}
