/* Growing an array of anything. The array itself stays a plain typed pointer
 * with a length and a capacity beside it. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

/* Returns `items` with room for at least `need` items of `item_size` bytes and
 * updates *cap, or NULL when there is no memory (items stays valid then). */
void *vec_grow(void *items, size_t *cap, size_t need, size_t item_size);

#endif
