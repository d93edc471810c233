/* Any bytes as state.json: what is accepted must be written so that it reads as
 * the same again, and its size must be known beforehand. */
#include "fuzz.h"

#include "fledge/state.h"

static void check_same(const struct state *a, const struct state *b)
{
	check(a->count == b->count);
	for (size_t i = 0; i < a->count; i++) {
		check(str_eq(a->entries[i].key, b->entries[i].key));
		check(str_eq(a->entries[i].value, b->entries[i].value));
		check(i == 0 || str_compare(a->entries[i - 1].key, a->entries[i].key) < 0);
		check(state_get(a, a->entries[i].key) == &a->entries[i]);
	}
}

static void check_round_trip(const struct state *state)
{
	struct state again = { 0 };
	struct buf text = { 0 };
	check(state_write(state, &text) == 0);
	check(text.len == state->entries_size + 3);
	check(state_read(&again, (struct str){ text.data, text.len }, NULL) == 0);
	check(again.entries_size == state->entries_size);
	check_same(state, &again);
	state_free(&again);
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct state state = { 0 };
	perch_err err = { 0 };
	int r = state_read(&state, (struct str){ (const char *)data, size }, &err);
	check(r == 0 || (r == PERCH_ESYNTAX && err.text[0]));
	if (r == 0) {
		const char *reason = NULL;
		check_round_trip(&state);
		struct str value = size > 8 ? STR("\1") : STR("value");
		if (state_set(&state, STR("key"), value, &reason) == 0)
			check(str_eq(state_get(&state, STR("key"))->value, value));
		else
			check(reason != NULL);
		check_round_trip(&state);
	}
	state_free(&state);
	return 0;
}
