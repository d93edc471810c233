/* perch agent list: the agents that have a name, and the catalogue. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/agent/agent_commands.h"
#include "cli/ui/envelope.h"
#include "cli/ui/table.h"
#include "service/agent_files.h"

/* One that has a name. */
struct listed {
	const char *name;
	const char *path;
	struct agent_profile profile;
	const char *problem; /* NULL = it could be started, as far as is known */
};

struct listing {
	struct arena arena;
	struct listed *agents;
	size_t count;
};

static int agent_list_look(struct arena *arena, struct listed *agent, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	perch_err why = { 0 };
	int r = agent_file_path(agent->name, &path, &why);
	if (r == 0)
		r = agent_profile_read(path, arena, &agent->profile, &why);
	if (r == 0)
		r = agent_needs_check(&agent->profile, NULL, &why);
	agent->path = arena_dup(arena, str_from(path ? path : ""));
	agent->problem = r < 0 ? arena_dup(arena, str_from(why.text)) : NULL;
	if (r == -ENOMEM || !agent->path || (r < 0 && !agent->problem))
		return err_no_memory(err);
	return 0;
}

static int agent_list_read(struct listing *listing, perch_err *err)
{
	const char *const *names = NULL;
	int r = agent_file_names(&listing->arena, &names, err);
	if (r < 0)
		return r;
	listing->count = list_count(names);
	listing->agents = arena_alloc(&listing->arena, (listing->count + 1) * sizeof(struct listed));
	if (!listing->agents)
		return err_no_memory(err);
	for (size_t i = 0; r == 0 && i < listing->count; i++) {
		listing->agents[i] = (struct listed){ .name = names[i] };
		r = agent_list_look(&listing->arena, &listing->agents[i], err);
	}
	return r;
}

static bool agent_list_has(const struct listing *listing, struct str name)
{
	for (size_t i = 0; i < listing->count; i++) {
		if (str_is(name, listing->agents[i].name))
			return true;
	}
	return false;
}

/* ---- for people ------------------------------------------------------------- */

static const char *agent_list_words_of(const struct profile_about *about)
{
	const char *words = about->description ? about->description : about->name;
	return words ? words : "";
}

static void agent_list_print_agents(const struct listing *listing, struct page *page)
{
	static const char *const headings[] = { "NAME", "STATE", "WHAT" };
	struct table table = { .columns = COUNT(headings) };
	if (!listing->count)
		return;
	table_add(&table, headings);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listed *agent = &listing->agents[i];
		const char *const cells[] = { agent->name, agent->problem ? "not ready" : "ready",
			agent->problem ? agent->problem : agent_list_words_of(&agent->profile.about) };
		table_add(&table, cells);
	}
	table_print(&table, page);
	table_free(&table);
}

static int agent_list_print_catalogue(const struct listing *listing, struct page *page)
{
	static const char *const headings[] = { "TO ADD", "WHAT" };
	struct table table = { .columns = COUNT(headings) };
	struct arena arena = { 0 };
	struct agent_profile profile;
	int r = 0;
	for (size_t i = 0; r == 0 && agent_catalogue_name(i).len; i++) {
		const char *name = arena_dup(&arena, agent_catalogue_name(i));
		if (agent_list_has(listing, agent_catalogue_name(i)))
			continue;
		if (!table.count)
			table_add(&table, headings);
		r = name ? agent_catalogue_read(name, &arena, &profile) : -ENOMEM;
		if (r == 0)
			table_add(&table, (const char *const[]){ name, agent_list_words_of(&profile.about) });
	}
	if (listing->count && table.count)
		buf_append_char(&page->out, '\n');
	if (r == 0 && table.count)
		table_print(&table, page);
	table_free(&table);
	arena_free(&arena);
	return r;
}

static int agent_list_print(const struct cli *cli, const struct listing *listing)
{
	struct page page;
	page_begin(&page, cli);
	agent_list_print_agents(listing, &page);
	int r = agent_list_print_catalogue(listing, &page);
	int code = page_end(&page);
	return r < 0 ? cli_no_memory() : code;
}

/* ---- for programs ------------------------------------------------------------- */

static void agent_list_write(perch_json_writer *writer, const struct listed *agent)
{
	perch_json_begin_object(writer);
	member_text(writer, "name", agent->name);
	member_text(writer, "path", agent->path);
	agent_about_write(writer, &agent->profile.about);
	member_text(writer, "problem", agent->problem);
	perch_json_end_object(writer);
}

static int agent_list_print_json(const struct listing *listing)
{
	struct envelope envelope;
	perch_json_writer *writer = &envelope.writer;
	envelope_begin(&envelope);
	member_array(writer, "agents");
	for (size_t i = 0; i < listing->count; i++)
		agent_list_write(writer, &listing->agents[i]);
	perch_json_end_array(writer);
	member_array(writer, "catalogue");
	for (size_t i = 0; agent_catalogue_name(i).len; i++) {
		struct str name = agent_catalogue_name(i);
		perch_json_write_string_n(writer, name.data, name.len);
	}
	perch_json_end_array(writer);
	return envelope_end(&envelope);
}

static int agent_list(struct cli *cli, int argc, char **argv)
{
	const struct option_spec specs[] = { { "json", 0, OPTION_FLAG, &cli->json }, { 0 } };
	struct listing listing = { 0 };
	perch_err err = { 0 };
	int at = 1;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error(NULL, "list takes no '%s'", argv[at]);
	if (r)
		return r;
	int code;
	if (agent_list_read(&listing, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		code = cli->json ? envelope_fail(err.text, EXIT_HOST) : EXIT_HOST;
	} else {
		code = cli->json ? agent_list_print_json(&listing) : agent_list_print(cli, &listing);
	}
	arena_free(&listing.arena);
	return code;
}

const struct command agent_list_command = {
	.name = "list",
	.summary = "the agents that have a name, and those that could be added",
	.help = "usage: perch agent list [--json]\n"
			"\n"
			"The profiles in $XDG_CONFIG_HOME/perch/agents by name, whether what they need is\n"
			"here, and the catalogue that comes with perch.\n"
			"\n"
			"  --json   one object, for programs\n"
			"\n"
			"example:\n"
			"  perch agent list\n",
	.run = agent_list,
};
