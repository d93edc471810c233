/* What the git that perch starts for itself may do. The repository that it looks at may come from a
 * stranger, and a repository tells git what to run: so git may run nothing. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "sandbox/policy/hidden_paths.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/policy/policy.h"

/* Hides the credential stores, then fledge's and perch's own directories. The repository may lie in
 * the latter, as that of a plugin which is being developed does, and is revealed there. */
static void policy_git_hide(struct arena *arena, const char *home, const char *asked,
	struct path_list *hide, struct path_list *reveal)
{
	const struct policy_plugin own = policy_plugin_of(arena, home);
	hidden_paths_add(hide, own.home);
	bool is_secret = false;
	if (hide->failed || (asked[0] && !policy_leads_into(arena, asked, hide->items, &is_secret)))
		reveal->failed = true;
	else if (!is_secret)
		path_list_add(reveal, asked);
	hidden_paths_add_moved(hide, own.home); /* perhaps to what is asked about */
	if (!own.config || !own.own_config || !own.own_state || !own.own_cache) {
		hide->failed = true;
		return;
	}
	path_list_add(hide, own.config);
	path_list_add(hide, own.own_config);
	path_list_add(hide, own.own_state);
	path_list_add(hide, own.own_cache);
}

int policy_for_git(struct arena *arena, const char *directory, struct sandbox_policy *ret_policy)
{
	struct path_list hide;
	struct path_list reveal;
	path_list_begin(&hide, arena, NULL);
	path_list_begin(&reveal, arena, NULL);
	policy_git_hide(arena, getenv("HOME"), directory, &hide, &reveal);
	if (hide.failed || reveal.failed)
		return -ENOMEM;
	*ret_policy = (struct sandbox_policy){
		.reads_everything = true,
		.hide = hide.items,
		.reveal = reveal.items,
		.net = SANDBOX_NET_NONE,
		.is_alone = true,
	};
	return 0;
}

/* ssh asks for it before it has a key to show: a host that is met for the first time is
 * remembered, nothing else of that directory is written. */
static void policy_git_add_ssh(struct path_list *write, const char *home)
{
	size_t before = write->count;
	path_list_add_below(write, home, ".ssh/known_hosts");
	if (!write->failed && write->count > before && access(write->items[before], F_OK) != 0)
		write->items[--write->count] = NULL;
}

/* The credentials that it may see: those of the transport it uses, and those that the user's own
 * configuration of git names a helper for. */
static int policy_git_widen(struct arena *arena, const char *home, const struct policy_fetch *fetch,
	struct sandbox_policy *policy, perch_err *err)
{
	static const char *const ssh[] = { "ssh", NULL };
	static const char *const helper[] = { "git", "github", NULL };
	const struct policy_widening widening = { .presets = fetch->uses_ssh ? ssh : helper };
	if (!fetch->uses_ssh && !fetch->uses_helper)
		return 0;
	if (fetch->uses_helper)
		policy->has_unix_sockets = true; /* keyrings are asked by one */
	return policy_widen(arena, home, &widening, policy, err);
}

int policy_for_fetch(struct arena *arena, const struct policy_fetch *fetch,
	struct sandbox_policy *ret_policy, perch_err *err)
{
	const char *home = getenv("HOME");
	struct path_list hide;
	struct path_list reveal;
	struct path_list write;
	path_list_begin(&hide, arena, NULL);
	path_list_begin(&reveal, arena, NULL);
	path_list_begin(&write, arena, NULL);
	home = home ? home : "";
	policy_git_hide(arena, home, fetch->source, &hide, &reveal);
	path_list_add(&reveal, "/run/systemd/resolve"); /* where names are resolved */
	if (!fetch->uses_helper)
		hidden_sockets_add(&hide);
	path_list_add(&write, fetch->target);
	if (fetch->uses_ssh)
		policy_git_add_ssh(&write, home);
	if (hide.failed || reveal.failed || write.failed)
		return -ENOMEM;
	*ret_policy = (struct sandbox_policy){
		.reads_everything = true,
		.write = write.items,
		.hide = hide.items,
		.reveal = reveal.items,
		.net = fetch->has_net ? SANDBOX_NET_FULL : SANDBOX_NET_NONE,
		.has_private_tmp = true,
		.shares_group = fetch->shares_group,
	};
	return policy_git_widen(arena, home, fetch, ret_policy, err);
}
