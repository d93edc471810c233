/* ACP: the answers to the fields of a form: whether they fit, and how they are sent. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "wire/acp_form_parts.h"

static int acp_field_check_bounds(
	const struct acp_field *field, double value, const char *what, perch_err *err)
{
	if (field->has_least && value < field->least)
		return err_set(err, -EINVAL, "%s: %.15g at least", what, field->least);
	if (field->has_most && value > field->most)
		return err_set(err, -EINVAL, "%s: %.15g at most", what, field->most);
	return 0;
}

/* ---- texts ------------------------------------------------------------------- */

/* 0 stands for a digit. */
static bool acp_field_looks_like(struct str text, const char *shape)
{
	size_t len = strlen(shape);
	bool fits = text.len >= len;
	for (size_t i = 0; fits && i < len; i++)
		fits = shape[i] == '0' ? isdigit((unsigned char)text.data[i]) : text.data[i] == shape[i];
	return fits;
}

static const char *acp_field_format_fault(struct str format, struct str text)
{
	const char *at = memchr(text.data, '@', text.len);
	if (str_is(format, "email") && (!at || at == text.data || at == text.data + text.len - 1))
		return "it must be an address of e-mail";
	if (str_is(format, "uri") && !memchr(text.data, ':', text.len))
		return "it must be a URI";
	if (str_is(format, "date") && (text.len != 10 || !acp_field_looks_like(text, "0000-00-00")))
		return "it must be a date: 2026-01-31";
	if (str_is(format, "date-time") && !acp_field_looks_like(text, "0000-00-00T00:00:00"))
		return "it must be a time: 2026-01-31T12:00:00Z";
	return NULL;
}

static int acp_field_check_text(const struct acp_field *field, struct str text, perch_err *err)
{
	const char *fault = acp_field_format_fault(field->format, text);
	if (fault)
		return err_set(err, -EINVAL, "%s", fault);
	return acp_field_check_bounds(
		field, (double)utf8_count(text.data, text.len), "the length, in letters", err);
}

/* A number as JSON has it: what strtod takes beside that is none. */
static int acp_field_check_number(
	const struct acp_field *field, struct str text, struct arena *arena, perch_err *err)
{
	bool is_whole = field->kind == ACP_FIELD_INTEGER;
	const char *copy = arena_dup(arena, text);
	char *end = NULL;
	if (!copy)
		return err_no_memory(err);
	size_t plain = strspn(copy, is_whole ? "-0123456789" : "-+.0123456789eE");
	errno = 0;
	double value = is_whole ? (double)strtoll(copy, &end, 10) : strtod(copy, &end);
	const char *digits = copy + (copy[0] == '-');
	bool is_json = plain == text.len && text.len && !*end && !errno &&
		isdigit((unsigned char)digits[0]) &&
		!(digits[0] == '0' && isdigit((unsigned char)digits[1])) &&
		text.data[text.len - 1] != '.' && !strstr(copy, ".e") && !strstr(copy, ".E");
	if (!is_json)
		return err_set(
			err, -EINVAL, is_whole ? "it must be a whole number" : "it must be a number");
	return acp_field_check_bounds(field, value, "the number", err);
}

static int acp_field_take_text(
	struct acp_field *field, struct str text, struct arena *arena, perch_err *err)
{
	bool is_number = field->kind != ACP_FIELD_TEXT;
	if (is_number)
		text = str_trim(text);
	if (!text.data)
		text = STR("");
	if (!text.len && !field->is_required) {
		field->is_given = false;
		field->text = STR("");
		return 0;
	}
	if (memchr(text.data, '\0', text.len) || !utf8_is_valid(text.data, text.len))
		return err_set(err, -EINVAL, "it must be a text without NUL");
	int r = is_number ? acp_field_check_number(field, text, arena, err)
					  : acp_field_check_text(field, text, err);
	const char *copy = r == 0 ? arena_dup(arena, text) : NULL;
	if (r == 0 && !copy)
		return err_no_memory(err);
	if (r == 0) {
		field->text = (struct str){ copy, text.len };
		field->is_given = true;
	}
	return r;
}

/* ---- choices ----------------------------------------------------------------- */

static int acp_field_take_choices(
	struct acp_field *field, const struct mcp_answer *answer, perch_err *err)
{
	bool is_one = field->kind == ACP_FIELD_CHOICE;
	if (is_one ? answer->chosen_count != 1 : answer->chosen_count > field->option_count)
		return err_set(err, -EINVAL, "choose one of the options");
	for (size_t i = 0; i < answer->chosen_count; i++) {
		if (answer->chosen[i] >= field->option_count ||
			(i && answer->chosen[i] <= answer->chosen[i - 1]))
			return err_set(err, -EINVAL, "there is no such option");
	}
	int r = is_one
		? 0
		: acp_field_check_bounds(field, (double)answer->chosen_count, "options to choose", err);
	if (r < 0)
		return r;
	if (answer->chosen_count)
		memmove(field->chosen, answer->chosen, answer->chosen_count * sizeof(*field->chosen));
	field->chosen_count = answer->chosen_count;
	/* The last option of a field that needs none is none of them. */
	field->is_given = !is_one || field->is_required || field->chosen[0] + 1 < field->option_count;
	return 0;
}

/* ------------------------------------------------------------------------------ */

int acp_field_take(
	struct acp_field *field, const struct mcp_answer *answer, struct arena *arena, perch_err *err)
{
	if (field->kind == ACP_FIELD_FLAG) {
		field->is_yes = answer->yes;
		field->is_given = true;
		return 0;
	}
	if (field->kind == ACP_FIELD_CHOICE || field->kind == ACP_FIELD_CHOICES)
		return acp_field_take_choices(field, answer, err);
	return acp_field_take_text(field, answer->text, arena, err);
}

void acp_field_show(const struct acp_field *field, struct buf *out)
{
	buf_append(out, field->name.data, field->name.len);
	buf_append_text(out, " = ");
	if (!field->is_given)
		buf_append_text(out, "(none)");
	else if (field->kind == ACP_FIELD_FLAG)
		buf_append_text(out, field->is_yes ? "yes" : "no");
	else if (field->kind != ACP_FIELD_CHOICE && field->kind != ACP_FIELD_CHOICES)
		buf_append(out, field->text.data, field->text.len);
	else
		for (size_t i = 0; i < field->chosen_count; i++) {
			struct str option = field->options[field->chosen[i]];
			buf_append_text(out, i ? " + " : "");
			buf_append(out, option.data, option.len);
		}
}

static void acp_field_write_choices(const struct acp_field *field, perch_json_writer *out)
{
	perch_json_begin_array(out);
	for (size_t i = 0; i < field->chosen_count; i++) {
		struct str value = field->values[field->chosen[i]];
		perch_json_write_string_n(out, value.data, value.len);
	}
	perch_json_end_array(out);
}

void acp_field_write(const struct acp_field *field, perch_json_writer *out)
{
	if (!field->is_given)
		return;
	perch_json_write_name_n(out, field->name.data, field->name.len);
	if (field->kind == ACP_FIELD_FLAG)
		perch_json_write_bool(out, field->is_yes);
	else if (field->kind == ACP_FIELD_CHOICES)
		acp_field_write_choices(field, out);
	else if (field->kind == ACP_FIELD_CHOICE)
		perch_json_write_string_n(
			out, field->values[field->chosen[0]].data, field->values[field->chosen[0]].len);
	else if (field->kind == ACP_FIELD_TEXT)
		perch_json_write_string_n(out, field->text.data, field->text.len);
	else
		perch_json_write_raw(out, field->text.data, field->text.len);
}
