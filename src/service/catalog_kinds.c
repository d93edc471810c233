/* What a catalogue lists: tools of bindings, commands of plugins, agents. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "agent/dialect.h"
#include "agent/profile.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/vec.h"
#include "service/agent_files.h"
#include "service/catalog_parts.h"
#include "service/command_facts.h"
#include "tool/tool_confinement.h"

/* ---- tools --------------------------------------------------------------- */

struct tools_of {
	perch_catalog *catalog;
	const struct exposure *exposure;
	const struct tool_binding *binding;
	const char *name;    /* of the binding */
	const char *problem; /* of all its tools */
	bool has_network;
	bool can_write;
};

/* What a tool may do in its sandbox; everything where there is no sandbox. */
static int catalog_judge_binding(struct tools_of *of)
{
	const struct tool_binding *binding = of->binding;
	struct sandbox_policy policy = { 0 };
	of->has_network = of->can_write = true;
	if (binding->widening.is_off)
		return 0;
	int r = tool_confinement_policy(binding, &of->catalog->arena, &policy, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	of->has_network = policy.net != SANDBOX_NET_NONE;
	of->can_write = list_count(policy.write); /* the directory that it runs in is read-only */
	return 0;
}

static int catalog_add_known(const struct tools_of *of, const struct tool_known *known)
{
	struct arena *arena = &of->catalog->arena;
	const perch_entry entry = {
		.kind = PERCH_ENTRY_TOOL,
		.name = arena_join(arena, of->name, "/", known->name, NULL),
		.owner = of->name,
		.title = known->name,
		.description = catalog_text(known->description),
		.input_schema = catalog_text(known->input_schema),
		.output_schema = catalog_text(known->output_schema),
		.asks = known->asks,
		.has_network = of->has_network,
		.can_write = of->can_write,
		.problem = of->problem,
		.verdict = of->binding->server.is_server ? NULL : tool_verdict_name(of->binding->verdict),
	};
	return entry.name ? catalog_add(of->catalog, of->exposure, &entry) : -ENOMEM;
}

/* What an MCP server has beside tools, where any of that is shown. */
static int catalog_add_server(const struct tools_of *of)
{
	const struct tool_server *server = &of->binding->server;
	perch_catalog *catalog = of->catalog;
	const perch_catalog_server added = {
		.binding = of->name,
		.has_resources = tool_server_offers(server, "resources") &&
			exposure_may_show(of->exposure, PERCH_ENTRY_RESOURCE, of->name),
		.has_prompts = tool_server_offers(server, "prompts") &&
			exposure_may_show(of->exposure, PERCH_ENTRY_PROMPT, of->name),
		.has_completions = tool_server_offers(server, "completions"),
	};
	if (!server->is_server || of->problem || (!added.has_resources && !added.has_prompts))
		return 0;
	perch_catalog_server *grown =
		vec_grow(catalog->servers, &catalog->server_cap, catalog->server_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	catalog->servers = grown;
	grown[catalog->server_count++] = added;
	return 0;
}

static int catalog_add_binding(struct tools_of *of)
{
	int r = catalog_judge_binding(of);
	if (r == 0)
		r = catalog_add_server(of);
	for (size_t i = 0; r == 0 && i < of->binding->tool_count; i++)
		r = catalog_add_known(of, &of->binding->tools[i]);
	if (r == 0 && !of->binding->tool_count && !of->binding->server.is_server)
		r = catalog_note(of->catalog,
			"the binding %.100s lists no tools: perch tool add writes them down", of->name);
	return r;
}

static const char *catalog_dup_error(perch_catalog *catalog, const perch_err *err)
{
	const char *copy = arena_dup(&catalog->arena, str_from(err->text));
	return copy ? copy : "out of memory";
}

static int catalog_add_named(
	perch_catalog *catalog, const struct exposure *exposure, const char *name)
{
	struct tool_binding binding;
	perch_err err = { 0 };
	int r = tool_binding_find(name, &catalog->arena, &binding, &err);
	if (r == 0)
		r = tool_binding_check(&binding, &err);
	if (r < 0)
		return r == -ENOMEM ? r : catalog_note(catalog, "%s", err.text);
	struct tools_of of = {
		.catalog = catalog,
		.exposure = exposure,
		.binding = &binding,
		.name = name,
	};
	r = tool_binding_grant(name, &catalog->arena, &binding, &err);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		of.problem = catalog_dup_error(catalog, &err);
	return catalog_add_binding(&of);
}

static const struct bound_tool *catalog_given(const struct bound_tools *tools, const char *name)
{
	const struct bound_tool *bound = tools->first;
	while (bound &&
		!(bound->is_given && !bound->is_stale && (!name || strcmp(bound->name, name) == 0)))
		bound = bound->next;
	return bound;
}

/* Those that were given as files may be read anew while the catalogue lives: it has its own copy.
 */
static int catalog_add_given(
	perch_catalog *catalog, const struct exposure *exposure, const struct bound_tool *bound)
{
	struct tool_binding binding;
	perch_err err = { 0 };
	int r = tool_binding_read(bound->binding.path, &catalog->arena, &binding, &err);
	if (r < 0)
		return r == -ENOMEM ? r : catalog_note(catalog, "%s", err.text);
	struct tools_of of = {
		.catalog = catalog,
		.exposure = exposure,
		.binding = &binding,
		.name = binding.name,
	};
	return catalog_add_binding(&of);
}

int catalog_add_tools(
	perch_catalog *catalog, const struct exposure *exposure, const struct bound_tools *tools)
{
	const char *const *names = NULL;
	perch_err err = { 0 };
	int r = tool_binding_names(&catalog->arena, &names, &err);
	if (r < 0)
		return r == -ENOMEM ? r : catalog_note(catalog, "%s", err.text);
	for (; r == 0 && *names; names++) {
		if (!catalog_given(tools, *names))
			r = catalog_add_named(catalog, exposure, *names);
	}
	for (const struct bound_tool *bound = tools->first; r == 0 && bound; bound = bound->next) {
		if (bound->is_given && !bound->is_stale)
			r = catalog_add_given(catalog, exposure, bound);
	}
	return r;
}

/* ---- commands ------------------------------------------------------------ */

static int catalog_add_command(perch_catalog *catalog, const struct exposure *exposure,
	const struct registry_entry *entry, const char *command)
{
	struct command_facts facts = { 0 };
	perch_err err = { 0 };
	int r = command_facts_read(entry, command, &catalog->arena, &facts, &err);
	if (r == -ENOMEM)
		return r;
	const perch_entry added = {
		.kind = PERCH_ENTRY_COMMAND,
		.name = command,
		.owner = entry->name,
		.description = catalog_text(facts.description),
		.arguments = facts.arguments,
		.asks = facts.is_dangerous && !exposure->is_all,
		.is_dangerous = facts.is_dangerous,
		.has_network = entry->granted.network,
		.can_write = true,
		.problem = r < 0        ? catalog_dup_error(catalog, &err)
			: facts.is_protocol ? NULL
								: "it speaks no protocol: it wants a terminal",
	};
	return catalog_add(catalog, exposure, &added);
}

/* If several plugins list a command, the first one counts. */
static bool catalog_is_listed(const struct registry *registry, size_t before, const char *command)
{
	for (size_t i = 0; i < before; i++) {
		if (list_has(registry->entries[i].commands, command))
			return true;
	}
	return false;
}

int catalog_add_commands(perch_catalog *catalog, const struct exposure *exposure)
{
	struct registry registry;
	perch_err err = { 0 };
	int r = registry_read(&catalog->arena, &registry, &err);
	if (r < 0)
		return r == -ENOMEM ? r : catalog_note(catalog, "%s", err.text);
	for (size_t i = 0; r == 0 && i < registry.count; i++) {
		const char *const *command = registry.entries[i].commands;
		for (; r == 0 && command && *command; command++) {
			if (!catalog_is_listed(&registry, i, *command))
				r = catalog_add_command(catalog, exposure, &registry.entries[i], *command);
		}
	}
	return r;
}

/* ---- agents -------------------------------------------------------------- */

/* given is the file, NULL = the one of perch/agents. */
static int catalog_add_agent(
	perch_catalog *catalog, const struct exposure *exposure, const char *name, const char *given)
{
	_cleanup_free_ char *path = given ? str_dup(str_from(given)) : NULL;
	struct agent_profile profile = { 0 };
	perch_err err = { 0 };
	int r = given ? (path ? 0 : -ENOMEM) : agent_file_path(name, &path, &err);
	if (r == 0)
		r = agent_profile_read(path, &catalog->arena, &profile, &err);
	if (r == 0)
		r = agent_profile_grant(NULL, &catalog->arena, &profile, &err);
	if (r == -ENOMEM)
		return r;
	bool is_free = !profile.is_sandboxed || profile.widening.is_off;
	const perch_entry entry = {
		.kind = PERCH_ENTRY_AGENT,
		.name = name,
		.title = profile.about.name,
		.description = profile.about.description,
		.owner = path ? arena_dup(&catalog->arena, str_from(path)) : NULL,
		.has_network = is_free || profile.widening.net != WIDENING_NET_NONE,
		.can_write = true,
		.problem = r < 0 ? catalog_dup_error(catalog, &err) : NULL,
		.protocol = r < 0 ? NULL : dialect_of(profile.dialect)->version,
		.retries = profile.retry < UINT_MAX ? (unsigned)profile.retry : UINT_MAX,
	};
	return path && !entry.owner ? -ENOMEM : catalog_add(catalog, exposure, &entry);
}

int catalog_add_agents(
	perch_catalog *catalog, const struct exposure *exposure, const char *const *files)
{
	static const struct exposure all = { .is_all = true };
	const char *const *names = NULL;
	perch_err err = { 0 };
	for (const char *const *file = files; file && *file; file++) {
		const char *name = agent_file_name(&catalog->arena, *file);
		if (!name || catalog_add_agent(catalog, &all, name, *file) < 0)
			return -ENOMEM;
	}
	int r = agent_file_names(&catalog->arena, &names, &err);
	if (r < 0)
		return r == -ENOMEM ? r : catalog_note(catalog, "%s", err.text);
	for (; r == 0 && *names; names++) {
		if (!agent_file_given(files, *names))
			r = catalog_add_agent(catalog, exposure, *names, NULL);
	}
	return r;
}

/* ---- resources ----------------------------------------------------------- */

/* Asked for by name: a frontend that shows none is not told that there are any. */
int catalog_add_resources(perch_catalog *catalog, const struct exposure *exposure)
{
	static const perch_entry entries[] = {
		{ .kind = PERCH_ENTRY_TEMPLATE,
			.name = "perch://sessions/{session}",
			.title = "Sessions of agents",
			.description =
				"Which agent, whose, when it was used last, and how many turns it had." },
		{ .kind = PERCH_ENTRY_TEMPLATE,
			.name = "perch://traces/{trace}",
			.title = "Traces",
			.description = "Recorded runs, every line with its time, as NDJSON." },
	};
	int r = 0;
	for (size_t i = 0; r == 0 && i < COUNT(entries) && !exposure->is_all; i++) {
		if (exposure_shows(exposure, entries[i].kind, entries[i].name))
			r = catalog_add(catalog, exposure, &entries[i]);
	}
	return r;
}
