/* Temporary directories: made, and removed after other processes have filled them. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/listing.h"
#include "base/replace.h"
#include "base/tree.h"
#include "sandbox/layers/scratch.h"

static bool is_there(const char *path)
{
	struct stat info;
	return lstat(path, &info) == 0;
}

/* In the place of libc's: without memory, when it is said so. */
static bool has_no_listings;

DIR *fdopendir(int fd)
{
	if (has_no_listings) {
		errno = ENOMEM;
		return NULL;
	}
	DIR *(*real)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");
	return real(fd);
}

START_TEST(a_listing_that_fails_leaves_no_descriptor)
{
	folder_new();
	setenv("TMPDIR", folder_path("."), 1);
	ck_assert_int_eq(mkdir(folder_path("full"), 0700), 0);
	folder_write("full/file", "text");
	_cleanup_fd_ int top = fd_directory(AT_FDCWD, folder_path("."), O_PATH);
	unsigned fds = proc_open_fds();
	has_no_listings = true;
	struct scratch scratch;
	ck_assert_int_eq(scratch_open(&scratch, NULL), 0);
	scratch_close(&scratch);
	ck_assert_int_eq(tree_remove(folder_path("full")), -ENOMEM);
	replace_sweep(top, "file");
	has_no_listings = false;
	ck_assert_uint_eq(proc_open_fds(), fds);
}
END_TEST

START_TEST(a_listing_has_neither_itself_nor_what_is_above)
{
	folder_new();
	folder_write("...", "");
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, folder_path("."), 0);
	ck_assert_str_eq(listing_next(listing), "...");
	ck_assert_ptr_null(listing_next(listing));
	ck_assert_ptr_null(listing_next(NULL));
	ck_assert_ptr_null(listing_open(AT_FDCWD, folder_path("nothing"), 0));
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(what_is_not_there_is_gone)
{
	folder_new();
	ck_assert_int_eq(tree_remove(folder_path("nothing")), 0);
	folder_write("file", "text");
	ck_assert_int_eq(tree_remove(folder_path("file")), 0);
	ck_assert(!is_there(folder_path("file")));
}
END_TEST

START_TEST(links_are_removed_and_not_followed)
{
	folder_new();
	folder_write("kept/file", "text");
	free(folder_run("mkdir tree && ln -s ../kept tree/link && ln -s ../kept/file tree/other && "
					"ln -s . tree/self && ln -s /nowhere tree/nowhere && ln -s tree direct"));
	ck_assert_int_eq(tree_remove(folder_path("direct")), 0);
	ck_assert(is_there(folder_path("tree/self")));
	ck_assert_int_eq(tree_remove(folder_path("tree")), 0);
	ck_assert(!is_there(folder_path("tree")));
	ck_assert(is_there(folder_path("kept/file")));
}
END_TEST

START_TEST(permissions_that_were_taken_away_protect_nothing)
{
	folder_new();
	free(folder_run("mkdir -p tree/a/b/c && touch tree/a/b/c/file tree/file && "
					"chmod 0 tree/a/b/c/file tree/a/b/c tree/a/b tree/a tree"));
	ck_assert_int_eq(tree_remove(folder_path("tree")), 0);
	ck_assert(!is_there(folder_path("tree")));
}
END_TEST

START_TEST(no_depth_is_too_deep)
{
	folder_new();
	free(folder_run("mkdir tree && cd tree && i=0 && "
					"while [ $i -lt 40 ]; do mkdir -p d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d && "
					"touch file moved-up.$i && cd d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d && "
					"i=$((i+1)) || exit; done"));
	ck_assert_int_eq(tree_remove(folder_path("tree")), 0);
	ck_assert(!is_there(folder_path("tree")));
}
END_TEST

START_TEST(it_can_be_done_bit_by_bit)
{
	folder_new();
	free(folder_run("mkdir -p tree/a/b tree/c && cd tree && touch 1 2 3 4 5 a/1 a/2 a/b/1 a/b/2"));
	int rounds = 0;
	int r;
	while ((r = tree_remove_some(folder_path("tree"), 2)) == 0)
		ck_assert_int_lt(rounds++, 100);
	ck_assert_int_eq(r, 1);
	ck_assert_int_gt(rounds, 3);
	ck_assert(!is_there(folder_path("tree")));
}
END_TEST

static int make_one(void *data)
{
	(void)data;
	char *path = NULL;
	int r = tree_make("some-", &path, NULL);
	if (r == 0)
		tree_remove(path);
	free(path);
	return r;
}

START_TEST(a_new_one_is_empty_and_ours)
{
	char *path = NULL;
	struct stat info;
	perch_err err = { 0 };
	folder_new();
	setenv("TMPDIR", folder_path("."), 1);
	ck_assert_int_eq(tree_make("some-", &path, &err), 0);
	ck_assert_int_eq(lstat(path, &info), 0);
	ck_assert_uint_eq(info.st_mode & 0777, 0700);
	ck_assert_ptr_null(strstr(path, "/./"));
	ck_assert_int_eq(rmdir(path), 0);
	free(path);
	ck_assert_uint_gt(oom_every(make_one, NULL), 1);
	free(folder_run("! ls -d some-*"));
	setenv("TMPDIR", folder_path("nowhere"), 1);
	ck_assert_int_eq(tree_make("some-", &path, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, "nowhere"));
}
END_TEST

SUITE_MAIN("base-tree", a_listing_that_fails_leaves_no_descriptor,
	a_listing_has_neither_itself_nor_what_is_above, a_new_one_is_empty_and_ours,
	what_is_not_there_is_gone, links_are_removed_and_not_followed,
	permissions_that_were_taken_away_protect_nothing, no_depth_is_too_deep,
	it_can_be_done_bit_by_bit)
