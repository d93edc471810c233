/* Members of an object whose type matters. Messages, manifests and requests are all read through
 * this, so that a wrong type is told in the same words everywhere. */
#include "data/json_member.h"

#include <errno.h>

#include "base/err.h"

const perch_json_value *json_member(const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	return perch_json_type_of(value) == PERCH_JSON_NULL ? NULL : value;
}

int json_member_of(const perch_json_value *object, const char *name, perch_json_type type,
	const perch_json_value **ret_value, perch_err *err)
{
	const perch_json_value *value = json_member(object, name);
	if (!value)
		return 0;
	perch_json_type found = perch_json_type_of(value);
	if (found != type)
		return err_set(err, -EINVAL, "\"%.100s\" must be %s, not %s", name,
			perch_json_type_name(type), perch_json_type_name(found));
	*ret_value = value;
	return 1;
}

const perch_json_value *json_first_no_string(const perch_json_value *list)
{
	perch_json_iter iter = perch_json_iterate(list);
	const perch_json_value *value = perch_json_next(&iter);
	while (value && perch_json_type_of(value) == PERCH_JSON_STRING)
		value = perch_json_next(&iter);
	return value;
}
