/* The object of strings in state.json. The strings stay where they were read
 * or set; the state is a sorted list of references to them. */
#include "fledge/state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/vec.h"
#include "data/json.h"
#include "fledge/store.h"

/* What the text has besides its entries: "{", "}\n", and either nothing or a
 * line break in the place of the comma that the last entry does not have. */
enum { FRAME_SIZE = 3 };

/* An entry has a line break and two blanks before it, ": " inside, "," behind. */
enum { PUNCTUATION_SIZE = 6, QUOTES_SIZE = 4 };

void state_free(struct state *state)
{
	perch_json_free(state->json);
	free(state->entries);
	*state = (struct state){ 0 };
}

static int state_compare_entries(const void *a, const void *b)
{
	return str_compare(((const struct state_entry *)a)->key, ((const struct state_entry *)b)->key);
}

static size_t state_entry_size(const struct state_entry *entry)
{
	return PUNCTUATION_SIZE + QUOTES_SIZE + json_written_size(entry->key) +
		json_written_size(entry->value);
}

static void state_count_size(struct state *state)
{
	for (size_t i = 0; i < state->count; i++)
		state->entries_size += state_entry_size(&state->entries[i]);
}

static int state_make_room(struct state *state, size_t count)
{
	void *grown = vec_grow(state->entries, &state->cap, count, sizeof(*state->entries));
	if (!grown)
		return -ENOMEM;
	state->entries = grown;
	return 0;
}

static int state_take_members(struct state *state, const perch_json_value *root, perch_err *err)
{
	if (perch_json_type_of(root) != PERCH_JSON_OBJECT)
		return err_set(err, PERCH_ESYNTAX, "not an object");
	if (state_make_room(state, perch_json_count(root) + 1) < 0)
		return err_no_memory(err);
	perch_json_iter iter = perch_json_iterate(root);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		if (perch_json_type_of(value) != PERCH_JSON_STRING)
			return err_set(err, PERCH_ESYNTAX, "a value is %s, not a string",
				perch_json_type_name(perch_json_type_of(value)));
		state->entries[state->count++] =
			(struct state_entry){ json_str(iter.name), json_str(value) };
	}
	if (state->count)
		qsort(state->entries, state->count, sizeof(*state->entries), state_compare_entries);
	state_count_size(state);
	return 0;
}

/* Strict: the text will be written again, so nothing may be lost in reading it. */
static const perch_json_options strict = {
	.size = sizeof(strict),
	.depth_max = 1,
	.reject_lone_surrogates = true,
};

int state_read(struct state *state, struct str text, perch_err *err)
{
	if (str_trim(text).len == 0)
		return 0;
	const perch_json_value *root = NULL;
	int r = perch_json_new(&strict, &state->json);
	if (r < 0)
		return err_no_memory(err);
	r = perch_json_parse(state->json, text.data, text.len, &root, err);
	if (r == PERCH_ELIMIT)
		return err_set(err, PERCH_ESYNTAX, "not an object of strings");
	return r < 0 ? r : state_take_members(state, root, err);
}

/* The place of the key, or the one that it would have. */
static size_t state_find_place(const struct state *state, struct str key, bool *ret_found)
{
	size_t low = 0;
	size_t high = state->count;
	*ret_found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_compare(state->entries[middle].key, key);
		*ret_found |= order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct state_entry *state_get(const struct state *state, struct str key)
{
	bool found;
	size_t place = state_find_place(state, key, &found);
	return found ? &state->entries[place] : NULL;
}

static void state_put(struct state *state, size_t place, bool is_new, struct state_entry entry)
{
	struct state_entry *at = &state->entries[place];
	if (is_new) {
		memmove(at + 1, at, (state->count - place) * sizeof(*at));
		state->count++;
	}
	*at = entry;
}

int state_set(struct state *state, struct str key, struct str value, const char **ret_reason)
{
	struct state_entry entry = { key, value };
	bool found;
	size_t place = state_find_place(state, key, &found);
	if (state_make_room(state, state->count + 1) < 0)
		return -ENOMEM;
	if (!found && state->count >= STORE_KEYS_MAX) {
		*ret_reason = "too many keys (max 256)";
		return PERCH_ELIMIT;
	}
	size_t old_size = found ? state_entry_size(&state->entries[place]) : 0;
	size_t total = state->entries_size - old_size + state_entry_size(&entry);
	if (FRAME_SIZE + total > STORE_FILE_MAX) {
		*ret_reason = "state.json too large (max 1 MiB)";
		return PERCH_ELIMIT;
	}
	state->entries_size = total;
	state_put(state, place, !found, entry);
	return 0;
}

int state_write(const struct state *state, struct buf *out)
{
	struct perch_json_writer writer = json_writer_on(out);
	writer.style = PERCH_JSON_PRETTY;
	perch_json_begin_object(&writer);
	for (size_t i = 0; i < state->count; i++) {
		perch_json_write_name_n(&writer, state->entries[i].key.data, state->entries[i].key.len);
		perch_json_write_string_n(
			&writer, state->entries[i].value.data, state->entries[i].value.len);
	}
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
	return out->failed ? -ENOMEM : 0;
}
