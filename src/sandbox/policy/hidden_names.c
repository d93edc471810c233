/* The names in a directory, so that a hundred places in it need not be looked up one by one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/listing.h"
#include "sandbox/policy/hidden_paths.h"

/* More names than that take longer than looking the places up. */
enum { HIDDEN_NAMES_MAX = 4096 };

/* Most places are not there, which one look tells. Upper and lower case are alike. */
static unsigned hidden_names_hash(const char *name, size_t len)
{
	unsigned hash = 0;
	for (size_t i = 0; i < len; i++)
		hash = hash * 31 + ((unsigned char)name[i] | 0x20U);
	return hash % HIDDEN_NAMES_MARKS;
}

void hidden_names_read(struct hidden_names *names, const char *directory, bool has_dots_only)
{
	*names = (struct hidden_names){ 0 };
	_cleanup_listing_ DIR *listing = directory[0] ? listing_open(AT_FDCWD, directory, 0) : NULL;
	if (!listing)
		return;
	_cleanup_(buf_free) struct buf text = { 0 };
	size_t count = 0;
	errno = 0;
	for (const char *name; count <= HIDDEN_NAMES_MAX && (name = listing_next(listing)); count++) {
		size_t len = strlen(name);
		if (has_dots_only && name[0] != '.')
			continue;
		unsigned hash = hidden_names_hash(name, len);
		names->marks[hash / 64] |= UINT64_C(1) << hash % 64;
		buf_append(&text, name, len + 1);
	}
	if (errno || text.failed || count > HIDDEN_NAMES_MAX)
		return;
	names->len = text.len;
	names->text = steal(&text.data);
	names->is_known = true;
}

bool hidden_names_may_have(const struct hidden_names *names, const char *path)
{
	size_t len = strcspn(path, "/");
	if (!names->is_known)
		return true;
	unsigned hash = hidden_names_hash(path, len);
	if (!(names->marks[hash / 64] >> hash % 64 & 1))
		return false;
	for (size_t at = 0; at < names->len; at += strlen(names->text + at) + 1) {
		const char *name = names->text + at;
		if (strncasecmp(name, path, len) == 0 && !name[len])
			return true;
	}
	return false;
}

void hidden_names_free(struct hidden_names *names)
{
	free(names->text);
	*names = (struct hidden_names){ 0 };
}
