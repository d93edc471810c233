/* The answer of a command to a program (--json): one JSON object with a schema_version. */
#ifndef CLI_UI_ENVELOPE_H
#define CLI_UI_ENVELOPE_H

#include "data/json.h"
#include "registry/capabilities.h"

struct envelope {
	struct buf out;
	perch_json_writer writer;
};

/* Begins {"schema_version":1,… and ends it: then it is printed, and the exit code
 * returned. The envelope must not be moved in between. */
void envelope_begin(struct envelope *envelope);
int envelope_end(struct envelope *envelope);

/* Prints an answer that only says why there is none, {"schema_version":1,"error":"…"}. Returns
 * `code`. */
int envelope_fail(const char *error, int code);

/* Members: "name": "text" (null for NULL), ["…"] of a NULL-terminated list (which may be
 * NULL), or of the names alone of such a list of NAME=VALUE, true, 1, and the beginnings of what is
 * closed by perch_json_end_object or _array. */
void member_text(perch_json_writer *writer, const char *name, const char *text);
void member_list(perch_json_writer *writer, const char *name, const char *const *list);
void member_variables(perch_json_writer *writer, const char *name, const char *const *env);
void member_bool(perch_json_writer *writer, const char *name, bool value);
void member_number(perch_json_writer *writer, const char *name, int64_t value);
void member_object(perch_json_writer *writer, const char *name);
void member_array(perch_json_writer *writer, const char *name);

/* An object of flat booleans, and "filesystem" where that is narrowed. */
void member_capabilities(
	perch_json_writer *writer, const char *name, const struct capabilities *capabilities);

#endif
