/* The grammar of a document: statements, headers, keys on the way to a value,
 * arrays and inline tables, and the rules of who may define what twice. */
#include "data/toml_reader.h"

#include "base/err.h"
#include "base/vec.h"

static int toml_parse_value(struct toml_reader *r, struct toml_value *value);

static int toml_parse_defined_twice(
	struct toml_reader *r, const struct toml_key *key, const struct toml_value *first)
{
	char quoted[TOML_QUOTE_MAX];
	return toml_fail(r, key->at, "%s is defined twice, first as %s in line %u, column %u",
		toml_quote(key->text, quoted), toml_type_name(first->type), first->key_at.line,
		first->key_at.column);
}

/* Notes where something stands; *ret_index is for toml_parse_span_close. */
static int toml_parse_span_open(struct toml_reader *r, struct toml_span span, size_t *ret_index)
{
	struct toml *toml = r->toml;
	*ret_index = toml->span_count;
	if (!r->keep_spans)
		return 0;
	struct toml_span *spans =
		vec_grow(toml->spans, &toml->span_capacity, toml->span_count + 1, sizeof(*spans));
	if (!spans)
		return err_no_memory(r->err);
	toml->spans = spans;
	spans[toml->span_count++] = span;
	return 0;
}

static void toml_parse_span_close(struct toml_reader *r, size_t index)
{
	if (r->keep_spans)
		r->toml->spans[index].end = r->at;
}

/* How a step from a table to the next on the way of a dotted name is made. */
typedef int step_fn(struct toml_reader *r, struct toml_value *table, const struct toml_key *key,
	struct toml_value **ret_next);

/* A table that is not inline stands where its name stands. */
static int toml_parse_add_table(struct toml_reader *r, struct toml_value *parent,
	const struct toml_key *key, enum toml_origin origin, struct toml_value **ret_table)
{
	struct toml_value *table;
	int result = toml_add(r, parent, parent->type == TOML_TABLE ? key : NULL, &table);
	if (result < 0)
		return result;
	toml_make_container(table, TOML_TABLE, origin);
	table->at = key->at;
	*ret_table = table;
	return 0;
}

static bool toml_parse_is_header_array(const struct toml_value *value)
{
	return value->type == TOML_ARRAY && value->origin == TOML_HEADER;
}

/* A header goes through every table that is not inline, and through the
 * newest element of an array made of headers. */
static int toml_parse_step_in_header(struct toml_reader *r, struct toml_value *table,
	const struct toml_key *key, struct toml_value **ret_next)
{
	struct toml_value *found = toml_find(table, key->text);
	if (!found)
		return toml_parse_add_table(r, table, key, TOML_IMPLICIT, ret_next);
	struct toml_value *next =
		toml_parse_is_header_array(found) ? found->items[found->count - 1] : found;
	if (next->type != TOML_TABLE || next->origin == TOML_INLINE)
		return toml_parse_defined_twice(r, key, found);
	*ret_next = next;
	return 0;
}

/* A key goes through tables only that keys of the same section have made. */
static int toml_parse_step_in_key(struct toml_reader *r, struct toml_value *table,
	const struct toml_key *key, struct toml_value **ret_next)
{
	struct toml_value *found = toml_find(table, key->text);
	if (!found)
		return toml_parse_add_table(r, table, key, TOML_DOTTED, ret_next);
	if (found->type != TOML_TABLE || found->origin != TOML_DOTTED)
		return toml_parse_defined_twice(r, key, found);
	*ret_next = found;
	return 0;
}

/* Reads a.b.c: goes from *table to b and leaves c for the caller. */
static int toml_parse_name(
	struct toml_reader *r, step_fn *step, struct toml_value **table, struct toml_key *ret_last)
{
	for (;;) {
		toml_skip_blanks(r);
		int result = toml_read_key(r, ret_last);
		if (result < 0)
			return result;
		toml_skip_blanks(r);
		if (!toml_take(r, '.'))
			return 0;
		result = step(r, *table, ret_last, table);
		if (result < 0)
			return result;
	}
}

/* key = value, of a section or of an inline table. */
static int toml_parse_pair(struct toml_reader *r, struct toml_value *table)
{
	size_t start = r->at;
	struct toml_value *owner = table;
	struct toml_key key;
	int result = toml_parse_name(r, toml_parse_step_in_key, &owner, &key);
	if (result < 0)
		return result;
	struct toml_value *first = toml_find(owner, key.text);
	if (first)
		return toml_parse_defined_twice(r, &key, first);
	if (!toml_take(r, '='))
		return toml_expected(r, "`=` behind the key");
	toml_skip_blanks(r);
	struct toml_value *value;
	result = toml_add(r, owner, &key, &value);
	size_t span;
	if (result == 0)
		result =
			toml_parse_span_open(r, (struct toml_span){ table, value, start, r->at, 0 }, &span);
	if (result == 0)
		result = toml_parse_value(r, value);
	if (result == 0)
		toml_parse_span_close(r, span);
	return result;
}

static int toml_parse_element(struct toml_reader *r, struct toml_value *array)
{
	struct toml_value *value;
	size_t span;
	int result = toml_add(r, array, NULL, &value);
	if (result == 0)
		result =
			toml_parse_span_open(r, (struct toml_span){ array, value, r->at, r->at, 0 }, &span);
	if (result == 0)
		result = toml_parse_value(r, value);
	if (result == 0)
		toml_parse_span_close(r, span);
	return result;
}

static int toml_parse_array(struct toml_reader *r, struct toml_value *array)
{
	toml_make_container(array, TOML_ARRAY, TOML_INLINE);
	r->at++;
	for (;;) {
		int result = toml_skip_blank_lines(r);
		if (result < 0)
			return result;
		if (toml_take(r, ']'))
			return 0;
		result = toml_parse_element(r, array);
		if (result == 0)
			result = toml_skip_blank_lines(r);
		if (result < 0)
			return result;
		if (!toml_take(r, ',') && toml_peek(r) != ']')
			return toml_expected(r, "`,` or `]` behind an element");
	}
}

static int toml_parse_inline_table(struct toml_reader *r, struct toml_value *table)
{
	toml_make_container(table, TOML_TABLE, TOML_INLINE);
	r->at++;
	toml_skip_blanks(r);
	if (toml_take(r, '}'))
		return 0;
	do {
		toml_skip_blanks(r);
		int result = toml_parse_pair(r, table);
		if (result < 0)
			return result;
		toml_skip_blanks(r);
	} while (toml_take(r, ','));
	return toml_take(r, '}') ? 0 : toml_expected(r, "`,` or `}` behind a value");
}

static int toml_parse_no_value(struct toml_reader *r)
{
	return toml_expected(r, toml_is_bare(toml_peek(r)) ? "a value (text needs quotes)" : "a value");
}

static int toml_parse_bool(struct toml_reader *r, struct toml_value *value)
{
	size_t start = r->at;
	struct str word = toml_word(r);
	value->type = TOML_BOOL;
	value->boolean = str_is(word, "true");
	if (value->boolean || str_is(word, "false"))
		return 0;
	r->at = start;
	return toml_parse_no_value(r);
}

static int toml_parse_value(struct toml_reader *r, struct toml_value *value)
{
	int c = toml_peek(r);
	switch (c) {
	case '"':
	case '\'':
		value->type = TOML_STRING;
		return toml_read_string(r, &value->string);
	case '[':
		return toml_parse_array(r, value);
	case '{':
		return toml_parse_inline_table(r, value);
	case 't':
	case 'f':
		return toml_parse_bool(r, value);
	default:
		if (toml_is_time(r))
			return toml_read_time(r, value);
		bool is_number = c > 0 && strchr("0123456789+-in", c);
		return is_number ? toml_read_number(r, value) : toml_parse_no_value(r);
	}
}

/* [name]: a table may have been needed before, but not defined. */
static int toml_parse_open_table(struct toml_reader *r, struct toml_value *parent,
	const struct toml_key *key, struct toml_value **ret_table)
{
	struct toml_value *found = toml_find(parent, key->text);
	if (!found)
		return toml_parse_add_table(r, parent, key, TOML_HEADER, ret_table);
	if (found->type != TOML_TABLE || found->origin != TOML_IMPLICIT)
		return toml_parse_defined_twice(r, key, found);
	found->origin = TOML_HEADER;
	found->at = found->key_at = key->at;
	*ret_table = found;
	return 0;
}

/* [[name]]: the next element. */
static int toml_parse_open_element(struct toml_reader *r, struct toml_value *parent,
	const struct toml_key *key, struct toml_value **ret_table)
{
	struct toml_value *array = toml_find(parent, key->text);
	if (array && !toml_parse_is_header_array(array))
		return toml_parse_defined_twice(r, key, array);
	if (!array) {
		int result = toml_add(r, parent, key, &array);
		if (result < 0)
			return result;
		toml_make_container(array, TOML_ARRAY, TOML_HEADER);
		array->at = key->at;
	}
	return toml_parse_add_table(r, array, key, TOML_HEADER, ret_table);
}

static int toml_parse_header(struct toml_reader *r, struct toml_value **ret_section)
{
	size_t start = r->at++;
	bool is_element = toml_take(r, '[');
	struct toml_value *table = r->toml->root;
	struct toml_key key;
	int result = toml_parse_name(r, toml_parse_step_in_header, &table, &key);
	if (result < 0)
		return result;
	result = is_element ? toml_parse_open_element(r, table, &key, &table)
						: toml_parse_open_table(r, table, &key, &table);
	if (result < 0)
		return result;
	if (!toml_take(r, ']') || (is_element && !toml_take(r, ']')))
		return toml_expected(r, is_element ? "`]]` behind the name" : "`]` behind the name");
	size_t span;
	result =
		toml_parse_span_open(r, (struct toml_span){ table, table, start, start, r->at }, &span);
	*ret_section = table;
	return result;
}

int toml_read_document(struct toml_reader *r)
{
	struct toml_value *section = r->toml->root;
	for (;;) {
		int result = toml_skip_blank_lines(r);
		if (result < 0 || r->at == r->text.len)
			return result;
		if (toml_peek(r) == '[')
			result = toml_parse_header(r, &section);
		else
			result = toml_parse_pair(r, section);
		if (result == 0)
			result = toml_end_line(r);
		if (result < 0)
			return result;
	}
}
