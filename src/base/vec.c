/* Growing an array of anything. */
#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>

enum { VEC_FIRST_CAPACITY = 8 };

void *vec_grow(void *items, size_t *cap, size_t need, size_t item_size)
{
	if (need <= *cap)
		return items;
	size_t wanted = *cap < VEC_FIRST_CAPACITY ? VEC_FIRST_CAPACITY : *cap;
	while (wanted < need && wanted <= SIZE_MAX / 2)
		wanted *= 2;
	if (wanted < need || wanted > SIZE_MAX / 2 / item_size)
		return NULL;
	void *grown = realloc(items, wanted * item_size);
	if (grown)
		*cap = wanted;
	return grown;
}
