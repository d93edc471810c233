/* Pieces of a text to be cut out or replaced. */
#include "data/toml_change.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"

void toml_patch_put(struct toml_patches *patches, size_t start, size_t end, size_t from)
{
	struct toml_patch *items =
		vec_grow(patches->items, &patches->capacity, patches->count + 1, sizeof(*items));
	if (!items) {
		patches->inserted.failed = true;
		return;
	}
	patches->items = items;
	items[patches->count++] = (struct toml_patch){ start, end, from, patches->inserted.len };
}

void toml_patch_cut(struct toml_patches *patches, size_t start, size_t end)
{
	toml_patch_put(patches, start, end, patches->inserted.len);
}

/* By place; at one place in the order they were made. */
static int toml_patch_compare(const void *left, const void *right)
{
	const struct toml_patch *a = left;
	const struct toml_patch *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

int toml_patch_apply(struct toml_patches *patches, struct str text, struct buf *out)
{
	if (patches->inserted.failed)
		return -ENOMEM;
	if (patches->count)
		qsort(patches->items, patches->count, sizeof(*patches->items), toml_patch_compare);
	size_t at = 0;
	for (size_t i = 0; i < patches->count; i++) {
		const struct toml_patch *patch = &patches->items[i];
		if (patch->start > at)
			buf_append(out, text.data + at, patch->start - at);
		if (patch->to > patch->from)
			buf_append(out, patches->inserted.data + patch->from, patch->to - patch->from);
		at = patch->end > at ? patch->end : at;
	}
	return at < text.len ? buf_append(out, text.data + at, text.len - at)
						 : (out->failed ? -ENOMEM : 0);
}

void toml_patches_free(struct toml_patches *patches)
{
	free(patches->items);
	buf_free(&patches->inserted);
	*patches = (struct toml_patches){ 0 };
}
