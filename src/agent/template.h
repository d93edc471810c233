/* Templates of a profile: {{MESSAGE}}, {{SESSION_ID}}, {{SESSION_NAME}},
 * {{PROFILE_DIR}}, {{PERCH_DIR}} and, where it is allowed, ${VAR}. One pass over the template
 * alone: a value that was put in is never read as a template. */
#ifndef AGENT_TEMPLATE_H
#define AGENT_TEMPLATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

struct template_values {
	bool has_message; /* else {{MESSAGE}} is a text like any other */
	struct str message;
	const char *session_id;
	const char *session_name;
	const char *profile_dir;
	const char *perch_dir;
	/* NULL: ${VAR} is a text like any other. Else its value; NULL = there is none,
	 * which gives nothing. */
	const char *(*variable)(void *data, struct str name);
	void *data;
};

/* Appends the template with everything put in. */
int template_expand(struct buf *out, struct str template, const struct template_values *values);

/* Whether {{MESSAGE}} stands in it. */
bool template_uses_message(struct str template);

/* Whether a text that a stranger may have written is put into it: the message, or the name of the
 * session, which a chat may take from its user. */
bool template_uses_strangers(struct str template);

/* The name of the session alone. */
bool template_uses_session_name(struct str template);

enum { TEMPLATE_WORDS_MAX = 256 };

/* Whether there is a {{NAME}} in it that we do not know and that stays as it is: then the words say
 * so. In capitals only: others belong to templates of other programs. */
bool template_explain_unknown(struct str template, char ret_text[TEMPLATE_WORDS_MAX]);

#endif
