/* Changing a JSON text that people write too: it is read as far as to know where things stand, and
 * the new member is written the way the file is. */
#include "data/json_edit.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "data/json.h"

/* ---- reading --------------------------------------------------------------- */

struct json_edit {
	struct str text;
	size_t at;
	int depth;
	perch_err *err;
};

/* A value, from its first byte to behind its last. */
struct json_span {
	size_t start, end;
};

/* What is known of an object. */
struct json_edit_object {
	struct json_span whole;
	struct json_span found; /* the value of the wanted member; end 0 = it is not there */
	size_t last_end;        /* behind the last member; 0 = it has none */
	size_t first_start;     /* of the first member's name */
	bool has_comma;         /* behind the last member */
};

static int json_edit_fail(struct json_edit *edit, const char *wanted)
{
	unsigned line, column;
	json_position(edit->text, edit->text.data + edit->at, &line, &column);
	return err_set(edit->err, PERCH_ESYNTAX, "line %u, column %u: %s", line, column, wanted);
}

static bool json_edit_is_at(const struct json_edit *edit, const char *word)
{
	size_t len = strlen(word);
	return edit->text.len - edit->at >= len && memcmp(edit->text.data + edit->at, word, len) == 0;
}

/* The next byte; NUL at the end. */
static char json_edit_peek(const struct json_edit *edit)
{
	return edit->at < edit->text.len ? edit->text.data[edit->at] : '\0';
}

static void json_edit_skip_to(struct json_edit *edit, const char *word)
{
	while (edit->at < edit->text.len && !json_edit_is_at(edit, word))
		edit->at++;
	if (edit->at < edit->text.len && word[0] == '*')
		edit->at += 2;
}

static void json_edit_skip_blanks(struct json_edit *edit)
{
	for (;;) {
		if (json_edit_peek(edit) && strchr(" \t\r\n", json_edit_peek(edit)))
			edit->at++;
		else if (json_edit_is_at(edit, "//"))
			json_edit_skip_to(edit, "\n");
		else if (json_edit_is_at(edit, "/*"))
			json_edit_skip_to(edit, "*/");
		else
			return;
	}
}

static int json_edit_read_string(struct json_edit *edit, struct json_span *ret_span)
{
	ret_span->start = edit->at;
	if (json_edit_peek(edit) != '"')
		return json_edit_fail(edit, "a text in quotes is expected here");
	for (edit->at++; json_edit_peek(edit) != '"'; edit->at++) {
		if (json_edit_peek(edit) == '\\')
			edit->at++;
		if (edit->at >= edit->text.len || json_edit_peek(edit) == '\n')
			return json_edit_fail(edit, "the quote behind this text is missing");
	}
	ret_span->end = ++edit->at;
	return 0;
}

static int json_edit_read_value(struct json_edit *edit, struct json_span *ret_span);

/* A comma, or the end of the container; 1 = there is one more. */
static int json_edit_read_comma(struct json_edit *edit, char end, bool *ret_has_comma)
{
	json_edit_skip_blanks(edit);
	*ret_has_comma = json_edit_peek(edit) == ',';
	edit->at += *ret_has_comma;
	json_edit_skip_blanks(edit);
	if (json_edit_peek(edit) == end)
		return 0;
	return *ret_has_comma ? 1
						  : json_edit_fail(edit, "a comma or a closing bracket is expected here");
}

static int json_edit_read_list(struct json_edit *edit)
{
	struct json_span item;
	bool has_comma;
	edit->at++;
	json_edit_skip_blanks(edit);
	int r = json_edit_peek(edit) != ']';
	while (r > 0) {
		r = json_edit_read_value(edit, &item);
		if (r == 0)
			r = json_edit_read_comma(edit, ']', &has_comma);
	}
	edit->at += r == 0;
	return r;
}

/* The member is compared as it is written: these names are never escaped. */
static bool json_edit_is_name(const struct json_edit *edit, struct json_span span, const char *name)
{
	const struct str inner = { edit->text.data + span.start + 1, span.end - span.start - 2 };
	return name && str_is(inner, name);
}

static int json_edit_read_member(
	struct json_edit *edit, const char *wanted, struct json_edit_object *object)
{
	struct json_span name = { 0 }, value = { 0 };
	int r = json_edit_read_string(edit, &name);
	if (r < 0)
		return r;
	json_edit_skip_blanks(edit);
	if (json_edit_peek(edit) != ':')
		return json_edit_fail(edit, "a colon is expected here");
	edit->at++;
	json_edit_skip_blanks(edit);
	r = json_edit_read_value(edit, &value);
	if (r < 0)
		return r;
	if (json_edit_is_name(edit, name, wanted))
		object->found = value;
	object->first_start = object->last_end ? object->first_start : name.start;
	object->last_end = value.end;
	return json_edit_read_comma(edit, '}', &object->has_comma);
}

static int json_edit_read_object(
	struct json_edit *edit, const char *wanted, struct json_edit_object *ret_object)
{
	*ret_object = (struct json_edit_object){ .whole.start = edit->at };
	edit->at++;
	json_edit_skip_blanks(edit);
	int r = json_edit_peek(edit) != '}';
	while (r > 0)
		r = json_edit_read_member(edit, wanted, ret_object);
	edit->at += r == 0;
	ret_object->whole.end = edit->at;
	return r;
}

static int json_edit_read_word(struct json_edit *edit)
{
	size_t start = edit->at;
	while (isalnum((unsigned char)json_edit_peek(edit)) || strchr("+-.", json_edit_peek(edit))) {
		if (!json_edit_peek(edit))
			break;
		edit->at++;
	}
	return edit->at > start ? 0 : json_edit_fail(edit, "a value is expected here");
}

static int json_edit_read_value(struct json_edit *edit, struct json_span *ret_span)
{
	struct json_edit_object ignored;
	size_t start = edit->at;
	int r;
	if (++edit->depth > JSON_EDIT_DEPTH_MAX)
		return json_edit_fail(edit, "it is nested too deeply");
	switch (json_edit_peek(edit)) {
	case '{':
		r = json_edit_read_object(edit, NULL, &ignored);
		break;
	case '[':
		r = json_edit_read_list(edit);
		break;
	case '"':
		r = json_edit_read_string(edit, ret_span);
		break;
	default:
		r = json_edit_read_word(edit);
	}
	edit->depth--;
	*ret_span = (struct json_span){ start, edit->at };
	return r;
}

/* ---- writing --------------------------------------------------------------- */

/* What stands before the first thing of the line that holds `at`. */
static struct str json_edit_indent(struct str text, size_t at)
{
	size_t start = at, end;
	while (start && text.data[start - 1] != '\n')
		start--;
	for (end = start; end < at && (text.data[end] == ' ' || text.data[end] == '\t');)
		end++;
	return (struct str){ text.data + start, end - start };
}

/* What the file indents by, told by its first member; two blanks where nothing tells it. */
static struct str json_edit_unit(struct str text, const struct json_edit_object *root)
{
	struct str indent = { 0 };
	if (root->last_end)
		indent = json_edit_indent(text, root->first_start);
	return indent.len ? indent : STR("  ");
}

static void json_edit_write_value(struct buf *out, struct str unit, int depth, struct str value)
{
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] == '\t')
			buf_append(out, unit.data, unit.len);
		else
			buf_append_char(out, value.data[i]);
		for (int tab = 0; value.data[i] == '\n' && tab < depth; tab++)
			buf_append(out, unit.data, unit.len);
	}
}

static void json_edit_new_line(struct buf *out, struct str unit, int depth)
{
	buf_append_char(out, '\n');
	for (int tab = 0; tab < depth; tab++)
		buf_append(out, unit.data, unit.len);
}

/* Where one more member goes: behind the last one with its comma and what is said about it on its
 * line. Whether that is the end of a line. */
static bool json_edit_place(
	struct str text, const struct json_edit_object *object, size_t *ret_place)
{
	struct json_edit edit = { .text = text, .at = object->last_end };
	if (object->has_comma) {
		json_edit_skip_blanks(&edit);
		edit.at++;
	}
	*ret_place = edit.at;
	for (;;) {
		if (json_edit_peek(&edit) && strchr(" \t\r", json_edit_peek(&edit)))
			edit.at++;
		else if (json_edit_is_at(&edit, "//"))
			json_edit_skip_to(&edit, "\n");
		else if (json_edit_is_at(&edit, "/*"))
			json_edit_skip_to(&edit, "*/");
		else
			break;
	}
	bool is_line_end = json_edit_peek(&edit) == '\n';
	*ret_place = is_line_end ? edit.at : *ret_place;
	return is_line_end;
}

/* One more member of an object, behind its last. */
static void json_edit_put(struct str text, const struct json_edit_object *object, struct str unit,
	int depth, struct str member, struct buf *out)
{
	size_t at = object->whole.start + 1, rest = object->whole.end - 1;
	bool is_line_end = false;
	if (object->last_end) {
		is_line_end = json_edit_place(text, object, &rest);
		at = object->last_end;
	}
	buf_append(out, text.data, at);
	if (object->last_end && !object->has_comma)
		buf_append_char(out, ',');
	if (object->last_end)
		buf_append(out, text.data + at, rest - at);
	json_edit_new_line(out, unit, depth);
	json_edit_write_value(out, unit, depth, member);
	if (object->has_comma)
		buf_append_char(out, ',');
	if (!is_line_end)
		json_edit_new_line(out, unit, depth - 1);
	buf_append(out, text.data + rest, text.len - rest);
}

/* ---- setting --------------------------------------------------------------- */

/* The next byte that means something; NUL at the end. Blanks do within quotes alone. */
static char json_edit_next(struct str text, size_t *at, bool *is_quoted)
{
	while (*at < text.len && !*is_quoted && strchr(" \t\r\n", text.data[*at]))
		++*at;
	if (*at >= text.len)
		return '\0';
	bool is_escaped = *at && text.data[*at - 1] == '\\';
	*is_quoted = *is_quoted != (text.data[*at] == '"' && !is_escaped);
	return text.data[(*at)++];
}

/* Whether two values are written alike, but for their blanks. */
static bool json_edit_is_same(struct str old, struct str new)
{
	size_t old_at = 0, new_at = 0;
	bool is_old_quoted = false, is_new_quoted = false;
	for (;;) {
		char a = json_edit_next(old, &old_at, &is_old_quoted);
		char b = json_edit_next(new, &new_at, &is_new_quoted);
		if (a != b || !a)
			return a == b;
	}
}

static int json_edit_read_root(
	struct json_edit *edit, const char *wanted, struct json_edit_object *ret_root, perch_err *err)
{
	json_edit_skip_blanks(edit);
	if (json_edit_peek(edit) != '{')
		return err_set(err, -EINVAL, "it does not begin with an object");
	int r = json_edit_read_object(edit, wanted, ret_root);
	if (r < 0)
		return r;
	json_edit_skip_blanks(edit);
	return edit->at < edit->text.len ? json_edit_fail(edit, "nothing is expected here") : 0;
}

/* The member of an object that is there already. */
static int json_edit_set_in(struct json_edit *edit, size_t start, struct str unit, const char *name,
	struct str value, struct buf *out)
{
	struct json_edit_object object;
	edit->at = start;
	if (json_edit_peek(edit) != '{')
		return err_set(edit->err, -EINVAL, "the member that holds the servers is no object");
	int r = json_edit_read_object(edit, name, &object);
	if (r < 0)
		return r;
	struct str text = edit->text;
	if (!object.found.end) {
		_cleanup_(buf_free) struct buf member = { 0 };
		buf_printf(&member, "\"%s\": %.*s", name, (int)value.len, value.data);
		json_edit_put(text, &object, unit, 2, (struct str){ member.data, member.len }, out);
		return member.failed ? err_no_memory(edit->err) : 1;
	}
	const struct str old = { text.data + object.found.start,
		object.found.end - object.found.start };
	if (json_edit_is_same(old, value))
		return 0;
	buf_append(out, text.data, object.found.start);
	json_edit_write_value(out, unit, 2, value);
	buf_append(out, text.data + object.found.end, text.len - object.found.end);
	return 1;
}

int json_edit_set(struct str text, const char *object, const char *name, struct str value,
	struct buf *ret_text, perch_err *err)
{
	_cleanup_(buf_free) struct buf out = { 0 }, member = { 0 };
	struct json_edit_object root;
	if (!str_trim(text).len)
		text = STR("{}\n");
	struct json_edit edit = { .text = text, .err = err };
	int r = json_edit_read_root(&edit, object, &root, err);
	if (r < 0)
		return r;
	struct str unit = json_edit_unit(text, &root);
	if (root.found.end) {
		r = json_edit_set_in(&edit, root.found.start, unit, name, value, &out);
	} else {
		buf_printf(&member, "\"%s\": {\n\t\"%s\": ", object, name);
		json_edit_write_value(&member, STR("\t"), 1, value);
		buf_append_text(&member, "\n}");
		json_edit_put(text, &root, unit, 1, (struct str){ member.data, member.len }, &out);
		r = 1;
	}
	if (r < 0)
		return r;
	if (r == 0)
		buf_append(&out, text.data, text.len);
	if (out.failed || member.failed)
		return err_no_memory(err);
	buf_free(ret_text);
	*ret_text = out;
	out = (struct buf){ 0 };
	return r;
}
