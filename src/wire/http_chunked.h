/* The chunked coding of a body, up to the end of the last chunk's line: sizes, extensions
 * (checked and skipped) and data. */
#ifndef WIRE_HTTP_CHUNKED_H
#define WIRE_HTTP_CHUNKED_H

#include "wire/http_text.h"

struct http_chunked {
	uint64_t left;           /* of the chunk that is being read */
	uint64_t room;           /* bytes that the body may still have */
	uint32_t extension_room; /* the same of the extensions */
	uint8_t state;
	uint8_t digits;
};

void http_chunked_begin(struct http_chunked *chunked, uint64_t body_max, size_t extensions_max);

enum http_chunked_news {
	HTTP_CHUNKED_WANTS_INPUT, /* all was taken */
	HTTP_CHUNKED_DATA,        /* a piece of the body, in the input */
	HTTP_CHUNKED_LAST,        /* trailers follow, or the empty line */
};

/* Takes of *input. Returns what came, or PERCH_ESYNTAX with a fault. */
int http_chunked_take(struct http_chunked *chunked, struct str *input, struct str *ret_data,
	struct http_fault *fault);

#endif
