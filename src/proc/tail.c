/* The last bytes of a stream, in bounded memory. */
#include "proc/tail.h"

#include "base/utf8.h"

/* Up to twice the limit is kept, so that bytes are moved once per `limit`
 * bytes and not with every append. */
int tail_append(struct tail *tail, const char *data, size_t len)
{
	tail->total += len;
	if (len >= tail->limit) {
		buf_clear(&tail->kept);
		return buf_append(&tail->kept, data + len - tail->limit, tail->limit);
	}
	if (tail->kept.len + len > 2 * tail->limit)
		buf_consume(&tail->kept, tail->kept.len + len - tail->limit);
	int r = buf_append(&tail->kept, data, len);
	tail->kept.failed = false;
	return r;
}

static int tail_is_continuation(char byte)
{
	return ((unsigned char)byte & 0xC0) == 0x80;
}

struct str tail_text(const struct tail *tail)
{
	struct str text = { tail->kept.data, tail->kept.len };
	if (text.len > tail->limit) {
		text.data += text.len - tail->limit;
		text.len = tail->limit;
	}
	bool is_cut = text.len < tail->total;
	for (int i = 0; is_cut && i < UTF8_MAX - 1 && text.len && tail_is_continuation(text.data[0]);
		 i++) {
		text.data++;
		text.len--;
	}
	return text;
}
