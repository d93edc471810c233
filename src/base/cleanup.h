/* Cleanup attributes: what a scope owns is released on every way out of it. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}
#define _cleanup_free_ _cleanup_(cleanup_free)

/* Takes a pointer out of a variable that would free it: `*ret = steal(&p);` */
static inline void *steal_void(void *pointer)
{
	void *taken = *(void **)pointer;
	*(void **)pointer = NULL;
	return taken;
}
#define steal(pointer) ((__typeof__(*(pointer)))steal_void(pointer))

/* Defines a cleanup function for `type *variable` that calls `function`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a name and a type take none */
#define DEFINE_POINTER_CLEANUP(name, type, function) \
	static inline void name(type **pointer)          \
	{                                                \
		function(*pointer);                          \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
