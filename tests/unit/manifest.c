/* manifest: every rule of plugin.toml, and every mistake with its place. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "registry/manifest.h"
#include "registry/names.h"

#define MINIMAL "[plugin]\nname = \"tidy\"\nversion = \"1.0\"\n"

static const char full[] = "title = 'unknown keys are fine'\n"
						   "[plugin]\n"
						   "name = \"fledge-deploy\"\n"
						   "version = \"0.1.0\"\n"
						   "description = \"Ships it\"\n"
						   "author = \"somebody\"\n"
						   "protocol = \"fledge-v1\"\n"
						   "runtime = \"native\"\n"
						   "homepage = 1\n"
						   "[[commands]]\n"
						   "name = \"deploy\"\n"
						   "binary = \"bin/deploy\"\n"
						   "description = \"Deploys\"\n"
						   "args = [{ name = \"to\", type = \"string\", required = true }]\n"
						   "dangerous = true\n"
						   "[[commands]]\n"
						   "name = \"roll-back\"\n"
						   "binary = \"./roll..back\"\n"
						   "[hooks]\n"
						   "build = \"make\"\n"
						   "post_install = \"one\"\n"
						   "post_remove = \"two\"\n"
						   "pre_init = \"three\"\n"
						   "post_work_start = \"four\"\n"
						   "pre_push = \"five\"\n"
						   "later = []\n"
						   "[capabilities]\n"
						   "exec = true\n"
						   "store = true\n"
						   "network = true\n"
						   "filesystem = \"plugin\"\n"
						   "telepathy = \"yes\"\n";

static int parse(const char *text, struct arena *arena, struct manifest *manifest, perch_err *err)
{
	return manifest_parse("x/plugin.toml", text, strlen(text), arena, manifest, err);
}

START_TEST(everything_is_read)
{
	struct arena arena = { 0 };
	struct manifest manifest;
	perch_err err = { 0 };
	ck_assert_msg(parse(full, &arena, &manifest, &err) == 0, "%s", err.text);
	ck_assert_str_eq(manifest.name, "fledge-deploy");
	ck_assert_str_eq(manifest.version, "0.1.0");
	ck_assert_str_eq(manifest.description, "Ships it");
	ck_assert_str_eq(manifest.author, "somebody");
	ck_assert_str_eq(manifest.protocol, "fledge-v1");
	ck_assert_str_eq(manifest.runtime, "native");
	ck_assert_uint_eq(manifest.command_count, 2);
	ck_assert_str_eq(manifest.commands[0].name, "deploy");
	ck_assert_str_eq(manifest.commands[0].binary, "bin/deploy");
	ck_assert_str_eq(manifest.commands[0].description, "Deploys");
	ck_assert_str_eq(manifest.commands[1].name, "roll-back");
	ck_assert_str_eq(manifest.commands[1].binary, "./roll..back");
	ck_assert_str_eq(manifest.commands[1].description, "");
	ck_assert_str_eq(manifest.hooks.build, "make");
	ck_assert_str_eq(manifest.hooks.post_install, "one");
	ck_assert_str_eq(manifest.hooks.post_remove, "two");
	ck_assert_str_eq(manifest.hooks.pre_init, "three");
	ck_assert_str_eq(manifest.hooks.post_work_start, "four");
	ck_assert_str_eq(manifest.hooks.pre_push, "five");
	ck_assert(manifest.wishes.exec && manifest.wishes.store && manifest.wishes.network);
	ck_assert(!manifest.wishes.metadata);
	ck_assert_int_eq(manifest.wishes.filesystem, FILESYSTEM_PLUGIN);
	ck_assert_int_eq(manifest_check_protocol(&manifest, &err), 0);
	arena_free(&arena);
}
END_TEST

START_TEST(what_is_absent_is_empty)
{
	struct arena arena = { 0 };
	struct manifest manifest;
	perch_err err = { 0 };
	ck_assert_msg(parse(MINIMAL "commands = []\n", &arena, &manifest, &err) == 0, "%s", err.text);
	ck_assert_msg(parse("commands = []\n" MINIMAL, &arena, &manifest, &err) == 0, "%s", err.text);
	ck_assert_str_eq(manifest.protocol, "");
	ck_assert_str_eq(manifest.runtime, "");
	ck_assert_str_eq(manifest.description, "");
	ck_assert_str_eq(manifest.author, "");
	ck_assert_str_eq(manifest.hooks.build, "");
	ck_assert_str_eq(manifest.hooks.pre_push, "");
	ck_assert_uint_eq(manifest.command_count, 0);
	ck_assert(!manifest.wishes.exec && !manifest.wishes.store && !manifest.wishes.metadata);
	ck_assert(!manifest.wishes.network);
	ck_assert_int_eq(manifest.wishes.filesystem, FILESYSTEM_UNSET);
	ck_assert_int_eq(manifest_check_protocol(&manifest, NULL), 0);
	arena_free(&arena);
}
END_TEST

START_TEST(every_filesystem_wish_is_known)
{
	static const char *const names[] = { "none", "project", "plugin" };
	for (size_t i = 0; i < COUNT(names); i++) {
		struct arena arena = { 0 };
		struct manifest manifest;
		char text[200];
		snprintf(text, sizeof(text), MINIMAL "[capabilities]\nfilesystem = '%s'\n", names[i]);
		ck_assert_int_eq(parse(text, &arena, &manifest, NULL), 0);
		ck_assert_str_eq(filesystem_name(manifest.wishes.filesystem), names[i]);
		arena_free(&arena);
	}
	ck_assert_ptr_null(filesystem_name(FILESYSTEM_UNSET));
}
END_TEST

#define COMMAND(name, binary) MINIMAL "[[commands]]\nname = \"" name "\"\nbinary = \"" binary "\"\n"

static const struct {
	const char *text;
	unsigned line, column;
	const char *words; /* in the message */
} mistakes[] = {
	{ "", 1, 1, "[plugin] is missing" },
	{ "[plugin\n", 1, 8, "expected" },
	{ "plugin = 1\n", 1, 10, "`plugin` must be a table" },
	{ "[[plugin]]\nname = 'x'\n", 1, 3, "must be a table" },
	{ "\n[plugin]\nversion = '1'\n", 2, 2, "plugin.name is missing" },
	{ "[plugin]\nname = 'x'\n", 1, 2, "plugin.version is missing" },
	{ "[plugin]\nname = 7\n", 2, 8, "`name` must be a string, not an integer" },
	{ "[plugin]\nname = ''\nversion = '1'\n", 2, 8, "must not be empty" },
	{ "[plugin]\nname = 'x'\nversion = ''\n", 3, 11, "must not be empty" },
	{ "[plugin]\nname = 'x'\nversion = \"1\\u001b[2J\"\n", 3, 11, "control characters" },
	{ "[plugin]\nname = 'x'\nversion = \"1\\n2\"\n", 3, 11, "control characters" },
	{ "[plugin]\nname = 'x'\nversion = \"1\\u202e\"\n", 3, 11, "control characters" },
	{ "[plugin]\nname = 'x'\nversion = 1.0\n", 3, 11, "must be a string, not a float" },
	{ "[plugin]\nname = 'a/b'\nversion = '1'\n", 2, 8, "slash" },
	{ "[plugin]\nname = '.'\nversion = '1'\n", 2, 8, "begin with - or ." },
	{ "[plugin]\nname = '..'\nversion = '1'\n", 2, 8, "begin with - or ." },
	{ "[plugin]\nname = '.hid'\nversion = '1'\n", 2, 8, "begin with - or ." },
	{ "[plugin]\nname = '-f'\nversion = '1'\n", 2, 8, "begin with - or ." },
	{ "[plugin]\nname = 'bin'\nversion = '1'\n", 2, 8, "is taken" },
	{ "[plugin]\nname = \"a\\nb\"\nversion = '1'\n", 2, 8, "`a\\u000Ab` must not contain control" },
	{ "[plugin]\nname = \"a\\u0085\"\nversion = '1'\n", 2, 8, "control characters" },
	{ "[plugin]\nname = \"a\\u007F\"\nversion = '1'\n", 2, 8, "control characters" },
	{ "[plugin]\nname = \"a\\u0000\"\nversion = '1'\n", 2, 8, "NUL" },
	{ MINIMAL "description = []\n", 4, 15, "must be a string, not an array" },
	{ MINIMAL "author = false\n", 4, 10, "must be a string" },
	{ MINIMAL "protocol = 1\n", 4, 12, "`protocol` must be a string" },
	{ MINIMAL "runtime = {}\n", 4, 11, "`runtime` must be a string" },
	{ MINIMAL "[commands]\nname = 'x'\n", 4, 2, "must be an array" },
	{ "commands = ['x']\n" MINIMAL, 1, 13, "element 1 of `commands` must be a table" },
	{ MINIMAL "[[commands]]\nbinary = 'x'\n", 4, 3, "a command's name is missing" },
	{ MINIMAL "[[commands]]\nname = 'x'\n", 4, 3, "a command's binary is missing" },
	{ MINIMAL "[[commands]]\nname = 'x'\nbinary = 1\n", 6, 10, "must be a string" },
	{ COMMAND("x", "y") "description = 1\n", 7, 15, "must be a string" },
	{ COMMAND("a/b", "y"), 5, 8, "slash" },
	{ COMMAND("-x", "y"), 5, 8, "begin with" },
	{ COMMAND("..", "y"), 5, 8, "begin with" },
	{ COMMAND("\\u001B[2J", "y"), 5, 8, "`\\u001B[2J` must not contain control" },
	{ COMMAND("x", ""), 6, 10, "must not be empty" },
	{ COMMAND("x", "/bin/sh"), 6, 10, "must be relative" },
	{ COMMAND("x", ".."), 6, 10, "stay inside" },
	{ COMMAND("x", "../y"), 6, 10, "stay inside" },
	{ COMMAND("x", "a/../../y"), 6, 10, "stay inside" },
	{ COMMAND("x", "a/.."), 6, 10, "stay inside" },
	{ COMMAND("x", "a/"), 6, 10, "name a file" },
	{ COMMAND("x", "."), 6, 10, "name a file" },
	{ COMMAND("x", "a/\\u0007"), 6, 10, "control characters" },
	{ COMMAND("x", "y") "[[commands]]\nname = 'z'\nbinary = 'z'\n[[commands]]\nname = 'x'\n"
						"binary = 'other'\n",
		11, 8, "is also the name of the one in line 4" },
	{ MINIMAL "[[hooks]]\n", 4, 3, "`hooks` must be a table" },
	{ MINIMAL "[hooks]\nbuild = ['make']\n", 5, 9, "`build` must be a string" },
	{ MINIMAL "[hooks]\npre_push = 1\n", 5, 12, "`pre_push` must be a string" },
	{ "capabilities = true\n" MINIMAL, 1, 16, "`capabilities` must be a table" },
	{ MINIMAL "[capabilities]\nexec = 'true'\n", 5, 8, "`exec` must be true or false" },
	{ MINIMAL "[capabilities]\nstore = 1\n", 5, 9, "`store` must be true or false" },
	{ MINIMAL "[capabilities]\nmetadata = []\n", 5, 12, "`metadata` must be true or false" },
	{ MINIMAL "[capabilities]\n\nnetwork = 0\n", 6, 11, "`network` must be true or false" },
	{ MINIMAL "[capabilities]\nfilesystem = true\n", 5, 14, "must be a string" },
	{ MINIMAL "[capabilities]\nfilesystem = 'all'\n", 5, 14,
		"`all` must be \"none\", \"project\" or \"plugin\"" },
	{ MINIMAL "name = 'again'\n", 4, 1, "`name`" },
	{ MINIMAL "x = \"\xFF\"\n", 4, 6, "UTF-8" },
};

START_TEST(every_mistake_has_its_place)
{
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct arena arena = { 0 };
		struct manifest manifest = { .name = "untouched" };
		perch_err err = { 0 };
		int r = parse(mistakes[i].text, &arena, &manifest, &err);
		ck_assert_msg(r == PERCH_ESYNTAX, "%d for:\n%s", r, mistakes[i].text);
		ck_assert_msg(err.line == mistakes[i].line && err.column == mistakes[i].column,
			"%s, not %u:%u, for:\n%s", err.text, mistakes[i].line, mistakes[i].column,
			mistakes[i].text);
		char start[64];
		snprintf(start, sizeof(start), "x/plugin.toml:%u:%u: ", err.line, err.column);
		ck_assert_msg(strncmp(err.text, start, strlen(start)) == 0, "%s", err.text);
		ck_assert_msg(strstr(err.text, mistakes[i].words) != NULL, "\"%s\" is not in: %s",
			mistakes[i].words, err.text);
		ck_assert_str_eq(manifest.name, "untouched");
		arena_free(&arena);
	}
}
END_TEST

static void many_commands(struct buf *text, unsigned count)
{
	buf_append_text(text, MINIMAL);
	for (unsigned i = 0; i < count; i++)
		buf_printf(text, "[[commands]]\nname = 'c%u'\nbinary = 'b'\n", i);
	ck_assert(!text->failed);
}

START_TEST(lengths_are_limited)
{
	char name[NAME_LENGTH_MAX + 2];
	memset(name, 'n', sizeof(name));
	ck_assert_ptr_null(command_name_problem((struct str){ name, NAME_LENGTH_MAX }));
	ck_assert_ptr_nonnull(command_name_problem((struct str){ name, NAME_LENGTH_MAX + 1 }));
	ck_assert_ptr_null(command_name_problem(STR("bin")));
	/* Nothing that a shell would see more in than a word. */
	static const char *const words[] = { "q$(id)", "a`b`", "a b", "a;b", "a*", "a'b", "a\"b",
		"a\\b", "a&b", "a|b", "a>b", "a#b", "!a", "~a", "a{b,c}", "a=b",
		"a\xE2\x80\xAE"
		"b",
		"a\xC2\x9B"
		"b" };
	for (size_t i = 0; i < COUNT(words); i++)
		ck_assert_msg(command_name_problem(str_from(words[i])), "%s", words[i]);
	ck_assert_ptr_null(command_name_problem(STR("Gr\xC3\xB6\xC3\x9F"
												"e-2_x.y+z:w@v")));
	ck_assert_ptr_nonnull(command_name_problem(STR("\xC3(")));

	struct arena arena = { 0 };
	struct manifest manifest;
	perch_err err = { 0 };
	for (unsigned more = 0; more < 2; more++) {
		struct buf text = { 0 };
		many_commands(&text, MANIFEST_COMMANDS_MAX + more);
		int r = manifest_parse("p", text.data, text.len, &arena, &manifest, &err);
		ck_assert_int_eq(r, more ? PERCH_ELIMIT : 0);
		ck_assert_uint_eq(err.line, more ? 4 : 0);
		buf_free(&text);
	}
	arena_free(&arena);
}
END_TEST

START_TEST(a_long_path_leaves_room_for_the_message)
{
	char path[2000];
	memset(path, 'p', sizeof(path));
	memcpy(path + sizeof(path) - sizeof("/plugin.toml"), "/plugin.toml", sizeof("/plugin.toml"));
	struct arena arena = { 0 };
	struct manifest manifest;
	perch_err err = { 0 };
	ck_assert_int_eq(manifest_parse(path, "=", 1, &arena, &manifest, &err), PERCH_ESYNTAX);
	ck_assert_ptr_nonnull(strstr(err.text, "p/plugin.toml:1:1: expected"));
	arena_free(&arena);
}
END_TEST

static const struct {
	const char *protocol, *runtime;
	const char *words[4]; /* empty: it is spoken */
} protocols[] = {
	{ "", "", { NULL } },
	{ "fledge-v1", "", { NULL } },
	{ "fledge-v1", "native", { NULL } },
	{ "fledge-v2", "", { "`tidy`", "`fledge-v2`", "only fledge-v1", "upgrade" } },
	{ "fledge-v10", "", { "`fledge-v10`", "fledge-v1:" } },
	{ "\x1b[2J", "", { "`\\u001B[2J`" } },
	{ "fledge-v1", "wasm", { "`tidy`", "`wasm`", "not supported by this build" } },
	{ "", "wasm", { "not supported by this build" } },
};

START_TEST(protocols_we_do_not_speak_are_refused)
{
	for (size_t i = 0; i < COUNT(protocols); i++) {
		struct manifest manifest = {
			.name = "tidy",
			.protocol = protocols[i].protocol,
			.runtime = protocols[i].runtime,
		};
		perch_err err = { 0 };
		int r = manifest_check_protocol(&manifest, &err);
		ck_assert_int_eq(r, protocols[i].words[0] ? -EPROTONOSUPPORT : 0);
		for (size_t j = 0; j < 4 && protocols[i].words[j]; j++)
			ck_assert_msg(strstr(err.text, protocols[i].words[j]) != NULL, "\"%s\" is not in: %s",
				protocols[i].words[j], err.text);
	}
}
END_TEST

START_TEST(a_manifest_is_read_from_its_directory)
{
	const char *directory = folder_new();
	const char *path = folder_path("plugin.toml");
	struct arena arena = { 0 };
	struct manifest manifest;
	perch_err err = { 0 };
	ck_assert_int_eq(manifest_read(directory, &arena, &manifest, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, path));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(manifest_read(directory, &arena, &manifest, &err), -ENOTSUP);
	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(manifest_read(directory, &arena, &manifest, &err), -ENOTSUP);
	rmdir(path);
	folder_write("plugin.toml", MINIMAL);
	ck_assert_int_eq(manifest_read(directory, &arena, &manifest, &err), 0);
	ck_assert_str_eq(manifest.name, "tidy");
	folder_write("plugin.toml", MINIMAL "oops\n");
	ck_assert_int_eq(manifest_read(directory, &arena, &manifest, &err), PERCH_ESYNTAX);
	ck_assert_ptr_nonnull(strstr(err.text, path));
	ck_assert_uint_eq(err.line, 4);
	ck_assert_int_eq(truncate(path, 5 << 20), 0);
	ck_assert_int_eq(manifest_read(directory, &arena, &manifest, &err), -EFBIG);
	arena_free(&arena);
}
END_TEST

static int parse_once(void *data)
{
	struct arena arena = { 0 };
	struct manifest manifest;
	perch_err err = { 0 };
	int r = parse(data, &arena, &manifest, &err);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	struct buf text = { 0 };
	many_commands(&text, 200);
	buf_terminate(&text);
	ck_assert_uint_gt(oom_every(parse_once, text.data), 5);
	buf_free(&text);
}
END_TEST

SUITE_MAIN("manifest", everything_is_read, what_is_absent_is_empty, every_filesystem_wish_is_known,
	every_mistake_has_its_place, lengths_are_limited, a_long_path_leaves_room_for_the_message,
	protocols_we_do_not_speak_are_refused, a_manifest_is_read_from_its_directory,
	memory_may_run_out)
