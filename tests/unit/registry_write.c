/* registry: changing plugins.toml, which others write too. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/folder.h"
#include "harness/oom.h"
#include "registry/write.h"

#define FILE_NAME "fledge/plugins.toml"

static const char *const commands[] = { "deploy", "undeploy", NULL };

static const struct registry_entry deploy = {
	.name = "deploy",
	.source = "org/deploy",
	.version = "1.0.0",
	.installed = "2026-01-31",
	.pinned_ref = "v1",
	.commands = commands,
	.has_capabilities = true,
	.granted = { .exec = true, .filesystem = FILESYSTEM_PLUGIN },
};

static void begin(void)
{
	setenv("XDG_CONFIG_HOME", folder_new(), 1);
}

static void put(const struct registry_entry *entry)
{
	perch_err err = { 0 };
	ck_assert_msg(registry_put(entry, &err) == 0, "%s", err.text);
}

static void assert_file(const char *text)
{
	char *found = folder_read(folder_path(FILE_NAME));
	ck_assert_str_eq(found, text);
	free(found);
}

START_TEST(the_first_entry_makes_the_file)
{
	begin();
	put(&deploy);
	assert_file("[[plugins]]\n"
				"name = \"deploy\"\n"
				"source = \"org/deploy\"\n"
				"version = \"1.0.0\"\n"
				"installed = \"2026-01-31\"\n"
				"commands = [\"deploy\", \"undeploy\"]\n"
				"pinned_ref = \"v1\"\n"
				"\n"
				"[plugins.capabilities]\n"
				"exec = true\n"
				"store = false\n"
				"metadata = false\n"
				"network = false\n"
				"filesystem = \"plugin\"\n");
	struct stat status;
	ck_assert_int_eq(stat(folder_path(FILE_NAME), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(folder_path("fledge"), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0700);
}
END_TEST

START_TEST(what_is_written_is_read)
{
	begin();
	put(&deploy);
	put(&(struct registry_entry){ .name = "odd+name", .version = "\"1\"" });
	struct arena arena = { 0 };
	struct registry registry;
	ck_assert_int_eq(registry_read(&arena, &registry, NULL), 0);
	ck_assert_uint_eq(registry.count, 2);
	const struct registry_entry *entry = registry_find(&registry, "deploy");
	ck_assert_str_eq(entry->source, "org/deploy");
	ck_assert_str_eq(entry->pinned_ref, "v1");
	ck_assert_str_eq(entry->commands[1], "undeploy");
	ck_assert(entry->has_capabilities && entry->granted.exec && !entry->granted.network);
	ck_assert_int_eq(entry->granted.filesystem, FILESYSTEM_PLUGIN);
	ck_assert(!registry_find(&registry, "odd+name")->has_capabilities);
	arena_free(&arena);
}
END_TEST

#define BEFORE                      \
	"# mine\n"                      \
	"[[plugins]] # other program\n" \
	"name = \"other\"\n"            \
	"tag = { any = 1 }\n"           \
	"\n"

#define BEHIND               \
	"\n"                     \
	"# the last\n"           \
	"[[plugins]]\n"          \
	"name = \"last\"\n"      \
	"[settings] # keep me\n" \
	"x = 1\n"

START_TEST(everything_else_stays)
{
	begin();
	folder_write(FILE_NAME, BEFORE "[[plugins]]\nname = \"deploy\"\nversion = \"0\"\n" BEHIND);
	put(&(struct registry_entry){ .name = "deploy", .version = "2", .commands = commands + 1 });
	assert_file(BEFORE
		"[[plugins]]\nname = \"deploy\"\nversion = \"2\"\ncommands = [\"undeploy\"]\n" BEHIND);
	ck_assert_int_eq(registry_drop("deploy", NULL), 1);
	char *text = folder_read(folder_path(FILE_NAME));
	ck_assert_ptr_null(strstr(text, "deploy"));
	ck_assert_ptr_nonnull(strstr(text, "# mine\n[[plugins]] # other program\n"));
	ck_assert_ptr_nonnull(strstr(text, "tag = { any = 1 }\n"));
	ck_assert_ptr_nonnull(strstr(text, "# the last\n"));
	ck_assert_ptr_nonnull(strstr(text, "[settings] # keep me\nx = 1\n"));
	free(text);
	ck_assert_int_eq(registry_drop("deploy", NULL), 0);
}
END_TEST

START_TEST(of_several_entries_one_stays)
{
	begin();
	folder_write(FILE_NAME,
		"[[plugins]]\nname = \"a\"\nversion = \"1\"\n[[plugins]]\nname = \"b\"\n"
		"[[plugins]]\nname = \"a\"\nversion = \"2\"\n[[plugins]]\nname = \"a\"\n");
	put(&(struct registry_entry){ .name = "a", .version = "3" });
	char *text = folder_read(folder_path(FILE_NAME));
	ck_assert_str_eq(text,
		"[[plugins]]\nname = \"a\"\nversion = \"3\"\ncommands = []\n[[plugins]]\nname = \"b\"\n");
	free(text);
}
END_TEST

START_TEST(an_inline_array_stays_inline)
{
	begin();
	folder_write(FILE_NAME, "plugins = [ { name = \"b\" } ] # short\n");
	put(&(struct registry_entry){ .name = "a" });
	ck_assert_int_eq(registry_drop("b", NULL), 1);
	char *text = folder_read(folder_path(FILE_NAME));
	ck_assert_ptr_nonnull(strstr(text, "name = \"a\""));
	ck_assert_ptr_null(strstr(text, "\"b\""));
	ck_assert_ptr_nonnull(strstr(text, "# short"));
	free(text);
}
END_TEST

START_TEST(what_is_no_registry_is_left_alone)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "[[plugins]\n", "plugins.toml:1:" },
		{ "plugins = 3\n", "plugins.toml:1:11: `plugins` must be an array" },
		{ "plugins = [1, 2]\n", "does not hold tables" },
	};
	begin();
	for (size_t i = 0; i < COUNT(cases); i++) {
		perch_err err = { 0 };
		folder_write(FILE_NAME, cases[i].text);
		ck_assert_int_lt(registry_put(&deploy, &err), 0);
		ck_assert_msg(strstr(err.text, cases[i].words) != NULL, "%s", err.text);
		assert_file(cases[i].text);
	}
	ck_assert_int_eq(unlink(folder_path(FILE_NAME)), 0);
	ck_assert_int_eq(mkfifo(folder_path(FILE_NAME), 0600), 0);
	ck_assert_int_eq(registry_put(&deploy, NULL), -ENOTSUP);
	setenv("XDG_CONFIG_HOME", "/proc/self/nothing", 1);
	perch_err err = { 0 };
	ck_assert_int_lt(registry_put(&deploy, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "/proc/self/nothing/fledge"));
}
END_TEST

START_TEST(a_link_is_followed)
{
	begin();
	folder_write("dotfiles/plugins", "# kept\n");
	ck_assert_int_eq(mkdir(folder_path("fledge"), 0700), 0);
	ck_assert_int_eq(symlink("../dotfiles/plugins", folder_path(FILE_NAME)), 0);
	put(&deploy);
	struct stat status;
	ck_assert_int_eq(lstat(folder_path(FILE_NAME), &status), 0);
	ck_assert(S_ISLNK(status.st_mode));
	char *text = folder_read(folder_path("dotfiles/plugins"));
	ck_assert_ptr_nonnull(strstr(text, "# kept\n"));
	ck_assert_ptr_nonnull(strstr(text, "name = \"deploy\""));
	free(text);
	ck_assert_int_eq(unlink(folder_path("dotfiles/plugins")), 0);
	ck_assert_int_eq(registry_put(&deploy, NULL), -ENOENT);
}
END_TEST

/* ---- many processes ------------------------------------------------------ */

enum { WRITERS = 4, ROUNDS = 40 };

static void write_rounds(int writer)
{
	for (int i = 0; i < ROUNDS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "w%d-%d", writer, i);
		if (registry_put(&(struct registry_entry){ .name = name, .version = "1" }, NULL) < 0)
			_exit(1);
		snprintf(name, sizeof(name), "w%d-%d", writer, i - 1);
		if (i % 2 && registry_drop(name, NULL) != 1)
			_exit(2);
	}
	_exit(0);
}

START_TEST(several_processes_lose_nothing)
{
	begin();
	for (int i = 0; i < WRITERS; i++)
		if (fork() == 0)
			write_rounds(i);
	for (int status; wait(&status) > 0;)
		ck_assert_int_eq(status, 0);
	struct arena arena = { 0 };
	struct registry registry;
	ck_assert_int_eq(registry_read(&arena, &registry, NULL), 0);
	ck_assert_uint_eq(registry.count, WRITERS * ROUNDS / 2);
	ck_assert_uint_eq(folder_count(folder_path("fledge"), "plugins.toml"), 2);
	arena_free(&arena);
}
END_TEST

/* Counts the version up; every one that is on disk is told. */
static void count_up(int from, int acknowledge)
{
	for (int i = from;; i++) {
		char version[32];
		snprintf(version, sizeof(version), "%d", i);
		if (registry_put(&(struct registry_entry){ .name = "n", .version = version }, NULL) < 0 ||
			write(acknowledge, &i, sizeof(i)) != sizeof(i))
			_exit(1);
	}
}

static int version_on_disk(void)
{
	struct arena arena = { 0 };
	struct registry registry;
	perch_err err = { 0 };
	ck_assert_msg(registry_read(&arena, &registry, &err) == 0, "%s", err.text);
	ck_assert_ptr_nonnull(registry_find(&registry, "kept"));
	const struct registry_entry *entry = registry_find(&registry, "n");
	int version = entry ? atoi(entry->version) : 0;
	arena_free(&arena);
	return version;
}

START_TEST(a_kill_at_any_moment_leaves_a_whole_file)
{
	begin();
	put(&(struct registry_entry){ .name = "kept" });
	srandom(1);
	int last = 0;
	for (int i = 0; i < 100; i++) {
		int ends[2];
		ck_assert_int_eq(pipe(ends), 0);
		pid_t pid = fork();
		if (pid == 0)
			count_up(last + 1, ends[1]);
		close(ends[1]);
		int acknowledged = last;
		for (long wanted = random() % 3; wanted > 0; wanted--)
			ck_assert_int_eq(read(ends[0], &acknowledged, sizeof(int)), sizeof(int));
		for (volatile long spins = random() % 300000; spins > 0; spins = spins - 1)
			;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (int next; read(ends[0], &next, sizeof(next)) == sizeof(next);)
			acknowledged = next;
		close(ends[0]);
		last = version_on_disk();
		ck_assert_int_ge(last, acknowledged);
		ck_assert_int_le(last, acknowledged + 1);
	}
	put(&deploy);
	ck_assert_uint_eq(folder_count(folder_path("fledge"), "plugins.toml"), 2);
}
END_TEST

/* ---- memory -------------------------------------------------------------- */

static int put_and_drop(void *data)
{
	(void)data;
	folder_write(FILE_NAME, BEFORE "[[plugins]]\nname = \"deploy\"\n" BEHIND);
	perch_err err = { 0 };
	int r = registry_put(&deploy, &err);
	if (r == 0)
		r = registry_drop("other", &err);
	ck_assert_msg(r >= 0 || r == -ENOMEM, "%s", err.text);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	begin();
	ck_assert_uint_gt(oom_every(put_and_drop, NULL), 20);
}
END_TEST

SUITE_MAIN("registry_write", the_first_entry_makes_the_file, what_is_written_is_read,
	everything_else_stays, of_several_entries_one_stays, an_inline_array_stays_inline,
	what_is_no_registry_is_left_alone, a_link_is_followed, several_processes_lose_nothing,
	a_kill_at_any_moment_leaves_a_whole_file, every_allocation_may_fail)
