/* Base64 (RFC 4648). */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes become four digits; of a last group with fewer bytes the digits
 * that say nothing are '='. */
static void encode_group(const unsigned char *bytes, size_t count, char out[4])
{
	uint32_t bits = (uint32_t)bytes[0] << 16;
	bits |= count > 1 ? (uint32_t)bytes[1] << 8 : 0;
	bits |= count > 2 ? (uint32_t)bytes[2] : 0;
	out[0] = digits[bits >> 18];
	out[1] = digits[bits >> 12 & 63];
	out[2] = (char)(count > 1 ? digits[bits >> 6 & 63] : '=');
	out[3] = (char)(count > 2 ? digits[bits & 63] : '=');
}

int base64_append(struct buf *out, const void *data, size_t len)
{
	const unsigned char *bytes = data;
	if (len > SIZE_MAX / 2 || buf_reserve(out, (len / 3 + 1) * 4) < 0)
		return -ENOMEM;
	for (size_t at = 0; at < len; at += 3) {
		encode_group(bytes + at, len - at, out->data + out->len);
		out->len += 4;
	}
	return 0;
}
