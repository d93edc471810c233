/* Attempts to get at files. OUTSIDE may be read, not written; HIDDEN must not be
 * seen at all; the current directory is the project and may be written. */
#include "escape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char *victim(void)
{
	return attempt_path("OUTSIDE", "victim");
}

/* ---- what must work --------------------------------------------------------- */

static int read_outside(void)
{
	return attempt_open(victim(), O_RDONLY);
}

static int list_outside(void)
{
	return attempt_open(attempt_path("OUTSIDE", ""), O_RDONLY | O_DIRECTORY);
}

static int write_project(void)
{
	return attempt_open("made-by-escape", O_WRONLY | O_CREAT | O_TRUNC);
}

static int rename_in_project(void)
{
	int error = write_project();
	return error ? error : attempt_result(rename("made-by-escape", "renamed-by-escape"));
}

static int write_tmp(void)
{
	return attempt_open(attempt_path("TMPDIR", "made-by-escape"), O_WRONLY | O_CREAT);
}

static int use_devices(void)
{
	int error = attempt_open("/dev/null", O_WRONLY);
	return error ? error : attempt_open("/dev/urandom", O_RDONLY);
}

/* ---- outside ------------------------------------------------------------------ */

static int write_outside(void)
{
	return attempt_open(victim(), O_WRONLY);
}

static int make_outside(void)
{
	return attempt_open(attempt_path("OUTSIDE", "made"), O_WRONLY | O_CREAT);
}

static int mkdir_outside(void)
{
	return attempt_result(mkdir(attempt_path("OUTSIDE", "made-directory"), 0700));
}

static int remove_outside(void)
{
	return attempt_result(unlink(attempt_path("OUTSIDE", "to-remove")));
}

static int rename_outside(void)
{
	return attempt_result(
		rename(attempt_path("OUTSIDE", "to-rename"), attempt_path("OUTSIDE", "renamed")));
}

static int rename_from_outside(void)
{
	return attempt_result(rename(attempt_path("OUTSIDE", "to-take"), "taken"));
}

static int rename_to_outside(void)
{
	attempt_open("to-give", O_WRONLY | O_CREAT);
	return attempt_result(rename("to-give", attempt_path("OUTSIDE", "given")));
}

/* A second name in the project would make the file writable. */
static int link_from_outside(void)
{
	return attempt_result(link(victim(), "linked"));
}

static int symlink_outside(void)
{
	return attempt_result(symlink("/etc/passwd", attempt_path("OUTSIDE", "symlink")));
}

static int truncate_outside(void)
{
	return attempt_result(truncate(victim(), 1));
}

static int truncate_by_reading(void)
{
	return attempt_open(victim(), O_RDONLY | O_TRUNC);
}

static int chmod_outside(void)
{
	return attempt_result(chmod(victim(), 0640));
}

static int chown_outside(void)
{
	return attempt_result(chown(victim(), getuid(), getgid()));
}

static int utimes_outside(void)
{
	return attempt_result(utimes(victim(), NULL));
}

static int xattr_outside(void)
{
	return attempt_result(setxattr(victim(), "user.escape", "x", 1, 0));
}

/* By what is open for reading. */
static int fchmod_outside(void)
{
	int fd = open(victim(), O_RDONLY | O_CLOEXEC);
	return fd < 0 ? errno : attempt_result(fchmod(fd, 0640));
}

/* As chattr does, by what is open for reading. */
static int flags_outside(void)
{
	int fd = open(victim(), O_RDONLY | O_CLOEXEC);
	int flags = 0;
	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return errno;
	flags ^= FS_NODUMP_FL;
	return attempt_result(ioctl(fd, FS_IOC_SETFLAGS, &flags));
}

/* ---- by another way ------------------------------------------------------------ */

static int write_by_symlink(void)
{
	unlink("way-out");
	int error = attempt_result(symlink(victim(), "way-out"));
	return error ? error : attempt_open("way-out", O_WRONLY);
}

static int write_by_dots(void)
{
	char path[8192] = "..";
	for (int i = 0; i < 40; i++)
		strcat(path, "/..");
	strcat(path, victim());
	return attempt_open(path, O_WRONLY);
}

static int write_by_proc_root(void)
{
	char path[8192];
	snprintf(path, sizeof(path), "/proc/self/root%s", victim());
	return attempt_open(path, O_WRONLY);
}

static int write_by_proc_fd(void)
{
	char path[128];
	int fd = open(attempt_path("OUTSIDE", ""), O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/victim", fd);
	return attempt_open(path, O_WRONLY);
}

static int reopen_for_writing(void)
{
	char path[64];
	int fd = open(victim(), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return attempt_open(path, O_WRONLY);
}

/* INHERITED is a descriptor that the host had open. */
static int write_inherited(void)
{
	return attempt_result(write((int)attempt_number("INHERITED"), "x", 1));
}

/* ---- hidden --------------------------------------------------------------------- */

static const char *secret(void)
{
	return attempt_path("HIDDEN", "secret");
}

static int read_hidden(void)
{
	return attempt_open(secret(), O_RDONLY);
}

/* An empty directory in its place is as good as none. */
static int list_hidden(void)
{
	DIR *directory = opendir(attempt_path("HIDDEN", ""));
	if (!directory)
		return errno;
	int error = ENOENT;
	const struct dirent *item;
	while ((item = readdir(directory))) {
		if (strcmp(item->d_name, "secret") == 0)
			error = 0;
	}
	closedir(directory);
	return error;
}

static int write_hidden(void)
{
	return attempt_open(secret(), O_WRONLY);
}

static int make_hidden(void)
{
	return attempt_open(attempt_path("HIDDEN", "made"), O_WRONLY | O_CREAT);
}

static int take_hidden(void)
{
	return attempt_result(rename(secret(), "taken-secret"));
}

static int take_hidden_directory(void)
{
	return attempt_result(rename(attempt_path("HIDDEN", ""), "taken-directory"));
}

static int link_hidden(void)
{
	return attempt_result(link(secret(), "linked-secret"));
}

static int read_hidden_by_symlink(void)
{
	unlink("way-in");
	int error = attempt_result(symlink(secret(), "way-in"));
	return error ? error : attempt_open("way-in", O_RDONLY);
}

static int read_hidden_by_proc_root(void)
{
	char path[8192];
	snprintf(path, sizeof(path), "/proc/self/root%s", secret());
	return attempt_open(path, O_RDONLY);
}

static int read_hidden_by_host_root(void)
{
	char path[8192];
	snprintf(path, sizeof(path), "/proc/%ld/root%s", attempt_number("VICTIM"), secret());
	return attempt_open(path, O_RDONLY);
}

static int read_hidden_by_host_cwd(void)
{
	char path[128];
	snprintf(path, sizeof(path), "/proc/%ld/cwd/secret", attempt_number("VICTIM"));
	return attempt_open(path, O_RDONLY);
}

static int read_hidden_by_path_descriptor(void)
{
	int fd = open(attempt_path("HIDDEN", ""), O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno;
	return attempt_result(openat(fd, "secret", O_RDONLY | O_CLOEXEC));
}

static int read_credentials(void)
{
	return attempt_open(attempt_path("HOME", ".ssh/id"), O_RDONLY);
}

static int read_tmp_of_others(void)
{
	return attempt_open(attempt_path("OTHERS_TMP", "secret"), O_RDONLY);
}

/* ---- protected -------------------------------------------------------------------- */

static int write_hook(void)
{
	return attempt_open(".git/hooks/pre-commit", O_WRONLY | O_CREAT);
}

static int write_git_config(void)
{
	return attempt_open(".git/config", O_WRONLY);
}

static int replace_git_config(void)
{
	attempt_open(".git/new", O_WRONLY | O_CREAT);
	return attempt_result(rename(".git/new", ".git/config"));
}

/* And make another in its place. */
static int move_git_away(void)
{
	int error = attempt_result(rename(".git", ".git-moved"));
	if (!error)
		rename(".git-moved", ".git");
	return error;
}

const struct row file_rows[] = {
	{ "read-outside", read_outside, .by_room = false },
	{ "list-outside", list_outside, .by_room = false },
	{ "write-project", write_project, .by_room = false },
	{ "rename-in-project", rename_in_project, .by_room = false },
	{ "write-tmp", write_tmp, .by_room = false },
	{ "use-devices", use_devices, .by_room = false },
	{ "write-outside", write_outside, .by_room = true, .by_landlock = 1 },
	{ "make-outside", make_outside, .by_room = true, .by_landlock = 1 },
	{ "mkdir-outside", mkdir_outside, .by_room = true, .by_landlock = 1 },
	{ "remove-outside", remove_outside, .by_room = true, .by_landlock = 1 },
	{ "rename-outside", rename_outside, .by_room = true, .by_landlock = 1 },
	{ "rename-from-outside", rename_from_outside, .by_room = true, .by_landlock = 1 },
	{ "rename-to-outside", rename_to_outside, .by_room = true, .by_landlock = 1 },
	{ "link-from-outside", link_from_outside, .by_room = true, .by_landlock = 1 },
	{ "symlink-outside", symlink_outside, .by_room = true, .by_landlock = 1 },
	{ "truncate-outside", truncate_outside, .by_room = true, .by_landlock = 3 },
	{ "truncate-by-reading", truncate_by_reading, .by_room = true, .by_landlock = 3 },
	{ "chmod-outside", chmod_outside, .by_room = true },
	{ "chown-outside", chown_outside, .by_room = true },
	{ "utimes-outside", utimes_outside, .by_room = true },
	{ "xattr-outside", xattr_outside, .by_room = true },
	{ "fchmod-outside", fchmod_outside, .by_room = true },
	{ "flags-outside", flags_outside, .by_room = true },
	{ "write-by-symlink", write_by_symlink, .by_room = true, .by_landlock = 1 },
	{ "write-by-dots", write_by_dots, .by_room = true, .by_landlock = 1 },
	{ "write-by-proc-root", write_by_proc_root, .by_room = true, .by_landlock = 1 },
	{ "write-by-proc-fd", write_by_proc_fd, .by_room = true, .by_landlock = 1 },
	{ "reopen-for-writing", reopen_for_writing, .by_room = true, .by_landlock = 1 },
	{ "write-inherited", write_inherited, .by_privileges = true },
	{ "read-hidden", read_hidden, .by_room = true, .by_landlock = 1 },
	{ "list-hidden", list_hidden, .by_room = true, .by_landlock = 1 },
	{ "write-hidden", write_hidden, .by_room = true, .by_landlock = 1 },
	{ "make-hidden", make_hidden, .by_room = true, .by_landlock = 1 },
	{ "link-hidden", link_hidden, .by_room = true, .by_landlock = 1 },
	{ "read-hidden-by-symlink", read_hidden_by_symlink, .by_room = true, .by_landlock = 1 },
	{ "read-hidden-by-proc-root", read_hidden_by_proc_root, .by_room = true, .by_landlock = 1 },
	{ "read-hidden-by-host-root", read_hidden_by_host_root, .by_room = true, .by_landlock = 1 },
	{ "read-hidden-by-host-cwd", read_hidden_by_host_cwd, .by_room = true, .by_landlock = 1 },
	{ "read-hidden-by-path-descriptor", read_hidden_by_path_descriptor, .by_room = true,
		.by_landlock = 1 },
	{ "read-credentials", read_credentials, .by_room = true, .by_landlock = 1 },
	{ "read-tmp-of-others", read_tmp_of_others, .by_room = true, .by_landlock = 1 },
	{ "take-hidden", take_hidden, .by_room = true, .by_landlock = 1 },
	{ "take-hidden-directory", take_hidden_directory, .by_room = true, .by_landlock = 1 },
	{ "write-hook", write_hook, .by_room = true },
	{ "write-git-config", write_git_config, .by_room = true },
	{ "replace-git-config", replace_git_config, .by_room = true },
	{ "move-git-away", move_git_away, .by_room = true },
	{ 0 },
};
