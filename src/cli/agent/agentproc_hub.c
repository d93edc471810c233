/* agentproc hub: profiles by name, of the catalogue that comes with perch and of a directory that
 * the user names, which has them as NAME/profile.yaml. Nothing is fetched. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/listing.h"
#include "base/macros.h"
#include "base/paths.h"
#include "base/replace.h"
#include "cli/agent/agent_run.h"
#include "cli/ui/table.h"
#include "plugins/install_parts.h"

enum { README_MAX = 1024 * 1024 };

#define HUB_PROFILE "profile.yaml"

static const char hub_help[] =
	"usage: agentproc hub list [--hub DIR]\n"
	"       agentproc hub show NAME [--hub DIR]\n"
	"       agentproc hub run NAME -p TEXT [--hub DIR] [OPTIONS]\n"
	"       agentproc hub install NAME [--hub DIR]\n"
	"\n"
	"Profiles by name: of the catalogue that comes with perch and, with --hub or\n"
	"AGENTPROC_HUB, of a directory that has them as NAME/profile.yaml, as that of the\n"
	"published collection. Nothing is fetched from anywhere.\n"
	"\n"
	"run takes the options of agentproc, with -p for --prompt, and works in the\n"
	"directory you are in. install copies the profile to ./NAME.\n"
	"\n"
	"  --hub DIR   the directory\n"
	"  --refresh   means nothing here: nothing is cached\n"
	"\n"
	"example:\n"
	"  agentproc hub run ollama -p 'What is new?'\n";

enum { HUB_PROFILES_MAX = 1000 }; /* of a directory, in a list */

struct hub {
	struct cli *cli;
	const char *directory; /* NULL = none was named */
	const char *name;      /* NULL = none was given */
	int argc;              /* what is left: for run */
	char **argv;
	struct arena arena;
};

/* ---- one of them -------------------------------------------------------------------- */

/* One name without slashes, so that the path stays in its directory. */
static bool hub_is_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/');
}

/* In the user's directory; NULL = it is not there. */
static const char *hub_path(struct hub *hub, const char *name, const char *file)
{
	const char *path =
		hub->directory ? arena_join(&hub->arena, hub->directory, "/", name, "/", file, NULL) : NULL;
	return path && access(path, F_OK) == 0 ? path : NULL;
}

static int hub_refuse(const struct hub *hub)
{
	return cli_usage_error("agentproc hub list shows them", "the hub has no '%s'%s%s", hub->name,
		hub->directory ? ", nor has " : "", hub->directory ? hub->directory : "");
}

/* A profile of the catalogue is written to a file in our cache while it runs. */
static int hub_write_cached(struct hub *hub, const char *text, const char **ret_path)
{
	perch_err err = { 0 };
	_cleanup_free_ char *directory = NULL;
	int r = paths_user(PATH_CACHE, "perch/hub", &directory, &err);
	if (r == 0)
		r = paths_make(directory, &err);
	const char *path =
		r == 0 ? arena_join(&hub->arena, directory, "/", hub->name, ".yaml", NULL) : NULL;
	if (r == 0)
		r = path ? replace_path(path, str_from(text)) : err_no_memory(&err);
	if (r < 0 && !err.code)
		err_set(&err, r, "%s: %s", path, perch_strerror(r));
	if (r < 0)
		cli_error(NULL, "%s", err.text);
	*ret_path = path;
	return r < 0 ? EXIT_HOST : 0;
}

static int hub_find(struct hub *hub, const char **ret_path)
{
	const char *text = agent_catalogue_text(hub->name);
	*ret_path = hub_path(hub, hub->name, HUB_PROFILE);
	if (*ret_path)
		return 0;
	return text ? hub_write_cached(hub, text, ret_path) : hub_refuse(hub);
}

/* ---- list ------------------------------------------------------------------------------ */

static void hub_add_row(
	struct hub *hub, struct table *table, const char *name, const struct agent_profile *profile)
{
	const struct profile_about *about = &profile->about;
	const char *kept = arena_dup(&hub->arena, str_from(name));
	const char *const cells[] = { kept ? kept : "", about->tested ? about->tested : "",
		about->description ? about->description : "" };
	table_add(table, cells);
}

static void hub_list_directory(struct hub *hub, struct table *table)
{
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, hub->directory, 0);
	const char *name;
	struct agent_profile profile;
	unsigned count = 0;
	while ((name = listing_next(listing))) {
		const char *path = hub_is_name(name) ? hub_path(hub, name, HUB_PROFILE) : NULL;
		if (!path || agent_profile_read(path, &hub->arena, &profile, NULL) < 0)
			continue;
		if (count++ == HUB_PROFILES_MAX) {
			cli_warning("the directory has more profiles than the thousand that are listed; "
						"agentproc hub show NAME finds every one");
			break;
		}
		hub_add_row(hub, table, name, &profile);
	}
}

static int hub_list(struct hub *hub)
{
	static const char *const headings[] = { "NAME", "TESTED", "WHAT" };
	struct table table = { .columns = COUNT(headings) };
	struct agent_profile profile;
	struct page page;
	if (hub->directory && access(hub->directory, R_OK | X_OK) < 0)
		return cli_usage_error(
			NULL, "--hub '%s' cannot be read: %s", hub->directory, perch_strerror(-errno));
	page_begin(&page, hub->cli);
	table_add(&table, headings);
	for (size_t i = 0; agent_catalogue_name(i).len; i++) {
		const char *name = arena_dup(&hub->arena, agent_catalogue_name(i));
		if (name && agent_catalogue_read(name, &hub->arena, &profile) == 0)
			hub_add_row(hub, &table, name, &profile);
	}
	if (hub->directory)
		hub_list_directory(hub, &table);
	table_print(&table, &page);
	table_free(&table);
	return page_end(&page);
}

/* ---- show, install, run ------------------------------------------------------------------ */

static int hub_show(struct hub *hub)
{
	struct buf text = { 0 };
	perch_err err = { 0 };
	const char *readme = hub_path(hub, hub->name, "README.md");
	const char *profile = readme ? readme : hub_path(hub, hub->name, HUB_PROFILE);
	const char *catalogued = agent_catalogue_text(hub->name);
	if (!profile && !catalogued)
		return hub_refuse(hub);
	if (!profile)
		buf_append_text(&text, catalogued);
	else if (file_read(profile, README_MAX, &text, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		buf_free(&text);
		return EXIT_HOST;
	}
	return cli_print_text(&text);
}

/* The parts that profiles share in the published collection lie beside them. */
static int hub_copy(struct hub *hub, perch_err *err)
{
	static const struct copy_options options = { 0 };
	const char *from = arena_join(&hub->arena, hub->directory, "/", hub->name, NULL);
	const char *shared = hub_path(hub, "_shared", "");
	int r = from ? copy_tree(from, hub->name, &options, err) : err_no_memory(err);
	if (r == 0 && shared && access("_shared", F_OK) < 0)
		r = copy_tree(shared, "_shared", &options, err);
	return r;
}

static int hub_write(struct hub *hub, perch_err *err)
{
	const char *path = arena_join(&hub->arena, hub->name, "/" HUB_PROFILE, NULL);
	int r = path ? paths_make(hub->name, err) : err_no_memory(err);
	if (r == 0)
		r = replace_path(path, str_from(agent_catalogue_text(hub->name)));
	return r < 0 && !err->code ? err_set(err, r, "%s: %s", path, perch_strerror(r)) : r;
}

static int hub_install(struct hub *hub)
{
	perch_err err = { 0 };
	bool is_users = hub_path(hub, hub->name, HUB_PROFILE);
	if (!is_users && !agent_catalogue_text(hub->name))
		return hub_refuse(hub);
	if (access(hub->name, F_OK) == 0)
		err_set(&err, -EEXIST, "there is a '%s' here already", hub->name);
	else if (is_users)
		hub_copy(hub, &err);
	else
		hub_write(hub, &err);
	if (err.code) {
		cli_error(NULL, "%s", err.text);
		return EXIT_FAILURE;
	}
	cli_tell(stderr, "installed: ./%s\nrun it by: agentproc --profile %s/%s --prompt 'hi'\n",
		hub->name, hub->name, HUB_PROFILE);
	return 0;
}

/* As agentproc would be called for it; -p is the prompt here. */
static int hub_run(struct hub *hub)
{
	char here[PATH_MAX];
	const char *path = NULL;
	int r = hub_find(hub, &path);
	char **argv = arena_alloc(&hub->arena, ((size_t)hub->argc + 6) * sizeof(*argv));
	if (r)
		return r;
	if (!argv || !getcwd(here, sizeof(here)))
		return cli_no_memory();
	int count = 0;
	argv[count++] = (char *)"agentproc";
	argv[count++] = (char *)"--profile";
	argv[count++] = (char *)path;
	argv[count++] = (char *)"--cwd"; /* an option of the user comes later, and wins */
	argv[count++] = here;
	for (int i = 0; i < hub->argc; i++)
		argv[count++] = strcmp(hub->argv[i], "-p") == 0 ? (char *)"--prompt" : hub->argv[i];
	argv[count] = NULL;
	return agent_run_command.run(hub->cli, count, argv);
}

/* ---- the words ---------------------------------------------------------------------------- */

static const struct hub_verb {
	const char *name;
	bool needs_name;
	int (*run)(struct hub *hub);
} hub_verbs[] = {
	{ "list", false, hub_list },
	{ "show", true, hub_show },
	{ "run", true, hub_run },
	{ "install", true, hub_install },
};

/* Takes the hub's own words out of argv; the rest is for run. */
static int hub_read(struct hub *hub, int argc, char **argv)
{
	hub->directory = getenv("AGENTPROC_HUB");
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--refresh") == 0)
			continue;
		if (strcmp(argv[i], "--hub") == 0) {
			if (++i == argc)
				return cli_usage_error("write: --hub DIR", "--hub needs a value");
			hub->directory = argv[i];
		} else if (strncmp(argv[i], "--hub=", 6) == 0) {
			hub->directory = argv[i] + 6;
		} else if (!hub->name && argv[i][0] != '-' && !hub->argc) {
			hub->name = argv[i];
		} else {
			hub->argv[hub->argc++] = argv[i];
		}
	}
	if (hub->directory && !hub->directory[0])
		hub->directory = NULL;
	return 0;
}

static int hub_do(struct hub *hub, const struct hub_verb *verb, int argc, char **argv)
{
	hub->argv = arena_alloc(&hub->arena, ((size_t)argc + 1) * sizeof(*hub->argv));
	if (!hub->argv)
		return cli_no_memory();
	int r = hub_read(hub, argc, argv);
	if (r)
		return r;
	if (verb->needs_name && (!hub->name || !hub_is_name(hub->name)))
		return cli_usage_error("agentproc hub list shows them", "hub %s needs a name", verb->name);
	const char *more = hub->argc ? hub->argv[0] : verb->needs_name ? NULL : hub->name;
	if (more && verb->run != hub_run)
		return cli_usage_error(
			"see: agentproc hub --help", "hub %s takes no '%s'", verb->name, more);
	return verb->run(hub);
}

int agentproc_hub(struct cli *cli, int argc, char **argv)
{
	struct hub hub = { .cli = cli };
	const char *word = argc > 1 ? argv[1] : "--help";
	const char *last = argc > 2 ? argv[argc - 1] : "";
	if (command_is_help(word) || strcmp(last, "--help") == 0)
		return fputs(hub_help, stdout) < 0;
	for (size_t i = 0; i < COUNT(hub_verbs); i++) {
		if (strcmp(hub_verbs[i].name, word) != 0)
			continue;
		int code = hub_do(&hub, &hub_verbs[i], argc - 2, argv + 2);
		arena_free(&hub.arena);
		return code;
	}
	return cli_usage_error("see: agentproc hub --help", "there is no hub '%s'", word);
}
