/* Structures of callers that know an older or a newer version of the library. */
#include "base/sized.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

int sized_copy(void *to, size_t size, const void *from, size_t first, perch_err *err)
{
	size_t given;
	memcpy(&given, from, sizeof(given));
	if (given == 0)
		given = first;
	memcpy(to, from, given < size ? given : size);
	memcpy(to, &size, sizeof(size));
	for (size_t i = size; i < given; i++) {
		if (((const char *)from)[i])
			return err_set(
				err, -EINVAL, "something is set that this version of the library does not know");
	}
	return 0;
}
