/* What the parts of the profile reader know of each other. */
#ifndef AGENT_PROFILE_PARTS_H
#define AGENT_PROFILE_PARTS_H

#include "agent/profile.h"
#include "data/yaml.h"
#include "sandbox/policy/path_list.h"

struct profile_reader {
	struct arena *arena;
	struct agent_profile *profile;
	perch_err *err;
	const char *home;   /* "" = unknown */
	const char *prefix; /* "" or "agentproc." or "sandbox.": for messages */
	struct path_list warnings;
	bool has_protocol;
	bool has_executor;
	bool has_permission;
	const char *executor;
	const struct yaml_entry *command;      /* NULL = it is not there */
	const struct yaml_entry *like_command; /* an unknown key that may be meant as it; or NULL */
};

enum { PROFILE_KEYS = 34 };

/* In profile_keys.c: the number of a key, -1 = unknown; and reading its value. */
int profile_find_key(const char *name);

/* The key that the author may have meant, or NULL. */
const char *profile_nearest_key(const char *name);
int profile_read_key(struct profile_reader *reader, int which, const struct yaml_entry *entry);

/* What is wrong with a value; the key is named. Returns -EINVAL. */
int profile_refuse(struct profile_reader *reader, const struct yaml_entry *entry,
	const char *format, ...) PERCH_PRINTF(3, 4);

/* The value has another type than the one wanted. */
int profile_refuse_type(
	struct profile_reader *reader, const struct yaml_entry *entry, const char *wanted);

/* The value of an entry as a list of strings that ends with NULL. Numbers count
 * as they are written when `takes_numbers`. */
int profile_texts(struct profile_reader *reader, const struct yaml_entry *entry, bool takes_numbers,
	const char *const **ret_list);

/* A mapping of texts as NAME=VALUE, ends with NULL. */
int profile_pairs(
	struct profile_reader *reader, const struct yaml_entry *entry, const char *const **ret_list);

/* "Unknown key": one warning, ignored. `nearest` may have been meant; or NULL. */
int profile_warn_unknown(
	struct profile_reader *reader, const struct yaml_entry *entry, const char *nearest);

/* In profile_sandbox.c: the key `sandbox`. */
int profile_read_sandbox(struct profile_reader *reader, const struct yaml_entry *entry);

/* In profile_servers.c: the key `mcp_servers`. */
int profile_read_servers(struct profile_reader *reader, const struct yaml_entry *entry);

#endif
