/* What a user allows beyond a default policy, path by path or by the name of a preset. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/macros.h"
#include "sandbox/policy/hidden_paths.h"
#include "sandbox/policy/path_list.h"
#include "sandbox/policy/policy.h"
#include "sandbox/policy/secret_variables.h"

enum { PRESET_LIST_MAX = 8 };

/* What a preset shows beside its places in hidden_table.c. A path that begins with a slash is one;
 * others are below the home directory. */
struct preset {
	const char *name;
	const char *read[PRESET_LIST_MAX];
	const char *write[PRESET_LIST_MAX];
	const char *env[PRESET_LIST_MAX];
	const char *agent; /* the variable that names its socket */
	const char *sockets[PRESET_LIST_MAX];
};

static const struct preset presets[] = {
	{
		.name = "aws",
		.write = { ".aws/cli/cache", ".aws/sso/cache" },
		.env = { "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
			"AWS_SECURITY_TOKEN", "AWS_ENDPOINT_URL" },
	},
	{ .name = "azure" },
	{ .name = "cargo", .env = { "CARGO_REGISTRY_TOKEN" } },
	{
		.name = "claude",
		.write = { ".claude", ".claude.json" },
		.env = { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
			"ANTHROPIC_BASE_URL" },
	},
	{ .name = "codex", .write = { ".codex" }, .env = { "OPENAI_API_KEY", "OPENAI_BASE_URL" } },
	{ .name = "copilot" },
	{
		.name = "docker",
		.read = { ".docker" },
		.env = { "DOCKER_HOST", "DOCKER_AUTH_CONFIG" },
		.agent = "DOCKER_HOST",
		.sockets = { "/run/docker.sock" },
	},
	{ .name = "gcloud", .env = { "CLOUDSDK_AUTH_ACCESS_TOKEN" } },
	{ .name = "gemini", .write = { ".gemini" }, .env = { "GEMINI_API_KEY", "GOOGLE_API_KEY" } },
	{
		.name = "git",
		.env = { "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL" },
	},
	{
		.name = "github",
		.env = { "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN" },
	},
	{ .name = "gitlab", .env = { "GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN" } },
	{ .name = "gpg", .env = { "GPG_AGENT_INFO" } },
	{ .name = "kube" },
	{ .name = "mysql", .env = { "MYSQL_PWD" } },
	{
		.name = "npm",
		.write = { ".npm" },
		.env = { "NPM_TOKEN", "NODE_AUTH_TOKEN" },
	},
	{ .name = "pip", .env = { "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL" } },
	{ .name = "postgres", .env = { "PGPASSWORD", "DATABASE_URL" } },
	{
		.name = "ssh",
		.env = { "SSH_AUTH_SOCK", "SSH_AGENT_PID" },
		.agent = "SSH_AUTH_SOCK",
	},
};

#define PRESETS (COUNT(presets))

const char *policy_preset(size_t i)
{
	return i < PRESETS ? presets[i].name : NULL;
}

static const struct preset *presets_find_preset(const char *name)
{
	for (size_t i = 0; i < PRESETS; i++) {
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	}
	return NULL;
}

static int presets_refuse_preset(const char *name, perch_err *err)
{
	char known[256] = "";
	if (strcmp(name, "plugins") == 0)
		return err_set(err, -EINVAL,
			"there is no preset 'plugins' any more: perch plugins allow NAME --grant plugins lets "
			"a "
			"plugin run the commands of others");
	for (size_t i = 0; i < PRESETS; i++) {
		strcat(known, i ? ", " : "");
		strcat(known, presets[i].name);
	}
	return err_set(err, -EINVAL, "there is no preset '%.64s'; there are: %s", name, known);
}

/* ---- widening ------------------------------------------------------------ */

static void presets_add_existing(struct path_list *list, const char *home, const char *path)
{
	size_t before = list->count;
	if (path[0] == '/')
		path_list_add(list, path);
	else
		path_list_add_below(list, home, path);
	if (!list->failed && list->count > before && access(list->items[before], F_OK) != 0)
		list->items[--list->count] = NULL;
}

static void presets_add_all(struct path_list *list, const char *home, const char *const *paths)
{
	for (; *paths; paths++)
		presets_add_existing(list, home, *paths);
}

/* A socket is reached by its path: the path must be seen, too. */
static void presets_add_preset(const struct preset *preset, const char *home,
	struct path_list *read, struct path_list *write, struct sandbox_policy *policy)
{
	struct path_list hidden;
	path_list_begin(&hidden, read->arena, NULL);
	hidden_paths_of_preset(&hidden, home, preset->name, HIDDEN_EXISTING);
	read->failed |= hidden.failed;
	if (!hidden.failed)
		presets_add_all(read, home, hidden.items);
	presets_add_all(read, home, preset->read);
	presets_add_all(write, home, preset->write);
	presets_add_all(read, home, preset->sockets);
	if (preset->agent) {
		struct path_list socket;
		path_list_begin(&socket, read->arena, NULL);
		hidden_sockets_add_agent(&socket, preset->agent);
		if (socket.count)
			presets_add_existing(read, home, socket.items[0]);
		read->failed |= socket.failed;
		policy->has_unix_sockets = true;
	}
}

static void presets_add_paths(struct path_list *paths, const char *home, const char *const *more)
{
	for (; *more; more++)
		path_list_add_below(paths, (*more)[0] == '/' ? "/" : home, *more);
}

static void presets_add_looked_up(
	struct path_list *paths, const char *home, const struct preset *preset)
{
	hidden_paths_of_preset(paths, home, preset->name, HIDDEN_ALL);
	presets_add_paths(paths, home, preset->read);
	presets_add_paths(paths, home, preset->write);
	presets_add_paths(paths, home, preset->sockets);
	if (preset->agent)
		hidden_sockets_add_agent(paths, preset->agent);
}

const char *const *policy_looked_up(
	struct arena *arena, const char *home, const struct policy_widening *widening)
{
	struct path_list paths;
	path_list_begin(&paths, arena, policy_system_directories);
	hidden_paths_add_looked_up(&paths, home);
	hidden_sockets_add_looked_up(&paths);
	for (const char *const *name = widening->presets; name && *name; name++) {
		const struct preset *preset = presets_find_preset(*name);
		if (preset)
			presets_add_looked_up(&paths, home, preset);
	}
	return paths.failed ? NULL : paths.items;
}

static void presets_add_named(
	struct path_list *list, struct path_list *named, const char *const *paths)
{
	for (; paths && *paths; paths++) {
		path_list_add(list, *paths);
		if (named)
			path_list_add(named, *paths);
	}
}

int policy_widen(struct arena *arena, const char *home, const struct policy_widening *widening,
	struct sandbox_policy *policy, perch_err *err)
{
	struct path_list read;
	struct path_list write;
	struct path_list named;
	path_list_begin(&read, arena, policy->read);
	path_list_begin(&write, arena, policy->write);
	path_list_begin(&named, arena, policy->named);
	presets_add_named(&read, &named, widening->read);
	presets_add_named(&write, &named, widening->write);
	struct sandbox_policy widened = *policy;
	for (const char *const *name = widening->presets; name && *name; name++) {
		const struct preset *preset = presets_find_preset(*name);
		if (!preset)
			return presets_refuse_preset(*name, err);
		presets_add_preset(preset, home, &read, &write, &widened);
	}
	struct path_list fixed;
	struct path_list granted;
	path_list_begin(&fixed, arena, policy->fixed);
	path_list_begin(&granted, arena, policy->granted);
	presets_add_named(&fixed, NULL, widening->fixed);
	presets_add_named(&granted, NULL, widening->granted);
	if (read.failed || write.failed || named.failed || fixed.failed || granted.failed)
		return err_no_memory(err);
	widened.named = named.items;
	widened.fixed = fixed.items;
	widened.granted = granted.items;
	widened.allow_by = widening->allow_by ? widening->allow_by : policy->allow_by;
	widened.read = read.items;
	widened.write = write.items;
	bool is_allowed = false;
	if (widened.withheld &&
		!policy_leads_into(arena, widened.withheld, widening->write, &is_allowed))
		return err_no_memory(err);
	if (is_allowed) {
		widened.withheld = NULL;
		widened.note = NULL;
	}
	if (widening->net != WIDENING_NET_KEEP)
		widened.net = widening->net == WIDENING_NET_FULL ? SANDBOX_NET_FULL : SANDBOX_NET_NONE;
	*policy = widened;
	return 0;
}

/* ---- the environment ------------------------------------------------------ */

bool policy_keeps_variable(const struct policy_widening *widening, struct str name)
{
	if (!widening)
		return false;
	for (const char *const *given = widening->presets; given && *given; given++) {
		const struct preset *preset = presets_find_preset(*given);
		if (!preset)
			continue;
		if (list_has_str(preset->env, name) || hidden_paths_need_variable(*given, name))
			return true;
	}
	return list_has_str(widening->env, name);
}

const char *const *policy_environment(struct arena *arena, const char *const *base,
	const struct policy_widening *widening, const char *const *extra)
{
	struct path_list kept;
	path_list_begin(&kept, arena, NULL);
	for (; *base; base++) {
		if (secret_is_absent(*base) || policy_keeps_variable(widening, environment_name(*base)))
			path_list_add(&kept, *base);
	}
	return kept.failed ? NULL : environment_build(arena, kept.items, NULL, extra);
}

const char *const *policy_caches(struct arena *arena, const char *directory)
{
	static const char *const caches[][2] = {
		{ "XDG_CACHE_HOME=", "" },
		{ "npm_config_cache=", "/npm" },
		{ "PIP_CACHE_DIR=", "/pip" },
		{ "GOCACHE=", "/go-build" },
		{ "GOMODCACHE=", "/go-mod" },
		{ "CARGO_HOME=", "/cargo" },
		{ "YARN_CACHE_FOLDER=", "/yarn" },
		{ "CCACHE_DIR=", "/ccache" },
	};
	enum { CACHES = COUNT(caches) };
	const char **list = arena_alloc(arena, (CACHES + 1) * sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < CACHES; i++) {
		_cleanup_free_ char *variable = str_join(caches[i][0], directory, caches[i][1], NULL);
		list[i] = variable ? arena_dup(arena, str_from(variable)) : NULL;
		if (!list[i])
			return NULL;
	}
	list[CACHES] = NULL;
	return list;
}
