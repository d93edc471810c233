/* A profile: how an agent is started and what becomes of its output. YAML; the
 * contract is docs/agent.md. */
#ifndef AGENT_PROFILE_H
#define AGENT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "perch/base.h"
#include "sandbox/policy/policy.h"

struct decision;
struct grant;

enum agent_dialect { AGENT_0_1, AGENT_0_4, AGENT_ACP, AGENT_DIALECTS };

/* How it is known which dialect an agent speaks. */
enum dialect_evidence {
	DIALECT_UNSAID, /* it is not known: 0.1 until its first line shows another */
	DIALECT_LIKELY, /* by the keys of the published collection, which is written for 0.4 */
	DIALECT_SAID,   /* by `protocol`, by a key that is of 0.4 alone, or by the user */
};

/* What a profile says for people, as those of the published collection do. NULL = nothing. */
struct profile_about {
	const char *name; /* its title */
	const char *description;
	const char *cli; /* the program that the agent needs */
	const char *cli_install;
	const char *tested;
	const char *maintainer;
	const char *const *tags; /* ends with NULL */
	const char *notes;
};

/* An MCP server that an agent of ACP is told of. */
struct profile_server {
	bool is_perch; /* perch's own: nothing else is said of it */
	const char *name;
	const char *command; /* absolute; or: */
	const char *url;
	const char *const *args;  /* ends with NULL, never NULL, as */
	const char *const *pairs; /* NAME=VALUE: the environment, or the headers of a URL */
};

/* What counts for an agent of ACP alone. */
struct profile_acp {
	bool fs;              /* it may ask for files */
	bool terminal;        /* and for commands */
	bool elicitation;     /* it may ask its user, by forms and pages */
	uint64_t idle_ns;     /* a process without a turn is ended after it; 0 = never */
	size_t max_processes; /* of this agent, in as many directories */
	const struct profile_server *servers;
	size_t server_count;
};

struct agent_profile {
	const char *path;      /* canonical: the key of its sessions */
	const char *given;     /* absolute, as it was found: with links on the way, if there are any */
	const char *directory; /* where it lies: {{PROFILE_DIR}} */
	const char *programs;  /* where perch's own are: {{PERCH_DIR}}. Not the profile's to say */
	const char *sha256;    /* of its text */
	enum agent_dialect dialect;
	enum dialect_evidence evidence;
	struct profile_about about;
	const char *command; /* templates, not yet expanded */
	bool has_args;
	const char *const *args; /* lists end with NULL */
	bool message_on_stdin;
	const char *cwd;        /* "" = ours */
	const char *const *env; /* NAME=template */
	bool has_env_allowlist;
	const char *const *env_allowlist; /* names; LC_* style not needed */
	uint64_t timeout_ns;              /* 0 = none, as all below */
	uint64_t idle_timeout_ns;
	uint64_t budget_ns;     /* of all turns of a session together */
	size_t max_turn_tokens; /* the most that a turn may report */
	uint64_t kill_grace_ns; /* 0 = SIGKILL right behind SIGTERM */
	bool keeps_background;  /* what it leaves running is not ended with the turn */
	size_t retry; /* how often a turn may be begun again that its host did not see the end of */
	size_t max_reply_chars;
	const char *truncation_suffix;
	bool include_stderr_in_reply;
	bool send_error_reply;
	bool streaming;
	const char *session_prefix;
	struct profile_acp acp;
	bool permission;                /* 0.4, ACP */
	const char *const *permits;     /* tools that the user has allowed it for good; may be NULL */
	uint64_t permission_timeout_ns; /* how long a program may take to answer; 0 = for ever */
	bool is_sandboxed;
	struct policy_widening widening;
	const char *const
		*made; /* directories to write that are made where they are missing; may be NULL */
	/* The command that widens its sandbox, for explanations: "perch agent allow FILE ";
	 * NULL = there is none. Not the profile's to say. */
	const char *widen_by;
	const char *const *warnings; /* what is odd, one sentence each */
	size_t oddities;             /* those of them that hold for any dialect: the first ones */
	/* What is to be recorded as approved once it runs in its sandbox, NULL = nothing; and what
	 * was approved before, NULL = nothing. */
	const struct decision *unrecorded;
	const struct grant *approved;
};

/* Whether a path of a profile begins at the home directory. */
static inline bool profile_is_home(const char *path)
{
	return path[0] == '~' && (!path[1] || path[1] == '/');
}

enum { AGENT_PROFILE_SIZE_MAX = 1024 * 1024 };

/* Reads a profile. Everything lives in the arena. Fails with -ENOENT (also when a path begins at an
 * unknown home directory) and other errnos, PERCH_ESYNTAX or -EINVAL (err names file, line and
 * key). */
int agent_profile_read(
	const char *path, struct arena *arena, struct agent_profile *ret_profile, perch_err *err);

/* The same from a text; `path` is what it is called, absolute. */
int agent_profile_parse(const char *path, struct str text, struct arena *arena,
	struct agent_profile *ret_profile, perch_err *err);

/* ---- profile_dialect.c ----------------------------------------------------- */

/* By "0.1", "0.4"; false = there is none of that name. */
bool agent_dialect_find(const char *version, enum agent_dialect *ret_dialect);

/* The user says which dialect it is: the warnings are those of that one. Fails with -ENOMEM. */
int agent_profile_speak(
	struct arena *arena, struct agent_profile *profile, enum agent_dialect dialect, perch_err *err);

/* Decides by what was read, once; see enum dialect_evidence. */
int agent_profile_infer(struct arena *arena, struct agent_profile *profile, perch_err *err);

/* ---------------------------------------------------------------------------- */

/* Adds what the user allowed (perch agent allow) to a profile, by its path. Fails as
 * grants_read does, and with -EPERM where the profile allows more than what was approved. data
 * is not used. */
int agent_profile_grant(
	void *data, struct arena *arena, struct agent_profile *profile, perch_err *err);

/* What the profile itself allows, beside what was granted: to be approved. */
int agent_profile_decision(struct arena *arena, const struct agent_profile *profile,
	const struct grant *grant, struct decision *ret_decision, perch_err *err);

#endif
