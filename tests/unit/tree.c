/* tree: whole directories copied and removed, without following anything. */
#include "base/tree.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/folder.h"
#include "plugins/install_parts.h"

static const struct copy_options plainly = { 0 };

START_TEST(everything_is_copied)
{
	folder_new();
	free(folder_run("mkdir -p a/b/c a/skipped && echo one >a/one && echo two >a/b/c/two && "
					"chmod 4755 a/one && chmod 444 a/b/c/two && ln -s ../../etc a/b/link && "
					"ln -s nowhere a/dangling && echo no >a/skipped/file && mkdir a/b/skipped"));
	static const char *const skips[] = { "skipped", NULL };
	const struct copy_options without_skipped = { .skips = skips };
	perch_err err = { 0 };
	ck_assert_msg(
		copy_tree(folder_path("a"), folder_path("z"), &without_skipped, &err) == 0, "%s", err.text);
	free(
		folder_run("diff -r --no-dereference -x skipped a z && [ ! -e z/skipped ] && "
				   "[ -d z/b/skipped ] && [ \"$(readlink z/b/link)\" = ../../etc ] && "
				   "[ \"$(stat -c %%a z/one)\" = 755 ] && [ \"$(stat -c %%a z/b/c/two)\" = 444 ]"));
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("z"), &plainly, &err), -EEXIST);
	ck_assert_int_eq(copy_tree(folder_path("nothing"), folder_path("y"), &plainly, &err), -ENOENT);
}
END_TEST

START_TEST(what_is_no_file_is_told)
{
	folder_new();
	free(folder_run("mkdir -p a/b && mkfifo a/b/pipe"));
	perch_err err = { 0 };
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("z"), &plainly, &err), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(err.text, "/a/b/pipe: it is neither a file"));
}
END_TEST

/* Of four holes and three pieces, at its ends and in between, and of nothing at all. */
START_TEST(holes_stay_holes)
{
	folder_new();
	free(
		folder_run("mkdir a && truncate -s 3G a/empty && truncate -s 8G a/some && "
				   "for at in 0 1000000 2000001; do "
				   "printf piece | dd of=a/some bs=1 seek=$((at * 4096)) conv=notrunc status=none; "
				   "done; printf end | dd of=a/full bs=1 seek=5000 status=none"));
	perch_err err = { 0 };
	const struct copy_options options = { .bytes_max = 1024 * 1024 };
	ck_assert_msg(
		copy_tree(folder_path("a"), folder_path("z"), &options, &err) == 0, "%s", err.text);
	free(folder_run("[ \"$(stat -c %%s z/empty)\" = 3221225472 ] && "
					"[ \"$(stat -c %%s z/some)\" = 8589934592 ] && "
					"[ \"$(du -k z | cut -f 1)\" -lt 1024 ] && cmp a/full z/full && "
					"for at in 0 1000000 2000001; do [ \"$(dd if=z/some bs=1 count=5 "
					"skip=$((at * 4096)) status=none)\" = piece ] || exit; done"));
}
END_TEST

START_TEST(more_than_is_allowed_is_not_copied)
{
	folder_new();
	free(folder_run("mkdir a b && head -c 300000 /dev/zero >a/file && touch b/1 b/2 b/3"));
	perch_err err = { 0 };
	const struct copy_options little = { .bytes_max = 300000 };
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("z"), &little, &err), -EFBIG);
	ck_assert_ptr_nonnull(strstr(err.text, "/a/file it was enough"));
	const struct copy_options enough = { .bytes_max = 300000 + COPY_ENTRY_BYTES };
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("y"), &enough, &err), 0);
	/* Names count, too. */
	const struct copy_options two = { .bytes_max = 2 * COPY_ENTRY_BYTES };
	ck_assert_int_eq(copy_tree(folder_path("b"), folder_path("x"), &two, &err), -EFBIG);
}
END_TEST

static bool stop_third(void *asked)
{
	return ++*(unsigned *)asked == 3;
}

START_TEST(it_can_be_stopped)
{
	folder_new();
	free(folder_run("mkdir a && head -c 9000000 /dev/zero >a/file"));
	perch_err err = { 0 };
	unsigned asked = 0;
	const struct copy_options options = { .is_stopped = stop_third, .data = &asked };
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("z"), &options, &err), -ECANCELED);
	ck_assert_str_eq(err.text, "interrupted");
	ck_assert_uint_eq(asked, 3);
	/* Many names, with nothing in them. */
	free(folder_run("mkdir b && cd b && seq 3000 | xargs touch"));
	asked = 0;
	ck_assert_int_eq(copy_tree(folder_path("b"), folder_path("y"), &options, &err), -ECANCELED);
}
END_TEST

START_TEST(too_deep_to_copy_is_an_error_and_no_depth_is_too_deep_to_remove)
{
	folder_new();
	free(folder_run("d=a; for i in $(seq 200); do d=$d/d; done; mkdir -p $d"));
	perch_err err = { 0 };
	ck_assert_int_eq(copy_tree(folder_path("a"), folder_path("z"), &plainly, &err), -ELOOP);
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

SUITE_MAIN("tree", everything_is_copied, what_is_no_file_is_told, holes_stay_holes,
	more_than_is_allowed_is_not_copied, it_can_be_stopped,
	too_deep_to_copy_is_an_error_and_no_depth_is_too_deep_to_remove,
	everything_is_removed_but_what_links_lead_to)
