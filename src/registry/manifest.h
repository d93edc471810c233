/* plugin.toml: what a plugin says about itself and asks for. */
#ifndef REGISTRY_MANIFEST_H
#define REGISTRY_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "perch/base.h"
#include "registry/capabilities.h"

struct manifest_command {
	const char *name;
	const char *binary;      /* relative, inside the plugin */
	const char *description; /* "" when absent */
	bool is_dangerous;       /* its user should be asked before it is run */
};

struct manifest {
	const char *name;
	const char *version;
	const char *description; /* "" when absent, as all optional texts */
	const char *author;
	const char *protocol; /* "" = legacy */
	const char *runtime;
	const struct manifest_command *commands;
	size_t command_count;
	struct {
		const char *build, *post_install, *post_remove, *pre_init, *post_work_start, *pre_push;
	} hooks; /* "" when absent */
	struct capabilities wishes;
	const char *hash; /* of the text, to recognize it */
};

/* Every hook there is. */
enum { HOOK_COUNT = 6 };
extern const struct hook_kind {
	const char *name;
	size_t member;     /* of struct manifest: its text */
	bool is_lifecycle; /* run by `perch plugins hook`, where the user works */
} hook_table[HOOK_COUNT];

/* The i-th hook: its name and, in *ret_text, what it runs ("" when absent). */
const char *manifest_hook(const struct manifest *manifest, size_t i, const char **ret_text);

/* The protocol this host speaks. */
#define MANIFEST_PROTOCOL "fledge-v1"

enum { MANIFEST_COMMANDS_MAX = 1024 };

/* Reads a manifest from text. All texts live in the arena. `path` is used in messages. Unknown keys
 * are accepted everywhere. Fails with PERCH_ESYNTAX (err names file, line, column and what is
 * wrong), PERCH_ELIMIT (too large, too deep, too many commands) or -ENOMEM. The protocol is checked
 * by manifest_check_protocol. */
int manifest_parse(const char *path, const char *text, size_t len, struct arena *arena,
	struct manifest *ret_manifest, perch_err *err);

/* The same from directory/plugin.toml; -ENOENT when there is none, -ENOTSUP when
 * it is no regular file, -EFBIG. */
int manifest_read(
	const char *directory, struct arena *arena, struct manifest *ret_manifest, perch_err *err);

/* 0 when the manifest is legacy or speaks fledge-v1 and its runtime is native;
 * else -EPROTONOSUPPORT with words (which version, which is supported, upgrade). */
int manifest_check_protocol(const struct manifest *manifest, perch_err *err);

#endif
