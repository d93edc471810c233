/* What the manifest of an installed plugin says of a command beyond what a run needs. */
#ifndef SERVICE_COMMAND_FACTS_H
#define SERVICE_COMMAND_FACTS_H

#include "registry/registry.h"

struct command_facts {
	const char *description; /* "" = none */
	const char *arguments;   /* its list `args` as JSON; NULL = none */
	bool is_dangerous;
	bool is_protocol; /* it speaks fledge-v1; else it wants a terminal */
};

/* Of one of an entry's commands. Fails as manifest_read does, and with -ENOENT: its manifest does
 * not have it. */
int command_facts_read(const struct registry_entry *entry, const char *command, struct arena *arena,
	struct command_facts *ret_facts, perch_err *err);

/* Of an installed command; -ENOENT when there is none. */
int command_facts_find(
	const char *command, struct arena *arena, struct command_facts *ret_facts, perch_err *err);

#endif
