/* The fields of a message, and the mistakes in them. */
#ifndef FLEDGE_READING_H
#define FLEDGE_READING_H

#include "fledge/fledge_engine_parts.h"

struct reading {
	struct fledge_engine *engine;
	const perch_json_value *message;
	const perch_json_value *id; /* NULL = none */
	const char *type;
	bool is_wrong; /* a field was; it was warned about, and refused */
	uint64_t now_ns;
};

/* A field by name; null counts as absent. */
const perch_json_value *reading_field(const struct reading *reading, const char *name);

/* The first wrong field of a message is told; a plugin that waits for an answer gets a cancel. */
void reading_wrong(struct reading *reading, const char *name, const char *wanted);

/* The same for a field that is of the right type: its value is told, not its type. */
void reading_unfit(struct reading *reading, const char *name, const char *wanted);

/* Optional fields say whether they are there, and are left alone if not. A
 * wrong type is told and makes the reading wrong. */
bool reading_text(struct reading *reading, const char *name, struct str *ret);
bool reading_bool(struct reading *reading, const char *name, bool *ret);
bool reading_number(struct reading *reading, const char *name, double *ret);

/* An index into a list; negative or too large counts as absent, with a warning. */
bool reading_index(struct reading *reading, const char *name, const perch_json_value *value,
	size_t count, size_t *ret);

/* Required fields: missing is wrong too. */
struct str reading_required_text(struct reading *reading, const char *name);

/* A list of strings, copied into the arena. */
const perch_text *reading_required_list(
	struct reading *reading, const char *name, struct arena *arena, size_t *ret_count);

/* ---- message_question.c -------------------------------------------------- */

void message_prompt(struct reading *reading);
void message_confirm(struct reading *reading);
void message_select(struct reading *reading);
void message_multi_select(struct reading *reading);

#endif
