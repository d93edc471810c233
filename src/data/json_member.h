/* Members of an object whose type matters. null counts as absent everywhere. */
#ifndef DATA_JSON_MEMBER_H
#define DATA_JSON_MEMBER_H

#include "data/json.h"

/* The member of this name; NULL when there is none, or object is no object. */
const perch_json_value *json_member(const perch_json_value *object, const char *name);

/* The same with a type: 1 when it is there, 0 when it is absent, -EINVAL and words
 * ("name" must be a string, not a list) when it is of another type. */
int json_member_of(const perch_json_value *object, const char *name, perch_json_type type,
	const perch_json_value **ret_value, perch_err *err);

/* The first element of a list that is no string; NULL when all are. */
const perch_json_value *json_first_no_string(const perch_json_value *list);

#endif
