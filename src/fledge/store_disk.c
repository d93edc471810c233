/* state.json as a store reads and writes it: under its lock, an unusable file moved out of the
 * way. */
#include "fledge/store_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"

static void store_disk_content_free(struct store_content *content)
{
	state_free(&content->state);
	buf_free(&content->text);
	*content = (struct store_content){ 0 };
}

void store_disk_init(struct store_disk *disk, const char *directory)
{
	*disk = (struct store_disk){
		.directory = directory,
		.files = { .directory = -1, .known = -1 },
	};
}

void store_disk_free(struct store_disk *disk)
{
	store_disk_content_free(&disk->last);
	buf_free(&disk->said);
	store_files_close(&disk->files);
}

/* A warning, for the loop to tell; lost when there is no memory for it. */
static void PERCH_PRINTF(2, 3) store_disk_say(struct store_disk *disk, const char *format, ...)
{
	char text[2 * PERCH_ERR_TEXT_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	buf_append(&disk->said, text, strlen(text) + 1);
}

/* ---- reading ------------------------------------------------------------ */

/* PERCH_ESYNTAX: the file is not ours, err says why. Other errors say that it could not be found
 * out. */
static int store_disk_read(struct store_disk *disk, struct store_content *content, perch_err *err)
{
	int r = store_files_read(&disk->files, &content->text);
	switch (r) {
	case 0:
		break;
	case -ENOENT:
		return 0;
	case -ENOTSUP:
		return err_set(err, PERCH_ESYNTAX, "not a regular file");
	case -EFBIG:
		return err_set(err, PERCH_ESYNTAX, "larger than 1 MiB");
	default:
		return err_set(err, r, "state.json: %s", perch_strerror(r));
	}
	return state_read(&content->state, (struct str){ content->text.data, content->text.len }, err);
}

static int store_disk_set_aside(struct store_disk *disk, const char *reason, perch_err *err)
{
	char name[STORE_NAME_MAX];
	int r = store_files_set_aside(&disk->files, name);
	if (r == -EEXIST)
		return err_set(
			err, r, "state.json is not usable (%s): remove some of state.json.corrupt-*", reason);
	if (r < 0)
		return err_set(err, r, "state.json is not usable (%s) and cannot be moved: %s", reason,
			perch_strerror(r));
	store_disk_say(disk, "state.json is not usable (%s): moved to %s", reason, name);
	return 0;
}

/* Reads under the write lock: a file that is not ours is moved out of the way and counts as
 * empty. */
static int store_disk_settle(struct store_disk *disk, struct store_content *content, perch_err *err)
{
	perch_err fault = { 0 };
	int r = store_disk_read(disk, content, &fault);
	if (r != PERCH_ESYNTAX) {
		if (r < 0)
			*err = fault;
		return r;
	}
	store_disk_content_free(content);
	return store_disk_set_aside(disk, fault.text, err);
}

static int store_disk_lock_for_writing(struct store_disk *disk, perch_err *err)
{
	int lock = store_files_lock(&disk->files, LOCK_EXCLUSIVE);
	if (lock == -ENOTSUP)
		return err_set(err, lock, "state.json.lock is not a regular file");
	if (lock < 0)
		return err_set(err, lock, "state.json.lock: %s", perch_strerror(lock));
	return lock;
}

static int store_disk_open_files(struct store_disk *disk, perch_err *err)
{
	int r = store_files_open(&disk->files, disk->directory);
	return r < 0 ? err_set(err, r, "%s: %s", disk->directory, perch_strerror(r)) : 0;
}

/* A file that is replaced by renaming is always whole: the lock only gives an order, and where
 * there is none (nothing was written yet, or we may not) it is read without. */
static int store_disk_load(struct store_disk *disk, struct store_content *content, perch_err *err)
{
	int r = store_disk_open_files(disk, err);
	if (r < 0)
		return r;
	int lock = store_files_lock(&disk->files, LOCK_SHARED);
	if (lock == -EAGAIN)
		return lock;
	r = store_disk_read(disk, content, err);
	fd_close(lock);
	if (r != PERCH_ESYNTAX)
		return r;
	store_disk_content_free(content);
	_cleanup_fd_ int write_lock = store_disk_lock_for_writing(disk, err);
	return write_lock < 0 ? write_lock : store_disk_settle(disk, content, err);
}

/* A plugin may load thousands of times; as long as the file is unchanged, one look at it is
 * enough. */
static int store_disk_load_last(struct store_disk *disk)
{
	if (store_files_is_known(&disk->files))
		return 0;
	perch_err err = { 0 };
	store_disk_content_free(&disk->last);
	int r = store_disk_open_files(disk, &err);
	if (r == 0) {
		store_files_remember(&disk->files);
		r = store_disk_load(disk, &disk->last, &err);
	}
	if (r < 0)
		store_files_forget(&disk->files);
	if (r < 0 && r != -EAGAIN && r != -ENOMEM)
		store_disk_say(disk, "load failed: %s", err.text);
	return r;
}

int store_disk_get(struct store_disk *disk, struct str key, const struct state_entry **ret_entry)
{
	int r = store_disk_load_last(disk);
	if (r == -EAGAIN || r == -ENOMEM)
		return r;
	*ret_entry = r == 0 ? state_get(&disk->last.state, key) : NULL;
	return 0;
}

/* ---- writing ------------------------------------------------------------ */

/* Lays the waiting values over the content, one after the other, so that a value that does not fit
 * is rejected alone. Returns how many fitted, or -ENOMEM. */
static int store_disk_lay_over(
	struct store_disk *disk, const struct store_values *values, struct state *state)
{
	int merged = 0;
	for (size_t i = 0; i < values->count; i++) {
		const struct state_entry *entry = &values->items[i];
		const char *reason = NULL;
		int r = state_set(state, entry->key, entry->value, &reason);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			store_disk_say(disk, "store rejected: %s", reason);
		else
			merged++;
	}
	return merged;
}

static int store_disk_replace(struct store_disk *disk, const struct state *state, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (state_write(state, &text) < 0)
		return err_no_memory(err);
	int r = store_files_replace(&disk->files, (struct str){ text.data, text.len });
	return r < 0 ? err_set(err, r, "cannot write state.json: %s", perch_strerror(r)) : 0;
}

static int store_disk_merge_values(
	struct store_disk *disk, const struct store_values *values, perch_err *err)
{
	_cleanup_(store_disk_content_free) struct store_content content = { 0 };
	int r = store_disk_open_files(disk, err);
	if (r < 0)
		return r;
	_cleanup_fd_ int lock = store_disk_lock_for_writing(disk, err);
	if (lock < 0)
		return lock;
	r = store_disk_settle(disk, &content, err);
	if (r < 0)
		return r;
	int merged = store_disk_lay_over(disk, values, &content.state);
	if (merged < 0)
		return err_no_memory(err);
	return merged ? store_disk_replace(disk, &content.state, err) : 0;
}

int store_disk_write(struct store_disk *disk, const struct store_values *values)
{
	perch_err err = { 0 };
	int r = store_disk_merge_values(disk, values, &err);
	if (r < 0 && r != -EAGAIN)
		store_disk_say(disk, "store rejected: %s", err.text);
	return r;
}
