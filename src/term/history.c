/* Lines that were entered before. Every line is added to the file at once, so that
 * several terminals share it; a file that has become too long is replaced. */
#include "term/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/regular.h"
#include "base/replace.h"
#include "base/vec.h"

static void history_forget_oldest(struct history *history)
{
	free((char *)history->lines[0].data);
	history->count--;
	memmove(history->lines, history->lines + 1, history->count * sizeof(*history->lines));
}

static int history_keep(struct history *history, struct str line)
{
	if (history->count == HISTORY_LINES_MAX)
		history_forget_oldest(history);
	struct str *lines = vec_grow(history->lines, &history->cap, history->count + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	history->lines = lines;
	char *copy = str_dup(line);
	if (!copy)
		return -ENOMEM;
	lines[history->count++] = (struct str){ copy, line.len };
	return 0;
}

static int history_fail(perch_err *err, const char *path, int r)
{
	char shown[FILE_SHOWN_MAX];
	return err_set(err, r, "the history in %s: %s", file_shown(path, shown), perch_strerror(r));
}

/* Only the newest lines; other terminals may have written any number. */
static struct str history_last_lines(struct str text)
{
	size_t start = text.len;
	for (int lines = 0; start && lines < HISTORY_LINES_MAX; lines++) {
		const char *newline = memrchr(text.data, '\n', start - 1);
		start = newline ? (size_t)(newline - text.data) + 1 : 0;
	}
	return start ? (struct str){ text.data + start, text.len - start } : text;
}

int history_open(struct history *history, const char *path, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	*history = (struct history){ 0 };
	int r = regular_read(AT_FDCWD, path, O_NOFOLLOW, 4 * (size_t)HISTORY_BYTES_MAX, &text);
	if (r < 0 && r != -ENOENT)
		return history_fail(err, path, r);
	bool has_memory = (history->path = str_dup(str_from(path))) != NULL;
	struct str rest = history_last_lines((struct str){ text.data, text.len });
	while (has_memory && rest.len) {
		struct str line = str_cut(&rest, '\n');
		has_memory = !line.len || history_keep(history, line) == 0;
	}
	if (has_memory)
		return 0;
	history_free(history);
	return err_no_memory(err);
}

static int history_append_line(const char *path, struct str line, off_t *ret_size)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_fd_ int fd = regular_open(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
	if (fd < 0)
		return fd;
	buf_append(&text, line.data, line.len);
	if (buf_append_char(&text, '\n') < 0)
		return -ENOMEM;
	int r = fd_write_all(fd, text.data, text.len);
	*ret_size = lseek(fd, 0, SEEK_END);
	return r;
}

/* Lines that other terminals have added since we read the file are lost. */
static int history_write_anew(const struct history *history)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	for (size_t i = 0; i < history->count; i++) {
		buf_append(&text, history->lines[i].data, history->lines[i].len);
		buf_append_char(&text, '\n');
	}
	return text.failed ? -ENOMEM : replace_path(history->path, (struct str){ text.data, text.len });
}

/* Half of what the file may have, in memory too: the next rewrite is far away. */
static void history_shorten(struct history *history)
{
	size_t bytes = 0;
	size_t kept = 0;
	while (kept < history->count) {
		bytes += history->lines[history->count - 1 - kept].len + 1;
		if (bytes > HISTORY_BYTES_MAX / 2)
			break;
		kept++;
	}
	while (history->count > kept)
		history_forget_oldest(history);
}

int history_add(struct history *history, struct str line, perch_err *err)
{
	off_t size = 0;
	if (!line.len || (history->count && str_eq(line, history->lines[history->count - 1])))
		return 0;
	if (history_keep(history, line) < 0)
		return err_no_memory(err);
	if (!history->path)
		return 0;
	int r = history_append_line(history->path, line, &size);
	if (r == 0 && size > HISTORY_BYTES_MAX) {
		history_shorten(history);
		r = history_write_anew(history);
	}
	return r < 0 ? history_fail(err, history->path, r) : 0;
}

void history_free(struct history *history)
{
	for (size_t i = 0; i < history->count; i++)
		free((char *)history->lines[i].data);
	free(history->lines);
	free(history->path);
	*history = (struct history){ 0 };
}
