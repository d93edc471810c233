/* Beginning a change, finding its place, and ending it. */
#include "data/toml_change.h"

#include <errno.h>

#include "base/err.h"

static const char *toml_change_line_end_of(struct str text)
{
	const char *newline = text.len ? memchr(text.data, '\n', text.len) : NULL;
	return newline && newline > text.data && newline[-1] == '\r' ? "\r\n" : "\n";
}

/* The key that names value: an element is named by its array. */
static struct str toml_change_name_of(const struct toml_value *value)
{
	while (value->parent && value->parent->type == TOML_ARRAY)
		value = value->parent;
	return value->key;
}

int toml_change_wrong_kind(const struct toml_change *change, const char *wanted)
{
	const struct toml_value *value = change->deepest;
	char quoted[TOML_QUOTE_MAX];
	return err_set_at(change->err, -EINVAL, value->at.line, value->at.column,
		"%s is %s here, not %s: change the file by hand",
		toml_quote(toml_change_name_of(value), quoted), toml_type_name(value->type), wanted);
}

static int toml_change_step_to(
	const struct toml_change *change, const struct toml_step *step, struct toml_value **ret_next)
{
	const struct toml_value *value = change->deepest;
	if (step->key) {
		if (value->type != TOML_TABLE)
			return toml_change_wrong_kind(change, "a table");
		*ret_next = toml_find(value, str_from(step->key));
		return 0;
	}
	if (value->type != TOML_ARRAY)
		return toml_change_wrong_kind(change, "an array");
	char quoted[TOML_QUOTE_MAX];
	if (step->index >= value->count)
		return err_set_at(change->err, -ENOENT, value->at.line, value->at.column,
			"%s has %u elements, there is no element %zu", toml_quote(value->key, quoted),
			(unsigned)value->count, step->index + 1);
	*ret_next = value->items[step->index];
	return 0;
}

/* What is missing can be made when it is named by keys alone. */
static int toml_change_check_missing(const struct toml_change *change)
{
	for (size_t i = change->resolved; i < change->path.count; i++) {
		char quoted[TOML_QUOTE_MAX];
		if (!change->path.steps[i].key)
			return err_set(change->err, -ENOENT, "there is no %s",
				toml_quote(str_from(change->path.steps[i - 1].key), quoted));
	}
	return 0;
}

static int toml_change_resolve(struct toml_change *change)
{
	change->deepest = change->toml->root;
	for (; change->resolved < change->path.count; change->resolved++) {
		struct toml_value *next = NULL;
		int result = toml_change_step_to(change, &change->path.steps[change->resolved], &next);
		if (result < 0)
			return result;
		if (!next)
			break;
		change->deepest = next;
	}
	return toml_change_check_missing(change);
}

static void toml_change_free(struct toml_change *change)
{
	toml_free(change->toml);
	toml_patches_free(&change->patches);
}

int toml_change_begin(
	struct toml_change *change, struct str text, struct toml_path path, perch_err *err)
{
	*change =
		(struct toml_change){ .path = path, .err = err, .line_end = toml_change_line_end_of(text) };
	int result = toml_read(text, NULL, true, &change->toml, err);
	if (result < 0)
		return result;
	bool has_mark = str_has_prefix(text, STR("\xEF\xBB\xBF"));
	change->layout = (struct toml_layout){ text, has_mark ? 3 : 0, change->toml };
	result = toml_change_resolve(change);
	if (result < 0)
		toml_change_free(change);
	return result;
}

/* The promise of the editor: nothing leaves it that cannot be read again. */
static int toml_change_check_result(struct str text, perch_err *err)
{
	perch_err found = { 0 };
	struct toml *toml = NULL;
	int result = toml_parse(text, NULL, &toml, &found);
	toml_free(toml);
	if (result == 0)
		return 0;
	if (result == -ENOMEM)
		return err_no_memory(err);
	return err_set_at(err, result, found.line, found.column,
		"nothing was changed, the new text could not be read again: %.300s", found.text);
}

int toml_change_end(struct toml_change *change, int result, struct buf *ret_text)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	struct str text = change->layout.text;
	if (result == 0 && toml_patch_apply(&change->patches, text, &out) < 0)
		result = err_no_memory(change->err);
	if (result == 0)
		result = toml_change_check_result((struct str){ out.data, out.len }, change->err);
	if (result == 0) {
		result = !str_eq(text, (struct str){ out.data, out.len });
		buf_free(ret_text);
		*ret_text = out;
		out = (struct buf){ 0 };
	}
	toml_change_free(change);
	return result;
}

bool toml_change_is_resolved(const struct toml_change *change)
{
	return change->resolved == change->path.count;
}

static bool toml_change_is_dotted(const struct toml_value *value)
{
	return value->type == TOML_TABLE && value->origin == TOML_DOTTED;
}

const struct toml_value *toml_change_home(const struct toml_change *change)
{
	const struct toml_value *home = change->deepest;
	while (toml_change_is_dotted(home))
		home = home->parent;
	return home;
}

void toml_change_write_name(
	const struct toml_change *change, struct buf *buf, size_t from_step, const char *key)
{
	const char *separator = "";
	for (size_t i = from_step; i <= change->path.count; i++) {
		const char *part = i < change->path.count ? change->path.steps[i].key : key;
		if (!part)
			continue;
		buf_append_text(buf, separator);
		toml_write_key(buf, part);
		separator = ".";
	}
}
