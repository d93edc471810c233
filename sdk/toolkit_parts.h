/* What the parts of the tool kit know of each other. */
#ifndef SDK_TOOLKIT_PARTS_H
#define SDK_TOOLKIT_PARTS_H

#include "kit.h"
#include "perch/toolkit.h"

struct perch_toolkit_call {
	struct arena arena;
	const perch_json_value *root; /* the input */
	const perch_json_value *context;
	const char *request_id;
	const char *tool;
	const char *input;
};

struct perch_toolkit_answer {
	struct buf text; /* the output, or the error object */
	struct perch_json_writer members;
	bool is_whole; /* given as one JSON value */
	bool has_failed;
	struct buf nowhere; /* where members go that come too late */
	struct perch_json_writer dropped;
};

#endif
