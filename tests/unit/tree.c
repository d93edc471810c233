/* tree: whole directories copied and removed, without following anything. */
#include "base/tree.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/folder.h"
#include "plugins/copy.h"

START_TEST(everything_is_copied)
{
	folder_new();
	free(folder_run("mkdir -p a/b/c a/skipped && echo one >a/one && echo two >a/b/c/two && "
					"chmod 4755 a/one && chmod 444 a/b/c/two && ln -s ../../etc a/b/link && "
					"ln -s nowhere a/dangling && echo no >a/skipped/file && mkdir a/b/skipped"));
	static const char *const skips[] = { "skipped", NULL };
	perch_err err = { 0 };
	ck_assert_msg(copy_tree(folder_path("a"), folder_path("z"), skips, &err) == 0, "%s", err.text);
	free(
		folder_run("diff -r --no-dereference -x skipped a z && [ ! -e z/skipped ] && "
				   "[ -d z/b/skipped ] && [ \"$(readlink z/b/link)\" = ../../etc ] && "
				   "[ \"$(stat -c %%a z/one)\" = 755 ] && [ \"$(stat -c %%a z/b/c/two)\" = 444 ]"));
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("z"), NULL, &err), -EEXIST);
	ck_assert_int_eq(copy_tree(folder_path("nothing"), folder_path("y"), NULL, &err), -ENOENT);
}
END_TEST

START_TEST(what_is_no_file_is_told)
{
	folder_new();
	free(folder_run("mkdir -p a/b && mkfifo a/b/pipe"));
	perch_err err = { 0 };
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("z"), NULL, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.text, "/a/b/pipe: it is neither a file"));
}
END_TEST

START_TEST(too_deep_to_copy_is_an_error_and_no_depth_is_too_deep_to_remove)
{
	folder_new();
	free(folder_run("d=a; for i in $(seq 200); do d=$d/d; done; mkdir -p $d"));
	perch_err err = { 0 };
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("z"), NULL, &err), -ELOOP);
	ck_assert_int_eq(tree_remove(folder_path("a")), 0);
	ck_assert_int_eq(tree_remove(folder_path("z")), 0);
}
END_TEST

START_TEST(everything_is_removed_but_what_links_lead_to)
{
	folder_new();
	free(
		folder_run("mkdir -p a/b/c kept && touch kept/file a/b/c/file && ln -s ../kept a/link && "
				   "ln -s $PWD/kept a/b/link && chmod 500 a/b/c && chmod 0 a/b && mkfifo a/pipe && "
				   "ln -s kept alone"));
	ck_assert_int_eq(tree_remove(folder_path("a")), 0);
	ck_assert_int_eq(tree_remove(folder_path("alone")), 0);
	ck_assert_int_eq(tree_remove(folder_path("nothing")), 0);
	free(folder_run("[ ! -e a ] && [ ! -L alone ] && [ -f kept/file ]"));
}
END_TEST

SUITE_MAIN("tree", everything_is_copied, what_is_no_file_is_told,
	too_deep_to_copy_is_an_error_and_no_depth_is_too_deep_to_remove,
	everything_is_removed_but_what_links_lead_to)
