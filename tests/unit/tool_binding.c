/* tool/binding: every key, every mistake with its place, there and back. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "tool/binding.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEX2 "ff23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define MINIMAL "name = 't.p'\ncommand = 'bin/tool'\n"

static const char full[] = "schema = 1\n"
						   "name = 't.p'\n"
						   "command = 'bin/tool'\n"
						   "args = ['-x', '']\n"
						   "dir = '/srv'\n"
						   "protocol = 'other.v2'\n"
						   "capabilities = ['tool.execute', 'fs.read']\n"
						   "sha256 = '" HEX "'\n"
						   "spares = 3\n"
						   "spare_ttl = 12.25\n"
						   "[env]\nA = '1'\n'B C' = \"\"\n"
						   "[timeouts]\ninvocation = 0.3\nhandshake = 7\nteardown = 0.001\n"
						   "[sandbox]\nmode = 'off'\nread = ['data', '/opt']\nwrite = ['out']\n"
						   "net = 'full'\nenv = ['LANG']\npresets = ['git']\n"
						   "[sandbox.limits]\nmemory = 1000000\nprocesses = 4\nfiles = 9\n"
						   "size = 7\ncpu = 2\n"
						   "[pin]\n'lib/a.py' = '" HEX2 "'\n"
						   "[[tools]]\nname = 't.x'\ninput_schema = '{\"type\":\"object\"}'\n"
						   "output_schema = '{}'\ndescription = 'does \"it\"'\n"
						   "[[tools]]\nname = 't.y'\nask = true\n";

static int parse(
	const char *text, struct arena *arena, struct tool_binding *binding, perch_err *err)
{
	return tool_binding_parse("/etc/tools/x.toml", str_from(text), arena, binding, err);
}

static void expect_full(const struct tool_binding *binding)
{
	ck_assert_str_eq(binding->path, "/etc/tools/x.toml");
	ck_assert_str_eq(binding->name, "t.p");
	ck_assert_str_eq(binding->command, "/etc/tools/bin/tool");
	ck_assert_str_eq(binding->args[0], "-x");
	ck_assert_str_eq(binding->args[1], "");
	ck_assert_ptr_null(binding->args[2]);
	ck_assert_str_eq(binding->directory, "/srv");
	ck_assert_str_eq(binding->protocol, "other.v2");
	ck_assert_str_eq(binding->capabilities[1], "fs.read");
	ck_assert_ptr_null(binding->capabilities[2]);
	ck_assert_uint_eq(binding->spares, 3);
	ck_assert_uint_eq(binding->spare_ttl_ns, 12250 * NSEC_PER_MSEC);
	ck_assert_str_eq(binding->env[0], "A=1");
	ck_assert_str_eq(binding->env[1], "B C=");
	ck_assert_ptr_null(binding->env[2]);
	ck_assert_uint_eq(binding->invocation_ns, 300 * NSEC_PER_MSEC);
	ck_assert_uint_eq(binding->handshake_ns, 7 * NSEC_PER_SEC);
	ck_assert_uint_eq(binding->teardown_ns, NSEC_PER_MSEC);
}

static void expect_full_power(const struct tool_binding *binding)
{
	ck_assert(binding->widening.is_off);
	ck_assert_str_eq(binding->widening.read[0], "/etc/tools/data");
	ck_assert_str_eq(binding->widening.read[1], "/opt");
	ck_assert_ptr_null(binding->widening.read[2]);
	ck_assert_str_eq(binding->widening.write[0], "/etc/tools/out");
	ck_assert_int_eq(binding->widening.net, WIDENING_NET_FULL);
	ck_assert_str_eq(binding->widening.env[0], "LANG");
	ck_assert_str_eq(binding->widening.presets[0], "git");
	ck_assert_uint_eq(binding->limits.memory, 1000000);
	ck_assert_uint_eq(binding->limits.processes, 4);
	ck_assert_uint_eq(binding->limits.files, 9);
	ck_assert_uint_eq(binding->limits.size, 7);
	ck_assert_uint_eq(binding->limits.cpu, 2);
	ck_assert_uint_eq(binding->pin_count, 2);
	ck_assert_str_eq(binding->pins[0].path, "/etc/tools/bin/tool");
	ck_assert_str_eq(binding->pins[0].sha256, HEX);
	ck_assert_str_eq(binding->pins[1].path, "/etc/tools/lib/a.py");
	ck_assert_str_eq(binding->pins[1].sha256, HEX2);
	ck_assert_uint_eq(binding->tool_count, 2);
	const struct tool_known *tool = tool_binding_tool(binding, "t.x");
	ck_assert_str_eq(tool->input_schema, "{\"type\":\"object\"}");
	ck_assert_str_eq(tool->output_schema, "{}");
	ck_assert_str_eq(tool->description, "does \"it\"");
	ck_assert_str_eq(tool_binding_tool(binding, "t.y")->input_schema, "");
	ck_assert(tool_binding_tool(binding, "t.y")->asks && !tool->asks);
	ck_assert_ptr_null(tool_binding_tool(binding, "t.z"));
}

START_TEST(everything_is_read)
{
	struct arena arena = { 0 };
	struct tool_binding binding;
	perch_err err = { 0 };
	ck_assert_msg(parse(full, &arena, &binding, &err) == 0, "%s", err.text);
	expect_full(&binding);
	expect_full_power(&binding);
	ck_assert_int_eq(tool_binding_check(&binding, &err), 0);
	arena_free(&arena);
}
END_TEST

START_TEST(what_is_written_reads_the_same)
{
	struct arena arena = { 0 };
	struct tool_binding binding;
	ck_assert_int_eq(parse(full, &arena, &binding, NULL), 0);
	struct buf text = { 0 };
	ck_assert_int_eq(tool_binding_text(&binding, &text, NULL), 0);
	buf_terminate(&text);
	perch_err err = { 0 };
	ck_assert_msg(parse(text.data, &arena, &binding, &err) == 0, "%s\n%s", err.text, text.data);
	expect_full(&binding);
	expect_full_power(&binding);
	buf_free(&text);
	arena_free(&arena);
}
END_TEST

START_TEST(what_is_absent_is_the_default)
{
	struct arena arena = { 0 };
	struct tool_binding binding;
	ck_assert_int_eq(parse(MINIMAL, &arena, &binding, NULL), 0);
	ck_assert_str_eq(binding.protocol, "rterm.plugin.v1");
	ck_assert_str_eq(binding.directory, "");
	ck_assert_uint_eq(binding.invocation_ns, 5 * NSEC_PER_SEC);
	ck_assert_uint_eq(binding.handshake_ns, 2 * NSEC_PER_SEC);
	ck_assert_uint_eq(binding.teardown_ns, 500 * NSEC_PER_MSEC);
	ck_assert_uint_eq(binding.spare_ttl_ns, 60 * NSEC_PER_SEC);
	ck_assert_uint_eq(binding.spares, 0);
	ck_assert_uint_eq(binding.pin_count, 0);
	ck_assert(!binding.widening.is_off && !binding.widening.read && !binding.widening.env);
	ck_assert_int_eq(binding.widening.net, WIDENING_NET_KEEP);
	ck_assert(!binding.args[0] && !binding.capabilities[0] && !binding.env[0]);
	struct buf text = { 0 };
	tool_binding_text(&binding, &text, NULL);
	buf_terminate(&text);
	ck_assert_ptr_null(strchr(text.data, '['));
	buf_free(&text);
	arena_free(&arena);
}
END_TEST

static const struct {
	const char *text;
	const char *message; /* behind the path */
} mistakes[] = {
	{ "name = ", "1:8: " },
	{ "nam = 't.p'\n", "1:1: there is no key `nam` here; did you mean `name`?" },
	{ "capabilites = []\n", "1:1: there is no key `capabilites` here; did you mean `capabil" },
	{ "frobnicate = 1\n", "1:1: there is no key `frobnicate` here" },
	{ "\n  [sandbx]\n", "2:4: there is no key `sandbx` here; did you mean `sandbox`?" },
	{ "[sandbox]\nraed = []\n", "2:1: there is no key `raed` here; did you mean `read`?" },
	{ "[sandbox.limits]\nmem = 1\n", "2:1: there is no key `mem` here" },
	{ "[timeouts]\ninvocations = 1\n", "2:1: there is no key `invocations` here; did you" },
	{ "[[tools]]\nname='a'\nschema=''\n", "3:1: there is no key `schema` here" },
	{ "schema = 2\n", "1:10: `schema` must be from 1 to 1, not 2" },
	{ "name = 1\n", "1:8: `name` must be a string, not an integer" },
	{ "name = \"a\\u0000\"\n", "1:8: `name` must not contain a NUL" },
	{ "command = ['a']\n", "1:11: `command` must be a string, not an array" },
	{ "args = 'a'\n", "1:8: `args` must be an array, not a string" },
	{ "args = ['a', 1]\n", "1:14: element 2 of `args` must be a string" },
	{ "capabilities = 'a'\n", "1:16: `capabilities` must be an array" },
	{ "dir = true\n", "1:7: `dir` must be a string" },
	{ "sha256 = 'abc'\n", "1:10: `sha256` must be a SHA-256" },
	{ "spares = -1\n", "1:10: `spares` must be from 0 to 64, not -1" },
	{ "spares = 65\n", "1:10: `spares` must be from 0 to 64" },
	{ "spare_ttl = 0\n", "1:13: `spare_ttl` must be from 0.001 to 86400" },
	{ "[timeouts]\nhandshake = nan\n", "2:13: `handshake` must be from 0.001" },
	{ "[timeouts]\nhandshake = inf\n", "2:13: `handshake` must be from 0.001" },
	{ "[timeouts]\nteardown = -1\n", "2:12: `teardown` must be from 0.001" },
	{ "[timeouts]\nteardown = '1'\n", "2:12: `teardown` must be a float" },
	{ "timeouts = 1\n", "1:12: `timeouts` must be a table" },
	{ "[env]\nA = 1\n", "2:5: `A` must be a string" },
	{ "[env]\n'A=B' = ''\n", "2:9: `A=B` can be no variable" },
	{ "[env]\n'' = ''\n", "2:6: `` can be no variable" },
	{ "env = ['A']\n", "1:7: `env` must be a table" },
	{ "[sandbox]\nmode = 'of'\n", "2:8: `mode` must be \"on\" or \"off\"" },
	{ "[sandbox]\nmode = false\n", "2:8: `mode` must be a string" },
	{ "[sandbox]\nnet = 'some'\n", "2:7: `net` must be \"none\" or \"full\"" },
	{ "[sandbox]\nread = '/'\n", "2:8: `read` must be an array" },
	{ "[sandbox.limits]\nmemory = 0\n", "2:10: `memory` must be from 1" },
	{ "[pin]\n'a' = 'x'\n", "2:7: `a` must be a SHA-256" },
	{ "pin = 1\n", "1:7: `pin` must be a table" },
	{ "[[tools]]\ndescription = ''\n", "1:3: a tool without a name" },
	{ "[[tools]]\nname = ' '\n", "1:3: a tool without a name" },
	{ "[[tools]]\nname = 'a'\n[[tools]]\nname = 'a'\n", "4:8: `name` is the name of two" },
	{ "[[tools]]\nname = 'a'\nask = 1\n", "3:7: `ask` must be true or false" },
	{ "tools = ['a']\n", "1:10: element 1 of `tools` must be a table" },
};

START_TEST(mistakes_are_told_with_their_place)
{
	for (size_t i = 0; i < COUNT(mistakes); i++) {
		struct arena arena = { 0 };
		struct tool_binding binding;
		perch_err err = { 0 };
		int r = parse(mistakes[i].text, &arena, &binding, &err);
		ck_assert_msg(r == PERCH_ESYNTAX, "%s: %d", mistakes[i].text, r);
		static const char path[] = "/etc/tools/x.toml:";
		ck_assert_msg(strncmp(err.text, path, strlen(path)) == 0, "%s", err.text);
		ck_assert_msg(
			strncmp(err.text + strlen(path), mistakes[i].message, strlen(mistakes[i].message)) == 0,
			"%s", err.text);
		ck_assert(err.line && err.column);
		arena_free(&arena);
	}
}
END_TEST

static const struct {
	const char *text;
	const char *message; /* NULL = fine */
} checks[] = {
	{ MINIMAL, NULL },
	{ MINIMAL "capabilities = ['a', 'b']\n", NULL },
	{ "command = '/x'\n", "the binding has no name" },
	{ "name = ' \t'\ncommand = '/x'\n", "the binding has no name" },
	{ "name = 'x'\n", "the binding has no command" },
	{ "name = 'x'\ncommand = ''\n", "the binding has no command" },
	{ "name = 'x'\ncommand = ' \t'\n", "the binding has no command" },
	{ MINIMAL "protocol = ' '\n", "the binding names no protocol" },
	{ MINIMAL "capabilities = ['a', '']\n", "entry 2 of the capabilities is empty" },
	{ MINIMAL "capabilities = ['  ']\n", "entry 1 of the capabilities is empty" },
	{ MINIMAL "capabilities = [' a']\n", "the capability ` a` has blanks around it" },
	{ MINIMAL "capabilities = [\"a\\n\"]\n", "the capability" },
	{ MINIMAL "capabilities = ['a', 'b', 'a']\n", "the capability `a` is listed twice" },
};

START_TEST(bindings_are_checked)
{
	for (size_t i = 0; i < COUNT(checks); i++) {
		struct arena arena = { 0 };
		struct tool_binding binding;
		perch_err err = { 0 };
		ck_assert_int_eq(parse(checks[i].text, &arena, &binding, &err), 0);
		int r = tool_binding_check(&binding, &err);
		const char *message = checks[i].message;
		ck_assert_msg(r == (message ? -EINVAL : 0), "%s: %d", checks[i].text, r);
		if (message)
			ck_assert_msg(strncmp(err.text, message, strlen(message)) == 0, "%s", err.text);
		arena_free(&arena);
	}
}
END_TEST

/* ---- files --------------------------------------------------------------- */

static void open_folder(void)
{
	folder_new();
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
}

START_TEST(a_binding_is_written_found_and_listed)
{
	open_folder();
	struct arena arena = { 0 };
	const char *const *names;
	ck_assert_int_eq(tool_binding_names(&arena, &names, NULL), 0);
	ck_assert_ptr_null(names[0]);
	struct tool_binding binding = tool_binding_default();
	binding.name = "acme.echo";
	binding.command = "/bin/true";
	ck_assert_int_eq(tool_binding_path("echo", &arena, &binding.path, NULL), 0);
	perch_err err = { 0 };
	ck_assert_msg(tool_binding_write(&binding, &err) == 0, "%s", err.text);
	struct stat status;
	ck_assert_int_eq(stat(binding.path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	folder_write("config/perch/tools/.hidden.toml", "");
	folder_write("config/perch/tools/other.toml", MINIMAL);
	folder_write("config/perch/tools/readme", "");
	ck_assert_int_eq(tool_binding_names(&arena, &names, NULL), 0);
	ck_assert_str_eq(names[0], "echo");
	ck_assert_str_eq(names[1], "other");
	ck_assert_ptr_null(names[2]);
	struct tool_binding again;
	ck_assert_int_eq(tool_binding_find("echo", &arena, &again, NULL), 0);
	ck_assert_str_eq(again.name, "acme.echo");
	ck_assert_int_eq(tool_binding_find("other", &arena, &again, NULL), 0);
	ck_assert_str_eq(again.command, folder_path("config/perch/tools/bin/tool"));
	ck_assert_int_eq(tool_binding_find("ehco", &arena, &again, &err), -ENOENT);
	ck_assert_str_eq(err.text, "no tool is bound as 'ehco'; did you mean 'echo'?");
	ck_assert_int_eq(tool_binding_find("something", &arena, &again, &err), -ENOENT);
	ck_assert_str_eq(err.text, "no tool is bound as 'something'; perch tool list shows what is");
	ck_assert_int_eq(tool_binding_find("../x", &arena, &again, &err), -EINVAL);
	ck_assert_int_eq(tool_binding_find("", &arena, &again, &err), -EINVAL);
	arena_free(&arena);
}
END_TEST

/* Nor does a failed write leave anything behind, or touch what was there. */
START_TEST(what_could_not_be_read_again_is_not_written)
{
	open_folder();
	folder_write("config/perch/tools/x.toml", MINIMAL);
	struct tool_binding binding = tool_binding_default();
	binding.path = folder_path("config/perch/tools/x.toml");
	binding.command = "/bin/true";
	binding.name = "\xFF";
	perch_err err = { 0 };
	ck_assert_int_eq(tool_binding_write(&binding, &err), PERCH_ESYNTAX);
	binding.name = "x";
	static const char *const twice[] = { "A=1", "A=2", NULL };
	binding.env = twice;
	ck_assert_int_eq(tool_binding_write(&binding, &err), PERCH_ESYNTAX);
	_cleanup_free_ char *text = folder_read(binding.path);
	ck_assert_str_eq(text, MINIMAL);
	ck_assert_uint_eq(folder_count(folder_path("config/perch/tools"), "x"), 1);
}
END_TEST

START_TEST(a_relative_path_is_one_from_the_folder_of_the_real_file)
{
	open_folder();
	folder_write("real/b.toml", MINIMAL);
	ck_assert_int_eq(symlink("real/b.toml", folder_path("link.toml")), 0);
	struct arena arena = { 0 };
	struct tool_binding binding;
	ck_assert_int_eq(chdir(folder_path(".")), 0);
	ck_assert_int_eq(tool_binding_read("link.toml", &arena, &binding, NULL), 0);
	ck_assert_str_eq(binding.command, folder_path("real/bin/tool"));
	perch_err err = { 0 };
	ck_assert_int_eq(tool_binding_read("none.toml", &arena, &binding, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, "none.toml"));
	ck_assert_int_eq(tool_binding_read("real", &arena, &binding, &err), -ENOTSUP);
	arena_free(&arena);
}
END_TEST

static int read_and_write(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct buf text = { 0 };
	struct tool_binding binding;
	int r = parse(full, &arena, &binding, NULL);
	if (r == 0)
		r = tool_binding_text(&binding, &text, NULL);
	buf_free(&text);
	arena_free(&arena);
	return r;
}

static int find_nothing(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct tool_binding binding;
	int r = tool_binding_find("x", &arena, &binding, NULL);
	arena_free(&arena);
	return r == -ENOENT ? 0 : r;
}

START_TEST(memory_that_runs_out_is_told)
{
	open_folder();
	folder_write("config/perch/tools/y.toml", MINIMAL);
	ck_assert_uint_gt(oom_every(read_and_write, NULL), 10);
	ck_assert_uint_gt(oom_every(find_nothing, NULL), 3);
}
END_TEST

SUITE_MAIN("tool-binding", everything_is_read, what_is_written_reads_the_same,
	what_is_absent_is_the_default, mistakes_are_told_with_their_place, bindings_are_checked,
	a_binding_is_written_found_and_listed, what_could_not_be_read_again_is_not_written,
	a_relative_path_is_one_from_the_folder_of_the_real_file, memory_that_runs_out_is_told)
