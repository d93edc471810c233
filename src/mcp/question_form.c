#include "mcp/question_form.h"

#include <errno.h>

static const enum mcp_text_rule question_rules[] = {
	[PERCH_VALIDATE_NOTHING] = MCP_ANY_TEXT,
	[PERCH_VALIDATE_NON_EMPTY] = MCP_NON_EMPTY,
	[PERCH_VALIDATE_INTEGER] = MCP_INTEGER,
	[PERCH_VALIDATE_PATH_EXISTS] = MCP_NON_EMPTY,
	[PERCH_VALIDATE_URL] = MCP_URL,
};

static const enum mcp_question_kind question_kinds[] = {
	[PERCH_QUESTION_PROMPT] = MCP_PROMPT,
	[PERCH_QUESTION_CONFIRM] = MCP_CONFIRM,
	[PERCH_QUESTION_SELECT] = MCP_SELECT,
	[PERCH_QUESTION_MULTI_SELECT] = MCP_MULTI_SELECT,
};

int mcp_question_of(const perch_question *from, struct arena *arena, struct mcp_question *to)
{
	struct str *options = arena_alloc(arena, from->option_count * sizeof(*options));
	if (!options)
		return -ENOMEM;
	for (size_t i = 0; i < from->option_count; i++)
		options[i] = str_of(from->options[i]);
	*to = (struct mcp_question){
		.kind = question_kinds[from->kind],
		.message = str_of(from->message),
		.rule = question_rules[from->validator],
		.has_default = from->has_default,
		.default_text = str_of(from->default_text),
		.default_yes = from->default_yes,
		.defaults = from->defaults,
		.default_count = from->default_count,
		.options = options,
		.option_count = from->option_count,
	};
	return 0;
}
