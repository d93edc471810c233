/* What a line must look like. */
#include "conformance/pattern.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "data/json.h"
#include "data/regex.h"

enum { PATH_LEN_MAX = 256 };

/* ---- regular expressions -------------------------------------------------------- */

static int pattern_regex_verify(struct str text, perch_err *err)
{
	_cleanup_(regex_freep) struct regex *regex = NULL;
	return regex_compile(text, REGEX_BYTES, &regex, err);
}

/* A match that takes too long is no match. */
static int pattern_regex_match(struct str pattern, struct str text)
{
	_cleanup_(regex_freep) struct regex *regex = NULL;
	int r = regex_compile(pattern, REGEX_BYTES, &regex, NULL);
	if (r == 0)
		r = regex_match(regex, text, 0);
	return r == PERCH_ELIMIT ? 0 : r;
}

/* ---- comparing ------------------------------------------------------------------ */

struct matching {
	struct buf *why;
	char path[PATH_LEN_MAX]; /* to the value that is looked at */
	size_t path_len;
};

static struct str pattern_raw_of(const perch_json_value *value)
{
	size_t len = 0;
	const char *text = perch_json_raw(value, &len);
	return (struct str){ text, len };
}

static void pattern_quote(struct buf *out, struct str text)
{
	size_t shown = (size_t)utf8_quoted(text);
	buf_append(out, text.data, shown);
	if (shown < text.len)
		buf_printf(out, "… (%zu bytes)", text.len);
}

static int pattern_differs(
	struct matching *matching, const perch_json_value *wanted, const perch_json_value *found)
{
	buf_printf(matching->why, "%.*s must be ", (int)matching->path_len, matching->path);
	pattern_quote(matching->why, pattern_raw_of(wanted));
	buf_append_text(matching->why, found ? ", but is " : ", but is not there");
	pattern_quote(matching->why, pattern_raw_of(found));
	return 0;
}

static int pattern_match_value(
	struct matching *matching, const perch_json_value *wanted, const perch_json_value *found);

/* Steps into a member or element; the part of the path that does not fit is not shown. */
static int pattern_match_below(struct matching *matching, struct str name, size_t index,
	const perch_json_value *wanted, const perch_json_value *found)
{
	size_t before = matching->path_len;
	char *end = matching->path + before;
	size_t room = sizeof(matching->path) - before;
	int len = name.data ? snprintf(end, room, ".%.*s", (int)name.len, name.data)
						: snprintf(end, room, "[%zu]", index);
	if (len > 0 && (size_t)len < room)
		matching->path_len += (size_t)len;
	int r = pattern_match_value(matching, wanted, found);
	matching->path_len = before;
	return r;
}

static int pattern_match_object(
	struct matching *matching, const perch_json_value *wanted, const perch_json_value *found)
{
	if (perch_json_type_of(found) != PERCH_JSON_OBJECT)
		return pattern_differs(matching, wanted, found);
	perch_json_iter iter = perch_json_iterate(wanted);
	int r = 1;
	for (const perch_json_value *value; r == 1 && (value = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		r = pattern_match_below(
			matching, name, 0, value, perch_json_get_n(found, name.data, name.len));
	}
	return r;
}

static int pattern_match_list(
	struct matching *matching, const perch_json_value *wanted, const perch_json_value *found)
{
	if (perch_json_type_of(found) != PERCH_JSON_ARRAY ||
		perch_json_count(wanted) != perch_json_count(found))
		return pattern_differs(matching, wanted, found);
	perch_json_iter left = perch_json_iterate(wanted);
	perch_json_iter right = perch_json_iterate(found);
	int r = 1;
	for (size_t i = 0; r == 1 && i < perch_json_count(wanted); i++) {
		const perch_json_value *value = perch_json_next(&left);
		r = pattern_match_below(matching, (struct str){ 0 }, i, value, perch_json_next(&right));
	}
	return r;
}

static const struct {
	const char *name;
	perch_json_type type;
} kinds[] = {
	{ "<string>", PERCH_JSON_STRING },
	{ "<number>", PERCH_JSON_NUMBER },
	{ "<bool>", PERCH_JSON_BOOL },
	{ "<list>", PERCH_JSON_ARRAY },
	{ "<object>", PERCH_JSON_OBJECT },
};

static int pattern_match_string(
	struct matching *matching, const perch_json_value *wanted, const perch_json_value *found)
{
	struct str text = json_str(wanted);
	bool fits = false;
	perch_json_type type = perch_json_type_of(found);
	if (str_is(text, "*") || str_is(text, "!"))
		return !found == (text.data[0] == '!') ? 1 : pattern_differs(matching, wanted, found);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (str_is(text, kinds[i].name))
			return type == kinds[i].type ? 1 : pattern_differs(matching, wanted, found);
	}
	if (type == PERCH_JSON_STRING && text.len && text.data[0] == '~') {
		int r = pattern_regex_match((struct str){ text.data + 1, text.len - 1 }, json_str(found));
		return r ? r : pattern_differs(matching, wanted, found);
	}
	if (type == PERCH_JSON_STRING)
		fits = str_eq(text, json_str(found));
	return fits ? 1 : pattern_differs(matching, wanted, found);
}

static int pattern_match_value(
	struct matching *matching, const perch_json_value *wanted, const perch_json_value *found)
{
	int order = 1;
	switch (perch_json_type_of(wanted)) {
	case PERCH_JSON_OBJECT:
		return pattern_match_object(matching, wanted, found);
	case PERCH_JSON_ARRAY:
		return pattern_match_list(matching, wanted, found);
	case PERCH_JSON_STRING:
		return pattern_match_string(matching, wanted, found);
	case PERCH_JSON_NUMBER:
		if (perch_json_type_of(found) != PERCH_JSON_NUMBER ||
			json_number_compare(wanted, found, &order) < 0 || order != 0)
			return pattern_differs(matching, wanted, found);
		return 1;
	default:
		return found && str_eq(pattern_raw_of(wanted), pattern_raw_of(found))
			? 1
			: pattern_differs(matching, wanted, found);
	}
}

/* ---- whole lines ---------------------------------------------------------------- */

static int pattern_match_json(struct str pattern, struct str text, struct buf *why)
{
	_cleanup_json_ perch_json *wanted = NULL;
	_cleanup_json_ perch_json *found = NULL;
	const perch_json_value *wanted_root;
	const perch_json_value *found_root;
	const perch_json_options options = { .replace_invalid_utf8 = true };
	perch_err err = { 0 };
	if (perch_json_new(&options, &wanted) < 0 || perch_json_new(&options, &found) < 0)
		return -ENOMEM;
	int r = perch_json_parse(wanted, pattern.data, pattern.len, &wanted_root, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : PERCH_ESYNTAX;
	r = perch_json_parse(found, text.data, text.len, &found_root, &err);
	if (r == -ENOMEM)
		return r;
	struct matching matching = { .why = why, .path = "it", .path_len = 2 };
	if (r == 0)
		return pattern_match_value(&matching, wanted_root, found_root);
	buf_append_text(why, "it must be JSON, but is ");
	pattern_quote(why, text);
	return 0;
}

int pattern_match(struct str pattern, struct str text, struct buf *why)
{
	int r;
	if (!pattern.len || pattern.data[0] != '~') {
		r = pattern_match_json(pattern, text, why);
	} else {
		r = pattern_regex_match((struct str){ pattern.data + 1, pattern.len - 1 }, text);
		if (r == 0) {
			buf_append_text(why, "it must match ");
			pattern_quote(why, pattern);
			buf_append_text(why, ", but is ");
			pattern_quote(why, text);
		}
	}
	return why->failed ? -ENOMEM : r;
}

/* Every regular expression inside compiles. */
static int pattern_check_strings(const perch_json_value *value, perch_err *err)
{
	int r = 0;
	if (perch_json_type_of(value) == PERCH_JSON_STRING) {
		struct str text = json_str(value);
		bool is_regex = text.len && text.data[0] == '~';
		return is_regex ? pattern_regex_verify((struct str){ text.data + 1, text.len - 1 }, err)
						: 0;
	}
	perch_json_iter iter = perch_json_iterate(value);
	for (const perch_json_value *below; r == 0 && (below = perch_json_next(&iter));)
		r = pattern_check_strings(below, err);
	return r;
}

int pattern_verify(struct str pattern, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	const struct variable none = { 0 };
	const perch_json_value *root;
	const perch_json_options options = { .depth_max = 64 };
	if (pattern.len && pattern.data[0] == '~')
		return pattern_regex_verify((struct str){ pattern.data + 1, pattern.len - 1 }, err);
	if (pattern_expand(pattern, &none, (struct str){ 0 }, &text) < 0 ||
		perch_json_new(&options, &json) < 0)
		return err_no_memory(err);
	int r = perch_json_parse(json, text.data, text.len, &root, err);
	return r < 0 ? r : pattern_check_strings(root, err);
}

/* ---- variables ------------------------------------------------------------------ */

static const perch_json_value *pattern_walk(const perch_json_value *value, struct str path)
{
	while (value && path.len) {
		struct str name = str_cut(&path, '.');
		size_t index = name.len == 1 && name.data[0] >= '0' && name.data[0] <= '9'
			? (size_t)(name.data[0] - '0')
			: SIZE_MAX;
		if (perch_json_type_of(value) != PERCH_JSON_ARRAY) {
			value = perch_json_get_n(value, name.data, name.len);
			continue;
		}
		perch_json_iter iter = perch_json_iterate(value);
		value = index < perch_json_count(value) ? perch_json_next(&iter) : NULL;
		for (; value && index; index--)
			value = perch_json_next(&iter);
	}
	return value;
}

static int pattern_append_value(
	struct str name, const struct variable *variables, struct str last, struct buf *out)
{
	for (; variables->name; variables++) {
		if (str_is(name, variables->name))
			return buf_append_text(out, variables->json);
	}
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	if (perch_json_new(NULL, &json) < 0)
		return -ENOMEM;
	int r = perch_json_parse(json, last.data, last.len, &root, NULL);
	const perch_json_value *value = r == 0 ? pattern_walk(root, name) : NULL;
	struct str raw = value ? pattern_raw_of(value) : STR("null");
	return r == -ENOMEM ? r : buf_append(out, raw.data, raw.len);
}

int pattern_expand(
	struct str text, const struct variable *variables, struct str last, struct buf *out)
{
	int r = 0;
	while (r == 0 && text.len) {
		const char *start = memmem(text.data, text.len, "${", 2);
		size_t before = start ? (size_t)(start - text.data) : text.len;
		const char *end = start ? memchr(start, '}', text.len - before) : NULL;
		if (!end)
			return buf_append(out, text.data, text.len);
		r = buf_append(out, text.data, before);
		struct str name = { start + 2, (size_t)(end - start) - 2 };
		if (r == 0)
			r = pattern_append_value(name, variables, last, out);
		size_t used = (size_t)(end + 1 - text.data);
		text = (struct str){ text.data + used, text.len - used };
	}
	return r;
}
