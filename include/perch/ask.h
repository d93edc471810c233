/* What a job (perch/job.h) may have to ask before it goes on, and the answer to it. */
#ifndef PERCH_ASK_H
#define PERCH_ASK_H

#include <perch/base.h>
#include <perch/fledge.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum perch_ask_kind {
	PERCH_ASK_PROMPT, /* the four of a plugin, or of an agent of ACP: `question` */
	PERCH_ASK_CONFIRM,
	PERCH_ASK_SELECT,
	PERCH_ASK_MULTI_SELECT,
	PERCH_ASK_PERMISSION, /* an agent wants to use a tool: `subject`; `detail` is its input */
	PERCH_ASK_APPROVAL,   /* the operator wants every call of this tool approved: the same */
	PERCH_ASK_FORM,     /* an MCP server wants its user asked: `detail` is its request, as below */
	PERCH_ASK_SAMPLING, /* an MCP server wants a model's answer: `detail` is its request */
	PERCH_ASK_ROOTS,    /* an MCP server wants to know the client's roots; no `detail` */
} perch_ask_kind;

/* "prompt", "confirm", "select", "multi_select", "permission", "approval" … */
PERCH_API const char *perch_ask_kind_name(perch_ask_kind kind);

typedef struct perch_ask_option {
	perch_text id; /* to be given back in perch_answer.option */
	perch_text name;
	perch_text kind; /* "allow_once", "allow_always", "reject_once" …; empty = none */
} perch_ask_option;

/* An open question. One number for all kinds, counted by the job from 1. Texts come from plugin or
 * agent: take control characters out before you draw them. */
typedef struct perch_ask {
	uint64_t number;
	perch_ask_kind kind;
	perch_text message;
	const perch_question *question; /* of the first four kinds; NULL elsewhere */
	perch_text id;      /* that an agent or an MCP server has given its request; empty elsewhere */
	perch_text subject; /* the tool that is to be used */
	perch_text description; /* what the agent says about it */
	perch_text detail;      /* JSON; empty = none */
	const perch_ask_option *options;
	size_t option_count;
	/* Permission, question of an agent: how long the profile lets a program take to answer, for the
	 * frontend to keep; 0 = for ever. */
	uint64_t patience_ns;
	/* Permission: the tool call that it is for, by the agent's own name; empty = it says none. */
	perch_text call;
} perch_ask;

/* Zero is an empty text, no, nothing chosen, not allowed. */
typedef struct perch_answer {
	size_t size; /* PERCH_ANSWER_INIT sets it */
	bool cancel; /* no answer will come: a plugin's run is interrupted by that */
	const char *text;
	size_t text_len; /* 0 = up to its NUL */
	bool yes;        /* confirm, permission, approval */
	const size_t *chosen;
	size_t chosen_count;
	const char *option; /* permission: one of its own */
	/* Permission: why not. A question of an agent, with `cancel`: why nobody answers it; without,
	 * its user has declined. */
	const char *message;
	const char *by;      /* approval: the user who decided, for the audit log; NULL = "user" */
	const char *content; /* form, sampling, roots: the result for the server, a JSON object */
} perch_answer;

#ifdef __cplusplus
static inline perch_answer perch_answer_init(void)
{
	perch_answer init = perch_answer();
	init.size = sizeof(init);
	return init;
}
#define PERCH_ANSWER_INIT perch_answer_init()
#else
#define PERCH_ANSWER_INIT            \
	{                                \
		.size = sizeof(perch_answer) \
	}
#endif

#ifdef __cplusplus
}
#endif

#endif
