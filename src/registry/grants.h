/* What the user granted beyond the defaults and what was approved:
 * $XDG_CONFIG_HOME/perch/grants.toml, keyed by kind and name.
 *
 *     schema = 1
 *     [plugin.deploy]
 *     approved = { protocol = "fledge-v1", manifest = "<sha256>", hooks = ["build"] }
 *     read = ["/srv/data"]      write = []      env = ["GH_TOKEN"]
 *     presets = ["ssh"]         net = "none"    sandbox = "off"
 *     plugins = ["*", "old"]    shell = "bash"
 *     [agent."/home/me/bot.yaml"]
 *     tools = ["bash"]
 *     approved = { file = "<sha256>", wishes = ["write /srv"], files = ["/home/me/bot"] }
 */
#ifndef REGISTRY_GRANTS_H
#define REGISTRY_GRANTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "perch/base.h"
#include "sandbox/policy/policy.h"

enum grant_kind { GRANT_PLUGIN, GRANT_TOOL, GRANT_AGENT };

/* What the user has approved. */
struct grant_approval {
	const char *protocol;     /* "" = legacy */
	const char *manifest;     /* the hash of plugin.toml; of an agent's profile, a tool's binding */
	const char *const *hooks; /* "build: make", NULL-terminated as all lists */
	const char *const *dangerous; /* the commands that were said to be */
	/* The wishes of the manifest then, as words: "exec", "network" … */
	const char *const *wishes;
	const char *const *files; /* of agents and tools: what the file names, absolute paths */
};

struct grant {
	bool has_approval;
	struct grant_approval approval;
	struct policy_widening widening;
	/* Of plugins: those whose commands it may run, by name; GRANT_ANY_PLUGIN stands for every one
	 * that is confined. And the shell that runs its own commands; NULL = the usual one. */
	const char *const *callees;
	const char *shell;
	const char *const *tools; /* of agents: those that they use without asking */
};

#define GRANT_ANY_PLUGIN "*"

/* Reads the grant of one name; without a record, or a home to look for it, an empty grant.
 * Everything lives in the arena. Fails with PERCH_ESYNTAX (err names file, line, column and what is
 * wrong), -EFBIG, -ENOTSUP (no regular file), other errnos. */
int grants_read(enum grant_kind kind, const char *name, struct arena *arena,
	struct grant *ret_grant, perch_err *err);

/* The same from another file of that format. */
int grants_read_file(const char *path, enum grant_kind kind, const char *name, struct arena *arena,
	struct grant *ret_grant, perch_err *err);

/* The text of such a file with this grant in it. */
int grants_put_text(struct str text, enum grant_kind kind, const char *name,
	const struct grant *grant, struct buf *ret_text, perch_err *err);

/* Writes the grant of one name in place of what was recorded, atomically and under a lock; the rest
 * of the file, comments included, stays. 0600. */
int grants_write(enum grant_kind kind, const char *name, const struct grant *grant, perch_err *err);

/* Writes what was approved of a profile or a binding, and leaves the rest of its record, which
 * another process may be changing. */
int grants_approve(
	enum grant_kind kind, const char *name, const struct grant_approval *approval, perch_err *err);

/* Adds a tool that an agent may use without asking, and leaves the rest of its record. -E2BIG when
 * there are too many. */
enum { GRANT_TOOLS_MAX = 1000 };
int grants_add_tool(const char *name, const char *tool, perch_err *err);

/* The files that decide sandboxes, as far as they are recorded: profiles, bindings, and what
 * these name. No sandbox may write them. Fails as grants_read does. */
int grants_deciding(struct arena *arena, const char *const **ret_paths, perch_err *err);

/* Takes the record away; none is fine. */
int grants_remove(enum grant_kind kind, const char *name, perch_err *err);

#endif
