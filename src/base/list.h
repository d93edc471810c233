/* A list whose links live inside its items: putting one in or taking one out never
 * needs memory. A link is the first member of its item, so that a pointer to one
 * is a pointer to the other. `{0}` is an empty list. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stddef.h>

struct link {
	struct link *before, *behind;
};

struct list {
	struct link *first, *last;
	size_t count;
};

static inline void list_append(struct list *list, void *item)
{
	struct link *link = item;
	*link = (struct link){ .before = list->last };
	*(list->last ? &list->last->behind : &list->first) = link;
	list->last = link;
	list->count++;
}

/* Behind this one; NULL = as the first. */
static inline void list_insert(struct list *list, void *item, void *behind_what)
{
	struct link *link = item;
	struct link *before = behind_what;
	struct link *behind = before ? before->behind : list->first;
	*link = (struct link){ .before = before, .behind = behind };
	*(before ? &before->behind : &list->first) = link;
	*(behind ? &behind->before : &list->last) = link;
	list->count++;
}

static inline void list_remove(struct list *list, void *item)
{
	const struct link *link = item;
	*(link->before ? &link->before->behind : &list->first) = link->behind;
	*(link->behind ? &link->behind->before : &list->last) = link->before;
	list->count--;
}

static inline void *list_first(const struct list *list)
{
	return list->first;
}

/* The one behind it, NULL behind the last. */
static inline void *list_next(const void *item)
{
	return ((const struct link *)item)->behind;
}

#endif
