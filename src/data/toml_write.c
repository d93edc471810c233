/* The writer: entries as lines, or inline. Appends to a buffer, whose failure
 * is checked once by its owner. */
#include "data/toml_edit.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/utf8.h"
#include "data/toml_reader.h"

static bool toml_write_is_bare_key(const char *key)
{
	const char *at = key;
	while (toml_is_bare((unsigned char)*at))
		at++;
	return *at == '\0' && at > key;
}

void toml_write_key(struct buf *buf, const char *key)
{
	if (toml_write_is_bare_key(key))
		buf_append_text(buf, key);
	else
		toml_write_string(buf, key);
}

static void toml_write_escaped(struct buf *buf, unsigned char byte)
{
	static const char *const short_forms[0x80] = {
		['\b'] = "\\b",
		['\t'] = "\\t",
		['\n'] = "\\n",
		['\f'] = "\\f",
		['\r'] = "\\r",
		['"'] = "\\\"",
		['\\'] = "\\\\",
	};
	if (short_forms[byte])
		buf_append_text(buf, short_forms[byte]);
	else
		buf_printf(buf, "\\u%04X", byte);
}

void toml_write_string(struct buf *buf, const char *string)
{
	buf_append_char(buf, '"');
	for (const char *plain = string;; string++) {
		unsigned char byte = (unsigned char)*string;
		bool is_plain = byte >= 0x20 && byte != 0x7F && byte != '"' && byte != '\\';
		if (is_plain)
			continue;
		buf_append(buf, plain, (size_t)(string - plain));
		if (byte == '\0')
			break;
		toml_write_escaped(buf, byte);
		plain = string + 1;
	}
	buf_append_char(buf, '"');
}

static void toml_write_pair(struct buf *buf, const struct toml_entry *entry)
{
	toml_write_key(buf, entry->key);
	buf_append_text(buf, " = ");
	toml_write_value(buf, entry);
}

static void toml_write_strings(struct buf *buf, const struct toml_entry *entry)
{
	buf_append_char(buf, '[');
	for (size_t i = 0; i < entry->count; i++) {
		buf_append_text(buf, i ? ", " : "");
		toml_write_string(buf, entry->strings[i]);
	}
	buf_append_char(buf, ']');
}

static void toml_write_inline_table(struct buf *buf, const struct toml_entry *entry)
{
	buf_append_char(buf, '{');
	for (size_t i = 0; i < entry->count; i++) {
		buf_append_text(buf, i ? ", " : " ");
		toml_write_pair(buf, &entry->entries[i]);
	}
	buf_append_text(buf, entry->count ? " }" : "}");
}

void toml_write_value(struct buf *buf, const struct toml_entry *entry)
{
	switch (entry->type) {
	case TOML_STRING:
		toml_write_string(buf, entry->string);
		break;
	case TOML_INTEGER:
		buf_printf(buf, "%" PRId64, entry->integer);
		break;
	case TOML_BOOL:
		buf_append_text(buf, entry->boolean ? "true" : "false");
		break;
	case TOML_ARRAY:
		toml_write_strings(buf, entry);
		break;
	default:
		toml_write_inline_table(buf, entry);
		break;
	}
}

static void toml_write_sub_table(
	struct buf *buf, struct str name, const struct toml_entry *entry, const char *line_end)
{
	_cleanup_(buf_free) struct buf full = { 0 };
	buf_append(&full, name.data, name.len);
	buf_append_char(&full, '.');
	toml_write_key(&full, entry->key);
	buf_append_text(buf, line_end);
	buf_append_char(buf, '[');
	buf_append(buf, full.data, full.len);
	buf_append_char(buf, ']');
	buf_append_text(buf, line_end);
	toml_write_lines(
		buf, (struct str){ full.data, full.len }, entry->entries, entry->count, line_end);
	buf->failed |= full.failed;
}

void toml_write_lines(struct buf *buf, struct str name, const struct toml_entry *entries,
	size_t count, const char *line_end)
{
	for (size_t i = 0; i < count; i++) {
		if (entries[i].type == TOML_TABLE)
			continue;
		toml_write_pair(buf, &entries[i]);
		buf_append_text(buf, line_end);
	}
	for (size_t i = 0; i < count; i++) {
		if (entries[i].type == TOML_TABLE)
			toml_write_sub_table(buf, name, &entries[i], line_end);
	}
}

static int toml_write_check_text(const char *text, const char *key, perch_err *err)
{
	char quoted[TOML_QUOTE_MAX];
	if (utf8_is_valid(text, strlen(text)))
		return 0;
	return err_set(
		err, -EINVAL, "%s is not UTF-8 and cannot be written", toml_quote(str_from(key), quoted));
}

static int toml_write_check_value(const struct toml_entry *entry, perch_err *err)
{
	int result = 0;
	switch (entry->type) {
	case TOML_INTEGER:
	case TOML_BOOL:
		return 0;
	case TOML_STRING:
		return toml_write_check_text(entry->string, entry->key, err);
	case TOML_ARRAY:
		for (size_t i = 0; i < entry->count && result == 0; i++)
			result = toml_write_check_text(entry->strings[i], entry->key, err);
		return result;
	case TOML_TABLE:
		return toml_check_entries(entry->entries, entry->count, err);
	default:
		return err_set(err, -EINVAL, "%s cannot be written", toml_type_name(entry->type));
	}
}

int toml_check_entries(const struct toml_entry *entries, size_t count, perch_err *err)
{
	int result = 0;
	for (size_t i = 0; i < count && result == 0; i++) {
		result = toml_write_check_text(entries[i].key, entries[i].key, err);
		if (result == 0)
			result = toml_write_check_value(&entries[i], err);
	}
	return result;
}
