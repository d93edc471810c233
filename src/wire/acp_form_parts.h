/* What the parts of a form share: acp_form_read.c reads it, acp_form.c asks, acp_form_answer.c has
 * the answers. */
#ifndef WIRE_ACP_FORM_PARTS_H
#define WIRE_ACP_FORM_PARTS_H

#include "base/arena.h"
#include "wire/acp_form.h"

enum acp_field_kind {
	ACP_FIELD_TEXT,
	ACP_FIELD_NUMBER,
	ACP_FIELD_INTEGER,
	ACP_FIELD_FLAG,
	ACP_FIELD_CHOICE,
	ACP_FIELD_CHOICES,
};

struct acp_field {
	enum acp_field_kind kind;
	struct str name;
	struct str label; /* for people */
	struct str format;
	bool is_required;
	bool has_least, has_most; /* of a number, of the letters of a text, of chosen options */
	double least, most;
	struct str *options; /* as they are shown; that of a field that needs none has one more */
	struct str *values;  /* as they are sent */
	size_t option_count;
	/* What it has been answered with, or its default. */
	bool is_given;
	struct str text; /* of a number: as it is sent */
	bool is_yes;
	size_t *chosen;
	size_t chosen_count;
};

enum acp_form_outcome { ACP_FORM_OPEN, ACP_FORM_ACCEPTED, ACP_FORM_DECLINED };

struct acp_form {
	struct arena arena;
	struct str who, message;
	struct str url; /* of a page; empty = it is a form */
	struct acp_field *fields;
	size_t field_count;
	size_t at; /* the field that is asked for; field_count: whether all is right */
	enum acp_form_outcome outcome;
	const char *asked; /* the message of the question */
};

/* ---- acp_form_read.c --------------------------------------------------------- */

int acp_form_read(struct acp_form *form, const perch_json_value *params, perch_err *err);

/* ---- acp_form_answer.c ------------------------------------------------------- */

/* Keeps the answer to a field. -EINVAL with words for the user, -ENOMEM. */
int acp_field_take(
	struct acp_field *field, const struct mcp_answer *answer, struct arena *arena, perch_err *err);

/* What it was answered with, for people. */
void acp_field_show(const struct acp_field *field, struct buf *out);
void acp_field_write(const struct acp_field *field, perch_json_writer *out);

#endif
