/* How an agent is started: its argv, its environment, its directory, made from a
 * profile and a turn. Everything lives in the arena. */
#ifndef AGENT_AGENT_LAUNCH_H
#define AGENT_AGENT_LAUNCH_H

#include "agent/dialect.h"
#include "agent/turn.h"
#include "base/buf.h"
#include "perch/json.h"
#include "sandbox/sandbox.h"

enum {
	AGENT_VARIABLE_MAX = 128 * 1024, /* of one variable or argument, by the kernel: its NUL too */
	AGENT_ARGUMENT_MAX = AGENT_VARIABLE_MAX - 1,
};

struct launch {
	struct arena *arena;
	const struct agent_turn_options *options;
	const struct dialect *dialect;
	const char *const *own_env;
	const char *cwd;              /* NULL = ours */
	const char *tmp;              /* TMPDIR, where a sandbox says so; else NULL */
	struct sandbox_policy policy; /* of the sandbox, where there is one */
	const char *const *env;
	const char *const *argv;
	struct buf warnings; /* each ends with '\n' */
};

/* ---- agent_launch.c ------------------------------------------------------ */

/* Looks at the message and finds the directory: cwd. Fails with -EINVAL (a
 * message that is refused), -ENOENT or -ENOTDIR (err->stage is "chdir"),
 * -ENOMEM. */
int launch_begin(struct launch *launch, perch_err *err);

/* Fills in env and argv. */
int launch_finish(struct launch *launch, perch_err *err);

void launch_free(struct launch *launch);

/* A variable of our own environment, without those that are the protocol's. */
const char *launch_own_variable(const struct launch *launch, struct str name);

/* What a template is for. */
struct launch_place {
	const char *name;   /* for messages */
	size_t most;        /* bytes */
	bool has_variables; /* ${VAR} means something */
};

/* Expands a template into the arena. Fails with -EINVAL (too long; err says what to do)
 * and -ENOMEM. */
int launch_expand(struct launch *launch, struct str template, const struct launch_place *place,
	const char **ret_text, perch_err *err);

/* ---- command.c ------------------------------------------------------------ */

/* Splits, expands, and refuses a shell that would read the message as a script. */
int launch_make_argv(struct launch *launch, perch_err *err);

/* What to do about a pair of quotes in the command, meant for a shell; NULL = it has none. */
const char *command_quotes_advice(const struct agent_profile *profile);

enum { COMMAND_ADVICE_MAX = 256 };

/* Where a file that was not found is looked for, and which one may be meant; false = its name says
 * it. */
bool command_explain_file(
	const struct launch *launch, const char *path, char ret_text[COMMAND_ADVICE_MAX]);

/* The same for the program, once argv is known. */
bool command_explain_path(const struct launch *launch, char ret_text[COMMAND_ADVICE_MAX]);

/* ---- named_files.c --------------------------------------------------------- */

/* The files that the profile names, after launch_begin: its program, arguments that are files.
 * Files that the agent may write by that very name are not among them. NULL without memory. */
const char *const *launch_named_files(const struct launch *launch);

/* The same of a profile that is not launched, as a turn from here would find them. */
const char *const *agent_profile_files(const struct agent_profile *profile, struct arena *arena);

/* ---- shell_guard.c --------------------------------------------------------- */

/* Templates, one for each element of an argv. */
struct argv_words {
	struct str *items;
	size_t count;
	bool message_on_stdin;
	bool (*uses)(struct str word); /* whether the text that is looked for stands in it */
};

/* Whether a shell would read that text as code: in an argument, or on its stdin where it has no
 * other script. In doubt the answer is yes. */
bool shell_reads_message(const struct argv_words *words);

/* Makes the words of the launch's command; its environment is known. */
int launch_words(struct launch *launch, struct argv_words *ret_words, perch_err *err);

/* ---- environment.c -------------------------------------------------------- */

int launch_make_env(struct launch *launch, perch_err *err);

/* A variable that every agent inherits. */
bool launch_is_basic(struct str name);

/* Whether the variable is set by the protocol, or must not be set at all: that of the profile and
 * of the user is ignored. */
bool launch_is_protocols(const struct launch *launch, const char *variable);

/* ---- launch_sandbox.c ------------------------------------------------------ */

/* What a sandboxed agent may do, after launch_begin. Lists live in the arena of the
 * launch. Fails as policy_widen does. */
int launch_policy(const struct launch *launch, struct sandbox_policy *ret_policy, perch_err *err);

/* Makes the directories that the profile wants to be there. */
int launch_make_places(const struct launch *launch, perch_err *err);

/* Makes the sandbox that the profile asks for, once cwd is known. By default it reads all but the
 * hidden places, writes cwd, and has the network; the profile changes that. */
/* Records what the profile allows, if that is not recorded yet: what it allows later beyond that is
 * refused. */
int launch_open_sandbox(
	struct launch *launch, perch_host *host, struct sandbox **ret_sandbox, perch_err *err);

/* ---- profile_servers.c ------------------------------------------------------- */

/* The MCP servers of a profile, into a list of JSON that is open. */
void launch_write_servers(
	perch_json_writer *out, const struct agent_profile *profile, struct arena *arena);

/* ---- turn_line.c ----------------------------------------------------------- */

/* By "image", "file" …; false = there is none of that name. */
bool attachment_kind_find(struct str name, perch_attachment_kind *ret_kind);

/* The array of all of them; kind_name is what their kind is called. */
void attachments_write(perch_json_writer *writer, const char *kind_name,
	const perch_attachment *attachments, size_t count);

/* The line that begins a turn of 0.4, with its '\n'. */
int turn_line_write(struct buf *out, const struct agent_turn_options *options);

#endif
