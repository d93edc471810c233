/* The life of a document: its options, and the memory it keeps. */
#include "perch/json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "base/vec.h"
#include "data/json_reader.h"

/* Memory beyond this is given back before the next text, so that one huge
 * message does not make its document huge for ever. */
enum { KEPT_BYTES = 1024 * 1024 };

static int json_document_copy_options(
	const perch_json_options *options, perch_json_options *ret_copy)
{
	perch_json_options copy = PERCH_JSON_OPTIONS_INIT;
	const size_t first = SIZED_UP_TO(perch_json_options, reject_lone_surrogates);
	int r = options ? sized_copy(&copy, sizeof(copy), options, first, NULL) : 0;
	if (r < 0)
		return r;
	if (copy.text_max == 0)
		copy.text_max = PERCH_JSON_TEXT_MAX;
	if (copy.depth_max == 0)
		copy.depth_max = PERCH_JSON_DEPTH_MAX;
	if (copy.text_max > PERCH_JSON_TEXT_CEILING ||
		(unsigned)copy.duplicates > PERCH_JSON_DUPLICATES_REJECT)
		return -EINVAL;
	*ret_copy = copy;
	return 0;
}

int perch_json_new(const perch_json_options *options, perch_json **ret_json)
{
	perch_json_options copy;
	int r = json_document_copy_options(options, &copy);
	if (r < 0)
		return r;
	perch_json *json = calloc(1, sizeof(*json));
	if (!json)
		return -ENOMEM;
	json->options = copy;
	*ret_json = json;
	return 0;
}

void perch_json_free(perch_json *json)
{
	if (!json)
		return;
	free(json->values);
	free(json->frames);
	free(json->decoded);
	free(json->copy);
	free(json->sorted);
	free(json);
}

static void json_document_give_back_large_memory(perch_json *json)
{
	if (json->cap > KEPT_BYTES / sizeof(*json->values)) {
		free(steal(&json->values));
		json->cap = 0;
	}
	if (json->frames_cap > KEPT_BYTES / sizeof(*json->frames)) {
		free(steal(&json->frames));
		json->frames_cap = 0;
	}
	if (json->decoded_size > KEPT_BYTES) {
		free(steal(&json->decoded));
		json->decoded_size = 0;
	}
	if (json->copy_size > KEPT_BYTES) {
		free(steal(&json->copy));
		json->copy_size = 0;
	}
	if (json->sorted_cap > KEPT_BYTES / sizeof(*json->sorted)) {
		free(steal(&json->sorted));
		json->sorted_cap = 0;
	}
}

void perch_json_clear(perch_json *json)
{
	json->text = NULL;
	json->length = 0;
	json_document_give_back_large_memory(json);
}

void perch_json_where(
	const perch_json *json, const perch_json_value *value, unsigned *ret_line, unsigned *ret_column)
{
	struct str text = { json->text, json->length };
	json_position(text, value ? value->text : text.data, ret_line, ret_column);
}

bool parser_grow(struct parser *parser)
{
	perch_json *json = parser->json;
	size_t count = json->values ? (size_t)(parser->next - json->values) : 0;
	size_t cap = json->cap;
	uintptr_t old = (uintptr_t)json->values;
	perch_json_value *grown = vec_grow(json->values, &json->cap, json->cap + 1, sizeof(*grown));
	if (!grown)
		return false;
	if (json->cap <= JSON_KEPT_VALUES)
		memset(grown + cap, 0, (json->cap - cap) * sizeof(*grown));
	for (struct json_frame *frame = json->frames + 1; frame <= parser->frame; frame++)
		frame->value = grown + ((uintptr_t)frame->value - old) / sizeof(*grown);
	json->values = grown;
	parser->next = grown + count;
	parser->values_end = grown + json->cap;
	return true;
}

bool json_reader_grow(struct parser *parser, const char *at)
{
	bool has_grown = parser_grow(parser);
	if (!has_grown)
		parser_fail_with(parser, at, -ENOMEM);
	return has_grown;
}
