/* The content of state.json: one object of strings. Text in, text out; knows nothing of files. */
#ifndef FLEDGE_STATE_H
#define FLEDGE_STATE_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/json.h"

struct state_entry {
	struct str key;
	struct str value;
};

/* `{0}` is an empty state. */
struct state {
	perch_json *json;
	struct state_entry *entries; /* sorted by key, bytewise */
	size_t count;
	size_t cap;
	size_t entries_size; /* of their text, when written */
};

void state_free(struct state *state);

/* Reads a text that must outlive the state; blanks alone are an empty state.
 * Fails with PERCH_ESYNTAX (err tells why it is no object of strings) or
 * -ENOMEM. state must be empty. */
int state_read(struct state *state, struct str text, perch_err *err);

/* The entry of a key, or NULL. */
const struct state_entry *state_get(const struct state *state, struct str key);

/* Gives a key a value; both must outlive the state. Fails, and changes nothing,
 * with PERCH_ELIMIT (*ret_reason says which: too many keys, too large a file) or
 * -ENOMEM. A state that was too large when it was read may not grow. */
int state_set(struct state *state, struct str key, struct str value, const char **ret_reason);

/* Appends the text: two blanks a level, keys sorted, a newline at the end. */
int state_write(const struct state *state, struct buf *out);

#endif
