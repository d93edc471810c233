/* Names that occur twice in an object: found by sorting, and settled as the
 * options say. The reader calls this only when two names may be equal. Names
 * are sorted by a hash, in as many steps as there are names; only those of
 * one hash are compared, and sorted too, so that no choice of names takes
 * more than n log n steps. */
#include "data/json_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

enum {
	HASH_BITS = 24,
	DIGIT_BITS = 6, /* an even number of digits make a hash */
	DIGIT_VALUES = 1 << DIGIT_BITS,
};

static uint32_t json_names_hash_name(struct str name)
{
	uint64_t hash = 0;
	while (name.len) {
		uint64_t word = 0;
		size_t step = name.len < sizeof(word) ? name.len : sizeof(word);
		memcpy(&word, name.data, step);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
		name.data += step;
		name.len -= step;
	}
	return (uint32_t)(hash >> (64 - HASH_BITS));
}

/* Sorts by one digit of the hash, and leaves equal ones in their order. */
static void json_names_sort_by_digit(
	const struct json_sorted_name *from, struct json_sorted_name *to, size_t count, unsigned shift)
{
	size_t place[DIGIT_VALUES] = { 0 };
	size_t total = 0;
	for (size_t i = 0; i < count; i++)
		place[(from[i].hash >> shift) % DIGIT_VALUES]++;
	for (size_t digit = 0; digit < DIGIT_VALUES; digit++) {
		size_t here = place[digit];
		place[digit] = total;
		total += here;
	}
	for (size_t i = 0; i < count; i++)
		to[place[(from[i].hash >> shift) % DIGIT_VALUES]++] = from[i];
}

/* Fills json->sorted with the names of the object, in the order of their
 * hashes and, among those of one hash, of the text. */
static int json_names_sort_names(perch_json *json, const perch_json_value *object)
{
	size_t count = object->count;
	struct json_sorted_name *sorted =
		vec_grow(json->sorted, &json->sorted_cap, 2 * count, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	json->sorted = sorted;
	perch_json_value *name = (perch_json_value *)object + 1;
	for (size_t i = 0; i < count; i++) {
		sorted[i].hash = json_names_hash_name(json_str(name));
		sorted[i].name = name;
		name = json_skip(name + 1);
	}
	for (unsigned shift = 0; shift < HASH_BITS; shift += 2 * DIGIT_BITS) {
		json_names_sort_by_digit(sorted, sorted + count, count, shift);
		json_names_sort_by_digit(sorted + count, sorted, count, shift + DIGIT_BITS);
	}
	return 0;
}

static int json_names_compare_bytes(struct str a, struct str b)
{
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return a.len ? memcmp(a.data, b.data, a.len) : 0;
}

/* By their bytes, and equal ones in the order of the text. */
static int json_names_compare_names(const void *left, const void *right)
{
	const struct json_sorted_name *a = left, *b = right;
	int order = json_names_compare_bytes(json_str(a->name), json_str(b->name));
	if (order)
		return order;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* What is found in names of one hash. */
struct repeated {
	bool keep_last;
	size_t losers;
	const perch_json_value *first_repetition; /* in the order of the text */
};

static void json_names_settle_run(
	struct json_sorted_name *run, size_t count, struct repeated *repeated)
{
	qsort(run, count, sizeof(*run), json_names_compare_names);
	for (size_t i = 1; i < count; i++) {
		perch_json_value *earlier = run[i - 1].name, *later = run[i].name;
		if (!str_eq(json_str(earlier), json_str(later)))
			continue;
		(repeated->keep_last ? earlier : later)->shadowed = 1;
		repeated->losers++;
		if (!repeated->first_repetition || later < repeated->first_repetition)
			repeated->first_repetition = later;
	}
}

int json_settle_duplicates(
	perch_json *json, perch_json_value *object, const perch_json_value **ret_second)
{
	int r = json_names_sort_names(json, object);
	if (r < 0)
		return r;
	struct json_sorted_name *sorted = json->sorted;
	size_t count = object->count;
	perch_json_duplicates policy = json->options.duplicates;
	struct repeated repeated = { .keep_last = policy == PERCH_JSON_DUPLICATES_LAST };
	for (size_t start = 0, end; start < count; start = end) {
		for (end = start + 1; end < count && sorted[end].hash == sorted[start].hash; end++)
			;
		if (end - start > 1)
			json_names_settle_run(sorted + start, end - start, &repeated);
	}
	if (repeated.losers && policy == PERCH_JSON_DUPLICATES_REJECT) {
		*ret_second = repeated.first_repetition;
		return PERCH_ESYNTAX;
	}
	object->count -= (uint32_t)repeated.losers;
	return 0;
}

uint64_t json_reader_check_name(
	struct json_frame *frame, const perch_json_value *name, uint32_t entries, uint64_t name_bits)
{
	const perch_json_value *earlier = frame->value + 1;
	if (name->decoded)
		name_bits = UINT64_MAX; /* equal to others that share no bit with it */
	if (entries > JSON_FEW_NAMES) {
		frame->may_repeat = true; /* to be found out all at once in the end */
		return name_bits;
	}
	for (; earlier < name && !frame->may_repeat; earlier = json_skip(earlier + 1))
		frame->may_repeat = str_eq(json_str(earlier), json_str(name));
	return name_bits;
}
