/* Lines as HTTP has them: of a head, and of what may follow the last chunk of a body. Bytes
 * go in as they come; a line ends with CR LF and with nothing else, and a byte that must
 * not be in one is refused when it is seen. A field is a line with a name and a value. */
#ifndef WIRE_HTTP_BLOCK_H
#define WIRE_HTTP_BLOCK_H

#include "base/buf.h"
#include "wire/http_text.h"

struct http_field {
	struct str name;
	struct str value; /* without blanks around it */
};

/* `{0}` is an empty block. */
struct http_block {
	struct buf text; /* every line with its end */
	size_t line_at;  /* where the line that is being read begins */
	size_t fields_at;
	size_t field_count;
	bool is_after_cr;
};

void http_block_free(struct http_block *block);

/* Takes of *input up to the end of a line. Returns 1 and the line, valid until the next
 * call; 0 when all was taken and the line is not whole; PERCH_ESYNTAX with a fault;
 * PERCH_ELIMIT when the block would be longer than max; -ENOMEM. */
int http_block_line(struct http_block *block, struct str *input, size_t max, struct str *ret_line,
	struct http_fault *fault);

/* Reads a line as a field; 0, or PERCH_ESYNTAX with a fault. It points into the line. */
int http_field_read(struct str line, struct http_field *ret_field, struct http_fault *fault);

/* The line just read is a field: counts it. The first one begins the fields. */
void http_block_count_field(struct http_block *block, struct str line);

/* Writes the fields, which were all found good, to an array of field_count. */
void http_block_fields(const struct http_block *block, struct http_field *fields);

#endif
