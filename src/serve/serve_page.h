/* The page that a browser shows: the files of src/page, packed into the program. */
#ifndef SERVE_SERVE_PAGE_H
#define SERVE_SERVE_PAGE_H

#include <stddef.h>

struct exchange;

struct page_file {
	const char *name;
	const char *type;
	const char *tag; /* its ETag, with the quotation marks */
	const unsigned char *data;
	size_t size; /* packed by gzip */
};

/* Ends with a row without a name. Written by the build (tools/embed_page.py). */
extern const struct page_file page_files[];

/* GET / and GET /page/NAME. */
void page_index(struct exchange *exchange);
void page_get(struct exchange *exchange);

#endif
