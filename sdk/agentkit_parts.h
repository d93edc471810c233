/* What the parts of the agent kit know of each other. */
#ifndef SDK_AGENTKIT_PARTS_H
#define SDK_AGENTKIT_PARTS_H

#include "kit.h"
#include "perch/agentkit.h"
#include "wire.h"

/* How a dialect reads its turn and says what is said. */
struct agentkit_dialect {
	int (*read)(perch_agentkit *agent); /* 0 or a negative errno */
	bool (*partial)(perch_agentkit *agent, const char *role, const char *text); /* role or NULL */
	bool (*usage)(perch_agentkit *agent, const char *usage);                    /* an object */
	bool (*session)(perch_agentkit *agent, const char *id);
	bool (*error)(perch_agentkit *agent, const char *text);
	bool (*finish)(perch_agentkit *agent); /* sends the reply */
	bool (*permission)(
		perch_agentkit *agent, const char *tool_name, const char *input, const char *description);
};

extern const struct agentkit_dialect agentkit_0_1;
extern const struct agentkit_dialect agentkit_0_4;

struct perch_agentkit {
	const struct agentkit_dialect *dialect;
	struct wire wire;
	const char *const *environment;
	perch_json *json;
	struct arena arena;
	const char *message, *session_id, *session_name, *sender, *protocol;
	bool is_streaming;
	bool may_ask; /* 0.4: permissions */
	perch_agentkit_attachment *attachments;
	size_t attachment_count;
	const char *new_session; /* 0.4: to be told with the next event; NULL = none */
	const char *new_usage;   /* 0.4: the same */
	unsigned long next_request;
	struct buf reply;
	struct buf line; /* being written */
	bool has_failed;
};

/* A variable of the environment, NULL when it is not set. */
const char *agentkit_variable(const perch_agentkit *agent, const char *name);
const char *agentkit_variable_or(
	const perch_agentkit *agent, const char *name, const char *otherwise);

int agentkit_read_attachments(perch_agentkit *agent, const perch_json_value *list);

#endif
