/* A folder of its own for a test. */
#include "harness/folder.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stamp.h"

static char folder[4096];
static pid_t owner;

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status, (void)type, (void)where;
	return remove(path);
}

/* A child of the test that exits leaves it alone. */
static void remove_folder(void)
{
	if (owner == getpid())
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *folder_new(void)
{
	const char *base = getenv("TMPDIR");
	char name[sizeof(folder)];
	snprintf(name, sizeof(name), "%s/perch-test-XXXXXX", base ? base : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(name));
	ck_assert_ptr_nonnull(realpath(name, folder));
	owner = getpid();
	atexit(remove_folder);
	return folder;
}

const char *folder_path(const char *format, ...)
{
	static char paths[8][8192];
	static unsigned next;
	char *path = paths[next++ % 8];
	int start = snprintf(path, sizeof(paths[0]), "%s/", folder);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(path + start, sizeof(paths[0]) - (size_t)start, format, arguments);
	va_end(arguments);
	return path;
}

void folder_write_n(const char *path, struct str text)
{
	char full[8192];
	snprintf(full, sizeof(full), "%s/%s", folder, path);
	for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(full, 0755);
	}
	FILE *file = fopen(full, "w");
	ck_assert_msg(file != NULL, "cannot write %s", full);
	if (text.len)
		ck_assert_uint_eq(fwrite(text.data, 1, text.len, file), text.len);
	ck_assert_int_eq(fclose(file), 0);
}

void folder_write(const char *path, const char *text)
{
	folder_write_n(path, str_from(text));
}

void folder_write_mode(const char *path, const char *text, mode_t mode)
{
	folder_write(path, text);
	ck_assert_int_eq(chmod(folder_path("%s", path), mode), 0);
}

static char *read_stream(FILE *stream)
{
	struct buf text = { 0 };
	char piece[65536];
	for (size_t n; (n = fread(piece, 1, sizeof(piece), stream)) > 0;)
		ck_assert_int_eq(buf_append(&text, piece, n), 0);
	ck_assert_int_eq(buf_terminate(&text), 0);
	return text.data;
}

char *folder_read(const char *path)
{
	FILE *file = fopen(path, "r");
	ck_assert_msg(file != NULL, "cannot read %s", path);
	char *text = read_stream(file);
	fclose(file);
	return text;
}

char *folder_run(const char *format, ...)
{
	char command[8192];
	int start = snprintf(command, sizeof(command), "cd '%s' && { ", folder);
	va_list arguments;
	va_start(arguments, format);
	start += vsnprintf(command + start, sizeof(command) - (size_t)start, format, arguments);
	va_end(arguments);
	snprintf(command + start, sizeof(command) - (size_t)start, "\n}");
	FILE *pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	char *text = read_stream(pipe);
	ck_assert_msg(pclose(pipe) == 0, "failed: %s\n%s", command, text);
	size_t length = strlen(text);
	if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
	return text;
}

void folder_settle(const char *path)
{
	struct stat info;
	for (;;) {
		ck_assert_int_eq(stat(folder_path("%s", path), &info), 0);
		if (stamp_is_settled(&info))
			return;
		usleep(50 * 1000);
	}
}

unsigned folder_count(const char *directory, const char *prefix)
{
	DIR *listing = opendir(directory);
	ck_assert_ptr_nonnull(listing);
	unsigned count = 0;
	for (const struct dirent *entry; (entry = readdir(listing));)
		count += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	closedir(listing);
	return count;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return is_written;
}

/* A normal user may mount in a user namespace of their own, where one can be made. */
static bool become_root(void)
{
	char user[64];
	char group[64];
	snprintf(user, sizeof(user), "0 %u 1", (unsigned)getuid());
	snprintf(group, sizeof(group), "0 %u 1", (unsigned)getgid());
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_file("/proc/self/uid_map", user) &&
		write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", group);
}

bool folder_mount(const char *directory)
{
	if (unshare(CLONE_NEWNS) < 0 && !become_root())
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount("none", directory, "tmpfs", 0, "size=256k") == 0;
}
