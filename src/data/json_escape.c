/* The part of a string from which on it is not plain ASCII, when it is written. */
#include "base/utf8.h"
#include "data/json.h"
#include "data/json_scan.h"

static const char json_escape_short_form[128] = {
	['"'] = '"',
	['\\'] = '\\',
	['\b'] = 'b',
	['\t'] = 't',
	['\n'] = 'n',
	['\f'] = 'f',
	['\r'] = 'r',
};

static void json_escape_put(struct buf *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char escape[] = { '\\', json_escape_short_form[c & 0x7F] };
	if (escape[1]) {
		buf_append(out, escape, sizeof(escape));
		return;
	}
	char long_form[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
	buf_append(out, long_form, sizeof(long_form));
}

/* ASCII with escapes among it, as far as it goes, into a buffer with room for all of it. */
static __attribute__((noinline, aligned(64))) const char *json_escape_append_ascii(
	struct buf *out, const char *at, const char *end)
{
	char *to = out->data + out->len;
	while (at < end && (unsigned char)*at < 0x80) {
		unsigned char c = (unsigned char)*at;
		if (json_plain_ascii[c]) {
			at = json_copy_dense(at, end, &to);
			continue;
		}
		at++;
		if (json_escape_short_form[c]) {
			to[0] = '\\';
			to[1] = json_escape_short_form[c];
			to += 2;
		} else {
			out->len = (size_t)(to - out->data);
			json_escape_put(out, c);
			to = out->data + out->len;
		}
	}
	out->len = (size_t)(to - out->data);
	return at;
}

bool json_escape_append(struct buf *out, const char *at, const char *end)
{
	enum { SHORT = 256, ESCAPE_MOST = 6 };
	if (end - at <= SHORT && json_has_room(out, (size_t)(end - at) * ESCAPE_MOST + 1))
		at = json_escape_append_ascii(out, at, end);
	while (at < end) {
		const char *stop = at;
		if ((unsigned char)*at < 0x80) {
			json_escape_put(out, (unsigned char)*stop++);
		} else {
			unsigned high = 0;
			stop = json_scan(at, end, &high);
			utf8_append_replaced(out, at, (size_t)(stop - at));
		}
		if (!json_has_room(out, (size_t)(end - stop) + 1))
			return false;
		at = json_copy_ascii(stop, end, out->data + out->len);
		out->len += (size_t)(at - stop);
	}
	return true;
}

static size_t json_escape_ascii_size(unsigned char c)
{
	return json_escape_short_form[c] ? sizeof("\\n") - 1 : c < 0x20 ? sizeof("\\u0000") - 1 : 1;
}

size_t json_written_size(struct str text)
{
	size_t size = 0;
	while (text.len) {
		uint32_t character;
		size_t len = 1;
		if ((unsigned char)text.data[0] < 0x80) {
			size += json_escape_ascii_size((unsigned char)text.data[0]);
		} else {
			char written[UTF8_MAX];
			len = utf8_decode(text.data, text.len, &character);
			size += utf8_encode(character, written);
		}
		text = (struct str){ text.data + len, text.len - len };
	}
	return size;
}
