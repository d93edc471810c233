/* The messages of fledge-v1 as a table. */
#ifndef PLUGINS_LINT_RULES_H
#define PLUGINS_LINT_RULES_H

#include <stddef.h>

#include "plugins/lint.h"

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
