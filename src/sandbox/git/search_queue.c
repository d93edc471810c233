/* The directories that a walk has met, in the order of their turns. */
#include "sandbox/git/search_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void search_queue_free(struct search_queue *queue)
{
	free(queue->nodes);
	buf_free(&queue->names);
}

int search_queue_add(struct search_queue *queue, size_t holder, const char *name, size_t known)
{
	struct search_node *nodes =
		vec_grow(queue->nodes, &queue->cap, queue->count + 1, sizeof(*queue->nodes));
	if (!nodes)
		return -ENOMEM;
	queue->nodes = nodes;
	nodes[queue->count++] =
		(struct search_node){ (uint32_t)holder, (uint32_t)queue->names.len, (uint32_t)known };
	buf_append(&queue->names, name, strlen(name) + 1);
	return queue->names.failed ? -ENOMEM : 0;
}

/* Puts a text before *at; false when there is no room. */
static bool search_queue_put(char **at, const char *out, const char *text)
{
	size_t len = strlen(text);
	if ((size_t)(*at - out) < len)
		return false;
	*at -= len;
	memcpy(*at, text, len);
	return true;
}

/* Written from its end. */
const char *search_queue_path(
	const struct search_queue *queue, const char *root, size_t number, char out[PATH_MAX])
{
	char *at = out + PATH_MAX - 1;
	*at = '\0';
	while (number) {
		const struct search_node *node = &queue->nodes[number - 1];
		if (!search_queue_put(&at, out, queue->names.data + node->name) ||
			!search_queue_put(&at, out, "/"))
			return NULL;
		number = node->holder;
	}
	if (strcmp(root, "/") != 0 && !search_queue_put(&at, out, root))
		return NULL;
	return *at ? at : "/";
}
