/* A sandbox for a child of your own (perch/child.h): the policy as data, the layers that enforce
 * it.
 *
 *     perch_sandbox_options options = PERCH_SANDBOX_OPTIONS_INIT;
 *     options.net = PERCH_SANDBOX_NET_NONE;
 *     options.hide = (const char *const[]){ "/home/ann/mail", NULL };
 *     perch_sandbox_open(host, &options, &sandbox, &err);
 *     perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
 *     spec.argv = argv;
 *     perch_sandbox_apply(sandbox, &spec);
 *     perch_child_start(host, &spec, &child, &err);
 *
 * What plugins, tools and agents are confined to is made by the functions that start them. */
#ifndef PERCH_SANDBOX_H
#define PERCH_SANDBOX_H

#include <perch/base.h>
#include <perch/child.h>
#include <perch/host.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_sandbox perch_sandbox;

/* What the rest of a policy is added to. */
typedef enum perch_sandbox_base {
	/* A plugin's: reads all but secrets, writes the directory, has the network. */
	PERCH_SANDBOX_OF_PLUGIN,
	/* A tool's: reads the system, writes a directory of its own alone, in which it starts; has no
	 * network, but limits; what cannot be enforced is refused. */
	PERCH_SANDBOX_OF_TOOL,
} perch_sandbox_base;

/* "fledge", "tool": as `perch sandbox run --policy` has them. */
PERCH_API const char *perch_sandbox_base_name(perch_sandbox_base base);

typedef enum perch_sandbox_net {
	PERCH_SANDBOX_NET_AS_BASE,
	PERCH_SANDBOX_NET_NONE,
	PERCH_SANDBOX_NET_FULL,
} perch_sandbox_net;

/* What becomes of a property that cannot be enforced on this machine. */
typedef enum perch_sandbox_unsupported {
	PERCH_SANDBOX_UNSUPPORTED_AS_BASE,
	PERCH_SANDBOX_UNSUPPORTED_REFUSE, /* the sandbox cannot be opened */
	PERCH_SANDBOX_UNSUPPORTED_WARN,   /* see perch_sandbox_warnings */
} perch_sandbox_unsupported;

/* 0 = the base's, UINT64_MAX = none. */
typedef struct perch_sandbox_limits {
	uint64_t memory; /* bytes */
	uint64_t processes;
	uint64_t files; /* open at a time */
	uint64_t size;  /* bytes, of a file */
	uint64_t cpu;   /* seconds */
} perch_sandbox_limits;

/* Zero is the sane default everywhere; lists end with NULL. Paths may be relative to `directory`.
 */
typedef struct perch_sandbox_options {
	size_t size; /* PERCH_SANDBOX_OPTIONS_INIT sets it */
	perch_sandbox_base base;
	const char *directory;      /* the project, absolute; NULL = the current one */
	const char *program;        /* absolute; may be read and executed in any case; NULL = none */
	const char *const *read;    /* beyond the base; implies execute */
	const char *const *write;   /* the same; implies read */
	const char *const *hide;    /* neither read nor listed */
	const char *const *env;     /* variables that are passed on although they look like secrets */
	const char *const *presets; /* "git", "ssh", "npm" …: what such programs need */
	perch_sandbox_net net;
	perch_sandbox_limits limits;
	perch_sandbox_unsupported unsupported;
	bool
		is_strict; /* what is left for git to execute is removed, not only told to the host's log */
	bool has_streams;  /* a file or terminal that our stdin, stdout or stderr is open on may be
						  opened  by its name, too */
	bool shares_group; /* for children with PERCH_SESSION_SHARED */
} perch_sandbox_options;

#ifdef __cplusplus
static inline perch_sandbox_options perch_sandbox_options_init(void)
{
	perch_sandbox_options init = perch_sandbox_options();
	init.size = sizeof(init);
	return init;
}
#define PERCH_SANDBOX_OPTIONS_INIT perch_sandbox_options_init()
#else
#define PERCH_SANDBOX_OPTIONS_INIT            \
	{                                         \
		.size = sizeof(perch_sandbox_options) \
	}
#endif

/* Makes it ready for children of this host. Everything is copied. Fails with PERCH_ESANDBOX (a
 * property cannot be enforced here, and the policy refuses to go without it; err names it), -ENOENT
 * (a path of `read` or `write` is missing), -ELOOP (one leads to something hidden by a link),
 * -EINVAL (no such preset or base, a directory or program that is not absolute), -ENOMEM, other
 * errnos. */
PERCH_API int perch_sandbox_open(perch_host *host, const perch_sandbox_options *options,
	perch_sandbox **ret_sandbox, perch_err *err);

/* Confines a child that is to be started: sets what confines it, its environment (spec->env without
 * what looks like a secret; NULL = ours) and, where spec->cwd is NULL, its directory: the one of
 * the options, or a tool's own. What it sets is valid as long as the sandbox. -ENOMEM. */
PERCH_API int perch_sandbox_apply(perch_sandbox *sandbox, perch_child_spec *spec);

/* The policy in force, for people. */
typedef struct perch_sandbox_rules {
	bool reads_everything; /* but what is hidden; else `read` alone */
	const char *const *read;
	const char *const *write;
	const char *const *hide;
	const char *const *reveal;  /* visible inside of what is hidden */
	const char *const *protect; /* read-only inside of what may be written */
	const char *const *env;
	bool has_network;
	const char *tmp;             /* its own; NULL = none */
	perch_sandbox_limits limits; /* 0 = none */
	const char *const *layers;   /* that enforce it; NULL = none */
	const char *note;            /* a sentence that the user should know; NULL = nothing */
} perch_sandbox_rules;

/* Valid as long as the sandbox. */
PERCH_API const perch_sandbox_rules *perch_sandbox_rules_of(const perch_sandbox *sandbox);

/* What could not be enforced although the policy asks for it, a sentence each; NULL = nothing. */
PERCH_API const char *const *perch_sandbox_warnings(const perch_sandbox *sandbox);

/* What the sandbox may have denied a program that failed, by its stderr (NULL = that was not seen)
 * and its name: a sentence with the option that allows it, valid until the next call; NULL =
 * nothing is known. */
PERCH_API const char *perch_sandbox_explain(
	perch_sandbox *sandbox, const char *program, const char *said, size_t said_len);

/* Takes it down; its children must be gone. Files that were made meanwhile and that git would
 * execute are told to the host's log. NULL is fine. */
PERCH_API void perch_sandbox_free(perch_sandbox *sandbox);

#ifdef __cplusplus
}
#endif

#endif
