/* Structures that a caller hands in, perhaps built against another version of the
 * library: their first member is a size_t with their size, or 0. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <stddef.h>

#include "perch/base.h"

/* The size of a structure whose last member is this one. */
#define SIZED_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Copies the members that both versions of the structure have into `to`, which is `size` bytes and
 * keeps its other members. `first` is the size that 0 stands for: that of the first published
 * version. Fails with -EINVAL when the caller's structure is longer than ours and sets a member
 * that we do not know: it asks for something we cannot do. The copy is made even so. */
int sized_copy(void *to, size_t size, const void *from, size_t first, perch_err *err);

#endif
