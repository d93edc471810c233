/* What a room hides, shows, protects and replaces. Every test runs as root and
 * as a normal user. */
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- processes -------------------------------------------------------------- */

QUARTERS_TEST(no_process_outside_can_be_seen)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	ck_assert(room_has_own_proc(room));
	char script[512];
	quarters_expect(host, room, "cd /proc; echo [0-9]*", "1 2\n");
	quarters_expect(host, room, "echo $PPID", "0\n");
	snprintf(script, sizeof(script), "kill -0 %d 2>/dev/null || echo none", (int)getpid());
	quarters_expect(host, room, script, "none\n");
	room_close(room);
	perch_host_free(host);
}

QUARTERS_TEST(nobody_in_it_can_touch_its_init)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	quarters_expect(host, room,
		"for file in mem environ fd/0 maps cwd/. root/. ns/mnt; do\n"
		"head -c 1 /proc/1/$file >/dev/null 2>&1 && echo $file; done\n"
		"for signal in KILL STOP TERM CHLD HUP ABRT; do kill -$signal 1; done; echo there",
		"there\n");
	quarters_expect(host, room, "echo still there", "still there\n");
	room_close(room);
	perch_host_free(host);
}

QUARTERS_TEST(who_enters_is_the_same_without_a_capability)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	quarters_expect(host, room, "grep -E '^(Cap|NoNewPrivs)' /proc/self/status",
		"CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
		"CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n");
	char ids[64];
	snprintf(ids, sizeof(ids), "%u %u\n", (unsigned)geteuid(), (unsigned)getegid());
	quarters_expect(host, room, "echo $(id -u) $(id -g)", ids);
	room_close(room);
	perch_host_free(host);
}

/* ---- mounts ------------------------------------------------------------------ */

QUARTERS_TEST(what_is_hidden_is_empty_by_every_way)
{
	quarters_prepare("mkdir -p secret/deep open && echo key >secret/deep/key && echo token >file &&"
					 "ln -s ../secret open/link && ln -s secret alias && ln -s nowhere dangling");
	const struct room_mount mounts[] = {
		{ ROOM_HIDE, quarters_path("secret"), 0, 0 },
		{ ROOM_HIDE, quarters_path("file"), 0, 0 },
		{ ROOM_HIDE, quarters_path("missing"), 0, 0 },
		{ ROOM_HIDE, quarters_path("file/below"), 0, 0 },
		{ ROOM_HIDE, quarters_path("dangling"), 0, 0 },
		{ ROOM_HIDE, quarters_path("secret/deep"), 0, 0 },
	};
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, mounts, COUNT(mounts));
	quarters_expect(host, room,
		"for way in secret alias open/link open/../secret \"/proc/self/root/$PWD/secret\"\n"
		"do [ -d \"$way\" ] && ls -A \"$way\"; cat \"$way/deep/key\"; done 2>/dev/null; cat file\n"
		"[ -f file ] && echo empty",
		"empty\n");
	quarters_expect(host, room, "cd secret && ls -A; ls -A .. | head -1", "alias\n");
	quarters_expect(host, room,
		"mkdir secret/new; true >secret/new; echo x >file; chmod 777 secret file; rm file; rmdir "
		"secret; mv secret other; true",
		"");
	quarters_expect(host, room, "ls -A secret; [ -s file ] || echo empty", "empty\n");
	room_close(room);
	quarters_prepare("[ \"$(cat secret/deep/key file)\" = \"$(echo key; echo token)\" ]");
	perch_host_free(host);
}

/* The kernel takes away what covers a file when somebody outside replaces it. That
 * is so, and room.h says it. */
QUARTERS_TEST(what_is_replaced_outside_is_not_hidden_any_more)
{
	quarters_prepare("mkdir -p inside && echo key >file && echo key >inside/file");
	const struct room_mount mounts[] = {
		{ ROOM_HIDE, quarters_path("file"), 0, 0 },
		{ ROOM_HIDE, quarters_path("inside"), 0, 0 },
	};
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, mounts, COUNT(mounts));
	quarters_expect(host, room, "cat file; ls -A inside", "");
	quarters_prepare("for path in file inside/file; do echo new >new; mv new $path; done");
	quarters_expect(host, room, "cat file; ls -A inside", "new\n");
	room_close(room);
	perch_host_free(host);
}

QUARTERS_TEST(no_link_is_followed)
{
	quarters_prepare("mkdir real && echo key >real/key && ln -s real link");
	const enum room_mount_kind kinds[] = { ROOM_HIDE, ROOM_REVEAL, ROOM_READ_ONLY, ROOM_TMP };
	perch_host *host = quarters_host();
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const struct room_mount mount = { kinds[i], quarters_path("link/key"), 0, 0 };
		struct room *room = NULL;
		perch_err err = { 0 };
		ck_assert_int_eq(room_open(host, &mount, 1, &room, &err), PERCH_ESANDBOX);
		ck_assert_ptr_nonnull(strstr(err.text, "link/key"));
	}
	perch_host_free(host);
}

/* What a path was looked up as, and a directory or a link that has taken its name since. */
QUARTERS_TEST(what_took_the_place_of_what_was_looked_up_is_not_used)
{
	static const char *const swaps[] = {
		"mv looked was && ln -s secret looked",
		"rm looked && mv was looked && mv looked was && cp -r secret looked",
		"rm -r looked && mv was looked && mv looked was",
	};
	quarters_prepare("mkdir looked secret && echo key >secret/key");
	const enum room_mount_kind kinds[] = { ROOM_HIDE, ROOM_REVEAL, ROOM_READ_ONLY, ROOM_TMP };
	int fd = open(quarters_path("looked"), O_PATH | O_CLOEXEC);
	ck_assert_int_gt(fd, 2);
	perch_host *host = quarters_host();
	for (size_t i = 0; i < COUNT(swaps) * COUNT(kinds); i++) {
		if (i % COUNT(kinds) == 0)
			quarters_prepare(swaps[i / COUNT(kinds)]);
		const struct room_mount mount = { kinds[i % COUNT(kinds)], quarters_path("looked"), 0, fd };
		struct room *room = NULL;
		perch_err err = { 0 };
		ck_assert_int_eq(room_open(host, &mount, 1, &room, &err), -ESTALE);
		ck_assert_ptr_nonnull(strstr(err.text, "became something else"));
	}
	quarters_prepare("mv was looked");
	const struct room_mount mount = { ROOM_READ_ONLY, quarters_path("looked"), 0, fd };
	struct room *room = quarters_open(host, &mount, 1);
	quarters_expect(host, room, "true 2>/dev/null >looked/new || echo kept", "kept\n");
	room_close(room);
	perch_host_free(host);
	close(fd);
}

QUARTERS_TEST(what_is_revealed_is_there_again)
{
	quarters_prepare(
		"mkdir -p hidden/plugins/mine hidden/plugins/other hidden/bin &&"
		"echo a >hidden/plugins/mine/a && echo b >hidden/plugins/other/b &&"
		"echo c >hidden/file && echo d >hidden/other && ln -s ../other hidden/bin/link");
	const struct room_mount mounts[] = {
		{ ROOM_HIDE, quarters_path("hidden"), 0, 0 },
		{ ROOM_REVEAL, quarters_path("hidden/plugins/mine"), 0, 0 },
		{ ROOM_REVEAL, quarters_path("hidden/file"), 0, 0 },
		{ ROOM_REVEAL, quarters_path("hidden/missing"), 0, 0 },
		{ ROOM_REVEAL, quarters_path("hidden/bin/link"), 0, 0 },
		{ ROOM_HIDE, quarters_path("hidden/plugins/mine/a"), 0, 0 },
	};
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, mounts, COUNT(mounts));
	quarters_expect(host, room, "ls -A hidden hidden/plugins",
		"hidden:\nbin\nfile\nplugins\n\n"
		"hidden/plugins:\nmine\n");
	quarters_expect(host, room, "cat hidden/file hidden/plugins/mine/a; readlink hidden/bin/link",
		"c\n../other\n");
	/* The link is there, what it leads to is not. */
	quarters_expect(host, room, "cat hidden/bin/link 2>/dev/null || echo hidden", "hidden\n");
	quarters_expect(host, room,
		"echo new >hidden/plugins/mine/new; mkdir hidden/plugins/x 2>/dev/null || echo fixed",
		"fixed\n");
	room_close(room);
	quarters_prepare("[ \"$(cat hidden/plugins/mine/new)\" = new ] && [ ! -e hidden/plugins/x ]");
	perch_host_free(host);
}

QUARTERS_TEST(what_is_read_only_cannot_be_changed)
{
	quarters_prepare("mkdir -p tree/below real && echo a >tree/below/a && echo b >one &&"
					 "echo c >real/c && ln -s real link");
	const struct room_mount mounts[] = {
		{ ROOM_READ_ONLY, quarters_path("tree"), 0, 0 },
		{ ROOM_READ_ONLY, quarters_path("one"), 0, 0 },
		{ ROOM_READ_ONLY, quarters_path("real"), 0, 0 },
		{ ROOM_READ_ONLY, quarters_path("link"), 0, 0 },
		{ ROOM_READ_ONLY, quarters_path("missing"), 0, 0 },
	};
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, mounts, COUNT(mounts));
	quarters_expect(host, room,
		"exec 2>/dev/null\n"
		"for path in tree tree/below link/ real \"/proc/self/root/$PWD/tree\"\n"
		"do true >\"$path/new\" && echo \"$path\"; chmod 700 \"$path\" && echo mode; done\n"
		"for path in tree/below/a one link/c; do { echo x >>$path; } && echo written\n"
		"touch $path && echo touched; rm -f $path && echo removed; done\n"
		"mv tree other && echo moved; rm -rf link && echo unlinked; mv one two && echo renamed\n"
		"ln -sfn elsewhere link && echo relinked; cat tree/below/a one link/c",
		"a\nb\nc\n");
	quarters_expect(host, room, "echo here >writable; cat writable", "here\n");
	room_close(room);
	perch_host_free(host);
}

QUARTERS_TEST(tmp_is_empty_limited_and_gone_afterwards)
{
	quarters_prepare("mkdir -p tmp/project && echo old >tmp/old && echo p >tmp/project/p");
	const struct room_mount mounts[] = {
		{ ROOM_TMP, quarters_path("tmp"), 1 << 20, 0 },
		{ ROOM_REVEAL, quarters_path("tmp/project"), 0, 0 },
	};
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, mounts, COUNT(mounts));
	quarters_expect(host, room, "ls -A tmp; echo new >tmp/new; cat tmp/project/p", "project\np\n");
	/* The children of a room share it. */
	quarters_expect(host, room, "cat tmp/new; stat -c %a tmp", "new\n1777\n");
	quarters_expect(host, room,
		"head -c 4000000 /dev/zero 2>/dev/null >tmp/large || echo full; rm tmp/large\n"
		"i=0; while [ $i -lt 1000 ] && true 2>/dev/null >tmp/$i; do i=$((i+1)); done; [ $i -lt 300 "
		"]",
		"full\n");
	room_close(room);
	quarters_prepare("[ \"$(ls -A tmp)\" = \"$(echo old; echo project)\" ]");
	room = quarters_open(host, mounts, 1);
	quarters_expect(
		host, room, "ls -A tmp; df -k --output=size tmp | tail -1 | tr -d ' '", "1024\n");
	room_close(room);
	perch_host_free(host);
}

QUARTERS_TEST(tmp_has_a_size_by_default)
{
	quarters_prepare("mkdir tmp");
	const struct room_mount mount = { ROOM_TMP, quarters_path("tmp"), 0, 0 };
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, &mount, 1);
	quarters_expect(host, room, "df -k --output=size tmp | tail -1 | tr -d ' '", "1048576\n");
	room_close(room);
	perch_host_free(host);
}

/* Who makes a namespace inside of a room has every capability in it. */
QUARTERS_TEST(a_namespace_inside_of_it_uncovers_nothing)
{
	quarters_prepare("mkdir secret fixed && echo key >secret/key && echo a >fixed/a");
	const struct room_mount mounts[] = {
		{ ROOM_HIDE, quarters_path("secret"), 0, 0 },
		{ ROOM_READ_ONLY, quarters_path("fixed"), 0, 0 },
	};
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, mounts, COUNT(mounts));
	quarters_expect(host, room,
		"exec 2>/dev/null; umount secret && echo uncovered\n"
		"unshare -Urm sh -c 'umount secret; umount -l secret; cat secret/key; umount fixed\n"
		"mount -o remount,rw,bind fixed; echo x >fixed/a'; cat fixed/a",
		"a\n");
	room_close(room);
	perch_host_free(host);
}

/* ---- ways in from outside ------------------------------------------------------ */

QUARTERS_TEST(the_current_directory_is_what_the_room_has_there)
{
	quarters_prepare("mkdir -p secret/deep plain/sub && echo key >secret/key");
	const struct room_mount mount = { ROOM_HIDE, quarters_path("secret"), 0, 0 };
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, &mount, 1);
	ck_assert_int_eq(chdir("secret"), 0);
	quarters_expect(host, room, "ls -A; cat key 2>/dev/null || echo none", "none\n");
	ck_assert_int_eq(chdir("deep"), 0);
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("pwd"), &record);
	spec.confine = &confine;
	perch_err err = { 0 };
	ck_assert_int_eq(perch_child_start(host, &spec, &record.child, &err), -ENOENT);
	ck_assert_str_eq(err.stage, "chdir");
	ck_assert_ptr_nonnull(strstr(err.text, "secret/deep', as its sandbox shows it"));

	/* A relative one counts from ours. */
	ck_assert_int_eq(chdir(quarters_path("plain")), 0);
	spec.cwd = "sub";
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_ptr_nonnull(strstr(record_out(&record), "plain/sub\n"));
	record_free(&record);

	/* An absolute one does not need ours. */
	quarters_prepare("mkdir gone");
	ck_assert_int_eq(chdir("gone"), 0);
	ck_assert_int_eq(rmdir(quarters_path("plain/gone")), 0);
	ck_assert_int_lt(perch_child_start(host, &spec, &record.child, &err), 0);
	spec.cwd = "/";
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	ck_assert_str_eq(record_out(&record), "/\n");
	record_free(&record);
	room_close(room);
	perch_host_free(host);
}

QUARTERS_TEST(a_directory_is_no_stream)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	struct record record = { 0 };
	perch_child_spec spec = proc_spec(SHELL("pwd"), &record);
	spec.confine = &confine;
	spec.stdin_mode = PERCH_STDIN_FD;
	spec.stdin_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	perch_err err = { 0 };
	ck_assert_int_eq(perch_child_start(host, &spec, &record.child, &err), PERCH_ESANDBOX);
	ck_assert_ptr_nonnull(strstr(err.text, "descriptor 0 is a directory"));
	ck_assert_str_eq(err.stage, "room");
	ck_assert_int_eq(dup2(spec.stdin_fd, 0), 0);
	spec.stdin_mode = PERCH_STDIN_INHERIT;
	ck_assert_int_eq(perch_child_start(host, &spec, &record.child, &err), PERCH_ESANDBOX);
	close(spec.stdin_fd);
	room_close(room);
	perch_host_free(host);
}

QUARTERS_TEST(nothing_but_its_streams_is_open)
{
	perch_host *host = quarters_host();
	struct room *room = quarters_open(host, NULL, 0);
	int kept = open("/", O_RDONLY); /* not CLOEXEC */
	struct record record = { 0 };
	quarters_exec(host, room, QUARTERS_CHILD("inherited"), &record);
	ck_assert_str_eq(record_out(&record), "fd 0\nfd 1\nfd 2\nsession own\n");
	record_free(&record);
	close(kept);
	room_close(room);
	perch_host_free(host);
}

SUITE_MAIN("room", no_process_outside_can_be_seen, nobody_in_it_can_touch_its_init,
	who_enters_is_the_same_without_a_capability, what_is_hidden_is_empty_by_every_way,
	what_is_replaced_outside_is_not_hidden_any_more, no_link_is_followed,
	what_took_the_place_of_what_was_looked_up_is_not_used, what_is_revealed_is_there_again,
	what_is_read_only_cannot_be_changed, tmp_is_empty_limited_and_gone_afterwards,
	tmp_has_a_size_by_default, a_namespace_inside_of_it_uncovers_nothing,
	the_current_directory_is_what_the_room_has_there, a_directory_is_no_stream,
	nothing_but_its_streams_is_open)
