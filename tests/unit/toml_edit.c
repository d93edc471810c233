/* toml_edit: one change, and every other byte as it was. Each case runs as it
 * stands, with CRLF line ends, and behind a byte order mark. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/toml_edit.h"
#include "harness/oom.h"

enum operation { SET, REMOVE, REPLACE, APPEND };

struct edit_case {
	enum operation operation;
	struct toml_step steps[4];
	size_t step_count;
	const struct toml_entry *entries;
	size_t entry_count;
	const char *before;
	const char *after; /* NULL: an error, and these are its code and words */
	int code;
	const char *words;
};

static int run(const struct edit_case *edit, struct str text, struct buf *out, perch_err *err)
{
	struct toml_path path = { edit->steps, edit->step_count };
	switch (edit->operation) {
	case SET:
		return toml_edit_set(text, path, edit->entries, out, err);
	case REMOVE:
		return toml_edit_remove(text, path, out, err);
	case REPLACE:
		return toml_edit_replace(text, path, edit->entries, edit->entry_count, out, err);
	default:
		return toml_edit_append(text, path, edit->entries, edit->entry_count, out, err);
	}
}

/* A variant of a text: another line end, something before it. */
static struct str variant(struct buf *buf, const char *text, const char *start, const char *newline)
{
	buf_clear(buf);
	buf_append_text(buf, start);
	for (; *text; text++) {
		if (*text == '\n')
			buf_append_text(buf, newline);
		else
			buf_append_char(buf, *text);
	}
	ck_assert(!buf->failed);
	return (struct str){ buf->data, buf->len };
}

static void check_variant(const struct edit_case *edit, const char *start, const char *newline)
{
	struct buf before = { 0 }, after = { 0 }, out = { 0 };
	perch_err err = { 0 };
	struct str text = variant(&before, edit->before, start, newline);
	bool has_line_end = strchr(edit->before, '\n') != NULL;
	int result = run(edit, text, &out, &err);
	if (edit->after) {
		struct str wanted = variant(&after, edit->after, start, has_line_end ? newline : "\n");
		ck_assert_msg(result >= 0, "%s\n%u:%u: %s", edit->before, err.line, err.column, err.text);
		ck_assert_msg(str_eq((struct str){ out.data, out.len }, wanted),
			"from:\n%s\nwanted:\n%.*s\ngot:\n%.*s\n", edit->before, (int)wanted.len, wanted.data,
			(int)out.len, out.data);
		ck_assert_int_eq(result, !str_eq(text, wanted));
	} else {
		ck_assert_msg(result == edit->code, "%s\n%d: %s", edit->before, result, err.text);
		ck_assert_msg(strstr(err.text, edit->words), "%s", err.text);
		ck_assert_ptr_null(out.data);
	}
	buf_free(&before);
	buf_free(&after);
	buf_free(&out);
}

static void check(const struct edit_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		check_variant(&cases[i], "", "\n");
		check_variant(&cases[i], "", "\r\n");
		check_variant(&cases[i], "\xEF\xBB\xBF", "\n");
	}
}

#define PATH(...)             \
	.steps = { __VA_ARGS__ }, \
	.step_count = sizeof((struct toml_step[]){ __VA_ARGS__ }) / sizeof(struct toml_step)
#define ENTRIES(list) .entries = (list), .entry_count = COUNT(list)

static const struct toml_entry version_2[] = {
	{ .key = "version", .type = TOML_STRING, .string = "2" },
};
static const struct toml_entry exec_off[] = {
	{ .key = "exec", .type = TOML_BOOL, .boolean = false },
};
static const struct toml_entry plugin[] = {
	{ .key = "name", .type = TOML_STRING, .string = "x" },
	{ .key = "capabilities", .type = TOML_TABLE, .entries = exec_off, .count = 1 },
	{ .key = "size", .type = TOML_INTEGER, .integer = -3 },
};
#define KEY TOML_KEY
#define AT TOML_AT
#define A PATH(KEY("a"))
#define PLUGINS PATH(KEY("plugins"))
#define VERSION ENTRIES(version_2)
#define PLUGIN ENTRIES(plugin)
#define PLUGIN_LINES "name = \"x\"\nsize = -3\n\n[plugins.capabilities]\nexec = false\n"
#define PLUGIN_INLINE "{ name = \"x\", capabilities = { exec = false }, size = -3 }"

static const struct edit_case set_cases[] = {
	/* a value in place: the comment behind it and the blanks before it stay */
	{ SET, A, VERSION, "# top\n[a] # head\n  version  =  '1'  # one\nz = 1\n[b]\nversion = 7\n",
		"# top\n[a] # head\n  version  =  \"2\"  # one\nz = 1\n[b]\nversion = 7\n" },
	{ SET, A, VERSION, "a.version = [\n 1, # x\n]#y\n", "a.version = \"2\"#y\n" },
	{ SET, A, VERSION, "a = { version = 1 }", "a = { version = \"2\" }" },
	{ SET, A, VERSION, "[a]\nversion=\"2\"", "[a]\nversion=\"2\"" },
	/* a new line, below the last of its table */
	{ SET, A, VERSION, "[a]\n\tx = 1 # y\n# c\n\n[b]\n",
		"[a]\n\tx = 1 # y\n\tversion = \"2\"\n# c\n\n[b]\n" },
	{ SET, A, VERSION, "[a]\n# c\n[b]\n", "[a]\nversion = \"2\"\n# c\n[b]\n" },
	{ SET, A, VERSION, "[a]", "[a]\nversion = \"2\"\n" },
	{ SET, A, VERSION, "[a]\nx = '''\n[b]\nversion = 1\n'''",
		"[a]\nx = '''\n[b]\nversion = 1\n'''\nversion = \"2\"\n" },
	{ SET, PATH(KEY("p"), AT(1)), VERSION, "[[p]]\nversion = 1\n[[p]]\n[p.q]\nversion = 1\n[[p]]\n",
		"[[p]]\nversion = 1\n[[p]]\nversion = \"2\"\n[p.q]\nversion = 1\n[[p]]\n" },
	/* the root */
	{ SET, .step_count = 0, VERSION, "", "version = \"2\"\n" },
	{ SET, .step_count = 0, VERSION, "# c", "# c\nversion = \"2\"\n" },
	{ SET, .step_count = 0, VERSION, "# c\n\n# a\n[a]\n", "# c\n\nversion = \"2\"\n\n# a\n[a]\n" },
	{ SET, .step_count = 0, VERSION, "x = 1\n[a]\n", "x = 1\nversion = \"2\"\n[a]\n" },
	/* tables without header: dotted, implicit, inline */
	{ SET, PATH(KEY("t"), KEY("a")), VERSION, "[t]\na.x = 1\nb = 2\n",
		"[t]\na.x = 1\na.version = \"2\"\nb = 2\n" },
	{ SET, A, VERSION, "x = 1\n\n# b\n[a.b]\n", "x = 1\n\n[a]\nversion = \"2\"\n\n# b\n[a.b]\n" },
	{ SET, A, VERSION, "a = { x = 1 } # c\n", "a = { x = 1, version = \"2\" } # c\n" },
	{ SET, A, VERSION, "a = {}\n", "a = { version = \"2\" }\n" },
	{ SET, PATH(KEY("a"), KEY("b")), VERSION, "a = {b.c = 1, d = 2}\n",
		"a = {b.c = 1, d = 2, b.version = \"2\"}\n" },
	{ SET, PATH(KEY("a"), KEY("b")), VERSION, "a = {c=1}", "a = {c=1, b.version = \"2\"}" },
	{ SET, PATH(KEY("a"), AT(1), KEY("b")), VERSION, "a = [{}, {}]\n",
		"a = [{}, { b.version = \"2\" }]\n" },
	/* tables that are missing */
	{ SET, PATH(KEY("a"), KEY("b c")), VERSION, "", "[a.\"b c\"]\nversion = \"2\"\n" },
	{ SET, PATH(KEY("a"), KEY("c")), VERSION, "[a.b]\nx=1\n\n\n[z]\n",
		"[a.b]\nx=1\n\n[a.c]\nversion = \"2\"\n\n\n[z]\n" },
	{ SET, PATH(KEY("p"), AT(0), KEY("q")), VERSION, "[[p]]\nx = 1\n# z\n[[p]]\nx = 2\n",
		"[[p]]\nx = 1\n\n[p.q]\nversion = \"2\"\n# z\n[[p]]\nx = 2\n" },
	{ SET, PATH(KEY("a"), KEY("c")), VERSION, "a.b = 1", "a.b = 1\n\n[a.c]\nversion = \"2\"\n" },
	/* refused */
	{ SET, A, VERSION, "[a.version]\n", .code = -EINVAL,
		.words = "`version` is a table with lines of its own here: remove it first" },
	{ SET, A, VERSION, "[[a]]\n", .code = -EINVAL, .words = "`a` is an array here, not a table" },
	{ SET, PATH(KEY("a"), KEY("b")), VERSION, "a = 1\n", .code = -EINVAL,
		.words = "`a` is an integer here, not a table" },
	{ SET, PATH(KEY("a"), AT(2)), VERSION, "[[a]]\n", .code = -ENOENT,
		.words = "`a` has 1 elements, there is no element 3" },
	{ SET, PATH(KEY("b"), AT(0)), VERSION, "[[a]]\n", .code = -ENOENT, .words = "there is no `b`" },
	{ SET, A, VERSION, "a = \n", .code = PERCH_ESYNTAX, .words = "expected a value" },
};

START_TEST(set_changes_one_key)
{
	check(set_cases, COUNT(set_cases));
}
END_TEST

static const struct edit_case remove_cases[] = {
	/* keys */
	{ REMOVE, PATH(KEY("a"), KEY("b")),
		.before = "[a]\nx=1\n# above\nb = '''\n[a]\n''' # c\n# below\n",
		.after = "[a]\nx=1\n# above\n# below\n" },
	{ REMOVE, PATH(KEY("a"), KEY("b")), .before = "a.b = 1", .after = "" },
	{ REMOVE, PATH(KEY("a"), KEY("b")), .before = "a.c = 1\n", .after = "a.c = 1\n" },
	{ REMOVE, PATH(KEY("a")), .before = "a.b = 1\nx = 2\na.c = 3\n[y]\n[a.d]\n",
		.after = "x = 2\n[y]\n" },
	/* members of inline tables */
	{ REMOVE, PATH(KEY("a"), KEY("b")), .before = "a = { b = 1 }\n", .after = "a = { }\n" },
	{ REMOVE, PATH(KEY("a"), KEY("b")), .before = "a = {b=1, c=2}\n", .after = "a = {c=2}\n" },
	{ REMOVE, PATH(KEY("a"), KEY("b")), .before = "a = {c=[2 , 3] , b=1}\n",
		.after = "a = {c=[2 , 3]}\n" },
	{ REMOVE, PATH(KEY("a"), KEY("b")), .before = "a = { x=1, b.c=1, b.d=2 }\n",
		.after = "a = { x=1 }\n" },
	{ REMOVE, PATH(KEY("a"), KEY("b")), .before = "a = { b.c=1, x=1, b.d=2 }\n",
		.after = "a = { x=1 }\n" },
	/* elements of inline arrays */
	{ REMOVE, PATH(KEY("a"), AT(0)), .before = "a = [ {b=1}, {b=2} ]\n",
		.after = "a = [ {b=2} ]\n" },
	{ REMOVE, PATH(KEY("a"), AT(1)), .before = "a = [ {b=1}, {b=2} ]\n",
		.after = "a = [ {b=1} ]\n" },
	{ REMOVE, PATH(KEY("a"), AT(0)),
		.before = "a = [\n\t{b=1}, # one, two\n\t# two\n\t{b=2} # ]\n\t, # 3\n]\n",
		.after = "a = [\n\t# two\n\t{b=2} # ]\n\t, # 3\n]\n" },
	{ REMOVE, PATH(KEY("a"), AT(1)),
		.before = "a = [\n\t{b=1}, # one, two\n\t# two\n\t{b=2} # ]\n\t, # 3\n]\n",
		.after = "a = [\n\t{b=1}, # one, two\n\t# two\n]\n" },
	{ REMOVE, PATH(KEY("a"), AT(1)), .before = "a = [{b=1}, # x\n{b=2}]\n",
		.after = "a = [{b=1}, # x\n]\n" },
	/* sections: the comment above the header goes, what belongs to others and
	 * what belongs to nobody stays */
	{ REMOVE, PATH(KEY("p"), AT(1)),
		.before =
			"# file\n\n# one\n[[p]]\nn = 1 # x\n# still one\n\n# nobody's\n\n# two\n# two\n[[p]]\n"
			"# inside\nn = \"\"\"\n[[p]]\n\"\"\"\n# still two\n\n# nobody's\n\n\n# three\n[[p]]\n",
		.after = "# file\n\n# one\n[[p]]\nn = 1 # x\n# still one\n\n# nobody's\n\n"
				 "# nobody's\n\n\n# three\n[[p]]\n" },
	{ REMOVE, PATH(KEY("p"), AT(0)),
		.before = "[[p]]\n[p.a]\nx=1\n[[p.b]]\n\n[other]\n[p.c.d]\n# p2\n[[p]]\n[p.a]\n",
		.after = "[other]\n# p2\n[[p]]\n[p.a]\n" },
	{ REMOVE, PATH(KEY("p")), .before = "[[p]]\n[p.a]\n[x]\n[[p]]\n", .after = "[x]\n" },
	{ REMOVE, PATH(KEY("a")), .before = "x = 1\n\n[a.b]\n[c]\n[a.d]\n", .after = "x = 1\n\n[c]\n" },
	{ REMOVE, PATH(KEY("b")), .before = "[a]\n\n\n# b\n[b]\nx=1\n\n", .after = "[a]\n" },
	{ REMOVE, PATH(KEY("a")), .before = "[a]", .after = "" },
	{ REMOVE, .step_count = 0, .before = "[a]", .code = -EINVAL, .words = "whole file" },
};

START_TEST(remove_takes_out_what_was_named_and_no_more)
{
	check(remove_cases, COUNT(remove_cases));
}
END_TEST

static const struct edit_case replace_cases[] = {
	{ REPLACE, PATH(KEY("plugins"), AT(0)), PLUGIN,
		"# one\n[[plugins]] # head\nold = 1\n# old\n\n# caps\n[plugins.capabilities]\nexec = "
		"true\n\n"
		"# two\n[[plugins]]\nname = 'b'\n",
		"# one\n[[plugins]] # head\n" PLUGIN_LINES "\n# two\n[[plugins]]\nname = 'b'\n" },
	{ REPLACE, PATH(KEY("plugins"), AT(0)), PLUGIN,
		"[[plugins]]\na = 1\n[z]\n# z\n\n[plugins.capabilities]",
		"[[plugins]]\n" PLUGIN_LINES "[z]\n# z\n" },
	{ REPLACE, PLUGINS, PLUGIN, "[plugins]", "[plugins]\n" PLUGIN_LINES },
	{ REPLACE, PLUGINS, PLUGIN, "[a]\n\n[plugins.x]\n\n[b]\n[plugins.y]\n",
		"[a]\n\n[plugins]\n" PLUGIN_LINES "\n[b]\n" },
	{ REPLACE, PLUGINS, PLUGIN, "plugins = {a=1} # c\n", "plugins = " PLUGIN_INLINE " # c\n" },
	{ REPLACE, PATH(KEY("plugins"), AT(1)), PLUGIN, "plugins = [ {}, {a=1}, ]\n",
		"plugins = [ {}, " PLUGIN_INLINE ", ]\n" },
	{ REPLACE, PATH(KEY("t"), KEY("plugins")), PLUGIN,
		"[t]\n  plugins.a = 1 # c\nx = 1\nplugins.b = 2\n[t.plugins.c]\n[z]\n",
		"[t]\n  plugins = " PLUGIN_INLINE " # c\nx = 1\n[z]\n" },
	{ REPLACE, PATH(KEY("t"), KEY("plugins")), PLUGIN, "t = {plugins.a=1, x=1, plugins.b=1}\n",
		"t = {plugins = " PLUGIN_INLINE ", x=1}\n" },
	{ REPLACE, PLUGINS, PLUGIN, "x = 1", "x = 1\n\n[plugins]\n" PLUGIN_LINES },
	{ REPLACE, PATH(KEY("t"), KEY("plugins")), PLUGIN, "t = {a = 1}",
		"t = {a = 1, plugins = " PLUGIN_INLINE "}" },
	{ REPLACE, PLUGINS, NULL, 0, "[plugins]\na = 1\n\n[plugins.b]\n", "[plugins]\n" },
	{ REPLACE, PLUGINS, PLUGIN, "[[plugins]]\n", .code = -EINVAL,
		.words = "`plugins` is an array here, not a table" },
	{ REPLACE, .step_count = 0, PLUGIN, "", .code = -EINVAL, .words = "root" },
};

START_TEST(replace_gives_a_table_new_contents)
{
	check(replace_cases, COUNT(replace_cases));
}
END_TEST

static const struct edit_case append_cases[] = {
	{ APPEND, PLUGINS, PLUGIN, "", "[[plugins]]\n" PLUGIN_LINES },
	{ APPEND, PLUGINS, PLUGIN, "# c", "# c\n\n[[plugins]]\n" PLUGIN_LINES },
	{ APPEND, PLUGINS, PLUGIN, "[[plugins]]\na=1\n[z]\nb=1\n\n# end\n",
		"[[plugins]]\na=1\n[z]\nb=1\n\n# end\n\n[[plugins]]\n" PLUGIN_LINES },
	{ APPEND, PLUGINS, PLUGIN, "a=1\n \n", "a=1\n \n[[plugins]]\n" PLUGIN_LINES },
	{ APPEND, PATH(KEY("p"), AT(0), KEY("q")), VERSION,
		"[[p]]\n[[p.q]]\nx=1\n# d\n\n# two\n[[p]]\n",
		"[[p]]\n[[p.q]]\nx=1\n# d\n\n[[p.q]]\nversion = \"2\"\n\n# two\n[[p]]\n" },
	/* an empty array makes way, unless somebody wrote something beside it */
	{ APPEND, PLUGINS, PLUGIN, "plugins = []\n", "[[plugins]]\n" PLUGIN_LINES },
	{ APPEND, PLUGINS, PLUGIN, "x = 1\nplugins = [ ]\ny = 1\n",
		"x = 1\ny = 1\n\n[[plugins]]\n" PLUGIN_LINES },
	{ APPEND, PLUGINS, PLUGIN, "plugins = [] # mine\n", "plugins = [" PLUGIN_INLINE "] # mine\n" },
	/* arrays written inline stay so */
	{ APPEND, PLUGINS, PLUGIN, "plugins = [ {name='a'} ]\n",
		"plugins = [ {name='a'}, " PLUGIN_INLINE " ]\n" },
	{ APPEND, PLUGINS, PLUGIN, "plugins = [\n  {name='a'}, # one\n]\n",
		"plugins = [\n  {name='a'},\n  " PLUGIN_INLINE ", # one\n]\n" },
	/* refused */
	{ APPEND, PLUGINS, PLUGIN, "plugins = [1]\n", .code = -EINVAL,
		.words = "`plugins` is an array here that does not hold tables" },
	{ APPEND, PLUGINS, PLUGIN, "[plugins]\n", .code = -EINVAL,
		.words = "`plugins` is a table here, not an array" },
	{ APPEND, PATH(KEY("t"), KEY("plugins")), PLUGIN, "t = {}\n", .code = -EINVAL,
		.words = "an inline table has no room for an array of tables" },
};

START_TEST(append_adds_an_element)
{
	check(append_cases, COUNT(append_cases));
}
END_TEST

START_TEST(append_and_remove_are_each_others_opposite)
{
	static const char *const texts[] = { "", "a = 1\n", "# c\n", "[[plugins]]\nx=1\n",
		"[plugin]\n" };
	struct toml_path array = TOML_PATH(KEY("plugins"));
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct buf longer = { 0 }, same = { 0 };
		ck_assert_int_eq(
			toml_edit_append(str_from(texts[i]), array, plugin, COUNT(plugin), &longer, NULL), 1);
		struct toml_path element = TOML_PATH(KEY("plugins"), AT(i == 3));
		struct str text = { longer.data, longer.len };
		ck_assert_int_eq(toml_edit_remove(text, element, &same, NULL), 1);
		ck_assert(str_eq((struct str){ same.data, same.len }, str_from(texts[i])));
		buf_free(&longer);
		buf_free(&same);
	}
}
END_TEST

START_TEST(the_writer_quotes_what_needs_it)
{
	static const char *const words[] = { "a", "\"\\\b\t\n\f\r\x01\x1f\x7f/ü😀", "" };
	const struct toml_entry entries[] = {
		{ .key = "", .type = TOML_ARRAY, .strings = words, .count = COUNT(words) },
		{ .key = "a.b", .type = TOML_INTEGER, .integer = INT64_MIN },
		{ .key = "ü\n", .type = TOML_BOOL, .boolean = true },
		{ .key = "Az_0-9", .type = TOML_TABLE },
	};
	struct buf out = { 0 };
	ck_assert_int_eq(
		toml_edit_replace(STR(""), TOML_PATH(KEY("[x]")), entries, COUNT(entries), &out, NULL), 1);
	ck_assert(str_is((struct str){ out.data, out.len },
		"[\"[x]\"]\n"
		"\"\" = [\"a\", \"\\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001F\\u007F/ü😀\", \"\"]\n"
		"\"a.b\" = -9223372036854775808\n"
		"\"ü\\n\" = true\n"
		"\n[\"[x]\".Az_0-9]\n"));
	struct toml *toml = NULL;
	ck_assert_int_eq(toml_parse((struct str){ out.data, out.len }, NULL, &toml, NULL), 0);
	const struct toml_value *table = toml_get(toml_root(toml), "[x]");
	ck_assert_str_eq(toml_get(table, "")->items[1]->string.data, words[1]);
	toml_free(toml);
	buf_free(&out);
}
END_TEST

START_TEST(what_cannot_be_written_is_refused)
{
	const struct toml_entry entries[] = {
		{ .key = "a", .type = TOML_STRING, .string = "\xff" },
		{ .key = "\xc0", .type = TOML_BOOL },
		{ .key = "a", .type = TOML_FLOAT },
	};
	struct buf out = { 0 };
	perch_err err = { 0 };
	for (size_t i = 0; i < COUNT(entries); i++)
		ck_assert_int_eq(toml_edit_set(STR(""), TOML_ROOT, &entries[i], &out, &err), -EINVAL);
	ck_assert_str_eq(err.text, "a float cannot be written");
	const struct toml_entry twice[] = { version_2[0], version_2[0] };
	ck_assert_int_eq(
		toml_edit_replace(STR("x=1\n"), TOML_PATH(KEY("t")), twice, 2, &out, &err), PERCH_ESYNTAX);
	ck_assert_ptr_nonnull(strstr(err.text, "nothing was changed"));
	ck_assert_ptr_null(out.data);
}
END_TEST

static int run_every_case(void *data)
{
	const struct edit_case *edit = data;
	struct buf out = { 0 };
	perch_err err = { 0 };
	int result = run(edit, str_from(edit->before), &out, &err);
	bool is_refused = result < 0 && result != -ENOMEM && !edit->after;
	buf_free(&out);
	return is_refused ? 0 : result;
}

START_TEST(running_out_of_memory_is_an_error_everywhere)
{
	const struct {
		const struct edit_case *cases;
		size_t count;
	} all[] = { { set_cases, COUNT(set_cases) }, { remove_cases, COUNT(remove_cases) },
		{ replace_cases, COUNT(replace_cases) }, { append_cases, COUNT(append_cases) } };
	for (size_t i = 0; i < COUNT(all); i++) {
		for (size_t j = 0; j < all[i].count; j++)
			oom_every(run_every_case, (void *)(uintptr_t)&all[i].cases[j]);
	}
}
END_TEST

SUITE_MAIN("toml_edit", set_changes_one_key, remove_takes_out_what_was_named_and_no_more,
	replace_gives_a_table_new_contents, append_adds_an_element,
	append_and_remove_are_each_others_opposite, the_writer_quotes_what_needs_it,
	what_cannot_be_written_is_refused, running_out_of_memory_is_an_error_everywhere)
