/* What the tests of the store share. */
#include "harness/store.h"

#include <check.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/folder.h"

char last_warning[2048];
unsigned warnings;

void keep_warning(void *data, const char *text)
{
	(void)data;
	snprintf(last_warning, sizeof(last_warning), "%s", text);
	warnings++;
}

struct store *store_open(const char *directory)
{
	struct store *store = NULL;
	ck_assert_int_eq(store_new(directory, &store), 0);
	store_on_warning(store, keep_warning, NULL);
	warnings = 0;
	last_warning[0] = '\0';
	return store;
}

void assert_warned(const char *text)
{
	ck_assert_uint_eq(warnings, 1);
	ck_assert_str_eq(last_warning, text);
	warnings = 0;
}

int set(struct store *store, const char *key, const char *value)
{
	return store_set(store, str_from(key), str_from(value));
}

int store_flush(struct store *store)
{
	int r = store_flush_begin(store);
	if (r <= 0)
		return r;
	store_flush_work(store);
	return store_flush_end(store);
}

int flush(struct store *store)
{
	int r;
	while ((r = store_flush(store)) == -EAGAIN)
		sched_yield();
	return r;
}

void assert_get(struct store *store, const char *key, const char *json)
{
	struct buf out = { 0 };
	ck_assert_int_eq(store_get(store, str_from(key), &out), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq(out.data, json);
	buf_free(&out);
}

void assert_file(const char *path, const char *text)
{
	char *content = folder_read(path);
	ck_assert_str_eq(content, text);
	free(content);
}

void assert_stores(struct store *store)
{
	ck_assert_int_eq(set(store, "k", "v"), 0);
	ck_assert_int_eq(flush(store), 0);
	ck_assert(!store_is_dirty(store));
	assert_get(store, "k", "\"v\"");
}

struct str filled(char *memory, size_t len, char with)
{
	memset(memory, with, len);
	return (struct str){ memory, len };
}

void assert_private(const char *path)
{
	struct stat status;
	ck_assert_int_eq(lstat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	ck_assert(S_ISREG(status.st_mode));
}
