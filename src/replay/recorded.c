/* Copies of what a recording says. */
#include "replay/recorded.h"

#include "data/json.h"

void recorded_free(struct recorded *recorded)
{
	arena_free(&recorded->arena);
}

struct str recorded_copy(struct recorded *recorded, struct str text)
{
	const char *copy = arena_dup(&recorded->arena, text);
	recorded->failed = recorded->failed || !copy;
	return copy ? (struct str){ copy, text.len } : STR("");
}

const char *recorded_text(
	struct recorded *recorded, const perch_json_value *object, const char *name)
{
	return recorded_copy(recorded, facts_text(object, name)).data;
}

void *recorded_room(struct recorded *recorded, const perch_json_value *list, size_t item_size)
{
	void *room = arena_alloc(&recorded->arena, perch_json_count(list) * item_size + 1);
	recorded->failed = recorded->failed || !room;
	return room;
}

const char *const *recorded_list(struct recorded *recorded, const perch_json_value *list)
{
	static const char *const none[] = { NULL };
	const char **items =
		arena_alloc(&recorded->arena, (perch_json_count(list) + 1) * sizeof(*items));
	recorded->failed = recorded->failed || !items;
	if (!items)
		return none;
	size_t count = 0;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str text = { 0 };
		text.data = perch_json_string(item, &text.len);
		if (text.data)
			items[count++] = recorded_copy(recorded, text).data;
	}
	items[count] = NULL;
	return items;
}

struct capabilities recorded_capabilities(struct recorded *recorded, const perch_json_value *object)
{
	struct capabilities set = { 0 };
	filesystem_from_name(recorded_text(recorded, object, "filesystem"), &set.filesystem);
	for (const struct capability *one = capability_table; one->name; one++)
		capabilities_put(&set, one, json_flag(object, one->name));
	return set;
}
