/* A trace, and what it says. */
#include "harness/traced.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "harness/folder.h"
#include "harness/suite.h"

const char *traced_path(void)
{
	return folder_path("trace");
}

struct trace *traced_open(bool secrets)
{
	struct trace *trace = NULL;
	perch_err err = { 0 };
	ck_assert_msg(trace_open(traced_path(), secrets, &trace, &err) == 0, "%s", err.text);
	return trace;
}

void traced_put(struct trace *trace, enum trace_direction direction, const char *line)
{
	trace_line(trace, direction, line, strlen(line));
}

perch_json *traced_line(unsigned n, const perch_json_value **ret_root)
{
	static struct buf text; /* the values point into it */
	buf_clear(&text);
	ck_assert_int_eq(file_read(traced_path(), 64 << 20, &text, NULL), 0);
	buf_terminate(&text);
	const char *start = text.data;
	for (; n; n--) {
		start = strchr(start, '\n') + 1;
		ck_assert_ptr_ne(start, (const char *)1);
	}
	const char *newline = strchr(start, '\n');
	ck_assert_ptr_nonnull(newline);
	perch_json *json = NULL;
	perch_err err = { 0 };
	const perch_json_options options = { .text_max = 64 << 20 };
	ck_assert_int_eq(perch_json_new(&options, &json), 0);
	int r = perch_json_parse(json, start, (size_t)(newline - start), ret_root, &err);
	ck_assert_msg(r == 0, "%s: %.80s", err.text, start);
	return json;
}

void traced_expect(
	unsigned n, const char *direction, const char *key, const char *line, bool masked)
{
	const perch_json_value *root;
	perch_json *json = traced_line(n, &root);
	ck_assert(perch_json_is(perch_json_get(root, "dir"), direction));
	size_t len;
	const char *found = perch_json_string(perch_json_get(root, key), &len);
	ck_assert_msg(found && len == strlen(line) && memcmp(found, line, len) == 0, "%.*s\nis not\n%s",
		(int)len, found ? found : "", line);
	ck_assert_uint_eq(perch_json_count(root), masked ? 4 : 3);
	bool is_masked = false;
	perch_json_bool(perch_json_get(root, "masked"), &is_masked);
	ck_assert(is_masked == masked);
	double seconds = -1;
	ck_assert_int_eq(perch_json_double(perch_json_get(root, "t"), &seconds), 0);
	ck_assert(seconds >= 0);
	const char *t = perch_json_raw(perch_json_get(root, "t"), &len);
	ck_assert_ptr_eq(memchr(t, '.', len), t + len - 7);
	perch_json_free(json);
}
