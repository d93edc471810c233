/* Copies of what a recording says that outlive the record, and whether there was memory for all of
 * them. */
#ifndef REPLAY_RECORDED_H
#define REPLAY_RECORDED_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "registry/capabilities.h"
#include "trace/facts.h"

/* `{0}` is an empty one. */
struct recorded {
	struct arena arena;
	bool failed; /* memory ran out: texts given out since are empty */
};

void recorded_free(struct recorded *recorded);

struct str recorded_copy(struct recorded *recorded, struct str text);

/* The member of an object as a text, "" when it is none. */
const char *recorded_text(
	struct recorded *recorded, const perch_json_value *object, const char *name);

/* The strings of a list, NULL-terminated. */
const char *const *recorded_list(struct recorded *recorded, const perch_json_value *list);

/* The capabilities that the members of an object name. */
struct capabilities recorded_capabilities(
	struct recorded *recorded, const perch_json_value *object);

/* Room for so many items of a list. NULL only after a failure. */
void *recorded_room(struct recorded *recorded, const perch_json_value *list, size_t item_size);

#endif
