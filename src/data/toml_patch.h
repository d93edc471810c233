/* Pieces of a text to be cut out or replaced, collected first and applied in
 * one pass. */
#ifndef DATA_TOML_PATCH_H
#define DATA_TOML_PATCH_H

#include "base/buf.h"
#include "base/str.h"

struct toml_patch {
	size_t start, end; /* of the old text */
	size_t from, to;   /* of the inserted text */
};

/* A failed allocation is remembered in inserted.failed. */
struct toml_patches {
	struct toml_patch *items;
	size_t count;
	size_t capacity;
	struct buf inserted;
};

/* Replaces [start, end) by what was appended to `inserted` since it had `from`
 * bytes. */
void toml_patch_put(struct toml_patches *patches, size_t start, size_t end, size_t from);

void toml_patch_cut(struct toml_patches *patches, size_t start, size_t end);

/* Appends the changed text to out. Cuts may overlap. -ENOMEM on failure. */
int toml_patch_apply(struct toml_patches *patches, struct str text, struct buf *out);

void toml_patches_free(struct toml_patches *patches);

#endif
