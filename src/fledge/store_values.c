/* Values that were set and are not written yet: a list of at most STORE_KEYS_MAX. */
#include "fledge/store_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "fledge/store.h"

static bool store_values_has_control_characters(struct str text)
{
	while (text.len) {
		uint32_t character;
		size_t length = utf8_decode(text.data, text.len, &character);
		if (character < 0x20 || (character >= 0x7F && character <= 0x9F))
			return true;
		text.data += length;
		text.len -= length;
	}
	return false;
}

const char *store_value_fault(struct str key, struct str value)
{
	if (key.len == 0)
		return "empty key";
	if (key.len > STORE_KEY_MAX)
		return "key too long (max 256 bytes)";
	if (!utf8_is_valid(key.data, key.len))
		return "key is not valid UTF-8";
	if (store_values_has_control_characters(key))
		return "control character in key";
	if (value.len > STORE_VALUE_MAX)
		return "value too long (max 64 KiB)";
	return NULL;
}

void store_values_free(struct store_values *values)
{
	for (size_t i = 0; i < values->count; i++)
		free((char *)values->items[i].key.data);
	free(values->items);
	*values = (struct store_values){ 0 };
}

const struct state_entry *store_values_find(const struct store_values *values, struct str key)
{
	for (size_t i = 0; i < values->count; i++)
		if (str_eq(values->items[i].key, key))
			return &values->items[i];
	return NULL;
}

size_t store_value_size(const struct state_entry *entry)
{
	return entry->key.len + entry->value.len;
}

void store_values_measure(const struct store_values *values, const struct store_values *others,
	size_t *ret_count, size_t *ret_size)
{
	*ret_count = values->count;
	*ret_size = values->size;
	for (size_t i = 0; i < others->count; i++) {
		const struct state_entry *entry = &others->items[i];
		if (store_values_find(values, entry->key))
			continue;
		*ret_count += 1;
		*ret_size += store_value_size(entry);
	}
}

/* ---- adding ----------------------------------------------------------------------- */

static int store_values_make_room(struct store_values *values, size_t more)
{
	void *grown =
		vec_grow(values->items, &values->cap, values->count + more, sizeof(*values->items));
	if (!grown)
		return -ENOMEM;
	values->items = grown;
	return 0;
}

static void store_values_remove(struct store_values *values, const struct state_entry *entry)
{
	size_t at = (size_t)(entry - values->items);
	values->size -= store_value_size(entry);
	free((char *)entry->key.data);
	values->count--;
	memmove(&values->items[at], &values->items[at + 1], (values->count - at) * sizeof(*entry));
}

/* Over the value of the same key. Takes its memory; there is room. */
static void store_values_put(struct store_values *values, const struct state_entry *entry)
{
	const struct state_entry *old = store_values_find(values, entry->key);
	if (old)
		store_values_remove(values, old);
	values->items[values->count++] = *entry;
	values->size += store_value_size(entry);
}

int store_values_add(struct store_values *values, struct str key, struct str value)
{
	if (store_values_make_room(values, 1) < 0)
		return -ENOMEM;
	char *memory = malloc(key.len + value.len);
	if (!memory)
		return -ENOMEM;
	memcpy(memory, key.data, key.len);
	if (value.len)
		memcpy(memory + key.len, value.data, value.len);
	const struct state_entry entry = {
		.key = { memory, key.len },
		.value = { memory + key.len, value.len },
	};
	store_values_put(values, &entry);
	return 0;
}

int store_values_move(struct store_values *values, struct store_values *from)
{
	if (store_values_make_room(values, from->count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++)
		store_values_put(values, &from->items[i]);
	from->count = 0;
	store_values_free(from);
	return 0;
}
