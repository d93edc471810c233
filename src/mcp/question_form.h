/* A plugin's question as a form, for the clients of MCP and the editors of ACP, which have the same
 * forms. */
#ifndef MCP_QUESTION_FORM_H
#define MCP_QUESTION_FORM_H

#include "base/arena.h"
#include "perch/service.h"
#include "wire/mcp_form.h"

/* Its texts are those of the question, its list of options lives in the arena. -ENOMEM. */
int mcp_question_of(const perch_question *from, struct arena *arena, struct mcp_question *to);

#endif
