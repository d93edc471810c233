/* Base64 (RFC 4648), for bytes that have to travel as text. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends the bytes as base64, padded, in one line. 0 or -ENOMEM. */
int base64_append(struct buf *out, const void *data, size_t len);

/* Appends the bytes that such a text stands for. 0, -ENOMEM, or -EINVAL when it is no base64:
 * blanks, missing padding, or unused bits that are not 0. */
int base64_append_decoded(struct buf *out, struct str text);

/* Whether a text can be decoded. */
bool base64_is(struct str text);

#endif
