/* Mounts that are made before the others are known, and those that are one. Every test runs as root
 * and as a normal user.
 */
#include "harness/oom.h"
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { PATH_SIZE = 4096 + 32, FOUND_MAX = 8 };

/* In the current directory: `closed` is hidden, but for a file and a place to write. */
static char closed[PATH_SIZE];
static char shown[PATH_SIZE];
static char place[PATH_SIZE];
static char inner[PATH_SIZE];
static char other[PATH_SIZE];
static char missing[PATH_SIZE];

static const struct room_mount early_mounts[] = {
	{ .kind = ROOM_HIDE, .path = closed },
	{ .kind = ROOM_REVEAL, .path = place },
	{ .kind = ROOM_TMP, .path = place },
	{ .kind = ROOM_REVEAL, .path = shown },
	{ .kind = ROOM_HIDE, .path = missing },
};
static const struct room_early early = { early_mounts, COUNT(early_mounts) };

/* What a wish finds. */
struct found {
	struct room_mount mounts[FOUND_MAX];
	size_t count;
};

static const struct room_mount all_read_only = { .kind = ROOM_READ_ONLY, .path = "/" };
static const struct room_mount other_hidden = { .kind = ROOM_HIDE, .path = other };

static struct found found_as_expected(void)
{
	struct found found = { .mounts = { all_read_only }, .count = 1 };
	for (size_t i = 0; i + 1 < COUNT(early_mounts); i++)
		found.mounts[found.count++] = early_mounts[i];
	found.mounts[found.count++] = other_hidden;
	return found;
}

static int find(void *data, const struct room_mount **ret_mounts, size_t *ret_count, perch_err *err)
{
	struct found *found = data;
	(void)err;
	*ret_mounts = found->mounts;
	*ret_count = found->count;
	return 0;
}

static void name_path(char out[PATH_SIZE], const char *name)
{
	char here[4096];
	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	snprintf(out, PATH_SIZE, "%s/%s", here, name);
}

static void make_paths(void)
{
	quarters_prepare("mkdir -p closed/place closed/inner other; echo shown >closed/shown; "
					 "echo secret >closed/secret; echo secret >other/secret");
	name_path(closed, "closed");
	name_path(shown, "closed/shown");
	name_path(place, "closed/place");
	name_path(inner, "closed/inner");
	name_path(other, "other");
	name_path(missing, "missing");
}

static int open_room(
	perch_host *host, const struct room_early *wanted, struct found *found, struct room **ret_room)
{
	const struct room_wish wish = {
		.find = find, .data = found, .is_usual = true, .early = wanted
	};
	return room_open_with(host, &wish, ret_room, NULL);
}

static void expect_furnished(perch_host *host, struct room *room)
{
	quarters_expect(host, room,
		"ls closed other; cat closed/shown; echo x >closed/place/x && cat closed/place/x\n"
		"for made in made closed/made other/made; do\n"
		"(echo x >$made) 2>/dev/null && echo $made; done; mkdir closed/inner 2>/dev/null || echo "
		"end",
		"closed:\nplace\nshown\n\nother:\nshown\nx\nend\n");
	quarters_expect(host, room, "grep -c $PWD/ /proc/self/mountinfo", "5\n");
}

/* The same mounts, whether all of them were known first, or some, or some and a room was begun. */
QUARTERS_TEST(what_is_made_early_is_as_if_it_were_made_later)
{
	make_paths();
	struct found found = found_as_expected();
	perch_host *host = quarters_host();
	unsigned fds = proc_open_fds();
	for (int way = 0; way < 3; way++) {
		struct room *room;
		if (way == 2)
			room_begin(host, &early);
		ck_assert_int_eq(open_room(host, way ? &early : NULL, &found, &room), 0);
		expect_furnished(host, room);
		room_close(room);
	}
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
	ck_assert_uint_le(proc_open_fds(), fds);
}

/* Another one is opened instead, where it was begun with others. */
QUARTERS_TEST(a_room_that_was_begun_otherwise_is_not_taken)
{
	make_paths();
	struct room *room;
	struct found nothing = { .count = 0 };
	perch_host *host = quarters_host();
	room_begin(host, &early);
	ck_assert_int_eq(open_room(host, NULL, &nothing, &room), 0);
	quarters_expect(host, room, "cat closed/secret", "secret\n");
	ck_assert_uint_eq(proc_children(), 1);
	room_close(room);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

static void expect_stale(perch_host *host, const struct room_early *wanted, struct found *found)
{
	struct room *room = NULL;
	ck_assert_int_eq(open_room(host, wanted, found, &room), -ESTALE);
	ck_assert_uint_eq(proc_children(), 0);
	ck_assert_int_eq(open_room(host, NULL, found, &room), 0);
	room_close(room);
}

QUARTERS_TEST(what_was_made_early_and_is_not_wanted_refuses_the_room)
{
	make_paths();
	perch_host *host = quarters_host();
	for (size_t i = 1; i < COUNT(early_mounts); i++) {
		struct found found = found_as_expected();
		if (early_mounts[i - 1].kind == ROOM_REVEAL && early_mounts[i].kind == ROOM_TMP)
			continue; /* its mount point */
		memmove(&found.mounts[i], &found.mounts[i + 1],
			(found.count - i - 1) * sizeof(early_mounts[0]));
		found.count--;
		expect_stale(host, &early, &found);
	}
	struct found found = found_as_expected();
	found.mounts[1].kind = ROOM_READ_ONLY;
	expect_stale(host, &early, &found);
	perch_host_free(host);
}

/* It would not be found any more. */
QUARTERS_TEST(what_is_wanted_in_a_path_that_was_hidden_early_refuses_the_room)
{
	make_paths();
	perch_host *host = quarters_host();
	struct found found = found_as_expected();
	found.mounts[found.count++] = (struct room_mount){ .kind = ROOM_REVEAL, .path = inner };
	expect_stale(host, &early, &found);
	perch_host_free(host);
}

QUARTERS_TEST(what_is_another_file_by_now_refuses_the_room)
{
	make_paths();
	perch_host *host = quarters_host();
	for (size_t i = 1; i + 1 < COUNT(early_mounts); i++) {
		struct found found = found_as_expected();
		struct room *room = NULL;
		found.mounts[i].looked_up = open(found.mounts[i].path, O_PATH | O_CLOEXEC);
		ck_assert_int_eq(open_room(host, &early, &found, &room), 0);
		room_close(room);
		close(found.mounts[i].looked_up);
		found.mounts[i].looked_up = open("/", O_PATH | O_CLOEXEC);
		ck_assert_int_eq(open_room(host, &early, &found, &room), -ESTALE);
		close(found.mounts[i].looked_up);
	}
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

/* What cannot be made early is told when all is known: there, the caller looks once more. */
QUARTERS_TEST(what_cannot_be_made_early_refuses_the_room)
{
	make_paths();
	const struct room_mount impossible = { .kind = ROOM_TMP, .path = other };
	const struct room_early wanted = { &impossible, 1 };
	struct found found = { .count = 0 };
	quarters_prepare("rm -r other; echo file >other");
	perch_host *host = quarters_host();
	expect_stale(host, &wanted, &found);
	perch_host_free(host);
}

/* ---- what mounts have in common ------------------------------------------------------ */

/* Covers that are empty are one directory, in whatever order they come. */
QUARTERS_TEST(what_is_revealed_in_a_cover_is_in_no_other)
{
	make_paths();
	perch_host *host = quarters_host();
	const struct room_mount hidden = { .kind = ROOM_HIDE, .path = closed };
	const struct room_mount revealed = { .kind = ROOM_REVEAL, .path = shown };
	const struct room_mount orders[][3] = {
		{ hidden, revealed, other_hidden },
		{ hidden, other_hidden, revealed },
		{ other_hidden, hidden, revealed },
	};
	for (size_t i = 0; i < COUNT(orders); i++) {
		struct room *room = quarters_open(host, orders[i], COUNT(orders[i]));
		quarters_expect(host, room, "ls closed other", "closed:\nshown\n\nother:\n");
		room_close(room);
	}
	perch_host_free(host);
}

/* By one mount where it is known to be no link. */
QUARTERS_TEST(what_is_revealed_and_read_only_cannot_be_written_to)
{
	make_paths();
	perch_host *host = quarters_host();
	for (int is_known = 0; is_known < 2; is_known++) {
		int fd = is_known ? open(inner, O_PATH | O_CLOEXEC) : 0;
		const struct room_mount mounts[] = {
			{ .kind = ROOM_HIDE, .path = closed },
			{ .kind = ROOM_REVEAL, .path = inner, .looked_up = fd },
			{ .kind = ROOM_READ_ONLY, .path = inner, .looked_up = fd },
		};
		struct room *room = quarters_open(host, mounts, COUNT(mounts));
		quarters_expect(
			host, room, "ls closed; touch closed/inner/made 2>/dev/null || echo no", "inner\nno\n");
		quarters_expect(
			host, room, "grep -c $PWD/closed/inner /proc/self/mountinfo", is_known ? "1\n" : "2\n");
		room_close(room);
		if (is_known)
			close(fd);
	}
	perch_host_free(host);
}

/* A link is revealed as a link, and pinned by a mount of its own. */
QUARTERS_TEST(a_link_that_is_revealed_and_read_only_cannot_be_replaced)
{
	make_paths();
	quarters_prepare("ln -s inner closed/link");
	char link[PATH_SIZE];
	name_path(link, "closed/link");
	perch_host *host = quarters_host();
	int fd = open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	const struct room_mount mounts[] = {
		{ .kind = ROOM_REVEAL, .path = link, .looked_up = fd },
		{ .kind = ROOM_READ_ONLY, .path = link, .looked_up = fd },
	};
	struct room *room = quarters_open(host, mounts, COUNT(mounts));
	quarters_expect(host, room,
		"readlink closed/link; mv closed/link closed/away 2>/dev/null || echo pinned",
		"inner\npinned\n");
	room_close(room);
	close(fd);
	perch_host_free(host);
}

/* ---- allocations ---------------------------------------------------------------------- */

static int open_and_close(void *data)
{
	struct found found = found_as_expected();
	struct room *room;
	int r = open_room(data, &early, &found, &room);
	if (r == 0)
		room_close(room);
	return r;
}

QUARTERS_TEST(without_memory_nothing_is_left_of_it)
{
	make_paths();
	perch_host *host = quarters_host();
	unsigned fds = proc_open_fds();
	ck_assert_uint_ge(oom_every(open_and_close, host), COUNT(early_mounts));
	ck_assert_uint_eq(proc_open_fds(), fds);
	perch_host_free(host);
	ck_assert_uint_eq(proc_children(), 0);
}

SUITE_MAIN("room-early", what_is_made_early_is_as_if_it_were_made_later,
	a_room_that_was_begun_otherwise_is_not_taken,
	what_was_made_early_and_is_not_wanted_refuses_the_room,
	what_is_wanted_in_a_path_that_was_hidden_early_refuses_the_room,
	what_is_another_file_by_now_refuses_the_room, what_cannot_be_made_early_refuses_the_room,
	what_is_revealed_in_a_cover_is_in_no_other, what_is_revealed_and_read_only_cannot_be_written_to,
	a_link_that_is_revealed_and_read_only_cannot_be_replaced, without_memory_nothing_is_left_of_it)
