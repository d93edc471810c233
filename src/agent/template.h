/* Templates of a profile: {{MESSAGE}}, {{SESSION_ID}}, {{SESSION_NAME}},
 * {{PROFILE_DIR}} and, where it is allowed, ${VAR}. One pass over the template
 * alone: what was put in is never looked at again, whoever wrote it. */
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
	/* NULL: ${VAR} is a text like any other. Else its value; NULL = there is none,
	 * which gives nothing. */
	const char *(*variable)(void *data, struct str name);
	void *data;
};

/* Appends the template with everything put in. */
int template_expand(struct buf *out, struct str template, const struct template_values *values);

/* Whether {{MESSAGE}} stands in it. */
bool template_uses_message(struct str template);

/* The NAME of the first {{NAME}} that is none of ours: it stays as it is. In capitals
 * only: others are for somebody else's templates. */
bool template_find_unknown(struct str template, struct str *ret_name);

/* The name that somebody may have meant, or NULL. */
const char *template_nearest(const char *name);

#endif
