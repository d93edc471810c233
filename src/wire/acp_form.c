/* ACP: a form as questions. The user can look at all answers before they are sent, change them, or
 * decline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "wire/acp_form_parts.h"

enum { REVIEW_SEND, REVIEW_CHANGE, REVIEW_DECLINE };

static const struct str acp_form_reviews[] = {
	[REVIEW_SEND] = STR("send"),
	[REVIEW_CHANGE] = STR("change"),
	[REVIEW_DECLINE] = STR("decline"),
};

/* ---- messages ---------------------------------------------------------------- */

static void acp_form_write_page(const struct acp_form *form, struct buf *out)
{
	struct str rest = form->url, host;
	str_cut(&rest, '/');
	str_cut(&rest, '/');
	host = str_cut(&rest, '/');
	buf_append_text(out, "May you be sent to a page of ");
	buf_append(out, host.data, host.len);
	buf_append_text(out, "? It is for you to open: ");
	buf_append(out, form->url.data, form->url.len);
	if (host.len && memmem(host.data, host.len, "xn--", 4))
		buf_append_text(out, " (the name of the host has foreign letters in it: look twice)");
}

static void acp_form_write_review(const struct acp_form *form, struct buf *out)
{
	buf_append_text(out, "Are these the answers? ");
	for (size_t i = 0; i < form->field_count; i++) {
		buf_append_text(out, i ? ", " : "");
		acp_field_show(&form->fields[i], out);
	}
}

static void acp_form_write_field(const struct acp_form *form, struct buf *out)
{
	const struct acp_field *field = &form->fields[form->at];
	if (form->field_count > 1)
		buf_printf(out, "(%zu of %zu) ", form->at + 1, form->field_count);
	buf_append(out, field->label.data, field->label.len);
	if (!field->is_required && field->kind != ACP_FIELD_FLAG)
		buf_append_text(out, " (may be left empty)");
}

/* The agent is named in each: users shall know who asks. */
static int acp_form_word(struct acp_form *form)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct str message = form->message;
	while (message.len && memchr(". \n", message.data[message.len - 1], 3))
		message.len--;
	bool is_ended = message.len && memchr("?!:", message.data[message.len - 1], 3);
	buf_append(&text, form->who.data, form->who.len);
	buf_append_text(&text, " asks: ");
	buf_append(&text, message.data, message.len);
	if (form->url.len || form->field_count)
		buf_append_text(&text, is_ended ? " " : ". ");
	if (form->url.len)
		acp_form_write_page(form, &text);
	else if (form->at < form->field_count)
		acp_form_write_field(form, &text);
	else if (form->field_count)
		acp_form_write_review(form, &text);
	form->asked = text.failed ? NULL : arena_dup(&form->arena, (struct str){ text.data, text.len });
	return form->asked ? 0 : -ENOMEM;
}

/* ---- questions --------------------------------------------------------------- */

static enum mcp_text_rule acp_form_rule(const struct acp_field *field)
{
	if (!field->is_required)
		return MCP_ANY_TEXT;
	if (field->kind == ACP_FIELD_INTEGER)
		return MCP_INTEGER;
	bool needs_text = field->kind == ACP_FIELD_NUMBER || (field->has_least && field->least > 0);
	return needs_text ? MCP_NON_EMPTY : MCP_ANY_TEXT;
}

static struct mcp_question acp_form_field_question(const struct acp_field *field)
{
	static const enum mcp_question_kind kinds[] = {
		[ACP_FIELD_TEXT] = MCP_PROMPT,
		[ACP_FIELD_NUMBER] = MCP_PROMPT,
		[ACP_FIELD_INTEGER] = MCP_PROMPT,
		[ACP_FIELD_FLAG] = MCP_CONFIRM,
		[ACP_FIELD_CHOICE] = MCP_SELECT,
		[ACP_FIELD_CHOICES] = MCP_MULTI_SELECT,
	};
	return (struct mcp_question){
		.kind = kinds[field->kind],
		.rule = acp_form_rule(field),
		.has_default = field->is_given,
		.default_text = field->text.len ? field->text : STR(""),
		.default_yes = field->is_yes,
		.defaults = field->chosen,
		.default_count = field->chosen_count,
		.options = field->options,
		.option_count = field->option_count,
	};
}

bool acp_form_question(const struct acp_form *form, struct mcp_question *ret_question)
{
	if (form->outcome != ACP_FORM_OPEN)
		return false;
	if (form->at < form->field_count)
		*ret_question = acp_form_field_question(&form->fields[form->at]);
	else if (form->field_count)
		*ret_question = (struct mcp_question){
			.kind = MCP_SELECT,
			.options = acp_form_reviews,
			.option_count = COUNT(acp_form_reviews),
		};
	else
		*ret_question = (struct mcp_question){ .kind = MCP_CONFIRM };
	ret_question->message = str_from(form->asked);
	return true;
}

/* ---- answers ----------------------------------------------------------------- */

static int acp_form_review(struct acp_form *form, const struct mcp_answer *answer, perch_err *err)
{
	size_t chosen = answer->chosen_count == 1 ? answer->chosen[0] : COUNT(acp_form_reviews);
	if (chosen >= COUNT(acp_form_reviews))
		return err_set(err, -EINVAL, "choose one of the options");
	if (chosen == REVIEW_CHANGE)
		form->at = 0;
	else
		form->outcome = chosen == REVIEW_SEND ? ACP_FORM_ACCEPTED : ACP_FORM_DECLINED;
	return 0;
}

static int acp_form_take_field(
	struct acp_form *form, const struct mcp_answer *answer, perch_err *err)
{
	int r = acp_field_take(&form->fields[form->at], answer, &form->arena, err);
	if (r == 0 && ++form->at == form->field_count && form->field_count == 1)
		form->outcome = ACP_FORM_ACCEPTED;
	return r;
}

int acp_form_take(struct acp_form *form, const struct mcp_answer *answer, perch_err *err)
{
	int r = 0;
	if (form->outcome != ACP_FORM_OPEN)
		return err_set(err, -EINVAL, "nothing is asked any more");
	if (answer->action != MCP_ANSWERED)
		form->outcome = ACP_FORM_DECLINED;
	else if (form->at < form->field_count)
		r = acp_form_take_field(form, answer, err);
	else if (form->field_count)
		r = acp_form_review(form, answer, err);
	else
		form->outcome = answer->yes ? ACP_FORM_ACCEPTED : ACP_FORM_DECLINED;
	if (r == 0 && form->outcome == ACP_FORM_OPEN && acp_form_word(form) < 0)
		return err_no_memory(err);
	return r;
}

void acp_form_write(const struct acp_form *form, struct buf *out)
{
	bool is_accepted = form->outcome == ACP_FORM_ACCEPTED;
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "action", is_accepted ? STR("accept") : STR("decline"));
	if (is_accepted && !form->url.len) {
		perch_json_write_name(&writer, "content");
		perch_json_begin_object(&writer);
		for (size_t i = 0; i < form->field_count; i++)
			acp_field_write(&form->fields[i], &writer);
		perch_json_end_object(&writer);
	}
	perch_json_end_object(&writer);
}

/* ---- life -------------------------------------------------------------------- */

void acp_form_free(struct acp_form *form)
{
	if (!form)
		return;
	arena_free(&form->arena);
	free(form);
}
DEFINE_POINTER_CLEANUP(acp_form_cleanup, struct acp_form, acp_form_free)

int acp_form_new(
	const perch_json_value *params, struct str who, struct acp_form **ret_form, perch_err *err)
{
	_cleanup_(acp_form_cleanup) struct acp_form *form = calloc(1, sizeof(*form));
	if (!form)
		return err_no_memory(err);
	form->who = (struct str){ arena_dup(&form->arena, who), who.len };
	if (!form->who.data)
		return err_no_memory(err);
	int r = acp_form_read(form, params, err);
	if (r == 0 && acp_form_word(form) < 0)
		r = err_no_memory(err);
	if (r == 0)
		*ret_form = steal(&form);
	return r;
}
