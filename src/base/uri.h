/* Text as a part of a URI. */
#ifndef BASE_URI_H
#define BASE_URI_H

#include "base/buf.h"
#include "base/str.h"

/* Appends it with all that is not a letter, a digit or one of -._~ written as %XX. */
void uri_append(struct buf *out, struct str text);

/* The same of a path, whose slashes stay. */
void uri_append_path(struct buf *out, struct str path);

#endif
