/* A list of paths that is being built, in an arena. */
#include "sandbox/policy/path_list.h"

#include <string.h>

enum { FIRST_CAP = 32 };

/* Room for one more and the NULL behind it. What is outgrown stays the arena's. */
static bool path_list_grow(struct path_list *list)
{
	if (list->count + 2 <= list->cap)
		return true;
	size_t cap = list->cap ? list->cap * 2 : FIRST_CAP;
	const char **items = arena_alloc(list->arena, cap * sizeof(*items));
	if (!items) {
		list->failed = true;
		return false;
	}
	if (list->count)
		memcpy(items, list->items, list->count * sizeof(*items));
	list->items = items;
	list->cap = cap;
	return true;
}

void path_list_begin(struct path_list *list, struct arena *arena, const char *const *start)
{
	*list = (struct path_list){ .arena = arena };
	if (path_list_grow(list))
		list->items[0] = NULL;
	for (; start && *start; start++)
		path_list_add(list, *start);
}

void path_list_add(struct path_list *list, const char *path)
{
	if (list->failed || !path[0] || !path_list_grow(list))
		return;
	list->items[list->count++] = path;
	list->items[list->count] = NULL;
}

void path_list_add_below(struct path_list *list, const char *base, const char *below)
{
	size_t base_len = strlen(base);
	size_t below_len = strlen(below);
	if (list->failed || !base_len)
		return;
	char *path = arena_alloc(list->arena, base_len + below_len + 2);
	if (!path) {
		list->failed = true;
		return;
	}
	memcpy(path, base, base_len + 1);
	if (below_len) {
		path[base_len] = '/';
		memcpy(path + base_len + 1, below, below_len + 1);
	}
	path_list_add(list, path);
}
