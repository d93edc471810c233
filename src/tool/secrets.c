/* A file of secrets that a binding names. */
#include "tool/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/regular.h"
#include "base/replace.h"

static int secrets_check_owner(int fd, const char *shown, perch_err *err)
{
	struct stat info;
	if (fstat(fd, &info) < 0)
		return err_set(err, -errno, "%s: %s", shown, perch_strerror(-errno));
	if (info.st_mode & (S_IRWXG | S_IRWXO))
		return err_set(err, -EPERM,
			"%s holds secrets, and others may use it (mode %03o): chmod 600 it", shown,
			(unsigned)info.st_mode & 0777);
	return 0;
}

static int secrets_open(const char *path, struct buf *text, perch_err *err)
{
	char shown[FILE_SHOWN_MAX];
	file_shown(path, shown);
	_cleanup_fd_ int fd = regular_open(AT_FDCWD, path, O_RDONLY);
	if (fd < 0)
		return err_set(err, fd, "the secrets %s: %s", shown, perch_strerror(fd));
	int r = secrets_check_owner(fd, shown, err);
	if (r < 0)
		return r;
	r = fd_read_all(fd, 0, SECRETS_SIZE_MAX, text);
	return r < 0 ? err_set(err, r, "the secrets %s: %s", shown, perch_strerror(r)) : 0;
}

/* One line; NULL where it does not count. */
static int secrets_take(struct arena *arena, const char *path, size_t number, struct str line,
	const char **ret_variable, perch_err *err)
{
	struct str name = line;
	*ret_variable = NULL;
	if (line.len && line.data[line.len - 1] == '\r')
		line.len--;
	if (!str_trim(line).len || line.data[0] == '#')
		return 0;
	struct str value = line;
	name = str_cut(&value, '=');
	char shown[FILE_SHOWN_MAX];
	if (!name.len || name.len == line.len || memchr(line.data, '\0', line.len))
		return err_set(err, PERCH_ESYNTAX, "%s:%zu: a line of secrets is NAME=VALUE",
			file_shown(path, shown), number);
	*ret_variable = arena_dup(arena, line);
	return *ret_variable ? 0 : err_no_memory(err);
}

int secrets_read(
	const char *path, struct arena *arena, const char *const **ret_list, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = path && path[0] ? secrets_open(path, &text, err) : 0;
	struct str rest = { text.data, text.len };
	size_t lines = 1, count = 0;
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	const char **list = arena_alloc(arena, (lines + 1) * sizeof(*list));
	if (r == 0 && !list)
		r = err_no_memory(err);
	for (size_t number = 1; r == 0 && rest.len; number++) {
		r = secrets_take(arena, path, number, str_cut(&rest, '\n'), &list[count], err);
		count += r == 0 && list[count];
	}
	if (r < 0)
		return r;
	list[count] = NULL;
	*ret_list = list;
	return 0;
}

int secrets_read_token(
	const char *path, struct arena *arena, const char **ret_token, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char shown[FILE_SHOWN_MAX];
	int r = secrets_open(path, &text, err);
	if (r < 0)
		return r;
	struct str token = str_trim((struct str){ text.data, text.len });
	if (!token.len || memchr(token.data, '\0', token.len))
		return err_set(err, -EINVAL, "%s holds no token", file_shown(path, shown));
	*ret_token = arena_dup(arena, token);
	return *ret_token ? 0 : err_no_memory(err);
}

/* The value of a name; NULL = it is no secret. */
static const char *secrets_value(struct str name, const char *const *secrets)
{
	for (; secrets && *secrets; secrets++) {
		struct str rest = str_from(*secrets);
		if (str_eq(str_cut(&rest, '='), name))
			return rest.data;
	}
	return NULL;
}

const char *secrets_fill(const char *text, const char *const *secrets, struct arena *arena)
{
	const char *begin = secrets && *secrets ? strstr(text, "${") : NULL;
	const char *end = begin ? strchr(begin, '}') : NULL;
	if (!end)
		return text;
	const char *value =
		secrets_value((struct str){ begin + 2, (size_t)(end - begin) - 2 }, secrets);
	const char *rest = secrets_fill(value ? end + 1 : begin + 2, secrets, arena);
	const char *before = arena_dup(arena, (struct str){ text, (size_t)(begin - text) });
	return before && rest ? arena_join(arena, before, value ? value : "${", rest, NULL) : NULL;
}

int secrets_write(const char *path, const char *const *list, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char shown[FILE_SHOWN_MAX];
	_cleanup_free_ char *folder =
		str_dup((struct str){ path, (size_t)(strrchr(path, '/') - path) });
	for (; *list; list++) {
		if (strpbrk(*list, "\r\n"))
			return err_set(err, -EINVAL, "the value of %.*s has a line end in it",
				(int)environment_name(*list).len, *list);
		buf_append_text(&text, *list);
		buf_append_char(&text, '\n');
	}
	if (!folder || text.failed)
		return err_no_memory(err);
	int r = paths_make(folder, err);
	if (r < 0)
		return r;
	r = replace_path(path, (struct str){ text.data, text.len });
	return r < 0
		? err_set(err, r, "cannot write %s: %s", file_shown(path, shown), perch_strerror(r))
		: 0;
}
