/* A parsed text, and looking into it, for the tests of the JSON reader. */
#ifndef UNIT_JSON_DOC_H
#define UNIT_JSON_DOC_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "perch/json.h"

/* A document over its own copy of the text, which ends where its memory ends,
 * so that a sanitizer sees every step over the end. */
struct doc {
	perch_json *json;
	char *text;
	size_t length;
	const perch_json_value *root;
	int result;
	perch_err err;
};

static inline struct doc *doc_read(
	const perch_json_options *options, const char *text, size_t length)
{
	struct doc *doc = calloc(1, sizeof(*doc));
	ck_assert_int_eq(perch_json_new(options, &doc->json), 0);
	doc->text = malloc(length ? length : 1);
	memcpy(doc->text, text, length);
	doc->length = length;
	doc->result = perch_json_parse(doc->json, doc->text, length, &doc->root, &doc->err);
	ck_assert_mem_eq(doc->text, text, length);
	ck_assert((doc->result == 0) == (doc->root != NULL));
	return doc;
}

static inline void doc_free(struct doc **doc)
{
	if (!*doc)
		return;
	perch_json_free((*doc)->json);
	free((*doc)->text);
	free(*doc);
}
#define _cleanup_doc_ _cleanup_(doc_free)

static inline struct doc *doc_of(const char *text)
{
	struct doc *doc = doc_read(NULL, text, strlen(text));
	ck_assert_msg(doc->result == 0, "%s: %s", text, doc->err.text);
	return doc;
}

static inline void check_string(const perch_json_value *value, const char *expected, size_t length)
{
	size_t found_length;
	const char *found = perch_json_string(value, &found_length);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found_length, length);
	ck_assert_mem_eq(found, expected, length);
}

static inline void check_raw(const perch_json_value *value, const char *expected)
{
	size_t length;
	const char *raw = perch_json_raw(value, &length);
	ck_assert_msg(length == strlen(expected) && memcmp(raw, expected, length) == 0,
		"expected %s, found %.*s", expected, (int)length, raw);
}

#endif
