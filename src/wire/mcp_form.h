/* MCP: a question as the form that a client shows (elicitation), and what came back. */
#ifndef WIRE_MCP_FORM_H
#define WIRE_MCP_FORM_H

#include "base/arena.h"
#include "data/json.h"
#include "wire/mcp_version.h"

/* No user reads a form with more options. */
enum { MCP_FORM_OPTIONS_MAX = 1000 };

enum mcp_question_kind { MCP_PROMPT, MCP_CONFIRM, MCP_SELECT, MCP_MULTI_SELECT };

/* What a prompt's answer must be: as much of it as a form can say. */
enum mcp_text_rule { MCP_ANY_TEXT, MCP_NON_EMPTY, MCP_INTEGER, MCP_URL };

struct mcp_question {
	enum mcp_question_kind kind;
	struct str message;
	enum mcp_text_rule rule; /* prompt */
	bool has_default;
	struct str default_text; /* prompt */
	bool default_yes;        /* confirm */
	const size_t *defaults;  /* select: one index; multi_select: any */
	size_t default_count;
	const struct str *options; /* select, multi_select */
	size_t option_count;
};

enum mcp_action {
	MCP_ANSWERED,
	MCP_DECLINED,    /* no answer to this question */
	MCP_INTERRUPTED, /* the user wants none of it: end the run */
	MCP_UNANSWERED,  /* the client failed: text says how */
};

/* Everything is valid during the call that tells of it. */
struct mcp_answer {
	enum mcp_action action;
	struct str text;      /* prompt */
	bool yes;             /* confirm */
	const size_t *chosen; /* select: one index; multi_select: any, ascending */
	size_t chosen_count;
};

/* Whether its answer would be a secret: such a question never becomes a form. */
bool mcp_form_is_secret(const struct mcp_question *question);

/* Whether clients of this version can show it. */
bool mcp_form_fits(const struct mcp_question *question, const struct mcp_version *version);

/* The params of elicitation/create. */
void mcp_form_write(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version);

/* The same into an object that is open, for callers that add members of their own (ACP). */
void mcp_form_write_members(perch_json_writer *writer, const struct mcp_question *question,
	const struct mcp_version *version);

/* A copy that lives in the arena; -ENOMEM. */
int mcp_question_keep(
	const struct mcp_question *question, struct arena *arena, struct mcp_question *ret_copy);

/* Reads an ElicitResult. A decline of a confirm is a no. Fails with -EINVAL and words (it is
 * no answer to this question) or -ENOMEM; the arena holds what is chosen. */
int mcp_form_read(const struct mcp_question *question, const perch_json_value *result,
	struct arena *arena, struct mcp_answer *ret_answer, perch_err *err);

#endif
