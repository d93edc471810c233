/* The parts of a target: percent signs decoded, parameters of a query, segments of a path.
 * Everything is bounded by what the caller has room for. */
#ifndef WIRE_HTTP_URL_H
#define WIRE_HTTP_URL_H

#include "base/str.h"
#include "perch/base.h"

enum http_decoding {
	HTTP_DECODE_PATH,
	HTTP_DECODE_QUERY, /* '+' is a blank */
};

/* Decodes into out and ends it with a NUL. Returns its length; PERCH_ESYNTAX for a percent
 * sign without two digits, a NUL, or what is not UTF-8; PERCH_ELIMIT when it does not fit. */
int http_url_decode(struct str text, enum http_decoding decoding, char *out, size_t size);

/* The value of the parameter of this name, decoded into out. Returns its length, or -1… as
 * above; -ENOENT when there is none, -EEXIST when there are several: it would be a guess which
 * one counts. */
int http_query_get(struct str query, const char *name, char *out, size_t size);

/* Cuts the next parameter off *query, not decoded; false behind the last. Empty ones are skipped.
 */
bool http_query_next(struct str *query, struct str *ret_name, struct str *ret_value);

enum { HTTP_SEGMENTS_MAX = 16 };

/* "/api/jobs/7" is "api", "jobs", "7", not decoded. */
struct http_segments {
	struct str items[HTTP_SEGMENTS_MAX];
	size_t count;
};

/* "/" has none. PERCH_ESYNTAX: it does not begin with '/', or a segment is empty, "." or "..",
 * plain or encoded; PERCH_ELIMIT: too many. */
int http_path_split(struct str path, struct http_segments *ret_segments);

#endif
