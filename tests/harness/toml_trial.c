/* One random edit of any TOML text, checked by the oracle. */
#include "harness/toml_trial.h"

#include <errno.h>

#include "data/toml_reader.h"

enum { STEPS_MAX = 12 };

/* Keys that texts are unlikely to have, and values that need care. */
static const char *const words[] = { "", "a\"b\\", "[[x]]\n" };
static const struct toml_entry inner[] = {
	{ .key = "on", .type = TOML_BOOL, .boolean = true },
	{ .key = "words", .type = TOML_ARRAY, .strings = words, .count = 3 },
};
static const struct toml_entry contents[] = {
	{ .key = "in ner", .type = TOML_TABLE, .entries = inner, .count = 2 },
	{ .key = "number", .type = TOML_INTEGER, .integer = -42 },
	{ .key = "empty", .type = TOML_TABLE },
};
static const struct toml_entry fresh = {
	.key = "fresh key", .type = TOML_TABLE, .entries = contents, .count = 3
};

struct trial {
	struct str text;
	uint64_t random;
	const struct toml_value *place; /* where path leads */
	struct toml_step steps[STEPS_MAX + 2];
	size_t step_count;
	struct buf *out;
	bool is_insertion; /* no old byte may change */
};

uint32_t trial_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

static uint32_t below(struct trial *trial, uint32_t limit)
{
	return limit ? trial_random(&trial->random) % limit : 0;
}

static struct toml_path path_of(const struct trial *trial)
{
	return (struct toml_path){ trial->steps, trial->step_count };
}

static void push(struct trial *trial, const char *key, size_t index)
{
	trial->steps[trial->step_count++] = (struct toml_step){ key, index };
}

static bool is_container(const struct toml_value *value)
{
	return value->type == TOML_TABLE || value->type == TOML_ARRAY;
}

/* A path of C strings cannot name a key with NUL in it. */
static bool has_plain_key(const struct toml_value *value)
{
	return !value->key.data || strlen(value->key.data) == value->key.len;
}

static void walk(struct trial *trial, const struct toml_value *root)
{
	trial->place = root;
	while (trial->step_count < STEPS_MAX && trial->place->count && below(trial, 4)) {
		uint32_t index = below(trial, trial->place->count);
		const struct toml_value *next = trial->place->items[index];
		if (!is_container(next) || !has_plain_key(next))
			return;
		push(trial, trial->place->type == TOML_TABLE ? next->key.data : NULL, index);
		trial->place = next;
	}
}

static const char *check(
	struct trial *trial, const struct toml_value *old_root, const struct toml_entry *expected)
{
	struct toml *toml = NULL;
	struct str text = { trial->out->data, trial->out->len };
	if (toml_parse(text, NULL, &toml, NULL) < 0)
		return "the new text does not parse";
	const struct toml_value *value = oracle_at(toml_root(toml), path_of(trial));
	bool is_last_a_key = trial->steps[trial->step_count - 1].key != NULL;
	const char *problem = NULL;
	if (!oracle_is_same_except(old_root, toml_root(toml), path_of(trial)))
		problem = "something else has changed";
	else if (expected && !oracle_is_entry(value, expected))
		problem = "the new value is not there";
	else if (!expected && is_last_a_key && value)
		problem = "the removed value is still there";
	toml_free(toml);
	return problem;
}

/* An insertion leaves all old bytes there: some before it, the rest behind. */
static bool keeps_all_bytes(struct str old, struct str new)
{
	size_t start = 0, end = 0;
	if (new.len < old.len)
		return false;
	while (start < old.len && old.data[start] == new.data[start])
		start++;
	while (end < old.len && old.data[old.len - 1 - end] == new.data[new.len - 1 - end])
		end++;
	return start + end >= old.len;
}

static const char *judge(struct trial *trial, const struct toml_value *root, int result,
	bool may_refuse, const struct toml_entry *expected)
{
	if (result == PERCH_ELIMIT || result == -ENOMEM)
		return NULL;
	if (result == -EINVAL)
		return may_refuse ? NULL : "refused";
	if (result < 0)
		return "failed";
	struct str new = { trial->out->data, trial->out->len };
	if (trial->is_insertion && !keeps_all_bytes(trial->text, new))
		return "old bytes are gone";
	return check(trial, root, expected);
}

static const char *try_set_new(struct trial *trial, const struct toml_value *root)
{
	if (below(trial, 2))
		push(trial, "missing", 0);
	const struct toml_value *there = oracle_at(root, path_of(trial));
	bool may_refuse = there && (there->type != TOML_TABLE || toml_get(there, fresh.key));
	trial->is_insertion = !may_refuse;
	int result = toml_edit_set(trial->text, path_of(trial), &fresh, trial->out, NULL);
	push(trial, fresh.key, 0);
	return judge(trial, root, result, may_refuse, &fresh);
}

static const char *try_set_existing(struct trial *trial, const struct toml_value *root)
{
	const struct toml_value *old = trial->place->items[below(trial, trial->place->count)];
	if (!has_plain_key(old))
		return NULL;
	struct toml_entry entry = { .key = old->key.data, .type = TOML_STRING, .string = "set" };
	int result = toml_edit_set(trial->text, path_of(trial), &entry, trial->out, NULL);
	push(trial, old->key.data, 0);
	return judge(trial, root, result, is_container(old), &entry);
}

static const char *try_remove(struct trial *trial, const struct toml_value *root)
{
	uint32_t index = below(trial, trial->place->count);
	const struct toml_value *old = trial->place->items[index];
	if (!has_plain_key(old))
		return NULL;
	push(trial, trial->place->type == TOML_TABLE ? old->key.data : NULL, index);
	int result = toml_edit_remove(trial->text, path_of(trial), trial->out, NULL);
	return judge(trial, root, result, false, NULL);
}

static const char *try_replace(struct trial *trial, const struct toml_value *root)
{
	int result = toml_edit_replace(trial->text, path_of(trial), contents, 3, trial->out, NULL);
	struct toml_entry table = { .type = TOML_TABLE, .entries = contents, .count = 3 };
	return trial->step_count ? judge(trial, root, result, false, &table) : NULL;
}

static const char *try_append(struct trial *trial, const struct toml_value *root)
{
	if (trial->place->type == TOML_TABLE)
		push(trial, "fresh array", 0);
	const struct toml_value *old = oracle_at(root, path_of(trial));
	int result = toml_edit_append(trial->text, path_of(trial), contents, 3, trial->out, NULL);
	push(trial, NULL, old ? old->count : 0);
	trial->is_insertion = !old || old->count;
	struct toml_entry table = { .type = TOML_TABLE, .entries = contents, .count = 3 };
	return judge(trial, root, result, true, &table);
}

static const char *choose(struct trial *trial, const struct toml_value *root)
{
	uint32_t choice = below(trial, 5);
	if (trial->place->count && choice == 0)
		return try_remove(trial, root);
	if (trial->place->type == TOML_ARRAY || choice == 1)
		return try_append(trial, root);
	if (trial->place->count && choice == 2)
		return try_set_existing(trial, root);
	return choice == 3 ? try_replace(trial, root) : try_set_new(trial, root);
}

const char *trial_run(struct str text, uint64_t seed, struct buf *ret_text)
{
	struct toml *toml = NULL;
	if (toml_parse(text, NULL, &toml, NULL) < 0)
		return NULL;
	struct trial trial = { .text = text, .random = seed, .out = ret_text };
	walk(&trial, toml_root(toml));
	const char *problem = choose(&trial, toml_root(toml));
	toml_free(toml);
	return problem;
}
