/* Members of an object by name and type. */
#include "harness/suite.h"

#include <errno.h>

#include "data/json_member.h"
#include "unit/json_doc.h"

static const char text[] = "{\"text\":\"a\",\"none\":null,\"list\":[\"a\",1],\"texts\":[\"a\"]}";

START_TEST(a_member_is_there_or_absent_or_of_another_type)
{
	_cleanup_(doc_free) struct doc *doc = doc_read(NULL, text, strlen(text));
	const perch_json_value *value = NULL;
	perch_err err = { 0 };
	ck_assert_int_eq(json_member_of(doc->root, "none", PERCH_JSON_STRING, &value, &err), 0);
	ck_assert_int_eq(json_member_of(doc->root, "other", PERCH_JSON_STRING, &value, &err), 0);
	ck_assert_int_eq(json_member_of(NULL, "text", PERCH_JSON_STRING, &value, &err), 0);
	ck_assert_int_eq(json_member_of(doc->root, "list", PERCH_JSON_STRING, &value, NULL), -EINVAL);
	ck_assert_int_eq(json_member_of(doc->root, "list", PERCH_JSON_STRING, &value, &err), -EINVAL);
	ck_assert_ptr_null(value);
	ck_assert_ptr_nonnull(strstr(err.text, "\"list\" must be a string, not "));
	ck_assert_int_eq(json_member_of(doc->root, "text", PERCH_JSON_STRING, &value, &err), 1);
	ck_assert(perch_json_is(value, "a"));
	ck_assert_ptr_eq(json_member(doc->root, "text"), value);
}
END_TEST

START_TEST(what_is_no_string_in_a_list_is_found)
{
	_cleanup_(doc_free) struct doc *doc = doc_read(NULL, text, strlen(text));
	const perch_json_value *other = json_first_no_string(json_member(doc->root, "list"));
	ck_assert_int_eq(perch_json_type_of(other), PERCH_JSON_NUMBER);
	ck_assert_ptr_null(json_first_no_string(json_member(doc->root, "texts")));
	ck_assert_ptr_null(json_first_no_string(NULL));
}
END_TEST

SUITE_MAIN("json_member", a_member_is_there_or_absent_or_of_another_type,
	what_is_no_string_in_a_list_is_found)
