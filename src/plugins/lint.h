/* Checks every line between plugin and host against fledge-v1. A host ignores what it does not know
 * and goes on; this is stricter, for the author. No I/O; a finding's place is the number of the
 * plugin's line. */
#ifndef PLUGINS_LINT_H
#define PLUGINS_LINT_H

#include <stddef.h>

#include "base/str.h"
#include "perch/json.h"
#include "plugins/findings.h"
#include "registry/manifest.h"

struct lint_request;

struct lint {
	struct findings *findings;
	struct capabilities wishes; /* what the manifest asks for */
	perch_json *json;
	unsigned line;                /* of the plugin, the last one */
	struct lint_request *waiting; /* requests that are not answered yet, in order */
	size_t waiting_from;
	size_t waiting_count;
	size_t waiting_cap;
	bool is_cancelled; /* the host wants the plugin to end */
};

/* 0 or -ENOMEM. lint_free is fine for a lint of zeros. */
int lint_init(struct lint *lint, const struct capabilities *wishes, struct findings *findings);
void lint_free(struct lint *lint);

/* The lines of a conversation, as they come, without their newlines. */
void lint_from_plugin(struct lint *lint, struct str line);
void lint_to_plugin(struct lint *lint, struct str line);

/* The plugin has ended. */
void lint_end(struct lint *lint);

/* ---- lint_rules.c ---------------------------------------------------------- */

/* The messages of fledge-v1 as a table. */

enum field_kind {
	FIELD_TEXT,
	FIELD_BOOL,
	FIELD_NUMBER,
	FIELD_POSITIVE,
	FIELD_INDEX, /* of `options` */
	FIELD_INDEXES,
	FIELD_TEXTS,
};

/* Of one message. More of them than this do not compile. */
enum { FIELDS_MAX = 5 };

struct field_rule {
	const char *name;
	enum field_kind kind;
	bool is_needed;
};

/* A message whose fields are as they should be, looked at more closely. */
typedef void lint_closer_fn(struct lint *lint, const perch_json_value *message);

struct message_rule {
	const char *name;
	bool is_request;        /* needs an id, and waits for its answer */
	const char *capability; /* that it needs: one of capability_table; NULL = none */
	lint_closer_fn *closer;
	size_t field_count;
	struct field_rule fields[FIELDS_MAX];
};

/* NULL when there is no such message. */
const struct message_rule *message_rule_find(struct str name);

/* The name that a word was probably meant to be, or NULL. */
const char *message_rule_meant(struct str name);

#define LINT_ERROR(lint, ...) \
	findings_add(             \
		(lint)->findings, FINDING_ERROR, &(struct toml_place){ (lint)->line, 0 }, __VA_ARGS__)
#define LINT_WARNING(lint, ...) \
	findings_add(               \
		(lint)->findings, FINDING_WARNING, &(struct toml_place){ (lint)->line, 0 }, __VA_ARGS__)

#endif
