/* Base64 (RFC 4648). */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes become four digits; in a shorter last group, '=' takes the place of the digits that
 * no byte needs. */
static void base64_encode_group(const unsigned char *bytes, size_t count, char out[4])
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
		base64_encode_group(bytes + at, len - at, out->data + out->len);
		out->len += 4;
	}
	return 0;
}

/* The value of a digit, or -1. */
static int base64_value_of(char digit)
{
	if (digit >= 'A' && digit <= 'Z')
		return digit - 'A';
	if (digit >= 'a' && digit <= 'z')
		return digit - 'a' + 26;
	if (digit >= '0' && digit <= '9')
		return digit - '0' + 52;
	return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

/* Returns how many bytes the four digits stand for, 0 = they are not base64. */
static size_t base64_decode_group(const char *group, bool is_last, char out[3])
{
	size_t count = !is_last || group[3] != '=' ? 3 : group[2] != '=' ? 2 : 1;
	uint32_t bits = 0;
	for (size_t i = 0; i < 4; i++) {
		int value = i <= count ? base64_value_of(group[i]) : 0;
		if (value < 0)
			return 0;
		bits = bits << 6 | (uint32_t)value;
	}
	if (bits & ((1u << (8 * (3 - count))) - 1))
		return 0;
	for (size_t i = 0; i < count; i++)
		out[i] = (char)(bits >> (16 - 8 * i));
	return count;
}

bool base64_is(struct str text)
{
	char bytes[3];
	bool is_good = text.len % 4 == 0;
	for (size_t at = 0; is_good && at < text.len; at += 4)
		is_good = base64_decode_group(text.data + at, at + 4 == text.len, bytes);
	return is_good;
}

int base64_append_decoded(struct buf *out, struct str text)
{
	if (text.len % 4)
		return -EINVAL;
	if (buf_reserve(out, text.len / 4 * 3) < 0)
		return -ENOMEM;
	for (size_t at = 0; at < text.len; at += 4) {
		size_t count =
			base64_decode_group(text.data + at, at + 4 == text.len, out->data + out->len);
		if (!count)
			return -EINVAL;
		out->len += count;
	}
	return 0;
}
