/* What a sandboxed process may do, as data. */
#include "sandbox/policy.h"

#include <errno.h>
#include <string.h>

/* Below the home directory: what must not be read by what somebody else wrote. */
static const char *const credential_stores[] = {
	".ssh",
	".gnupg",
	".aws",
	".azure",
	".kube",
	".netrc",
	".git-credentials",
	".npmrc",
	".pypirc",
	".docker/config.json",
	".config/gh",
	".config/gcloud",
	".config/op",
	".mozilla",
	".config/google-chrome",
	".config/chromium",
	".local/share/keyrings",
	".password-store",
};

/* In a project: what the host's own git would execute later. */
static const char *const project_triggers[] = { ".git/hooks", ".git/config" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { LIST_MAX = COUNT(credential_stores) + 8 };

/* A list while it is made. */
struct list {
	struct arena *arena;
	const char **items;
	size_t count;
	bool failed;
};

static void begin(struct list *list, struct arena *arena)
{
	*list = (struct list){ .arena = arena };
	list->items = arena_alloc(arena, (LIST_MAX + 1) * sizeof(*list->items));
	list->failed = !list->items;
	if (list->items)
		list->items[0] = NULL;
}

/* Adds "base/below"; nothing when there is no base. */
static void add(struct list *list, const char *base, const char *below)
{
	size_t base_len = strlen(base);
	size_t below_len = strlen(below);
	if (list->failed || !base_len || list->count == LIST_MAX)
		return;
	char *path = arena_alloc(list->arena, base_len + below_len + 2);
	if (!path) {
		list->failed = true;
		return;
	}
	memcpy(path, base, base_len + 1);
	if (below_len) {
		path[base_len] = '/';
		memcpy(path + base_len + 1, below, below_len + 1);
	}
	list->items[list->count++] = path;
	list->items[list->count] = NULL;
}

bool policy_is_inside(const char *path, const char *directory)
{
	size_t len = strlen(directory);
	if (!len || strncmp(path, directory, len) != 0)
		return false;
	return directory[len - 1] == '/' || path[len] == '/' || path[len] == '\0';
}

/* Does one of them lie in the directory, or the directory in one of them? */
static bool touches_any(const char *directory, const char *const *paths)
{
	for (; *paths; paths++) {
		if (policy_is_inside(*paths, directory) || policy_is_inside(directory, *paths))
			return true;
	}
	return false;
}

static void add_hidden(struct list *hide, const struct policy_plugin *plugin)
{
	for (size_t i = 0; i < COUNT(credential_stores); i++)
		add(hide, plugin->home, credential_stores[i]);
	add(hide, plugin->config, "");
	add(hide, plugin->own_config, "");
	add(hide, plugin->own_state, "");
	add(hide, plugin->own_cache, "");
}

/* A project that is the home directory, or holds or lies in what is hidden, is
 * not written: else a plugin could write what others trust. */
static bool may_write_project(const struct policy_plugin *plugin, const char *const *hide)
{
	return plugin->may_write_project && plugin->project[0] &&
		!policy_is_inside(plugin->home, plugin->project) && !touches_any(plugin->project, hide);
}

int policy_for_plugin(
	struct arena *arena, const struct policy_plugin *plugin, struct sandbox_policy *ret_policy)
{
	static const char *const nothing[] = { NULL };
	struct list hide;
	struct list reveal;
	struct list write;
	struct list protect;
	begin(&hide, arena);
	begin(&reveal, arena);
	begin(&write, arena);
	begin(&protect, arena);
	add_hidden(&hide, plugin);
	add(&reveal, plugin->directory, "");
	add(&reveal, plugin->config, "plugins/bin");
	if (!hide.failed && may_write_project(plugin, hide.items)) {
		add(&write, plugin->project, "");
		for (size_t i = 0; i < COUNT(project_triggers); i++)
			add(&protect, plugin->project, project_triggers[i]);
	}
	if (plugin->may_write_directory)
		add(&write, plugin->directory, "");
	add(&protect, plugin->directory, "plugin.toml");
	if (hide.failed || reveal.failed || write.failed || protect.failed)
		return -ENOMEM;
	*ret_policy = (struct sandbox_policy){
		.reads_everything = true,
		.read = nothing,
		.write = write.items,
		.hide = hide.items,
		.reveal = reveal.items,
		.protect = protect.items,
		.net = SANDBOX_NET_FULL,
		.has_private_tmp = true,
	};
	return 0;
}
