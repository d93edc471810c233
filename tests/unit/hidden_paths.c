/* The table of what is hidden: every line of it is walked, in a sandbox. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/policy/hidden_paths.h"
#include "sandbox/policy/policy.h"
#include "sandbox/sandbox.h"

#define SECRET "as if it were a secret"

/* Each place is once a file, once a directory with a file in it. */
enum shape { SHAPE_FILE, SHAPE_DIRECTORY, SHAPES };

static const char *const inside[] = { "", "/inside" };

static const char *home_of(const struct hidden_path *row)
{
	return folder_path("home/%s", row->place);
}

/* Where the XDG variables lead: NULL = this one is not there. */
static const char *xdg_of(const struct hidden_path *row)
{
	static const char *const bases[][2] = { { ".config/", "config" }, { ".local/share/", "data" } };
	for (size_t i = 0; row->place && i < COUNT(bases); i++) {
		size_t len = strlen(bases[i][0]);
		if (strncmp(row->place, bases[i][0], len) == 0)
			return folder_path("xdg/%s/%s", bases[i][1], row->place + len);
	}
	return NULL;
}

static const char *moved_of(const struct hidden_path *row)
{
	return folder_path(
		"moved/%s%s%s", row->variable, row->below ? "/" : "", row->below ? row->below : "");
}

/* A path below the folder, from one that is not relative to it. */
static void make_place(const char *path, enum shape shape)
{
	char name[1024];
	snprintf(name, sizeof(name), "%s%s", path + strlen(folder_path("%s", "")), inside[shape]);
	folder_write(name, SECRET "\n");
}

static void plant_all(enum shape shape)
{
	for (size_t i = 0; i < hidden_table_count; i++) {
		const struct hidden_path *row = &hidden_table[i];
		if (row->place)
			make_place(home_of(row), shape);
		if (xdg_of(row))
			make_place(xdg_of(row), shape);
		if (row->variable)
			make_place(moved_of(row), shape);
	}
	folder_write("home/.config/plain", SECRET "\n");
	folder_write("home/plain", SECRET "\n");
}

static void set_variables(void)
{
	setenv("XDG_CONFIG_HOME", folder_path("xdg/config"), 1);
	setenv("XDG_DATA_HOME", folder_path("xdg/data"), 1);
	for (size_t i = 0; i < hidden_table_count; i++) {
		const struct hidden_path *row = &hidden_table[i];
		char value[1024];
		if (!row->variable)
			continue;
		/* The second of a list. */
		snprintf(value, sizeof(value), "%s%s", row->is_list ? "/nothing:" : "",
			folder_path("moved/%s", row->variable));
		setenv(row->variable, value, 1);
	}
}

static void begin(enum shape shape, bool has_room)
{
	folder_new();
	setenv("PERCH_SANDBOX_NO_ROOM", has_room ? "0" : "1", 1);
	unsetenv("SSH_AUTH_SOCK");
	unsetenv("DOCKER_HOST");
	plant_all(shape);
	set_variables();
	free(folder_run("find . -type f >list"));
}

/* Which files with a secret a plugin with this preset (NULL = none) reads: their paths. */
static char *seen_with(const char *preset)
{
	/* By their names: without a room, what holds a secret cannot be listed. */
	static const char script[] = "cd \"$0\" && xargs grep -lsF '" SECRET "' <list";
	const char *const presets[] = { preset, NULL };
	const struct policy_widening widening = { .presets = presets };
	struct arena arena = { 0 };
	struct policy_plugin plugin = policy_plugin_of(&arena, folder_path("home"));
	struct sandbox_policy policy;
	struct sandbox *sandbox = NULL;
	perch_host *host = proc_host();
	perch_err err = { 0 };
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	policy.has_private_tmp = false; /* the folder may be there */
	ck_assert_int_eq(policy_widen(&arena, plugin.home, &widening, &policy, &err), 0);
	ck_assert_msg(sandbox_open(host, &policy, &sandbox, &err) == 0, "%s", err.text);
	const char *const argv[] = { "sh", "-c", script, folder_path("."), NULL };
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(argv, &record);
	spec.confine = sandbox_confine(sandbox);
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	char *seen = strdup(record_out(&record));
	record_free(&record);
	sandbox_close(sandbox);
	perch_host_free(host);
	arena_free(&arena);
	return seen;
}

static void check_place(
	const char *seen, const char *path, enum shape shape, bool is_shown, const char *preset)
{
	char line[1024];
	snprintf(line, sizeof(line), "./%s%s\n", path + strlen(folder_path("%s", "")), inside[shape]);
	bool is_seen = strstr(seen, line) != NULL;
	ck_assert_msg(is_seen == is_shown, "preset %s: %.200s is %s", preset ? preset : "none", line,
		is_seen ? "shown" : "hidden");
}

static void check_all(const char *preset, enum shape shape)
{
	char *seen = seen_with(preset);
	ck_assert_msg(strstr(seen, "./home/plain\n") && strstr(seen, "./home/.config/plain\n"),
		"nothing is seen at all: %s", seen);
	for (size_t i = 0; i < hidden_table_count; i++) {
		const struct hidden_path *row = &hidden_table[i];
		bool is_shown = preset && row->preset && strcmp(preset, row->preset) == 0;
		if (row->place)
			check_place(seen, home_of(row), shape, is_shown, preset);
		if (xdg_of(row))
			check_place(seen, xdg_of(row), shape, is_shown, preset);
		if (row->variable)
			check_place(seen, moved_of(row), shape, is_shown, preset);
	}
	free(seen);
}

static void walk(enum shape shape, bool has_room)
{
	begin(shape, has_room);
	check_all(NULL, shape);
	for (size_t i = 0; policy_preset(i); i++)
		check_all(policy_preset(i), shape);
}

START_TEST(every_file_is_hidden_and_its_preset_shows_it)
{
	walk(SHAPE_FILE, true);
}
END_TEST

START_TEST(every_directory_is_hidden_and_its_preset_shows_it)
{
	walk(SHAPE_DIRECTORY, true);
}
END_TEST

START_TEST(without_a_room_every_file_is_hidden_and_its_preset_shows_it)
{
	walk(SHAPE_FILE, false);
}
END_TEST

START_TEST(without_a_room_every_directory_is_hidden_and_its_preset_shows_it)
{
	walk(SHAPE_DIRECTORY, false);
}
END_TEST

START_TEST(every_line_makes_sense)
{
	for (size_t i = 0; i < hidden_table_count; i++) {
		const struct hidden_path *row = &hidden_table[i];
		ck_assert(row->place || row->variable);
		ck_assert(!row->place || row->place[0] == '.');
		ck_assert(!row->below || row->variable);
		bool is_known = !row->preset;
		for (size_t k = 0; policy_preset(k); k++)
			is_known |= row->preset && strcmp(row->preset, policy_preset(k)) == 0;
		ck_assert_msg(is_known, "there is no preset %s", row->preset);
		if (row->preset && row->variable)
			ck_assert(hidden_paths_need_variable(row->preset, str_from(row->variable)));
	}
	ck_assert(!hidden_paths_need_variable("aws", STR("KUBECONFIG")));
}
END_TEST

/* ---- the list itself ------------------------------------------------------------- */

static struct path_list hidden_at(struct arena *arena, const char *home)
{
	struct path_list hide;
	path_list_begin(&hide, arena, NULL);
	hidden_paths_add(&hide, home);
	hidden_paths_add_moved(&hide, home);
	ck_assert(!hide.failed);
	return hide;
}

static void forget_variables(void)
{
	for (size_t i = 0; i < hidden_table_count; i++)
		if (hidden_table[i].variable)
			unsetenv(hidden_table[i].variable);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_DATA_HOME");
}

START_TEST(what_is_not_there_is_not_looked_up)
{
	struct arena arena = { 0 };
	folder_new();
	forget_variables();
	folder_write("home/.config/gh/hosts.yml", "");
	folder_write("home/.SSH/id", "");
	struct path_list hide = hidden_at(&arena, folder_path("home"));
	ck_assert(list_has(hide.items, folder_path("home/.config/gh")));
	/* Names may count in upper and lower case alike. */
	ck_assert(list_has(hide.items, folder_path("home/.ssh")));
	ck_assert(!list_has(hide.items, folder_path("home/.aws")));
	ck_assert(!list_has(hide.items, folder_path("home/.config/gcloud")));
	/* One that cannot be listed may have them all. */
	hide = hidden_at(&arena, folder_path("elsewhere"));
	ck_assert(list_has(hide.items, folder_path("elsewhere/.aws")));
	ck_assert(list_has(hide.items, folder_path("elsewhere/.config/gcloud")));
	arena_free(&arena);
}
END_TEST

START_TEST(a_large_home_hides_all_the_same)
{
	struct arena arena = { 0 };
	folder_new();
	forget_variables();
	free(folder_run("mkdir home && cd home && seq -f .x%%g 5000 | xargs touch"));
	struct path_list hide = hidden_at(&arena, folder_path("home"));
	ck_assert(list_has(hide.items, folder_path("home/.aws")));
	arena_free(&arena);
}
END_TEST

START_TEST(variables_that_say_too_much_hide_nothing)
{
	struct arena arena = { 0 };
	folder_new();
	forget_variables();
	folder_write("home/plain", "");
	setenv("HISTFILE", "/dev/null", 1);
	setenv("DOCKER_CONFIG", "/dev/null", 1);
	setenv("NETRC", "/dev/fd/63", 1);
	setenv("GH_CONFIG_DIR", folder_path("home"), 1);
	setenv("GNUPGHOME", "/", 1);
	setenv("KUBECONFIG", "::", 1);
	setenv("NPM_CONFIG_USERCONFIG", "", 1);
	setenv("BOTO_CONFIG", "relative/boto", 1);
	struct path_list hide = hidden_at(&arena, folder_path("home"));
	for (size_t i = 0; i < hide.count; i++) {
		ck_assert_msg(strncmp(hide.items[i], "/dev", 4) != 0, "%s", hide.items[i]);
		ck_assert_str_ne(hide.items[i], "/");
		ck_assert_str_ne(hide.items[i], folder_path("home"));
	}
	/* Where we are, and only what is there. */
	ck_assert_int_eq(chdir(folder_path(".")), 0);
	ck_assert(!list_has(hide.items, folder_path("relative/boto")));
	folder_write("relative/boto", "");
	hide = hidden_at(&arena, folder_path("home"));
	ck_assert(list_has(hide.items, folder_path("relative/boto")));
	arena_free(&arena);
}
END_TEST

START_TEST(what_would_hold_a_place_is_known_by_its_name)
{
	ck_assert(hidden_paths_lie_in("/home/dev", "/home/dev"));
	ck_assert(hidden_paths_lie_in("/home/dev/", "/home/dev"));
	ck_assert(hidden_paths_lie_in("/home", "/home/dev"));
	ck_assert(hidden_paths_lie_in("/home/dev/.config", "/home/dev"));
	ck_assert(hidden_paths_lie_in("/home/dev/.config/git/", "/home/dev"));
	ck_assert(hidden_paths_lie_in("/home/dev/.ssh", "/home/dev"));
	ck_assert(!hidden_paths_lie_in("/home/dev/.conf", "/home/dev"));
	ck_assert(!hidden_paths_lie_in("/home/dev/app", "/home/dev"));
	ck_assert(!hidden_paths_lie_in("/srv", "/home/dev"));
	ck_assert(!hidden_paths_lie_in("/srv", ""));
}
END_TEST

/* Also where nothing is there yet, and by another name. */
START_TEST(a_project_that_would_hold_a_place_is_not_written)
{
	static const char *const projects[] = { "home/.cargo", "home/link", "elsewhere/.cargo" };
	folder_new();
	forget_variables();
	free(folder_run(
		"mkdir -p home/.cargo home/app && ln -s .cargo home/link && ln -s home elsewhere"));
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	struct policy_plugin plugin = policy_plugin_of(&arena, folder_path("home"));
	plugin.may_write_project = true;
	for (size_t i = 0; i < COUNT(projects); i++) {
		plugin.project = folder_path("%s", projects[i]);
		ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
		ck_assert_msg(!list_has(policy.write, plugin.project) && policy.note, "%s", projects[i]);
	}
	plugin.project = folder_path("home/app");
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(list_has(policy.write, plugin.project));
	arena_free(&arena);
}
END_TEST

/* As CARGO_HOME and KUBECONFIG often are: hidden there, and the project is one all the same. */
START_TEST(what_was_moved_into_a_project_is_hidden_in_it)
{
	folder_new();
	forget_variables();
	free(folder_run("mkdir -p home/app/store"));
	folder_write("home/app/.cargo/credentials.toml", "");
	setenv("CARGO_HOME", folder_path("home/app/.cargo"), 1);
	setenv("PASSWORD_STORE_DIR", folder_path("home/app/store"), 1);
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	struct policy_plugin plugin = policy_plugin_of(&arena, folder_path("home"));
	plugin.may_write_project = true;
	plugin.project = folder_path("home/app");
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(list_has(policy.write, plugin.project) && !policy.note);
	ck_assert(list_has(policy.hide, folder_path("home/app/.cargo/credentials.toml")));
	/* Nobody uncovers a store by working in it. */
	plugin.project = folder_path("home/app/store");
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(!list_has(policy.reveal, plugin.project) && !list_has(policy.write, plugin.project));
	arena_free(&arena);
}
END_TEST

static int add_all(void *data)
{
	struct arena arena = { 0 };
	struct path_list hide;
	path_list_begin(&hide, &arena, NULL);
	hidden_paths_add(&hide, data);
	hidden_paths_add_moved(&hide, data);
	hidden_paths_of_preset(&hide, data, "github", HIDDEN_EXISTING);
	hidden_sockets_add(&hide);
	/* Never fewer than are there. */
	if (!hide.failed)
		ck_assert(list_has(hide.items, folder_path("home/.ssh")));
	int r = hide.failed ? -ENOMEM : 0;
	arena_free(&arena);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	folder_new();
	forget_variables();
	folder_write("home/.ssh/id", "");
	setenv("GH_CONFIG_DIR", "gh", 1);
	ck_assert_uint_gt(oom_every(add_all, (void *)folder_path("home")), 2);
}
END_TEST

SUITE_MAIN("hidden-paths", every_line_makes_sense, every_file_is_hidden_and_its_preset_shows_it,
	every_directory_is_hidden_and_its_preset_shows_it,
	without_a_room_every_file_is_hidden_and_its_preset_shows_it,
	without_a_room_every_directory_is_hidden_and_its_preset_shows_it,
	what_is_not_there_is_not_looked_up, a_large_home_hides_all_the_same,
	variables_that_say_too_much_hide_nothing, what_would_hold_a_place_is_known_by_its_name,
	a_project_that_would_hold_a_place_is_not_written, what_was_moved_into_a_project_is_hidden_in_it,
	every_allocation_may_fail)
