/* base: a user's directories. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/paths.h"
#include "harness/folder.h"
#include "harness/oom.h"

static const char *const variables[] = { "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
	"XDG_CACHE_HOME", "XDG_RUNTIME_DIR" };

/* A user with nothing set but HOME (NULL: not even that). */
static void set_user(const char *home)
{
	for (size_t i = 0; i < COUNT(variables); i++)
		unsetenv(variables[i]);
	if (home)
		setenv("HOME", home, 1);
	else
		unsetenv("HOME");
}

static void assert_path(enum path_kind kind, const char *below, const char *expected)
{
	_cleanup_free_ char *path = NULL;
	perch_err err = { 0 };
	ck_assert_int_eq(paths_user(kind, below, &path, &err), 0);
	ck_assert_str_eq(path, expected);
	ck_assert_int_eq(err.code, 0);
}

static void assert_no_path(enum path_kind kind, const char *text)
{
	char untouched;
	char *path = &untouched;
	perch_err err = { 0 };
	ck_assert_int_eq(paths_user(kind, "perch", &path, &err), -ENOENT);
	ck_assert_ptr_eq(path, &untouched);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_str_eq(err.text, text);
	ck_assert_int_eq(paths_user(kind, "perch", &path, NULL), -ENOENT);
}

START_TEST(paths_below_home)
{
	set_user("/home/ann");
	assert_path(PATH_CONFIG, "perch", "/home/ann/.config/perch");
	assert_path(PATH_STATE, "perch/log", "/home/ann/.local/state/perch/log");
	assert_path(PATH_DATA, "perch", "/home/ann/.local/share/perch");
	assert_path(PATH_CACHE, NULL, "/home/ann/.cache");
}
END_TEST

START_TEST(paths_from_xdg_variables)
{
	set_user("/home/ann");
	for (size_t i = 0; i < COUNT(variables); i++) {
		setenv(variables[i], "/elsewhere", 1);
		assert_path((enum path_kind)i, "perch", "/elsewhere/perch");
		assert_path((enum path_kind)i, NULL, "/elsewhere");
	}
	unsetenv("HOME");
	assert_path(PATH_CONFIG, "perch", "/elsewhere/perch");
}
END_TEST

START_TEST(paths_that_are_relative_or_empty_are_ignored)
{
	set_user("/home/ann");
	setenv("XDG_CONFIG_HOME", "relative/config", 1);
	setenv("XDG_STATE_HOME", "", 1);
	setenv("XDG_CACHE_HOME", "~/.cache", 1);
	setenv("XDG_RUNTIME_DIR", "run", 1);
	assert_path(PATH_CONFIG, "perch", "/home/ann/.config/perch");
	assert_path(PATH_STATE, "perch", "/home/ann/.local/state/perch");
	assert_path(PATH_CACHE, "perch", "/home/ann/.cache/perch");
	assert_no_path(PATH_RUNTIME, "XDG_RUNTIME_DIR is not set to an absolute path");
}
END_TEST

START_TEST(paths_without_home)
{
	static const char *const homes[] = { NULL, "", "ann", "./ann" };
	for (size_t i = 0; i < COUNT(homes); i++) {
		set_user(homes[i]);
		assert_no_path(PATH_CONFIG, "XDG_CONFIG_HOME and HOME are not set to an absolute path");
		assert_no_path(PATH_STATE, "XDG_STATE_HOME and HOME are not set to an absolute path");
		assert_no_path(PATH_CACHE, "XDG_CACHE_HOME and HOME are not set to an absolute path");
	}
	set_user("/home/ann");
	assert_no_path(PATH_RUNTIME, "XDG_RUNTIME_DIR is not set to an absolute path");
}
END_TEST

static int find_path(void *data)
{
	_cleanup_free_ char *path = NULL;
	perch_err err = { 0 };
	int r = paths_user(PATH_CONFIG, data, &path, &err);
	ck_assert_int_eq(r, err.code);
	ck_assert(r == 0 || path == NULL);
	return r;
}

START_TEST(paths_survive_every_failed_allocation)
{
	char below[300];
	memset(below, 'x', sizeof(below) - 1);
	below[sizeof(below) - 1] = '\0';
	set_user("/home/ann");
	ck_assert_uint_ge(oom_every(find_path, below), 2);
}
END_TEST

START_TEST(a_directory_is_made_with_those_above_it)
{
	folder_new();
	ck_assert_int_eq(paths_make(folder_path("a/b/c"), NULL), 0);
	ck_assert_int_eq(paths_make(folder_path("a/b/c"), NULL), 0);
	struct stat about;
	ck_assert_int_eq(stat(folder_path("a/b"), &about), 0);
	ck_assert_uint_eq(about.st_mode & 0777, 0700);
	ck_assert_int_eq(symlink("a", folder_path("link")), 0);
	ck_assert_int_eq(paths_make(folder_path("link"), NULL), 0);
}
END_TEST

START_TEST(a_file_is_no_directory)
{
	static const char *const paths[] = { "file", "file/below", "link" };
	folder_new();
	folder_write("file", "");
	ck_assert_int_eq(symlink("file", folder_path("link")), 0);
	for (size_t i = 0; i < COUNT(paths); i++) {
		perch_err err = { 0 };
		ck_assert_int_eq(paths_make(folder_path("%s", paths[i]), &err), -ENOTDIR);
		ck_assert_ptr_nonnull(strstr(err.text, paths[i]));
	}
}
END_TEST

SUITE_MAIN("base-paths", paths_below_home, paths_from_xdg_variables,
	paths_that_are_relative_or_empty_are_ignored, paths_without_home,
	paths_survive_every_failed_allocation, a_directory_is_made_with_those_above_it,
	a_file_is_no_directory)
