/* Bindings: where their files are, and what is wrong in every binding. */
#include "tool/binding.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/paths.h"
#include "base/vec.h"
#include "data/toml.h"
#include "registry/grants.h"
#include "registry/names.h"
#include "tool/server_remote.h"

#define FOLDER "perch/tools"
#define SUFFIX ".toml"

struct tool_binding tool_binding_default(void)
{
	static const char *const nothing[] = { NULL };
	return (struct tool_binding){
		.path = "",
		.given = "",
		.sha256 = "",
		.name = "",
		.command = "",
		.args = nothing,
		.directory = "",
		.protocol = TOOL_PROTOCOL,
		.capabilities = nothing,
		.env = nothing,
		.invocation_ns = TOOL_INVOCATION_DEFAULT_NS,
		.handshake_ns = TOOL_HANDSHAKE_DEFAULT_NS,
		.teardown_ns = TOOL_TEARDOWN_DEFAULT_NS,
		.spare_ttl_ns = TOOL_SPARE_TTL_DEFAULT_NS,
		.server = {
			.idle_ns = TOOL_SERVER_IDLE_NS,
			.version = "",
			.instructions = "",
			.instructions_pin = "",
			.secrets = "",
			.sampler = "",
			.roots = TOOL_ANSWER_BINDING,
			.asks_max = TOOL_SERVER_ASKS,
			.url = "",
			.token = "",
		},
	};
}

struct tool_binding tool_binding_default_server(void)
{
	struct tool_binding binding = tool_binding_default();
	binding.protocol = TOOL_PROTOCOL_MCP;
	binding.invocation_ns = TOOL_SERVER_INVOCATION_NS;
	binding.handshake_ns = TOOL_SERVER_HANDSHAKE_NS;
	binding.server.is_server = true;
	return binding;
}

struct tool_known tool_known_named(const char *name)
{
	return (struct tool_known){
		.name = name,
		.input_schema = "",
		.output_schema = "",
		.description = "",
		.title = "",
		.annotations = "",
		.pin = "",
	};
}

const struct tool_known *tool_binding_tool(const struct tool_binding *binding, const char *name)
{
	for (size_t i = 0; i < binding->tool_count; i++) {
		if (strcmp(binding->tools[i].name, name) == 0)
			return &binding->tools[i];
	}
	return NULL;
}

bool tool_binding_asks(const struct tool_binding *binding, const char *name)
{
	const struct tool_known *known = tool_binding_tool(binding, name);
	if (known)
		return known->asks;
	for (size_t i = 0; i < binding->tool_count; i++) {
		if (binding->tools[i].asks)
			return true;
	}
	return false;
}

struct sandbox_limits tool_binding_limits(const struct tool_binding *binding)
{
	struct sandbox_limits limits = policy_tool_limits(&binding->limits);
	if (binding->server.is_server)
		limits.cpu = binding->limits.cpu;
	return limits;
}

static const char *const verdict_names[] = { "exit", "response", NULL };

const char *tool_verdict_name(enum tool_verdict verdict)
{
	return verdict_names[verdict];
}

const char *tool_verdict_words(enum tool_verdict verdict)
{
	return verdict == TOOL_VERDICT_RESPONSE
		? "response: an answer counts at once, a bad exit behind it is recorded"
		: "exit: an answer counts once it has exited with status 0";
}

int tool_binding_set_verdict(struct tool_binding *binding, const char *word, perch_err *err)
{
	for (size_t i = 0; verdict_names[i]; i++) {
		if (strcmp(word, verdict_names[i]) == 0) {
			binding->verdict = (enum tool_verdict)i;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "the verdict is \"exit\" or \"response\", not '%.100s'", word);
}

/* ---- where they are ------------------------------------------------------ */

int tool_binding_path(const char *name, struct arena *arena, const char **ret_path, perch_err *err)
{
	char quoted[TOML_QUOTE_MAX];
	const char *problem = command_name_problem(str_from(name));
	if (problem)
		return err_set(err, -EINVAL, "the name %s %s", toml_quote(str_from(name), quoted), problem);
	_cleanup_free_ char *folder = NULL;
	int r = paths_user(PATH_CONFIG, FOLDER, &folder, err);
	if (r < 0)
		return r;
	const char *path = arena_join(arena, folder, "/", name, SUFFIX, NULL);
	if (!path)
		return err_no_memory(err);
	*ret_path = path;
	return 0;
}

/* The name that a file in the folder gives its binding; empty = it is no binding. */
static struct str binding_name_of_file(const char *file)
{
	struct str name = str_from(file);
	if (!str_has_suffix(name, STR(SUFFIX)))
		return (struct str){ 0 };
	name.len -= sizeof(SUFFIX) - 1;
	return command_name_problem(name) ? (struct str){ 0 } : name;
}

struct names {
	const char **items;
	size_t count;
	size_t cap;
};

static int binding_add_name(struct names *names, struct str name, struct arena *arena)
{
	const char **items = vec_grow(names->items, &names->cap, names->count + 2, sizeof(*items));
	if (!items)
		return -ENOMEM;
	names->items = items;
	items[names->count] = name.data ? arena_dup(arena, name) : NULL;
	if (name.data && !items[names->count++])
		return -ENOMEM;
	return 0;
}

static int binding_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int binding_list_folder(
	const char *folder, struct arena *arena, struct names *names, perch_err *err)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, folder, 0);
	char shown[FILE_SHOWN_MAX];
	if (!listing && errno != ENOENT)
		return err_set(
			err, -errno, "cannot list %s: %s", file_shown(folder, shown), perch_strerror(-errno));
	int r = 0;
	for (const char *file; r == 0 && (file = listing_next(listing));) {
		struct str name = binding_name_of_file(file);
		if (name.len)
			r = binding_add_name(names, name, arena);
	}
	if (r == 0)
		r = binding_add_name(names, (struct str){ 0 }, arena); /* the NULL at the end */
	return r < 0 ? err_no_memory(err) : 0;
}

int tool_binding_names(struct arena *arena, const char *const **ret_names, perch_err *err)
{
	_cleanup_free_ char *folder = NULL;
	int r = paths_user(PATH_CONFIG, FOLDER, &folder, err);
	if (r < 0)
		return r;
	struct names names = { 0 };
	const char **kept = NULL;
	r = binding_list_folder(folder, arena, &names, err);
	if (r == 0) {
		kept = arena_alloc(arena, (names.count + 1) * sizeof(*kept));
		r = kept ? 0 : err_no_memory(err);
	}
	if (r == 0) {
		qsort(names.items, names.count, sizeof(*names.items), binding_by_text);
		memcpy(kept, names.items, (names.count + 1) * sizeof(*kept));
		*ret_names = kept;
	}
	free(names.items);
	return r;
}

static int binding_suggest(const char *name, struct arena *arena, perch_err *err)
{
	const char *const *names = NULL;
	int r = tool_binding_names(arena, &names, err);
	if (r < 0)
		return r;
	const char *nearest = str_nearest(name, names, list_count(names), sizeof(*names));
	if (nearest)
		return err_set(err, -ENOENT, "no tool is bound as '%s'; did you mean '%s'?", name, nearest);
	return err_set(err, -ENOENT, "no tool is bound as '%s'; perch tool list shows what is", name);
}

int tool_binding_find(
	const char *name, struct arena *arena, struct tool_binding *ret_binding, perch_err *err)
{
	const char *path = NULL;
	int r = tool_binding_path(name, arena, &path, err);
	if (r < 0)
		return r;
	r = tool_binding_read(path, arena, ret_binding, err);
	return r == -ENOENT ? binding_suggest(name, arena, err) : r;
}

/* ---- what none of them may be -------------------------------------------- */

static bool binding_is_blank(const char *text)
{
	return !text || str_trim(str_from(text)).len == 0;
}

static int binding_check_capability(const char *const *list, size_t i, perch_err *err)
{
	char quoted[TOML_QUOTE_MAX];
	struct str entry = str_from(list[i]);
	if (binding_is_blank(list[i]))
		return err_set(err, -EINVAL, "entry %zu of the capabilities is empty", i + 1);
	toml_quote(entry, quoted);
	if (str_trim(entry).len != entry.len)
		return err_set(err, -EINVAL, "the capability %s has blanks around it", quoted);
	for (size_t before = 0; before < i; before++) {
		if (strcmp(list[before], list[i]) == 0)
			return err_set(err, -EINVAL, "the capability %s is listed twice", quoted);
	}
	return 0;
}

int tool_binding_check(const struct tool_binding *binding, perch_err *err)
{
	if (binding_is_blank(binding->name))
		return err_set(err, -EINVAL, "the binding has no name");
	bool is_remote = server_is_remote(binding);
	if (is_remote && !binding_is_blank(binding->command))
		return err_set(err, -EINVAL, "the binding has a command and a url: one of them");
	if (!is_remote && binding_is_blank(binding->command))
		return err_set(err, -EINVAL, "the binding has no command");
	if (binding_is_blank(binding->protocol))
		return err_set(err, -EINVAL, "the binding names no protocol");
	if (binding->server.is_server && binding->verdict == TOOL_VERDICT_RESPONSE)
		return err_set(err, -EINVAL,
			"verdict = \"response\" is for plugins that end with each call; the answer of an MCP "
			"server is one without it");
	int r = 0;
	const char *const *capabilities = binding->capabilities;
	for (size_t i = 0; r == 0 && capabilities && capabilities[i]; i++)
		r = binding_check_capability(capabilities, i, err);
	return r;
}
