/* The tree of values and the way to a key. Tables are indexed by a crit-bit
 * tree: each branch asks for one bit of the key. A lookup never asks for more
 * bits than the key has, whatever the other keys are, so no choice of keys
 * makes a table slow; there is nothing to seed and nothing to rebalance. */
#include "data/toml_reader.h"

#include "base/err.h"

/* Leads to a branch or, when that is NULL, to a value. */
struct link {
	struct toml_branch *branch;
	struct toml_value *value;
};

struct toml_branch {
	size_t at;    /* the byte of the key that decides */
	unsigned bit; /* and the bit in it */
	struct link child[2];
};

/* A byte of a key, told apart from the end of a shorter key. */
static unsigned toml_tree_unit_at(struct str key, size_t at)
{
	return at < key.len ? 0x100u | (unsigned char)key.data[at] : 0;
}

static bool toml_tree_side_of(const struct toml_branch *branch, struct str key)
{
	return (toml_tree_unit_at(key, branch->at) & branch->bit) != 0;
}

/* A table of one value has no branch yet. */
static struct link toml_tree_index_top(const struct toml_value *table)
{
	return (struct link){ table->index, table->items[0] };
}

/* The only value that can have this key. */
static struct toml_value *toml_tree_candidate(const struct toml_value *table, struct str key)
{
	struct link link = toml_tree_index_top(table);
	while (link.branch)
		link = link.branch->child[toml_tree_side_of(link.branch, key)];
	return link.value;
}

struct toml_value *toml_find(const struct toml_value *table, struct str key)
{
	if (table->count == 0)
		return NULL;
	struct toml_value *value = toml_tree_candidate(table, key);
	return str_eq(value->key, key) ? value : NULL;
}

const struct toml_value *toml_get(const struct toml_value *table, const char *key)
{
	return toml_find(table, str_from(key));
}

static unsigned toml_tree_highest_bit(unsigned units)
{
	unsigned bit = 0x100;
	while (!(units & bit))
		bit >>= 1;
	return bit;
}

static bool toml_tree_comes_before(const struct toml_branch *a, const struct toml_branch *b)
{
	return a->at < b->at || (a->at == b->at && a->bit > b->bit);
}

/* The table has a value already, and none with this key. */
static int toml_tree_index_insert(
	struct toml_reader *r, struct toml_value *table, struct toml_value *value)
{
	struct toml_branch *fresh = arena_alloc(&r->toml->arena, sizeof(*fresh));
	if (!fresh)
		return err_no_memory(r->err);
	struct str other = toml_tree_candidate(table, value->key)->key;
	fresh->at = 0;
	while (toml_tree_unit_at(other, fresh->at) == toml_tree_unit_at(value->key, fresh->at))
		fresh->at++;
	fresh->bit = toml_tree_highest_bit(
		toml_tree_unit_at(other, fresh->at) ^ toml_tree_unit_at(value->key, fresh->at));

	struct link top = toml_tree_index_top(table);
	struct link *link = &top;
	while (link->branch && toml_tree_comes_before(link->branch, fresh))
		link = &link->branch->child[toml_tree_side_of(link->branch, value->key)];
	bool side = toml_tree_side_of(fresh, value->key);
	fresh->child[side] = (struct link){ NULL, value };
	fresh->child[!side] = *link;
	*link = (struct link){ fresh, NULL };
	table->index = top.branch;
	return 0;
}

/* Doubles in the arena: what is left behind is never more than what is used. */
static int toml_tree_items_grow(struct toml_reader *r, struct toml_value *parent)
{
	if (parent->count < parent->capacity)
		return 0;
	uint32_t capacity = parent->capacity ? parent->capacity * 2 : 4;
	struct toml_value **items =
		arena_alloc(&r->toml->arena, capacity * sizeof(struct toml_value *));
	if (!items)
		return err_no_memory(r->err);
	if (parent->count)
		memcpy(items, parent->items, parent->count * sizeof(*items));
	parent->items = items;
	parent->capacity = capacity;
	return 0;
}

void toml_make_container(struct toml_value *value, enum toml_type type, enum toml_origin origin)
{
	value->type = type;
	value->origin = (unsigned char)origin;
	value->items = NULL;
	value->count = 0;
	value->capacity = 0;
	value->index = NULL;
}

static int toml_tree_make_room(struct toml_reader *r, struct toml_value *parent)
{
	if (parent->depth >= r->limits.depth_max)
		return toml_limit(r, "tables and arrays are nested too deeply", r->limits.depth_max);
	if (r->value_count >= r->limits.values_max)
		return toml_limit(r, "there are too many values", r->limits.values_max);
	r->value_count++;
	return toml_tree_items_grow(r, parent);
}

int toml_add(struct toml_reader *r, struct toml_value *parent, const struct toml_key *key,
	struct toml_value **ret_value)
{
	int result = toml_tree_make_room(r, parent);
	if (result < 0)
		return result;
	struct toml_value *value = arena_alloc(&r->toml->arena, sizeof(*value));
	if (!value)
		return err_no_memory(r->err);
	*value = (struct toml_value){
		.at = toml_here(r), .parent = parent, .depth = (uint16_t)(parent->depth + 1)
	};
	if (key) {
		value->key = key->text;
		value->key_at = key->at;
		result = parent->count ? toml_tree_index_insert(r, parent, value) : 0;
		if (result < 0)
			return result;
	}
	parent->items[parent->count++] = value;
	*ret_value = value;
	return 0;
}
