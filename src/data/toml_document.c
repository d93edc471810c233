/* A document as a whole: what is checked before the first key is read, and the
 * memory that everything in it shares. */
#include "data/toml_reader.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/utf8.h"

/* Bytes that are no characters are found here, once and for all: what comes
 * later may rely on UTF-8. */
static int toml_document_check_text(struct toml_reader *r)
{
	if (r->text.len > r->limits.size_max)
		return err_set(r->err, PERCH_ELIMIT, "the text has %zu bytes (the limit is %zu)",
			r->text.len, r->limits.size_max);
	size_t valid = utf8_valid_prefix(r->text.data, r->text.len);
	if (valid == r->text.len)
		return 0;
	r->at = valid;
	return toml_fail(r, toml_here(r), "expected UTF-8, found the byte 0x%02X",
		(unsigned char)r->text.data[valid]);
}

static void toml_document_skip_byte_order_mark(struct toml_reader *r)
{
	if (str_has_prefix(r->text, STR("\xEF\xBB\xBF")))
		r->at = r->mark = 3;
}

static struct toml_options toml_document_effective_limits(const struct toml_options *options)
{
	struct toml_options limits = options ? *options : (struct toml_options){ 0 };
	if (limits.size_max == 0)
		limits.size_max = TOML_SIZE_MAX;
	if (limits.depth_max == 0)
		limits.depth_max = TOML_DEPTH_MAX;
	if (limits.depth_max > TOML_DEPTH_HIGHEST)
		limits.depth_max = TOML_DEPTH_HIGHEST;
	if (limits.values_max == 0)
		limits.values_max = TOML_VALUES_MAX;
	if (limits.values_max > INT32_MAX)
		limits.values_max = INT32_MAX;
	return limits;
}

static int toml_document_add_root(struct toml_reader *r)
{
	struct toml_value *root = arena_alloc(&r->toml->arena, sizeof(*root));
	if (!root)
		return err_no_memory(r->err);
	*root = (struct toml_value){ .at = { 1, 1 }, .key_at = { 1, 1 }, .key = STR("") };
	toml_make_container(root, TOML_TABLE, TOML_HEADER);
	r->toml->root = root;
	return 0;
}

static int toml_document_read_text(struct toml_reader *r)
{
	int result = toml_document_add_root(r);
	if (result == 0)
		result = toml_document_check_text(r);
	if (result < 0)
		return result;
	toml_document_skip_byte_order_mark(r);
	return toml_read_document(r);
}

int toml_read(struct str text, const struct toml_options *options, bool keep_spans,
	struct toml **ret_toml, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = calloc(1, sizeof(*toml));
	if (!toml)
		return err_no_memory(err);
	struct toml_reader reader = {
		.text = text,
		.toml = toml,
		.limits = toml_document_effective_limits(options),
		.keep_spans = keep_spans,
		.mark_place = { 1, 1 },
		.err = err,
	};
	int result = toml_document_read_text(&reader);
	buf_free(&reader.scratch);
	if (reader.c_locale)
		freelocale(reader.c_locale);
	if (result == 0)
		*ret_toml = steal(&toml);
	return result;
}

int toml_parse(
	struct str text, const struct toml_options *options, struct toml **ret_toml, perch_err *err)
{
	return toml_read(text, options, false, ret_toml, err);
}

void toml_free(struct toml *toml)
{
	if (!toml)
		return;
	arena_free(&toml->arena);
	free(toml->spans);
	free(toml);
}

const struct toml_value *toml_root(const struct toml *toml)
{
	return toml->root;
}
