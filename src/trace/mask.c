/* Stars over secrets. The meaning of a line is read from the line itself; only the answer to a load
 * looks like any other, so its id is remembered. In doubt too much is masked, never too little. */
#include "trace/mask.h"

#include <errno.h>

#include "data/json.h"

int mask_init(struct mask *mask)
{
	*mask = (struct mask){ 0 };
	const perch_json_options options = {
		.size = sizeof(options),
		.text_max = PERCH_JSON_TEXT_CEILING,
		.replace_invalid_utf8 = true,
	};
	return perch_json_new(&options, &mask->json);
}

void mask_free(struct mask *mask)
{
	perch_json_free(mask->json);
}

/* ---- which answers are stored values -------------------------------------- */

/* FNV-1a. Two ids with one hash are treated alike: too much is masked. */
static uint64_t mask_hash_text(struct str text, uint64_t hash)
{
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001B3);
	return hash;
}

/* A number is echoed as it was written, a string as it reads. */
static bool mask_read_id(const perch_json_value *message, uint64_t *ret_hash)
{
	const perch_json_value *id = perch_json_get(message, "id");
	perch_json_type type = perch_json_type_of(id);
	struct str text = { 0 };
	if (type == PERCH_JSON_STRING)
		text.data = perch_json_string(id, &text.len);
	else if (type == PERCH_JSON_NUMBER)
		text.data = perch_json_raw(id, &text.len);
	*ret_hash = mask_hash_text(text, (uint64_t)type);
	return text.data != NULL;
}

static struct mask_id *mask_find_id(struct mask *mask, uint64_t hash)
{
	for (size_t i = 0; i < mask->id_count; i++) {
		if (mask->ids[i].hash == hash)
			return &mask->ids[i];
	}
	return NULL;
}

static void mask_note_request(struct mask *mask, const perch_json_value *message)
{
	uint64_t hash;
	if (perch_json_is(perch_json_get(message, "type"), "response") || !mask_read_id(message, &hash))
		return;
	struct mask_id *id = mask_find_id(mask, hash);
	if (!id && mask->id_count == MASK_IDS_MAX) {
		mask->lost_track = true;
		return;
	}
	if (!id) {
		id = &mask->ids[mask->id_count++];
		*id = (struct mask_id){ .hash = hash };
	}
	id->waiting++;
	id->has_load |= perch_json_is(perch_json_get(message, "type"), "load");
}

/* An answer is sent. Returns whether its value may be a stored one. */
static bool mask_settle_answer(struct mask *mask, const perch_json_value *message)
{
	uint64_t hash;
	struct mask_id *id = mask_read_id(message, &hash) ? mask_find_id(mask, hash) : NULL;
	if (!id)
		return mask->lost_track;
	bool has_load = id->has_load;
	if (--id->waiting == 0)
		*id = mask->ids[--mask->id_count];
	return has_load || mask->lost_track;
}

/* ---- stars ----------------------------------------------------------------- */

/* The line and its copy. */
struct sheet {
	struct str line;
	char *copy;
	bool has_stars;
};

/* Puts a string of stars where the value stands; null hides nothing. */
static void mask_blot(struct sheet *sheet, const perch_json_value *value)
{
	if (perch_json_type_of(value) == PERCH_JSON_NULL)
		return;
	size_t len;
	char *at = sheet->copy + (perch_json_raw(value, &len) - sheet->line.data);
	memset(at, len == 1 ? '0' : '*', len); /* one byte is a digit and stays a number */
	if (len > 1)
		at[0] = at[len - 1] = '"';
	sheet->has_stars = true;
}

/* Calls `use` for every member of that name (NULL = of any), also for those that
 * do not count because a later one has the same name. */
static void mask_for_members(struct sheet *sheet, const perch_json_value *object, const char *name,
	void (*use)(struct sheet *sheet, const perch_json_value *value))
{
	if (perch_json_type_of(object) != PERCH_JSON_OBJECT)
		return;
	const perch_json_value *end = json_skip(object);
	for (const perch_json_value *member = object + 1; member < end;) {
		const perch_json_value *value = member + 1;
		if (!name || perch_json_is(member, name))
			use(sheet, value);
		member = json_skip(value);
	}
}

static void mask_blot_members(struct sheet *sheet, const perch_json_value *object)
{
	mask_for_members(sheet, object, NULL, mask_blot);
}

static void mask_blot_env(struct sheet *sheet, const perch_json_value *object)
{
	mask_for_members(sheet, object, "env", mask_blot_members);
}

static void mask_message(
	struct mask *mask, bool is_from_plugin, struct sheet *sheet, const perch_json_value *message)
{
	const perch_json_value *type = perch_json_get(message, "type");
	bool is_answer = perch_json_is(type, "response") || perch_json_is(type, "cancel");
	bool is_stored = perch_json_is(type, "store");
	if (is_from_plugin)
		mask_note_request(mask, message);
	else if (is_answer)
		is_stored |= mask_settle_answer(mask, message);
	if (is_stored)
		mask_for_members(sheet, message, "value", mask_blot);
	else if (is_answer)
		mask_for_members(sheet, message, "value", mask_blot_env);
}

/* ---- MCP servers ----------------------------------------------------------- */

static void mask_blot_value(struct sheet *sheet, const perch_json_value *pair)
{
	mask_for_members(sheet, pair, "value", mask_blot);
}

static void mask_each(struct sheet *sheet, const perch_json_value *list,
	void (*use)(struct sheet *sheet, const perch_json_value *value))
{
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));)
		use(sheet, item);
}

static void mask_blot_pairs(struct sheet *sheet, const perch_json_value *pairs)
{
	mask_each(sheet, pairs, mask_blot_value);
}

static void mask_server(struct sheet *sheet, const perch_json_value *server)
{
	mask_for_members(sheet, server, "env", mask_blot_pairs);
	mask_for_members(sheet, server, "headers", mask_blot_pairs);
}

static void mask_server_list(struct sheet *sheet, const perch_json_value *servers)
{
	mask_each(sheet, servers, mask_server);
}

static void mask_server_lists(struct sheet *sheet, const perch_json_value *place)
{
	mask_for_members(sheet, place, "mcpServers", mask_server_list);
	mask_for_members(sheet, place, "mcp_servers", mask_server_list);
}

/* ---- lines ----------------------------------------------------------------- */

static char *mask_find_value(const char *text, size_t len)
{
	static const char name[] = "\"value\"";
	return memmem(text, len, name, sizeof(name) - 1);
}

/* A text that cannot be read as JSON may still hold a value: all of it is masked. */
static void mask_garbage(struct sheet *sheet)
{
	if (!mask_find_value(sheet->line.data, sheet->line.len))
		return;
	memset(sheet->copy, '*', sheet->line.len);
	sheet->has_stars = true;
}

/* Copies the text and reads it. *ret_root is NULL when it is no JSON. */
static int mask_lay_out(
	struct mask *mask, struct str text, struct buf *copy, const perch_json_value **ret_root)
{
	buf_clear(copy);
	*ret_root = NULL;
	if (buf_append(copy, text.data, text.len) < 0)
		return -ENOMEM;
	int r = perch_json_parse(mask->json, text.data, text.len, ret_root, NULL);
	return r == -ENOMEM ? r : 0;
}

int mask_line(struct mask *mask, bool is_from_plugin, struct str line, struct buf *copy)
{
	const perch_json_value *message;
	if (mask_lay_out(mask, line, copy, &message) < 0)
		return -ENOMEM;
	struct sheet sheet = { .line = line, .copy = copy->data };
	if (message)
		mask_message(mask, is_from_plugin, &sheet, message);
	else if (line.len)
		mask_garbage(&sheet);
	return sheet.has_stars;
}

int mask_servers(struct mask *mask, struct str line, struct buf *copy)
{
	const perch_json_value *message;
	if (mask_lay_out(mask, line, copy, &message) < 0)
		return -ENOMEM;
	struct sheet sheet = { .line = line, .copy = copy->data };
	mask_for_members(&sheet, message, "params", mask_server_lists);
	mask_for_members(&sheet, message, "context", mask_server_lists);
	return sheet.has_stars;
}

/* A note quotes a line from its start: the bytes before the name are no value. */
bool mask_words(char *words, size_t len)
{
	char *at = mask_find_value(words, len);
	if (!at)
		return false;
	memset(at, '*', (size_t)(words + len - at));
	return true;
}

int mask_value(struct mask *mask, struct str json, struct buf *copy)
{
	const perch_json_value *value;
	if (mask_lay_out(mask, json, copy, &value) < 0)
		return -ENOMEM;
	struct sheet sheet = { .line = json, .copy = copy->data };
	if (perch_json_type_of(value) == PERCH_JSON_STRING)
		mask_blot(&sheet, value);
	else
		mask_blot_env(&sheet, value);
	return sheet.has_stars;
}
