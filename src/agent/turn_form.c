/* What an agent of ACP wants its user asked (wire/acp_form.h): the questions of a turn. Each is
 * told from the loop, so that whoever answers one is not asked the next one meanwhile. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/turn_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "perch/loop.h"
#include "wire/acp_form.h"

enum { FORM_ID_SIZE = 32 };

struct turn_form {
	struct link link;
	struct agent_turn *turn;
	uint64_t number; /* of the agent's request */
	struct acp_form *form;
	perch_timer *timer; /* when it is due, the next question is told */
	bool is_told;       /* the question that is open */
	bool is_dismissed;  /* nobody answers it */
	char id[FORM_ID_SIZE];
	perch_question question;
	perch_text *options; /* of the question */
};

static void turn_form_free(struct turn_form *form)
{
	if (!form)
		return;
	acp_form_free(form->form);
	perch_timer_free(form->timer);
	free(form->options);
	free(form);
}
DEFINE_POINTER_CLEANUP(turn_form_cleanup, struct turn_form, turn_form_free)

static void turn_form_remove(struct turn_form *form)
{
	list_remove(&form->turn->forms, form);
	turn_form_free(form);
}

/* ---- the end of one ------------------------------------------------------------ */

static void turn_form_finish(struct turn_form *form)
{
	struct agent_turn *turn = form->turn;
	uint64_t number = form->number;
	_cleanup_(buf_free) struct buf result = { 0 };
	acp_form_write(form->form, &result);
	turn_form_remove(form);
	if (turn->seat)
		seat_answer(turn->seat, number,
			result.failed ? STR("{\"action\":\"cancel\"}")
						  : (struct str){ result.data, result.len });
}

/* Nobody is there to be asked: that is no decision of a user. */
static void turn_form_cancel(struct turn_form *form)
{
	struct agent_turn *turn = form->turn;
	uint64_t number = form->number;
	turn_form_remove(form);
	if (turn->seat)
		seat_answer(turn->seat, number, STR("{\"action\":\"cancel\"}"));
}

/* ---- asking -------------------------------------------------------------------- */

/* As those of plugins are. */
static int turn_form_word(struct turn_form *form, const struct mcp_question *from)
{
	static const perch_validator rules[] = {
		[MCP_ANY_TEXT] = PERCH_VALIDATE_NOTHING,
		[MCP_NON_EMPTY] = PERCH_VALIDATE_NON_EMPTY,
		[MCP_INTEGER] = PERCH_VALIDATE_INTEGER,
		[MCP_URL] = PERCH_VALIDATE_URL,
	};
	static const perch_question_kind kinds[] = {
		[MCP_PROMPT] = PERCH_QUESTION_PROMPT,
		[MCP_CONFIRM] = PERCH_QUESTION_CONFIRM,
		[MCP_SELECT] = PERCH_QUESTION_SELECT,
		[MCP_MULTI_SELECT] = PERCH_QUESTION_MULTI_SELECT,
	};
	perch_text *options = calloc(from->option_count + 1, sizeof(*options));
	if (!options)
		return -ENOMEM;
	for (size_t i = 0; i < from->option_count; i++)
		options[i] = (perch_text){ from->options[i].data, from->options[i].len };
	free(form->options);
	form->options = options;
	form->question = (perch_question){
		.kind = kinds[from->kind],
		.message = { from->message.data, from->message.len },
		.has_default = from->has_default,
		.default_text = { from->default_text.len ? from->default_text.data : "",
			from->default_text.len },
		.default_yes = from->default_yes,
		.defaults = from->defaults,
		.default_count = from->default_count,
		.options = options,
		.option_count = from->option_count,
		.validator = rules[from->rule],
	};
	return 0;
}

static void turn_form_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct turn_form *form = data;
	struct agent_turn *turn = turn_enter(form->turn);
	struct mcp_question question = { 0 };
	bool is_asked = acp_form_question(form->form, &question);
	if (!is_asked)
		turn_form_finish(form);
	else if (form->is_dismissed || turn->is_over || turn->has_exited ||
		!turn->options.events->question || turn_form_word(form, &question) < 0)
		turn_form_cancel(form);
	else {
		form->is_told = true;
		TELL(turn, question, turn, str_from(form->id), &form->question);
	}
	turn_leave(turn);
}

/* Its name, or that of its file. */
static struct str turn_form_asker(const struct agent_profile *profile)
{
	struct str who = str_from(
		profile->about.name && profile->about.name[0] ? profile->about.name : profile->path);
	for (struct str rest = who; rest.len && !profile->about.name;)
		who = str_cut(&rest, '/');
	if (str_has_suffix(who, STR(".yaml")))
		who.len -= strlen(".yaml");
	return who;
}

static int turn_form_new(struct agent_turn *turn, uint64_t number, const perch_json_value *params,
	struct turn_form **ret_form, perch_err *err)
{
	_cleanup_(turn_form_cleanup) struct turn_form *form = calloc(1, sizeof(*form));
	if (!form)
		return err_no_memory(err);
	form->turn = turn;
	form->number = number;
	snprintf(form->id, sizeof(form->id), "form-%" PRIu64, number);
	int r = acp_form_new(params, turn_form_asker(turn->options.profile), &form->form, err);
	if (r == 0)
		r = perch_timer_new(turn->host, turn_form_due, form, &form->timer, err);
	if (r == 0)
		*ret_form = steal(&form);
	return r;
}

/* A form that cannot be shown is told to the agent, and to the user: both may wonder. */
void turn_form_take(struct agent_turn *turn, uint64_t number, const perch_json_value *params)
{
	struct turn_form *form = NULL;
	perch_err err = { 0 };
	char text[PERCH_ERR_TEXT_MAX + 64];
	int r = turn_form_new(turn, number, params, &form, &err);
	if (r < 0) {
		snprintf(text, sizeof(text), "a question of the agent is refused: %s", err.text);
		seat_refuse(turn->seat, number, str_from(err.text));
		turn_effects.warning(turn, str_from(text));
		return;
	}
	list_append(&turn->forms, form);
	perch_timer_set(form->timer, 0);
}

/* ---- answers ------------------------------------------------------------------- */

int agent_turn_answer(
	struct agent_turn *turn, struct str request_id, const perch_answer *answer, perch_err *err)
{
	struct turn_form *form = list_first(&turn->forms);
	while (form && !str_is(request_id, form->id))
		form = list_next(form);
	if (!form || !form->is_told)
		return err_set(err, -ESTALE, "that question is not open");
	const char *text = answer->text ? answer->text : "";
	const struct mcp_answer given = {
		.action = answer->cancel ? MCP_DECLINED : MCP_ANSWERED,
		.text = { text, answer->text_len ? answer->text_len : strlen(text) },
		.yes = answer->yes,
		.chosen = answer->chosen,
		.chosen_count = answer->chosen_count,
	};
	int r = answer->cancel && answer->message ? 0 : acp_form_take(form->form, &given, err);
	if (r < 0)
		return r;
	form->is_told = false;
	form->is_dismissed = answer->cancel && answer->message;
	turn->heard_ns = clock_now_ns();
	perch_timer_set(form->timer, 0);
	return 0;
}

/* What is asked points into the form: nobody may look at it any more. */
static void turn_form_lose(struct turn_form *form)
{
	struct agent_turn *turn = form->turn;
	char id[FORM_ID_SIZE];
	bool was_told = form->is_told;
	memcpy(id, form->id, sizeof(id));
	list_remove(&turn->forms, form);
	if (was_told)
		TELL(turn, withdrawn, turn, str_from(id));
	turn_form_free(form);
}

void turn_forms_drop(struct agent_turn *turn)
{
	while (turn->forms.count)
		turn_form_lose(list_first(&turn->forms));
}

bool turn_form_withdraw(struct agent_turn *turn, uint64_t number)
{
	struct turn_form *form = list_first(&turn->forms);
	while (form && form->number != number)
		form = list_next(form);
	if (form)
		turn_form_lose(form);
	return form != NULL;
}
