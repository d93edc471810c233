/* Text that is owned elsewhere, and copies of it. */
#include "base/str.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"

static bool str_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.len && str_is_blank(s.data[0])) {
		s.data++;
		s.len--;
	}
	while (s.len && str_is_blank(s.data[s.len - 1]))
		s.len--;
	return s;
}

struct str str_cut(struct str *rest, char separator)
{
	struct str head = *rest;
	if (rest->len == 0)
		return head;
	const char *at = memchr(rest->data, separator, rest->len);
	if (!at) {
		rest->data += rest->len;
		rest->len = 0;
		return head;
	}
	head.len = (size_t)(at - rest->data);
	rest->data += head.len + 1;
	rest->len -= head.len + 1;
	return head;
}

char *str_dup(struct str s)
{
	char *copy = malloc(s.len + 1);
	if (!copy)
		return NULL;
	if (s.len)
		memcpy(copy, s.data, s.len);
	copy[s.len] = '\0';
	return copy;
}

char *str_join(const char *first, ...)
{
	struct buf buf = { 0 };
	va_list args;
	va_start(args, first);
	for (const char *part = first; part; part = va_arg(args, const char *))
		buf_append_text(&buf, part);
	va_end(args);
	char *joined = buf_steal(&buf);
	if (!joined)
		buf_free(&buf);
	return joined;
}

enum { DISTANCE_WORD_MAX = 63 };

static unsigned str_smallest(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;
	return ab < c ? ab : c;
}

unsigned str_distance(const char *a, const char *b)
{
	size_t a_len = strlen(a);
	size_t b_len = strlen(b);
	if (a_len > DISTANCE_WORD_MAX || b_len > DISTANCE_WORD_MAX)
		return UINT_MAX;
	unsigned rows[3][DISTANCE_WORD_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2];
	for (unsigned j = 0; j <= b_len; j++)
		last[j] = j;
	for (unsigned i = 1; i <= a_len; i++) {
		now[0] = i;
		for (unsigned j = 1; j <= b_len; j++) {
			unsigned change = a[i - 1] == b[j - 1] ? 0 : 1;
			now[j] = str_smallest(last[j] + 1, now[j - 1] + 1, last[j - 1] + change);
			bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
			if (swapped && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
		unsigned *oldest = before;
		before = last;
		last = now;
		now = oldest;
	}
	return last[b_len];
}

bool str_is_nearer(const char *word, const char *candidate, unsigned *best)
{
	unsigned distance = str_distance(word, candidate);
	size_t third = strlen(candidate) / 3;
	if (distance >= *best || distance > (third ? third : 1))
		return false;
	*best = distance;
	return true;
}

const char *str_nearest(const char *word, const char *const *first, size_t count, size_t stride)
{
	const char *nearest = NULL;
	unsigned best = UINT_MAX;
	for (size_t i = 0; i < count; i++) {
		const char *candidate = *(const char *const *)((const char *)first + i * stride);
		if (str_is_nearer(word, candidate, &best))
			nearest = candidate;
	}
	return nearest;
}

uint32_t str_hash(uint32_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return hash;
}

size_t list_count(const char *const *list)
{
	size_t count = 0;
	while (list && list[count])
		count++;
	return count;
}

bool list_has(const char *const *list, const char *text)
{
	return list_has_str(list, str_from(text));
}

bool list_has_str(const char *const *list, struct str text)
{
	for (; list && *list; list++) {
		if (str_is(text, *list))
			return true;
	}
	return false;
}
