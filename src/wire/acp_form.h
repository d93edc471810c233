/* What an agent of ACP wants its user asked (elicitation/create), as questions, one after the
 * other: a field of a form is one, and a form of several fields ends with one that shows all
 * answers. A page that is to be opened is a question, too; nobody but the user opens it. */
#ifndef WIRE_ACP_FORM_H
#define WIRE_ACP_FORM_H

#include "base/buf.h"
#include "wire/mcp_form.h"

struct acp_form;

enum {
	ACP_FORM_FIELDS_MAX = 64,
	ACP_FORM_TEXT_MAX = 8 * 1024, /* bytes of a message, a title or an option */
};

/* Reads the params; they are copied. who: the agent, as people know it. Fails with -EINVAL (err has
 * words for the agent: no such mode, a field that nobody can show, a form that wants a secret) or
 * -ENOMEM. */
int acp_form_new(
	const perch_json_value *params, struct str who, struct acp_form **ret_form, perch_err *err);

/* NULL is fine. */
void acp_form_free(struct acp_form *form);

/* The question that is open, valid until it is answered; false: there is none any more. */
bool acp_form_question(const struct acp_form *form, struct mcp_question *ret_question);

/* Takes the answer to it. What is no answer declines all of it. Fails with -EINVAL (it does not
 * fit: err has words for the user, and the question stays open) or -ENOMEM. */
int acp_form_take(struct acp_form *form, const struct mcp_answer *answer, perch_err *err);

/* The result for the agent, once no question is open. */
void acp_form_write(const struct acp_form *form, struct buf *out);

#endif
