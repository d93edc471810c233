/* What perch and yyjson are compared by. */
#ifndef RIVAL_H
#define RIVAL_H

#include <yyjson.h>

#include "perch/json.h"

/* A text: how each writes it, and what each looks up in it: both must find the same. */
struct content {
	const char *name;
	size_t count; /* of records, numbers, strings, levels */
	void (*write_ours)(const struct content *content, perch_json_writer *writer);
	yyjson_mut_val *(*write_theirs)(const struct content *content, yyjson_mut_doc *doc);
	double (*read_ours)(const perch_json_value *root);
	double (*read_theirs)(yyjson_val *root);
};

extern const struct content contents[];
extern const size_t contents_count;

/* Fills the long texts. */
void contents_prepare(void);

#endif
