/* Text as a part of a URI. */
#include "base/uri.h"

#include <string.h>

static void uri_append_but(struct buf *out, struct str text, char kept)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	for (size_t i = 0; i < text.len; i++) {
		char at = text.data[i];
		if (at && (strchr(plain, at) || at == kept))
			buf_append_char(out, at);
		else
			buf_printf(out, "%%%02X", (unsigned)(unsigned char)at);
	}
}

void uri_append(struct buf *out, struct str text)
{
	uri_append_but(out, text, '\0');
}

void uri_append_path(struct buf *out, struct str path)
{
	uri_append_but(out, path, '/');
}
