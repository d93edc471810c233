/* Looking at values. */
#include "base/macros.h"
#include "perch/json.h"

#include <errno.h>

#include "base/err.h"
#include "data/json.h"

perch_json_type perch_json_type_of(const perch_json_value *value)
{
	return value ? (perch_json_type)value->type : PERCH_JSON_NONE;
}

const char *perch_json_type_name(perch_json_type type)
{
	static const char *const names[] = {
		[PERCH_JSON_NONE] = "nothing",
		[PERCH_JSON_NULL] = "null",
		[PERCH_JSON_BOOL] = "true or false",
		[PERCH_JSON_NUMBER] = "a number",
		[PERCH_JSON_STRING] = "a string",
		[PERCH_JSON_ARRAY] = "an array",
		[PERCH_JSON_OBJECT] = "an object",
	};
	return (unsigned)type < COUNT(names) ? names[type] : names[0];
}

const char *perch_json_raw(const perch_json_value *value, size_t *ret_length)
{
	*ret_length = value ? value->length : 0;
	return value ? value->text : NULL;
}

static inline uint64_t json_value_word(const char *text)
{
	uint64_t word;
	memcpy(&word, text, sizeof(word));
	return word;
}

static inline uint32_t json_value_half(const char *text)
{
	uint32_t half;
	memcpy(&half, text, sizeof(half));
	return half;
}

/* Names are short: pieces of which the last two may overlap, without a call. */
static inline bool json_value_is_same(const char *a, const char *b, size_t length)
{
	if (length >= 8) {
		for (size_t i = 0; i < length - 8; i += 8) {
			if (json_value_word(a + i) != json_value_word(b + i))
				return false;
		}
		return json_value_word(a + length - 8) == json_value_word(b + length - 8);
	}
	if (length >= 4)
		return json_value_half(a) == json_value_half(b) &&
			json_value_half(a + length - 4) == json_value_half(b + length - 4);
	bool is_same = !length || (a[0] == b[0] && a[length - 1] == b[length - 1]);
	return is_same && (length < 3 || a[1] == b[1]);
}

static inline bool json_value_is_named(const perch_json_value *at, const char *name, size_t length)
{
	if (__builtin_expect(!at->decoded, 1))
		return at->length == length + 2 && json_value_is_same(at->text + 1, name, length);
	return at->count == length && json_value_is_same(at->decoded, name, length);
}

const perch_json_value *perch_json_get_n(
	const perch_json_value *object, const char *name, size_t length)
{
	if (!json_is_of(object, PERCH_JSON_OBJECT))
		return NULL;
	const perch_json_value *end = json_skip(object);
	for (const perch_json_value *at = object + 1; at < end; at = json_skip(at + 1)) {
		if (json_value_is_named(at, name, length) && !at->shadowed)
			return at + 1;
	}
	return NULL;
}

int perch_json_demand(const perch_json_value *object, const char *name, perch_json_type type,
	const perch_json_value **ret_value, perch_err *err)
{
	const perch_json_value *value = perch_json_get(object, name);
	if (!value)
		return err_set(err, -ENOENT, "member \"%s\" is missing", name);
	if (value->type != type) {
		return err_set(err, -EINVAL, "member \"%s\" must be %s, not %s", name,
			perch_json_type_name(type), perch_json_type_name((perch_json_type)value->type));
	}
	*ret_value = value;
	return 0;
}

size_t perch_json_count(const perch_json_value *container)
{
	return perch_json_type_of(container) >= PERCH_JSON_ARRAY ? container->count : 0;
}

perch_json_iter perch_json_iterate(const perch_json_value *container)
{
	return (perch_json_iter){
		.following = container ? container + 1 : NULL,
		.left = perch_json_count(container),
		.has_names = perch_json_type_of(container) == PERCH_JSON_OBJECT,
	};
}

/* Names that lost are not counted in `left`, so they are passed over only
 * while a winner is still to come. */
const perch_json_value *perch_json_next(perch_json_iter *iter)
{
	if (iter->left == 0)
		return NULL;
	iter->left--;
	const perch_json_value *value = iter->following;
	if (iter->has_names) {
		while (value->shadowed)
			value = json_skip(value + 1);
		iter->name = value++;
	}
	iter->following = json_skip(value);
	return value;
}

const char *perch_json_string(const perch_json_value *value, size_t *ret_length)
{
	struct str content = { 0 };
	if (json_is_of(value, PERCH_JSON_STRING))
		content = json_str(value);
	*ret_length = content.len;
	return content.data;
}

bool perch_json_is(const perch_json_value *value, const char *text)
{
	return json_is_of(value, PERCH_JSON_STRING) && str_is(json_str(value), text);
}

int perch_json_bool(const perch_json_value *value, bool *ret_bool)
{
	if (!json_is_of(value, PERCH_JSON_BOOL))
		return -EINVAL;
	*ret_bool = value->text[0] == 't';
	return 0;
}

bool json_flag(const perch_json_value *object, const char *name)
{
	bool flag = false;
	return perch_json_bool(perch_json_get(object, name), &flag) == 0 && flag;
}
