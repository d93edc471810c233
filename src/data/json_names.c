/* Names that occur twice in an object. The reader calls this only when two
 * names of an object might be equal. A few names are compared each with each;
 * many are sorted by a hash, and by their bytes where hashes are equal, so
 * that no choice of names takes more than n log n steps. */
#include "data/json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

enum { FEW_NAMES = 16 };

/* Two equal names, in the order of the text: one of them has to go. */
static void shadow_one(const perch_json *json, perch_json_value *object, perch_json_value *earlier,
	perch_json_value *later)
{
	bool keep_last = json->options.duplicates == PERCH_JSON_DUPLICATES_LAST;
	perch_json_value *loser = keep_last ? earlier : later;
	if (!loser->shadowed)
		object->count--;
	loser->shadowed = 1;
}

static int settle_few(
	const perch_json *json, perch_json_value *object, const perch_json_value **ret_second)
{
	perch_json_value *names[FEW_NAMES];
	perch_json_value *name = object + 1;
	size_t count = object->count;
	for (size_t i = 0; i < count; i++) {
		names[i] = name;
		for (size_t j = 0; j < i; j++) {
			if (!str_eq(json_str(names[j]), json_str(name)))
				continue;
			if (json->options.duplicates == PERCH_JSON_DUPLICATES_REJECT) {
				*ret_second = name;
				return PERCH_ESYNTAX;
			}
			shadow_one(json, object, names[j], name);
		}
		name = json_skip(name + 1);
	}
	return 0;
}

/* FNV-1a: it only has to tell most names apart quickly. */
static uint64_t hash_name(struct str name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < name.len; i++)
		hash = (hash ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static int compare_bytes(struct str a, struct str b)
{
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return a.len ? memcmp(a.data, b.data, a.len) : 0;
}

static int compare_names(const void *left, const void *right)
{
	const struct json_sorted_name *a = left, *b = right;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	int order = compare_bytes(json_str(a->name), json_str(b->name));
	if (order)
		return order;
	return a->name < b->name ? -1 : a->name > b->name;
}

static int sort_names(perch_json *json, perch_json_value *object)
{
	struct json_sorted_name *sorted =
		vec_grow(json->sorted, &json->sorted_cap, object->count, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	json->sorted = sorted;
	perch_json_value *name = object + 1;
	for (size_t i = 0; i < object->count; i++) {
		sorted[i] = (struct json_sorted_name){ hash_name(json_str(name)), name };
		name = json_skip(name + 1);
	}
	qsort(sorted, object->count, sizeof(*sorted), compare_names);
	return 0;
}

static int settle_many(
	perch_json *json, perch_json_value *object, const perch_json_value **ret_second)
{
	int r = sort_names(json, object);
	if (r < 0)
		return r;
	perch_json_value *second = NULL;
	size_t count = object->count;
	for (size_t i = 1; i < count; i++) {
		struct json_sorted_name *a = &json->sorted[i - 1], *b = &json->sorted[i];
		if (a->hash != b->hash || !str_eq(json_str(a->name), json_str(b->name)))
			continue;
		if (json->options.duplicates != PERCH_JSON_DUPLICATES_REJECT)
			shadow_one(json, object, a->name, b->name);
		else if (!second || b->name < second)
			second = b->name;
	}
	if (!second)
		return 0;
	*ret_second = second;
	return PERCH_ESYNTAX;
}

int json_settle_duplicates(
	perch_json *json, perch_json_value *object, const perch_json_value **ret_second)
{
	if (object->count <= FEW_NAMES)
		return settle_few(json, object, ret_second);
	return settle_many(json, object, ret_second);
}
