/* YAML 1.2 for settings: builds the tree from the events of libyaml. */
#include "data/yaml.h"

#include <stdint.h>
#include <string.h>
#include <yaml.h>

#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"

/* A value that an alias may refer to. */
struct anchor {
	const char *name;
	const struct yaml_value *value;
	bool is_open; /* we are still inside of it */
	struct anchor *next;
};

/* A list or mapping that is not closed yet. */
struct frame {
	struct yaml_value *value;
	size_t cap;
	bool has_name; /* a mapping: its last entry waits for its value */
};

struct reader {
	yaml_parser_t parser;
	struct str text;
	struct arena *arena;
	perch_err *err;
	struct anchor *anchors;
	struct frame frames[YAML_DEPTH_MAX];
	size_t depth;
	const struct yaml_value *root;
};

static const char *const type_names[] = {
	[YAML_NULL] = "nothing",
	[YAML_BOOL] = "true or false",
	[YAML_INT] = "a whole number",
	[YAML_FLOAT] = "a number",
	[YAML_STRING] = "a string",
	[YAML_LIST] = "a list",
	[YAML_MAP] = "a mapping",
};

const char *yaml_type_name(enum yaml_type type)
{
	return type_names[type];
}

static unsigned yaml_count_from_one(size_t n)
{
	return n < UINT32_MAX ? (unsigned)n + 1 : UINT32_MAX;
}

static int yaml_fail(struct reader *reader, int code, const yaml_mark_t *mark, const char *what)
{
	return err_set_at(reader->err, code, yaml_count_from_one(mark->line),
		yaml_count_from_one(mark->column), "%s", what);
}

/* The mistakes that people make, in words that say what to do; libyaml's for the rest. */
static const char *yaml_words(const char *problem)
{
	static const char *const words[][2] = {
		{ "found character that cannot start any token",
			"no value begins with this character: a tab must be blanks, any other be in quotes" },
		{ "mapping values are not allowed in this context",
			"this ':' belongs to no key: a value that has one must be in quotes" },
		{ "did not find expected node content",
			"a value is missing here: is a [ or { before it not closed?" },
	};
	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(problem, words[i][0]) == 0)
			return words[i][1];
	}
	return problem;
}

/* It counts problems in the encoding by bytes alone. */
static int yaml_fail_to_read(struct reader *reader)
{
	yaml_parser_t *parser = &reader->parser;
	if (parser->error == YAML_MEMORY_ERROR)
		return err_no_memory(reader->err);
	const char *problem = yaml_words(parser->problem ? parser->problem : "not YAML");
	if (parser->error != YAML_READER_ERROR)
		return yaml_fail(reader, PERCH_ESYNTAX, &parser->problem_mark, problem);
	size_t offset = parser->problem_offset;
	unsigned line, column;
	if (offset > reader->text.len)
		offset = reader->text.len;
	json_position(reader->text, reader->text.data + offset, &line, &column);
	return err_set_at(reader->err, PERCH_ESYNTAX, line, column, "%s", problem);
}

/* ---- anchors ------------------------------------------------------------- */

static int yaml_remember_anchor(
	struct reader *reader, const yaml_char_t *name, const struct yaml_value *value, bool is_open)
{
	if (!name)
		return 0;
	struct anchor *anchor = arena_alloc(reader->arena, sizeof(*anchor));
	const char *kept = arena_dup(reader->arena, str_from((const char *)name));
	if (!anchor || !kept)
		return err_no_memory(reader->err);
	*anchor = (struct anchor){ kept, value, is_open, reader->anchors };
	reader->anchors = anchor;
	return 0;
}

static void yaml_close_anchors(struct reader *reader, const struct yaml_value *value)
{
	for (struct anchor *anchor = reader->anchors; anchor; anchor = anchor->next) {
		if (anchor->value == value)
			anchor->is_open = false;
	}
}

static int yaml_find_anchor(
	struct reader *reader, const yaml_event_t *event, const struct yaml_value **ret_value)
{
	const char *name = (const char *)event->data.alias.anchor;
	for (const struct anchor *anchor = reader->anchors; anchor; anchor = anchor->next) {
		if (strcmp(anchor->name, name) != 0)
			continue;
		if (anchor->is_open)
			return yaml_fail(
				reader, PERCH_ESYNTAX, &event->start_mark, "this alias is inside of its anchor");
		*ret_value = anchor->value;
		return 0;
	}
	return yaml_fail(reader, PERCH_ESYNTAX, &event->start_mark, "there is no anchor of this name");
}

/* ---- values into their places -------------------------------------------- */

static int yaml_add_entry(struct reader *reader, struct frame *frame, struct yaml_entry entry)
{
	struct yaml_value *container = frame->value;
	if (container->count == frame->cap) {
		size_t cap = frame->cap ? frame->cap * 2 : 8;
		struct yaml_entry *entries = arena_alloc(reader->arena, cap * sizeof(*entries));
		if (!entries)
			return err_no_memory(reader->err);
		if (container->count)
			memcpy(entries, container->entries, container->count * sizeof(*entries));
		container->entries = entries;
		frame->cap = cap;
	}
	container->entries[container->count++] = entry;
	return 0;
}

/* {{NAME}} without quotes is read as a mapping whose key is a mapping. */
static bool yaml_is_placeholder(const struct yaml_value *container, const struct yaml_value *name)
{
	return name->type == YAML_MAP && name->line == container->line &&
		name->column == container->column + 1 && name->count;
}

static int yaml_add_name(struct reader *reader, struct frame *frame, const struct yaml_value *name,
	const yaml_mark_t *mark)
{
	if (yaml_is_placeholder(frame->value, name))
		return err_set_at(reader->err, PERCH_ESYNTAX, frame->value->line, frame->value->column,
			"a value that begins with {{ must be in quotes: \"{{%.100s}}…\"",
			name->entries[0].name);
	if (name->type >= YAML_LIST)
		return yaml_fail(reader, PERCH_ESYNTAX, mark, "a key must be a plain word or a string");
	for (size_t i = 0; i < frame->value->count; i++) {
		if (strcmp(frame->value->entries[i].name, name->text) == 0)
			return err_set_at(reader->err, PERCH_ESYNTAX, yaml_count_from_one(mark->line),
				yaml_count_from_one(mark->column), "the key '%.100s' stands here a second time",
				name->text);
	}
	frame->has_name = true;
	return yaml_add_entry(reader, frame,
		(struct yaml_entry){ .name = name->text, .line = name->line, .column = name->column });
}

static int yaml_place(
	struct reader *reader, const struct yaml_value *value, const yaml_mark_t *mark)
{
	if (!reader->depth) {
		reader->root = value;
		return 0;
	}
	struct frame *frame = &reader->frames[reader->depth - 1];
	struct yaml_value *container = frame->value;
	container->weight += value->weight;
	if (container->weight > YAML_VALUES_MAX)
		return yaml_fail(reader, PERCH_ELIMIT, mark, "too many values");
	if (container->type == YAML_LIST)
		return yaml_add_entry(reader, frame, (struct yaml_entry){ .value = value });
	if (!frame->has_name)
		return yaml_add_name(reader, frame, value, mark);
	frame->has_name = false;
	container->entries[container->count - 1].value = value;
	return 0;
}

static struct yaml_value *yaml_new_value(
	struct reader *reader, enum yaml_type type, const yaml_mark_t *mark)
{
	struct yaml_value *value = arena_alloc(reader->arena, sizeof(*value));
	if (value)
		*value = (struct yaml_value){
			.type = type,
			.line = yaml_count_from_one(mark->line),
			.column = yaml_count_from_one(mark->column),
			.weight = 1,
		};
	return value;
}

/* ---- events -------------------------------------------------------------- */

static const struct {
	const char *tag;
	enum yaml_type type;
} tags[] = {
	{ YAML_NULL_TAG, YAML_NULL },
	{ YAML_BOOL_TAG, YAML_BOOL },
	{ YAML_INT_TAG, YAML_INT },
	{ YAML_FLOAT_TAG, YAML_FLOAT },
	{ YAML_STR_TAG, YAML_STRING },
	{ YAML_SEQ_TAG, YAML_LIST },
	{ YAML_MAP_TAG, YAML_MAP },
};

/* A tag must be one of the core schema and say what the value is anyway. */
static int yaml_check_tag(
	struct reader *reader, const yaml_char_t *tag, enum yaml_type type, const yaml_mark_t *mark)
{
	if (!tag || strcmp((const char *)tag, "!") == 0)
		return 0;
	for (size_t i = 0; i < COUNT(tags); i++) {
		if (strcmp((const char *)tag, tags[i].tag) == 0 && tags[i].type == type)
			return 0;
	}
	return yaml_fail(reader, PERCH_ESYNTAX, mark, "this tag cannot be used here");
}

static bool yaml_is_plain(const yaml_event_t *event)
{
	const char *tag = (const char *)event->data.scalar.tag;
	bool is_said_string = tag && (strcmp(tag, "!") == 0 || strcmp(tag, YAML_STR_TAG) == 0);
	return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !is_said_string;
}

static int yaml_take_scalar(struct reader *reader, const yaml_event_t *event)
{
	struct str text = { (const char *)event->data.scalar.value, event->data.scalar.length };
	const yaml_mark_t *mark = &event->start_mark;
	if (memchr(text.data, '\0', text.len))
		return yaml_fail(reader, PERCH_ESYNTAX, mark, "a text must not have a NUL in it");
	struct yaml_value *value = yaml_new_value(reader, YAML_STRING, mark);
	const char *kept = arena_dup(reader->arena, text);
	if (!value || !kept)
		return err_no_memory(reader->err);
	value->text = kept;
	if (yaml_is_plain(event))
		yaml_resolve(value);
	int r = yaml_check_tag(reader, event->data.scalar.tag, value->type, mark);
	if (r == 0)
		r = yaml_remember_anchor(reader, event->data.scalar.anchor, value, false);
	return r < 0 ? r : yaml_place(reader, value, mark);
}

static int yaml_open_container(struct reader *reader, const yaml_event_t *event,
	enum yaml_type type, const yaml_char_t *anchor, const yaml_char_t *tag)
{
	const yaml_mark_t *mark = &event->start_mark;
	if (reader->depth == YAML_DEPTH_MAX)
		return yaml_fail(reader, PERCH_ELIMIT, mark, "nested too deeply");
	struct yaml_value *value = yaml_new_value(reader, type, mark);
	if (!value)
		return err_no_memory(reader->err);
	int r = yaml_check_tag(reader, tag, type, mark);
	if (r == 0)
		r = yaml_remember_anchor(reader, anchor, value, true);
	if (r == 0)
		reader->frames[reader->depth++] = (struct frame){ .value = value };
	return r;
}

static int yaml_close_container(struct reader *reader, const yaml_event_t *event)
{
	const struct yaml_value *value = reader->frames[--reader->depth].value;
	yaml_close_anchors(reader, value);
	return yaml_place(reader, value, &event->start_mark);
}

static int yaml_take_alias(struct reader *reader, const yaml_event_t *event)
{
	const struct yaml_value *value = NULL;
	int r = yaml_find_anchor(reader, event, &value);
	return r < 0 ? r : yaml_place(reader, value, &event->start_mark);
}

static int yaml_take_document(struct reader *reader, const yaml_event_t *event)
{
	if (reader->root)
		return yaml_fail(
			reader, PERCH_ESYNTAX, &event->start_mark, "a second document begins here");
	return 0;
}

static int yaml_take(struct reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return yaml_take_document(reader, event);
	case YAML_ALIAS_EVENT:
		return yaml_take_alias(reader, event);
	case YAML_SCALAR_EVENT:
		return yaml_take_scalar(reader, event);
	case YAML_SEQUENCE_START_EVENT:
		return yaml_open_container(reader, event, YAML_LIST, event->data.sequence_start.anchor,
			event->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return yaml_open_container(reader, event, YAML_MAP, event->data.mapping_start.anchor,
			event->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return yaml_close_container(reader, event);
	default:
		return 0;
	}
}

static int yaml_read_events(struct reader *reader)
{
	for (;;) {
		yaml_event_t event;
		if (!yaml_parser_parse(&reader->parser, &event))
			return yaml_fail_to_read(reader);
		int r = yaml_take(reader, &event);
		bool is_last = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
		if (r < 0 || is_last)
			return r;
	}
}

int yaml_parse(
	struct str text, struct arena *arena, const struct yaml_value **ret_root, perch_err *err)
{
	if (text.len > YAML_TEXT_MAX)
		return err_set(err, PERCH_ELIMIT, "longer than %d bytes", YAML_TEXT_MAX);
	struct str mark = STR("\xEF\xBB\xBF"); /* which libyaml takes for the first column */
	if (str_has_prefix(text, mark))
		text = (struct str){ text.data + mark.len, text.len - mark.len };
	struct reader reader = { .arena = arena, .err = err, .text = text };
	if (!yaml_parser_initialize(&reader.parser))
		return err_no_memory(err);
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&reader.parser, (const unsigned char *)(text.data ? text.data : ""), text.len);
	int r = yaml_read_events(&reader);
	yaml_parser_delete(&reader.parser);
	if (r < 0)
		return r;
	if (!reader.root)
		reader.root = yaml_new_value(&reader, YAML_NULL, &(yaml_mark_t){ 0 });
	if (!reader.root)
		return err_no_memory(err);
	*ret_root = reader.root;
	return 0;
}
