/* What a host remembers of directories between two sandboxes. */
#include "harness/folder.h"
#include "harness/proc.h"
#include "harness/suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/macros.h"
#include "sandbox/reuse/dir_cache.h"

/* More than the cache has places for, all of them old. */
enum { MANY = 50 };

/* Small systems have fewer in the first one. */
static const char *const above[] = { "/usr/share", "/usr/share/doc", "/usr/lib" };

struct walk {
	DIR *directory;
	size_t next; /* of `above` */
};

/* The next directory in one of `above`, as a descriptor; -1 = there is none. */
static int next_directory(struct walk *walk)
{
	for (;;) {
		const struct dirent *item = walk->directory ? readdir(walk->directory) : NULL;
		if (item && item->d_name[0] != '.' && item->d_type == DT_DIR)
			return openat(dirfd(walk->directory), item->d_name, O_PATH | O_DIRECTORY);
		if (item)
			continue;
		if (walk->directory)
			closedir(walk->directory);
		walk->directory = walk->next < COUNT(above) ? opendir(above[walk->next++]) : NULL;
		if (!walk->directory)
			return -1;
	}
}

START_TEST(there_is_always_a_place_for_the_next_one)
{
	perch_host *host = proc_host();
	struct dir_cache *dir_cache = dir_cache_of(host);
	struct walk walk = { 0 };
	for (int i = 0; i < MANY; i++) {
		int directory = next_directory(&walk);
		ck_assert_int_ge(directory, 0);
		dir_cache_begin(dir_cache);
		const struct dir_cache_directory *first = dir_cache_get(dir_cache, directory);
		dir_cache_begin(dir_cache);
		ck_assert_ptr_eq(dir_cache_get(dir_cache, directory), first);
		close(directory);
	}
	int last = open("/usr", O_PATH | O_DIRECTORY);
	dir_cache_begin(dir_cache);
	ck_assert_ptr_nonnull(dir_cache_get(dir_cache, last));
	close(last);
	closedir(walk.directory);
	perch_host_free(host);
}
END_TEST

START_TEST(what_has_just_changed_is_not_remembered)
{
	folder_new();
	folder_write("inside/file", "");
	perch_host *host = proc_host();
	struct dir_cache *dir_cache = dir_cache_of(host);
	int directory = open(folder_path("inside"), O_PATH | O_DIRECTORY);
	dir_cache_begin(dir_cache);
	ck_assert_ptr_null(dir_cache_get(dir_cache, directory));
	dir_cache_begin(dir_cache);
	ck_assert_ptr_null(dir_cache_get(dir_cache, directory));
	close(directory);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("sandbox-dir-cache", there_is_always_a_place_for_the_next_one,
	what_has_just_changed_is_not_remembered)
