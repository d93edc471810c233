/* plugin_index: an index of plugins, as a file that the user's configuration names. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/repository.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "plugins/plugin_index.h"
#include "plugins/process.h"

static const char text[] = "[[plugins]]\n"
						   "name = 'fledge-sql'\n"
						   "source = 'ada/fledge-sql'\n"
						   "description = 'queries'\n"
						   "languages = ['rust', 'go']\n"
						   "default = true\n"
						   "[[plugins]]\n"
						   "name = 'fledge-x'\n"
						   "source = '/srv/x'\n";

static void check_entries(const struct plugin_index *index)
{
	ck_assert_uint_eq(index->count, 2);
	ck_assert_str_eq(index->entries[0].name, "fledge-sql");
	ck_assert_str_eq(index->entries[0].source, "ada/fledge-sql");
	ck_assert_str_eq(index->entries[0].description, "queries");
	ck_assert_str_eq(index->entries[0].languages[1], "go");
	ck_assert(index->entries[0].is_default && !index->entries[1].is_default);
	ck_assert_str_eq(index->entries[1].description, "");
	ck_assert_ptr_null(index->entries[1].languages[0]);
}

START_TEST(entries_are_read)
{
	struct arena arena = { 0 };
	struct plugin_index index;
	ck_assert_int_eq(index_parse(str_from(text), &arena, &index, NULL), 0);
	check_entries(&index);
	ck_assert_int_eq(index_parse(STR("other = 1\n"), &arena, &index, NULL), 0);
	ck_assert_uint_eq(index.count, 0);
	arena_free(&arena);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused_with_its_place)
{
	static const struct {
		const char *text;
		const char *words;
	} cases[] = {
		{ "\nplugins = 1", "`plugins`" },
		{ "\nplugins = [1]", "`plugins`" },
		{ "\n[[plugins]]", "needs `name`" },
		{ "\n[[plugins]]\nname = ''\nsource = 's'", "needs `name`" },
		{ "\n[[plugins]]\nname = 'n'", "needs `source`" },
		{ "\n[[plugins]]\nname = 'n'\nsource = 's'\nlanguages = 'c'", "`languages`" },
		{ "\n[[plugins]]\nname = 'n'\nsource = 's'\ndefault = 1", "`default`" },
		{ "\n[[plugins]]\nname = 'n'\nsource = 's'\ndescription = 1", "`description`" },
		{ "\n[[plugins", "" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena arena = { 0 };
		struct plugin_index index;
		perch_err err = { 0 };
		int r = index_parse(str_from(cases[i].text), &arena, &index, &err);
		ck_assert_int_eq(r, PERCH_ESYNTAX);
		ck_assert_msg(strstr(err.text, cases[i].words) && err.line >= 2 && err.column, "%s: %u: %s",
			cases[i].text, err.line, err.text);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(an_index_has_so_many_plugins_and_no_more)
{
	struct buf many = { 0 };
	struct arena arena = { 0 };
	struct plugin_index index;
	perch_err err = { 0 };
	for (int i = 0; i < INDEX_ENTRIES_MAX; i++)
		buf_append_text(&many, "[[plugins]]\nname='n'\nsource='s'\n");
	ck_assert_int_eq(index_parse((struct str){ many.data, many.len }, &arena, &index, &err), 0);
	ck_assert_uint_eq(index.count, INDEX_ENTRIES_MAX);
	buf_append_text(&many, "[[plugins]]\n");
	ck_assert_int_eq(
		index_parse((struct str){ many.data, many.len }, &arena, &index, &err), PERCH_ELIMIT);
	arena_free(&arena);
	buf_free(&many);
}
END_TEST

static int read_all(void *data)
{
	struct arena arena = { 0 };
	struct plugin_index index;
	perch_err err = { 0 };
	int r = index_read(NULL, data, &arena, &index, &err);
	if (r == 0)
		check_entries(&index);
	else
		ck_assert_msg(err.text[0], "%d", r);
	arena_free(&arena);
	return r;
}

/* From the configuration on. */
START_TEST(without_memory)
{
	struct buf config = { 0 };
	folder_new();
	folder_write("index.toml", text);
	buf_printf(&config, "[registry]\nindex = '%s'\n", folder_path("index.toml"));
	folder_write_n("config.toml", (struct str){ config.data, config.len });
	buf_free(&config);
	ck_assert_uint_gt(oom_every(read_all, (void *)folder_path(".")), 5);
}
END_TEST

/* ---- in a repository ----------------------------------------------------------------- */

/* With a configuration that names this index; what index_read says, with its words in err. */
static int read_from(
	const char *place, struct plugin_index *index, struct arena *arena, perch_err *err)
{
	perch_host *host = proc_host();
	struct workshop workshop = { .host = host };
	struct buf config = { 0 };
	buf_printf(&config, "[registry]\nindex = '%s'\n", place);
	folder_write_n("config.toml", (struct str){ config.data, config.len });
	buf_free(&config);
	int r = index_read(&workshop, folder_path("."), arena, index, err);
	perch_host_free(host);
	return r;
}

static void check_refused(const char *place, const char *words)
{
	struct arena arena = { 0 };
	struct plugin_index index;
	perch_err err = { 0 };
	int r = read_from(place, &index, &arena, &err);
	ck_assert_int_lt(r, 0);
	ck_assert_msg(strstr(err.text, words), "%s: %s", place, err.text);
	arena_free(&arena);
}

START_TEST(an_index_may_be_a_repository)
{
	struct arena arena = { 0 };
	struct plugin_index index;
	perch_err err = { 0 };
	setenv("XDG_CONFIG_HOME", repository_folder(), 1);
	setenv("XDG_DATA_HOME", folder_path("data"), 1);
	repository_new("list");
	char *place = str_join("file://", folder_path("list"), NULL);
	check_refused(place, "the repository of the index has no file index.toml");
	folder_write("list/index.toml", text);
	free(folder_run("git -C list add . && git -C list commit -q -m index"));
	int r = read_from(place, &index, &arena, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	check_entries(&index);
	folder_write("elsewhere.toml", text);
	free(folder_run("ln -sf '%s' list/index.toml && git -C list commit -q -a -m link",
		folder_path("elsewhere.toml")));
	check_refused(place, "the repository of the index has no file index.toml");
	free(place);
	arena_free(&arena);
}
END_TEST

START_TEST(what_is_no_index_is_refused_with_words)
{
	setenv("XDG_CONFIG_HOME", repository_folder(), 1);
	setenv("XDG_DATA_HOME", folder_path("data"), 1);
	check_refused("", "no index of plugins is configured: write index = ");
	char *place = str_join("file://", folder_path("none"), NULL);
	check_refused(place, "none");
	check_refused("a b c", "a b c");
	free(place);
}
END_TEST

SUITE_MAIN("plugin-index", entries_are_read, what_makes_no_sense_is_refused_with_its_place,
	an_index_has_so_many_plugins_and_no_more, without_memory, an_index_may_be_a_repository,
	what_is_no_index_is_refused_with_words)
