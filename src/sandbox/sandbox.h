/* A policy made ready for the processes of one run: what src/proc applies to a
 * child between its birth and its exec, the directory it may call its own /tmp,
 * and the names of the layers that enforce it. A plugin and the commands it has
 * executed share one. */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "perch/host.h"
#include "proc/confine.h"
#include "sandbox/policy/policy.h"

struct sandbox;

/* Something that a policy can ask for. */
struct property {
	const char *name;  /* "write" */
	const char *what;  /* "nothing but … is written" */
	const char *layer; /* what enforces it, "landlock", "seccomp" …; NULL = nothing */
	const char *why;   /* with NULL: what is missing */
	bool is_asked;     /* by the policy */
};

enum { PROPERTIES_MAX = 24 };

/* Policies as they mostly are. */
enum sandbox_kind {
	SANDBOX_OF_PLUGIN,
	SANDBOX_OF_TOOL, /* its memory is limited */
	SANDBOX_OF_GIT,  /* nothing can be written */
};

/* One of this kind will be wanted soon, by a host that runs once: what all of them need begins
 * beside what the caller does until then. If it is another one in the end, that was in vain. */
void sandbox_begin(perch_host *host, enum sandbox_kind kind);

/* Makes a policy ready; it is copied where it is needed. Children that use it
 * must be children of `host`. Fails with PERCH_ESANDBOX (a property cannot be
 * enforced here and the policy refuses to go without; err names it), -ENOENT (a
 * path of `read` or `write` is missing; err names it), -ENOMEM, other errnos. */
int sandbox_open(perch_host *host, const struct sandbox_policy *policy,
	struct sandbox **ret_sandbox, perch_err *err);

/* The same, but nothing is refused: to see what could be enforced. */
int sandbox_try(perch_host *host, const struct sandbox_policy *policy, struct sandbox **ret_sandbox,
	perch_err *err);

/* For perch_child_spec.confine; valid until sandbox_close. NULL = nothing to apply. */
const struct perch_confine *sandbox_confine(const struct sandbox *sandbox);

/* The layers in force, for people and results, NULL-terminated; NULL = nothing
 * is enforced. */
const char *const *sandbox_layers(const struct sandbox *sandbox);

/* What could not be enforced although the policy asks for it, one sentence
 * each, NULL-terminated; NULL = everything is. */
const char *const *sandbox_warnings(const struct sandbox *sandbox);

/* Every property there is, and what enforces it in this sandbox. Returns how
 * many; the texts are constants. */
size_t sandbox_report(const struct sandbox *sandbox, struct property out[PROPERTIES_MAX]);

/* Why there are no namespaces, when some were wanted; NULL = there are. */
const char *sandbox_no_room(const struct sandbox *sandbox);

/* What TMPDIR must be for the children: the private directory, or "/tmp" where
 * that has been replaced by one. NULL = the policy has none: leave it alone. */
const char *sandbox_tmp(const struct sandbox *sandbox);

/* The paths that are read-only inside of writable ones, NULL-terminated: those of the policy, and
 * the files that git would execute, in every repository there. Some may not exist. Valid as long as
 * the sandbox. */
const char *const *sandbox_protected(const struct sandbox *sandbox);

/* Takes everything down: namespaces, private directory, descriptors. If the policy says that the
 * sandbox may be used again and it is as good as new, that is done some time later, or with the
 * host. Its children must be gone. Files that were made meanwhile and that git would execute are
 * told to the host's log, and removed if the policy says so. NULL is fine. */
void sandbox_close(struct sandbox *sandbox);

#endif
