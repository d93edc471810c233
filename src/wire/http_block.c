/* Cutting a block of lines, and lines into fields. What a fault is depends on the bytes up
 * to it alone, never on how they were cut into pieces. */
#include "wire/http_block.h"

void http_block_free(struct http_block *block)
{
	buf_free(&block->text);
	*block = (struct http_block){ 0 };
}

static void block_take(struct str *input, size_t len)
{
	input->data += len;
	input->len -= len;
}

/* The next byte is no part of the text of a line: it ends the line, or is wrong. */
static int block_take_end(struct http_block *block, struct str *input, struct http_fault *fault)
{
	char c = input->data[0];
	if (block->is_after_cr && c != '\n')
		return http_fault_set(fault, 400, "a CR without LF");
	if (!block->is_after_cr && c == '\n')
		return http_fault_set(fault, 400, "a line that ends with LF alone");
	if (c != '\r' && c != '\n')
		return http_fault_set(fault, 400, "a control character in the head");
	block->is_after_cr = c == '\r';
	block_take(input, 1);
	int r = buf_append_char(&block->text, c);
	return r < 0 ? r : c == '\n';
}

/* Takes what fits even of a text that is too long: what it begins with says which limit it
 * has crossed. */
static int block_take_text(struct http_block *block, struct str *input, size_t max)
{
	size_t room = max - block->text.len;
	size_t len = http_line_span(input->data, input->len < room ? input->len : room);
	int r = buf_append(&block->text, input->data, len);
	block_take(input, len);
	return r;
}

int http_block_line(struct http_block *block, struct str *input, size_t max, struct str *ret_line,
	struct http_fault *fault)
{
	int r = 0;
	while (r == 0 && input->len) {
		if (!block->is_after_cr)
			r = block_take_text(block, input, max);
		if (r == 0 && input->len)
			r = block->text.len < max ? block_take_end(block, input, fault) : PERCH_ELIMIT;
	}
	if (r != 1)
		return r;
	size_t begin = block->line_at;
	block->line_at = block->text.len;
	*ret_line = (struct str){ block->text.data + begin, block->text.len - begin - 2 };
	return 1;
}

int http_field_read(struct str line, struct http_field *ret_field, struct http_fault *fault)
{
	if (http_is_blank(line.data[0]))
		return http_fault_set(fault, 400, "a header field that is folded");
	const char *colon = memchr(line.data, ':', line.len);
	if (!colon)
		return http_fault_set(fault, 400, "a header field without a colon");
	struct str name = { line.data, (size_t)(colon - line.data) };
	if (name.len && http_is_blank(name.data[name.len - 1]))
		return http_fault_set(fault, 400, "a blank between a header field's name and the colon");
	if (!http_is_token(name))
		return http_fault_set(fault, 400, "the name of a header field is none");
	*ret_field =
		(struct http_field){ name, http_trim((struct str){ colon + 1, line.len - name.len - 1 }) };
	return 0;
}

void http_block_count_field(struct http_block *block, struct str line)
{
	if (block->field_count++ == 0)
		block->fields_at = (size_t)(line.data - block->text.data);
}

void http_block_fields(const struct http_block *block, struct http_field *fields)
{
	struct http_fault none;
	const char *at = block->text.data + block->fields_at;
	const char *last = block->text.data + block->text.len;
	for (size_t i = 0; i < block->field_count; i++) {
		const char *end = memchr(at, '\n', (size_t)(last - at));
		http_field_read((struct str){ at, (size_t)(end - 1 - at) }, &fields[i], &none);
		at = end + 1;
	}
}
