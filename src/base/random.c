/* Names that nobody can guess. */
#include "base/random.h"

#include <sys/random.h>

bool random_hex(char *out, size_t digits)
{
	static const char letters[] = "0123456789abcdef";
	unsigned char bytes[RANDOM_DIGITS_MAX / 2];
	size_t count = digits / 2;
	if (count > sizeof(bytes) || getrandom(bytes, count, 0) != (ssize_t)count)
		return false;
	for (size_t i = 0; i < count; i++) {
		*out++ = letters[bytes[i] >> 4];
		*out++ = letters[bytes[i] & 15];
	}
	*out = '\0';
	return true;
}
