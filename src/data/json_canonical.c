/* A value in the one form that all equal values have: members in the order of their names, no
 * blanks, strings with the fewest escapes. Numbers stay as they were written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/json.h"

struct canonical_member {
	struct str name;
	const perch_json_value *value;
};

static int canonical_by_name(const void *a, const void *b)
{
	const struct str x = ((const struct canonical_member *)a)->name;
	const struct str y = ((const struct canonical_member *)b)->name;
	int order = memcmp(x.data, y.data, x.len < y.len ? x.len : y.len);
	return order ? order : (x.len > y.len) - (x.len < y.len);
}

static int canonical_object(perch_json_writer *out, const perch_json_value *object)
{
	size_t count = 0;
	struct canonical_member *members = calloc(perch_json_count(object) + 1, sizeof(*members));
	if (!members)
		return -ENOMEM;
	perch_json_iter iter = perch_json_iterate(object);
	for (const perch_json_value *value; (value = perch_json_next(&iter));)
		members[count++] = (struct canonical_member){ json_str(iter.name), value };
	qsort(members, count, sizeof(*members), canonical_by_name);
	int r = 0;
	perch_json_begin_object(out);
	for (size_t i = 0; i < count && r == 0; i++) {
		perch_json_write_name_n(out, members[i].name.data, members[i].name.len);
		r = json_write_canonical(out, members[i].value);
	}
	perch_json_end_object(out);
	free(members);
	return r;
}

int json_write_canonical(perch_json_writer *out, const perch_json_value *value)
{
	int r = 0;
	size_t len;
	const char *text;
	switch (perch_json_type_of(value)) {
	case PERCH_JSON_OBJECT:
		return canonical_object(out, value);
	case PERCH_JSON_ARRAY:
		perch_json_begin_array(out);
		perch_json_iter iter = perch_json_iterate(value);
		for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));)
			r = json_write_canonical(out, item);
		perch_json_end_array(out);
		return r;
	case PERCH_JSON_STRING:
		text = perch_json_string(value, &len);
		perch_json_write_string_n(out, text, len);
		return 0;
	default:
		text = perch_json_raw(value, &len);
		perch_json_write_raw(out, text, len);
		return 0;
	}
}
