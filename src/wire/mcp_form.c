/* MCP: a question as the form that a client shows (elicitation), and what came back. */
#include "wire/mcp_form.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"
#include "base/macros.h"

/* The only property of a form. */
#define MCP_FORM_PROPERTY "answer"

/* ---- secrets --------------------------------------------------------------- */

/* The words of a secret. PIN is a word of its own, and so are the plurals: a pinned spinner
 * is none. */
static const struct mcp_secret_word {
	const char *word;
	bool is_whole;
} mcp_secret_words[] = {
	{ "password", false },
	{ "passphrase", false },
	{ "secret", false },
	{ "token", false },
	{ "api key", false },
	{ "api-key", false },
	{ "api_key", false },
	{ "apikey", false },
	{ "pin", true },
	{ "pins", true },
};

static bool mcp_form_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		(unsigned char)c >= 0x80;
}

static bool mcp_form_has(struct str text, const struct mcp_secret_word *secret)
{
	size_t len = strlen(secret->word);
	for (size_t at = 0; at + len <= text.len; at++) {
		if (strncasecmp(text.data + at, secret->word, len) != 0)
			continue;
		bool begins = at == 0 || !mcp_form_is_letter(text.data[at - 1]);
		bool ends = at + len == text.len || !mcp_form_is_letter(text.data[at + len]);
		if (!secret->is_whole || (begins && ends))
			return true;
	}
	return false;
}

bool mcp_form_is_secret(const struct mcp_question *question)
{
	if (question->kind != MCP_PROMPT)
		return false;
	for (size_t i = 0; i < COUNT(mcp_secret_words); i++)
		if (mcp_form_has(question->message, &mcp_secret_words[i]))
			return true;
	return false;
}

/* ---- the form -------------------------------------------------------------- */

bool mcp_form_fits(const struct mcp_question *question, const struct mcp_version *version)
{
	bool has_options = question->kind == MCP_SELECT || question->kind == MCP_MULTI_SELECT;
	if (!version->has_titles || question->option_count > MCP_FORM_OPTIONS_MAX)
		return false;
	if (has_options && !question->option_count)
		return false;
	return version->has_rich_forms || question->kind != MCP_MULTI_SELECT;
}

static bool mcp_form_is_first(const struct mcp_question *question, size_t option)
{
	for (size_t i = 0; i < option; i++)
		if (str_eq(question->options[i], question->options[option]))
			return false;
	return true;
}

/* Each option once: a schema must not name one twice. */
static void mcp_form_write_options(perch_json_writer *writer, const struct mcp_question *question)
{
	perch_json_write_name(writer, "enum");
	perch_json_begin_array(writer);
	for (size_t i = 0; i < question->option_count; i++)
		if (mcp_form_is_first(question, i))
			perch_json_write_string_n(writer, question->options[i].data, question->options[i].len);
	perch_json_end_array(writer);
}

static void mcp_form_write_type(perch_json_writer *writer, const char *type)
{
	perch_json_write_name(writer, "type");
	perch_json_write_string(writer, type);
}

static bool mcp_form_is_whole(struct str text)
{
	size_t at = text.len && text.data[0] == '-';
	size_t digits = text.len - at;
	bool is_whole = digits > 0 && digits <= 18 && (digits == 1 || text.data[at] != '0');
	for (; is_whole && at < text.len; at++)
		is_whole = text.data[at] >= '0' && text.data[at] <= '9';
	return is_whole;
}

/* A default of the wrong type is left out: the form would not be valid. */
static void mcp_form_write_number(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version)
{
	mcp_form_write_type(writer, "integer");
	if (!question->has_default || !version->has_rich_forms ||
		!mcp_form_is_whole(question->default_text))
		return;
	perch_json_write_name(writer, "default");
	perch_json_write_raw(writer, question->default_text.data, question->default_text.len);
}

static void mcp_form_write_prompt(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version)
{
	if (question->rule == MCP_INTEGER) {
		mcp_form_write_number(writer, question, version);
		return;
	}
	mcp_form_write_type(writer, "string");
	if (question->rule == MCP_NON_EMPTY) {
		perch_json_write_name(writer, "minLength");
		perch_json_write_int64(writer, 1);
	} else if (question->rule == MCP_URL) {
		perch_json_write_name(writer, "format");
		perch_json_write_string(writer, "uri");
	}
	if (question->has_default && version->has_rich_forms)
		json_write_text(writer, "default", question->default_text);
}

static void mcp_form_write_confirm(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version)
{
	(void)version;
	mcp_form_write_type(writer, "boolean");
	if (question->has_default)
		json_write_flag(writer, "default", question->default_yes);
}

static void mcp_form_write_select(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version)
{
	mcp_form_write_type(writer, "string");
	mcp_form_write_options(writer, question);
	if (question->has_default && question->default_count && version->has_rich_forms)
		json_write_text(writer, "default", question->options[question->defaults[0]]);
}

static void mcp_form_write_multi_select(perch_json_writer *writer,
	const struct mcp_question *question, const struct mcp_version *version)
{
	(void)version;
	mcp_form_write_type(writer, "array");
	perch_json_write_name(writer, "items");
	perch_json_begin_object(writer);
	mcp_form_write_type(writer, "string");
	mcp_form_write_options(writer, question);
	perch_json_end_object(writer);
	if (!question->has_default)
		return;
	perch_json_write_name(writer, "default");
	perch_json_begin_array(writer);
	for (size_t i = 0; i < question->default_count; i++) {
		struct str option = question->options[question->defaults[i]];
		perch_json_write_string_n(writer, option.data, option.len);
	}
	perch_json_end_array(writer);
}

typedef void mcp_form_write_fn(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version);

static mcp_form_write_fn *const mcp_form_writers[] = {
	[MCP_PROMPT] = mcp_form_write_prompt,
	[MCP_CONFIRM] = mcp_form_write_confirm,
	[MCP_SELECT] = mcp_form_write_select,
	[MCP_MULTI_SELECT] = mcp_form_write_multi_select,
};

void mcp_form_write_members(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version)
{
	if (version->has_rich_forms)
		json_write_text(writer, "mode", STR("form"));
	json_write_text(writer, "message", question->message);
	perch_json_write_name(writer, "requestedSchema");
	perch_json_begin_object(writer);
	mcp_form_write_type(writer, "object");
	perch_json_write_name(writer, "properties");
	perch_json_begin_object(writer);
	perch_json_write_name(writer, MCP_FORM_PROPERTY);
	perch_json_begin_object(writer);
	mcp_form_writers[question->kind](writer, question, version);
	perch_json_end_object(writer);
	perch_json_end_object(writer);
	perch_json_write_name(writer, "required");
	perch_json_begin_array(writer);
	perch_json_write_string(writer, MCP_FORM_PROPERTY);
	perch_json_end_array(writer);
	perch_json_end_object(writer);
}

void mcp_form_write(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version)
{
	perch_json_begin_object(writer);
	mcp_form_write_members(writer, question, version);
	perch_json_end_object(writer);
}

int mcp_question_keep(
	const struct mcp_question *question, struct arena *arena, struct mcp_question *ret_copy)
{
	struct mcp_question copy = *question;
	struct str *options = arena_alloc(arena, question->option_count * sizeof(*options) + 1);
	size_t *defaults = arena_alloc(arena, question->default_count * sizeof(*defaults) + 1);
	copy.message.data = arena_dup(arena, question->message);
	copy.default_text.data = arena_dup(arena, question->default_text);
	if (!options || !defaults || !copy.message.data || !copy.default_text.data)
		return -ENOMEM;
	for (size_t i = 0; i < question->option_count; i++) {
		options[i] =
			(struct str){ arena_dup(arena, question->options[i]), question->options[i].len };
		if (!options[i].data)
			return -ENOMEM;
	}
	if (question->default_count)
		memcpy(defaults, question->defaults, question->default_count * sizeof(*defaults));
	copy.options = options;
	copy.defaults = defaults;
	*ret_copy = copy;
	return 0;
}

/* ---- the answer ------------------------------------------------------------ */

static int mcp_form_wrong(perch_err *err, const char *wanted)
{
	return err_set(err, -EINVAL, "content." MCP_FORM_PROPERTY " must be %s", wanted);
}

/* The first option that reads so. */
static bool mcp_form_find(
	const struct mcp_question *question, const perch_json_value *value, size_t *ret_option)
{
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return false;
	for (size_t i = 0; i < question->option_count; i++)
		if (str_eq(question->options[i], json_str(value))) {
			*ret_option = i;
			return true;
		}
	return false;
}

/* A number becomes the text that a user would have typed: 5, also for 5.0. */
static int mcp_form_read_number(
	const perch_json_value *value, struct arena *arena, struct mcp_answer *answer, perch_err *err)
{
	enum { ROOM = 24 };
	int64_t number;
	answer->text.data = perch_json_raw(value, &answer->text.len);
	if (perch_json_whole_int64(value, &number) < 0)
		return 0;
	char *text = arena_alloc(arena, ROOM);
	if (!text)
		return err_no_memory(err);
	int len = snprintf(text, ROOM, "%" PRId64, number);
	answer->text = (struct str){ text, (size_t)len };
	return 0;
}

static int mcp_form_read_prompt(const struct mcp_question *question, const perch_json_value *value,
	struct arena *arena, struct mcp_answer *answer, perch_err *err)
{
	bool is_number = question->rule == MCP_INTEGER;
	if (perch_json_type_of(value) == PERCH_JSON_NUMBER)
		return mcp_form_read_number(value, arena, answer, err);
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return mcp_form_wrong(err, is_number ? "a whole number" : "a string");
	answer->text = json_str(value);
	return 0;
}

static int mcp_form_read_confirm(const struct mcp_question *question, const perch_json_value *value,
	struct arena *arena, struct mcp_answer *answer, perch_err *err)
{
	(void)question;
	(void)arena;
	return perch_json_bool(value, &answer->yes) < 0 ? mcp_form_wrong(err, "true or false") : 0;
}

static int mcp_form_read_select(const struct mcp_question *question, const perch_json_value *value,
	struct arena *arena, struct mcp_answer *answer, perch_err *err)
{
	size_t *chosen = arena_alloc(arena, sizeof(*chosen));
	if (!chosen)
		return err_no_memory(err);
	if (!mcp_form_find(question, value, chosen))
		return mcp_form_wrong(err, "one of the options");
	answer->chosen = chosen;
	answer->chosen_count = 1;
	return 0;
}

static int mcp_form_read_multi_select(const struct mcp_question *question,
	const perch_json_value *value, struct arena *arena, struct mcp_answer *answer, perch_err *err)
{
	bool *is_chosen = arena_alloc(arena, question->option_count + 1);
	size_t *chosen = arena_alloc(arena, question->option_count * sizeof(*chosen) + 1);
	if (!is_chosen || !chosen)
		return err_no_memory(err);
	bool is_list = perch_json_type_of(value) == PERCH_JSON_ARRAY;
	if (!is_list || perch_json_count(value) > question->option_count)
		return mcp_form_wrong(err, "a list of options");
	memset(is_chosen, 0, question->option_count + 1);
	perch_json_iter iter = perch_json_iterate(value);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		size_t option;
		if (!mcp_form_find(question, item, &option))
			return mcp_form_wrong(err, "a list of options");
		is_chosen[option] = true;
	}
	for (size_t i = 0; i < question->option_count; i++)
		if (is_chosen[i])
			chosen[answer->chosen_count++] = i;
	answer->chosen = chosen;
	return 0;
}

typedef int mcp_form_read_fn(const struct mcp_question *question, const perch_json_value *value,
	struct arena *arena, struct mcp_answer *answer, perch_err *err);

static mcp_form_read_fn *const mcp_form_readers[] = {
	[MCP_PROMPT] = mcp_form_read_prompt,
	[MCP_CONFIRM] = mcp_form_read_confirm,
	[MCP_SELECT] = mcp_form_read_select,
	[MCP_MULTI_SELECT] = mcp_form_read_multi_select,
};

int mcp_form_read(const struct mcp_question *question, const perch_json_value *result,
	struct arena *arena, struct mcp_answer *ret_answer, perch_err *err)
{
	const perch_json_value *action = perch_json_get(result, "action");
	struct mcp_answer answer = { 0 };
	if (perch_json_is(action, "cancel")) {
		answer.action = MCP_INTERRUPTED;
	} else if (perch_json_is(action, "decline")) {
		answer.action = question->kind == MCP_CONFIRM ? MCP_ANSWERED : MCP_DECLINED;
	} else if (perch_json_is(action, "accept")) {
		const perch_json_value *content = perch_json_get(result, "content");
		const perch_json_value *value = perch_json_get(content, MCP_FORM_PROPERTY);
		int r = mcp_form_readers[question->kind](question, value, arena, &answer, err);
		if (r < 0)
			return r;
	} else {
		return err_set(err, -EINVAL, "action must be accept, decline or cancel");
	}
	*ret_answer = answer;
	return 0;
}
