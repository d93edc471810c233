/* The policy of `perch sandbox run`, from its words. */
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/sandbox/sandbox_commands.h"

/* ---- limits ---------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t offset; /* in perch_sandbox_limits */
	bool has_unit;
} limit_names[] = {
	{ "memory", offsetof(perch_sandbox_limits, memory), true },
	{ "processes", offsetof(perch_sandbox_limits, processes), false },
	{ "files", offsetof(perch_sandbox_limits, files), false },
	{ "size", offsetof(perch_sandbox_limits, size), true },
	{ "cpu", offsetof(perch_sandbox_limits, cpu), false },
};

enum { LIMIT_NAMES = COUNT(limit_names) };

static int sandbox_request_set_limit(perch_sandbox_limits *limits, const char *word)
{
	for (size_t i = 0; i < LIMIT_NAMES; i++) {
		size_t len = strlen(limit_names[i].name);
		if (strncmp(word, limit_names[i].name, len) != 0 || word[len] != '=')
			continue;
		uint64_t *amount = (uint64_t *)((char *)limits + limit_names[i].offset);
		if (options_amount(word + len + 1, limit_names[i].has_unit, amount)) {
			*amount = *amount ? *amount : UINT64_MAX; /* none */
			return 0;
		}
		return cli_usage_error("write a number; bytes may have a unit: 512M, 1G (0 = no limit)",
			"--limit %s: '%s' is no amount", limit_names[i].name, word + len + 1);
	}
	return cli_usage_error("there are: memory=1G,processes=64,files=256,size=256M,cpu=60",
		"--limit has no '%s'", word);
}

/* Each --limit may have several, with commas between them. */
static int sandbox_request_set_limits(perch_sandbox_limits *limits, const struct option_list *given)
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

/* ---- the policy --------------------------------------------------------------- */

static int sandbox_request_check_words(const struct sandbox_request *request)
{
	const char *policy = request->policy_name;
	if (strcmp(policy, "fledge") != 0 && strcmp(policy, "tool") != 0)
		return cli_usage_error(NULL, "--policy is fledge or tool, not '%s'", policy);
	const char *mode = request->on_unsupported;
	if (mode && strcmp(mode, "refuse") != 0 && strcmp(mode, "warn") != 0)
		return cli_usage_error(NULL, "--on-unsupported is refuse or warn, not '%s'", mode);
	return 0;
}

/* A list that ends with NULL: the words stay the request's. */
static int sandbox_request_end_list(struct option_list *list, const char *const **ret_items)
{
	int r = options_add(list, NULL);
	if (r)
		return r;
	list->count--;
	*ret_items = list->items;
	return 0;
}

static int sandbox_request_lists(struct sandbox_request *request, perch_sandbox_options *options)
{
	int r = sandbox_request_end_list(&request->read, &options->read);
	if (r == 0)
		r = sandbox_request_end_list(&request->write, &options->write);
	if (r == 0)
		r = sandbox_request_end_list(&request->hide, &options->hide);
	if (r == 0)
		r = sandbox_request_end_list(&request->env, &options->env);
	return r ? r : sandbox_request_end_list(&request->presets, &options->presets);
}

int sandbox_request_options(struct sandbox_request *request, perch_sandbox_options *options)
{
	const char *net = request->net;
	const char *mode = request->on_unsupported;
	int r = sandbox_request_check_words(request);
	if (r == 0)
		r = sandbox_request_lists(request, options);
	if (r == 0)
		r = sandbox_request_set_limits(&options->limits, &request->limits);
	if (strcmp(request->policy_name, "tool") == 0)
		options->base = PERCH_SANDBOX_OF_TOOL;
	if (net)
		options->net = strcmp(net, "full") == 0 ? PERCH_SANDBOX_NET_FULL : PERCH_SANDBOX_NET_NONE;
	if (mode)
		options->unsupported = strcmp(mode, "refuse") == 0 ? PERCH_SANDBOX_UNSUPPORTED_REFUSE
														   : PERCH_SANDBOX_UNSUPPORTED_WARN;
	options->is_strict = request->is_strict;
	options->has_streams = true;
	return r;
}
