/* toml_edit: random edits of random texts. The first test compares trees, the
 * second one follows every line of texts whose lines are marked. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/toml_edit.h"
#include "harness/toml_trial.h"

enum { TEXTS = 3000, EDITS_PER_TEXT = 8, CHUNKS_MAX = 200, SECTIONS_MAX = 10 };

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
	return trial_random(&seed) % limit;
}

/* What some lines are, and so who may take them away. */
enum kind { BLANK, FREE_COMMENT, HEADER_COMMENT, HEADER, PAIR, INNER_COMMENT };

/* Some lines of a text. Each but the blank ones holds a comment with a number
 * of its own, so that it can be found again. */
struct chunk {
	enum kind kind;
	size_t section; /* that it stands in, or behind */
	size_t start, end;
	size_t value_start, value_end;
	char key[16];
	bool is_dotted; /* d.key */
};

struct section {
	struct toml_step steps[6];
	size_t count;
};

struct document {
	struct buf text;
	struct chunk chunks[CHUNKS_MAX];
	size_t chunk_count;
	struct section sections[SECTIONS_MAX]; /* in the order of the text; the root is the first */
	size_t section_count;
	const char *newline;
};

static const char *const values[] = {
	"1",
	"'x # y'",
	"\"\\\"\"",
	"[1, 2]",
	"{ a = 1, b.c = '}' }",
	"1979-05-27 07:32:00",
	"\"\"\"~[[p]]~name = 1~# x \\\" \"\"\"",
	"'''~[t0]~'''",
	"[~  'a', # ] x~  \"]\",~]",
	"[[], [{}]]",
};

static struct chunk *begin_chunk(struct document *document, enum kind kind)
{
	ck_assert_uint_lt(document->chunk_count, CHUNKS_MAX);
	struct chunk *chunk = &document->chunks[document->chunk_count];
	*chunk = (struct chunk){
		.kind = kind, .section = document->section_count - 1, .start = document->text.len
	};
	return chunk;
}

static void end_chunk(struct document *document)
{
	struct chunk *chunk = &document->chunks[document->chunk_count];
	if (chunk->kind != BLANK)
		buf_printf(&document->text, " #L%zu.", document->chunk_count);
	buf_append_text(&document->text, document->newline);
	chunk->end = document->text.len;
	document->chunk_count++;
}

static void add_line(struct document *document, enum kind kind)
{
	begin_chunk(document, kind);
	buf_append_text(&document->text, below(2) ? "" : "\t");
	end_chunk(document);
}

static void add_pair(struct document *document, uint32_t number)
{
	struct chunk *chunk = begin_chunk(document, PAIR);
	struct buf *text = &document->text;
	snprintf(chunk->key, sizeof(chunk->key), "k%u", (unsigned)number);
	chunk->is_dotted = below(3) == 0;
	buf_printf(text, "%s%s%s%s", below(2) ? "" : "  ", chunk->is_dotted ? "d . " : "", chunk->key,
		below(2) ? "=" : "  = ");
	chunk->value_start = text->len;
	for (const char *c = values[below(COUNT(values))]; *c; c++)
		buf_append_text(text, *c == '~' ? document->newline : (char[]){ *c, 0 });
	chunk->value_end = text->len;
	end_chunk(document);
}

static void add_pairs(struct document *document)
{
	for (uint32_t i = 0, count = below(4); i < count; i++) {
		if (below(4) == 0)
			add_line(document, INNER_COMMENT);
		add_pair(document, i);
	}
}

/* What may stand between sections. A comment with blank lines around it belongs
 * to nobody. */
static void add_gap(struct document *document)
{
	uint32_t choice = below(5);
	if (choice == 0)
		add_line(document, INNER_COMMENT);
	if (choice < 4)
		add_line(document, BLANK);
	if (choice == 1) {
		add_line(document, FREE_COMMENT);
		add_line(document, BLANK);
	}
}

static void add_section(struct document *document, const char *header, struct section section)
{
	add_gap(document);
	document->sections[document->section_count++] = section;
	for (uint32_t i = below(3); i; i--)
		add_line(document, HEADER_COMMENT);
	begin_chunk(document, HEADER);
	buf_append_text(&document->text, header);
	end_chunk(document);
	add_pairs(document);
}

/* What the newest [[p]] has so far: decides which sections may follow. */
struct growth {
	size_t elements, inner;
	bool has_sub;
};

static void add_any_section(struct document *document, struct growth *growth)
{
	static const char *const names[SECTIONS_MAX] = { "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7",
		"t8", "t9" };
	const char *name = names[document->section_count];
	struct section section = { .steps = { { "p", 0 }, { NULL, growth->elements - 1 } } };
	char header[16];
	uint32_t choice = below(5);
	if (choice < 2) {
		section.steps[1].index = growth->elements++;
		section.count = 2;
		growth->inner = 0;
		growth->has_sub = false;
		add_section(document, "[[p]]", section);
	} else if (choice == 2 && growth->elements && !growth->has_sub) {
		section.steps[2].key = "sub";
		section.count = 3;
		growth->has_sub = true;
		add_section(document, "  [ p . sub ]", section);
	} else if (choice == 3 && growth->elements) {
		section.steps[2].key = "q";
		section.steps[3].index = growth->inner++;
		section.count = 4;
		add_section(document, "[[p.\"q\"]]", section);
	} else {
		snprintf(header, sizeof(header), "[%s]", name);
		section = (struct section){ .steps = { { name, 0 } }, .count = 1 };
		add_section(document, header, section);
	}
}

static void make_document(struct document *document)
{
	memset(document, 0, sizeof(*document));
	document->newline = below(3) ? "\n" : "\r\n";
	document->section_count = 1;
	buf_append_text(&document->text, below(8) ? "" : "\xEF\xBB\xBF");
	add_pairs(document);
	struct growth growth = { 0 };
	for (uint32_t i = below(SECTIONS_MAX); i; i--)
		add_any_section(document, &growth);
	add_gap(document);
	if (below(4) == 0 && document->chunk_count) {
		struct chunk *last = &document->chunks[document->chunk_count - 1];
		last->end -= strlen(document->newline); /* no line end at the end */
		document->text.len = last->end;
	}
	ck_assert(!document->text.failed);
}

static struct str document_text(const struct document *document)
{
	return (struct str){ document->text.data ? document->text.data : "", document->text.len };
}

START_TEST(trees_differ_only_where_they_should)
{
	struct document *document = malloc(sizeof(*document));
	for (unsigned i = 0; i < TEXTS; i++) {
		seed = i;
		make_document(document);
		struct toml *toml = NULL;
		perch_err err = { 0 };
		ck_assert_msg(toml_parse(document_text(document), NULL, &toml, &err) == 0,
			"%u:%u: %s\n%.*s", err.line, err.column, err.text, (int)document->text.len,
			document->text.data);
		toml_free(toml);
		for (unsigned j = 0; j < EDITS_PER_TEXT; j++) {
			struct buf out = { 0 };
			const char *problem = trial_run(document_text(document), i * 1000 + j, &out);
			ck_assert_msg(!problem, "text %u, edit %u: %s\n%.*s\n-----\n%.*s", i, j, problem,
				(int)document->text.len, document->text.data, (int)out.len, out.data);
			buf_free(&out);
		}
		buf_free(&document->text);
	}
	free(document);
}
END_TEST

static bool is_below(const struct section *section, const struct section *ancestor)
{
	if (section->count < ancestor->count)
		return false;
	for (size_t i = 0; i < ancestor->count; i++) {
		const struct toml_step *a = &section->steps[i], *b = &ancestor->steps[i];
		if (a->index != b->index || !a->key != !b->key || (a->key && strcmp(a->key, b->key) != 0))
			return false;
	}
	return true;
}

/* Does a chunk go when section `target` goes, or (keeps_header) gets new contents? */
static bool goes(
	const struct document *document, const struct chunk *chunk, size_t target, bool keeps_header)
{
	const struct section *wanted = &document->sections[target];
	bool is_target = chunk->section == target;
	bool is_inside = is_below(&document->sections[chunk->section], wanted);
	if (chunk->kind == FREE_COMMENT) {
		bool has_next = chunk->section + 1 < document->section_count;
		bool is_next_inside = has_next && is_below(&document->sections[chunk->section + 1], wanted);
		return is_inside && is_next_inside && !(keeps_header && is_target);
	}
	bool is_head = chunk->kind == HEADER || chunk->kind == HEADER_COMMENT;
	return is_inside && !(keeps_header && is_target && is_head);
}

static bool has_mark(const char *start, const char *end)
{
	return memmem(start, (size_t)(end - start), "#L", 2) != NULL;
}

/* Every chunk but those that go is there, byte for byte and in order, and no
 * piece of the others between them. */
static void check_lines(const struct document *document, const struct buf *out, const bool *is_gone)
{
	const char *at = out->data ? out->data : "";
	const char *end = at + out->len;
	for (size_t i = 0; i < document->chunk_count; i++) {
		const struct chunk *chunk = &document->chunks[i];
		size_t length = chunk->end - chunk->start;
		if (chunk->kind == BLANK || is_gone[i])
			continue;
		const char *found =
			memmem(at, (size_t)(end - at), document->text.data + chunk->start, length);
		ck_assert_msg(found && !has_mark(at, found), "chunk %zu of\n%.*s\n-----\n%.*s", i,
			(int)document->text.len, document->text.data, (int)out->len, out->data);
		at = found + length;
	}
	ck_assert_msg(!has_mark(at, end), "too much is left of\n%.*s\n-----\n%.*s",
		(int)document->text.len, document->text.data, (int)out->len, out->data);
}

static const struct toml_entry entry = { .key = "new", .type = TOML_STRING, .string = "x" };

static void try_section(const struct document *document, size_t target, bool keeps_header)
{
	struct section section = document->sections[target];
	struct toml_path path = { section.steps, section.count };
	struct buf out = { 0 };
	int result = keeps_header
		? toml_edit_replace(document_text(document), path, &entry, 1, &out, NULL)
		: toml_edit_remove(document_text(document), path, &out, NULL);
	ck_assert_int_ge(result, 0);
	bool is_gone[CHUNKS_MAX];
	for (size_t i = 0; i < document->chunk_count; i++)
		is_gone[i] = goes(document, &document->chunks[i], target, keeps_header);
	check_lines(document, &out, is_gone);
	buf_free(&out);
}

/* old with `middle` instead of the bytes from start to end */
static void ck_patched(
	const struct buf *out, struct str old, size_t start, size_t end, const char *middle)
{
	struct buf wanted = { 0 };
	buf_append(&wanted, old.data, start);
	buf_append_text(&wanted, middle);
	buf_append(&wanted, old.data + end, old.len - end);
	ck_assert_msg(
		str_eq((struct str){ out->data, out->len }, (struct str){ wanted.data, wanted.len }),
		"from\n%.*s\nwanted:\n%.*s\ngot:\n%.*s", (int)old.len, old.data, (int)wanted.len,
		wanted.data, (int)out->len, out->data);
	buf_free(&wanted);
}

static void try_pair(const struct document *document, const struct chunk *chunk)
{
	struct section section = document->sections[chunk->section];
	if (chunk->is_dotted)
		section.steps[section.count++] = (struct toml_step){ "d", 0 };
	struct toml_path path = { section.steps, section.count };
	struct str text = document_text(document);
	struct buf out = { 0 };
	struct toml_entry changed = { .key = chunk->key, .type = TOML_STRING, .string = "new" };
	ck_assert_int_eq(toml_edit_set(text, path, &changed, &out, NULL), 1);
	ck_patched(&out, text, chunk->value_start, chunk->value_end, "\"new\"");
	section.steps[path.count++] = (struct toml_step){ chunk->key, 0 };
	ck_assert_int_eq(toml_edit_remove(text, path, &out, NULL), 1);
	ck_patched(&out, text, chunk->start, chunk->end, "");
	buf_free(&out);
}

START_TEST(lines_stay_or_go_as_they_should)
{
	struct document *document = malloc(sizeof(*document));
	for (unsigned i = 0; i < TEXTS; i++) {
		seed = i + TEXTS;
		make_document(document);
		for (size_t j = 1; j < document->section_count; j++)
			try_section(document, j, below(2));
		for (size_t j = 0; j < document->chunk_count; j++) {
			if (document->chunks[j].kind == PAIR)
				try_pair(document, &document->chunks[j]);
		}
		buf_free(&document->text);
	}
	free(document);
}
END_TEST

SUITE_MAIN("toml_edit_random", trees_differ_only_where_they_should, lines_stay_or_go_as_they_should)
