/* Why a program failed in a sandbox, as far as its stderr tells. */
#ifndef SANDBOX_POLICY_EXPLAIN_H
#define SANDBOX_POLICY_EXPLAIN_H

#include "base/buf.h"
#include "base/file.h"
#include "base/shell_word.h"
#include "base/str.h"
#include "sandbox/policy/policy.h"

struct explain_context {
	const struct sandbox_policy *policy;
	const char *policy_name; /* "fledge", "tool" */
	/* What stands before the option that widens it: "perch plugins allow deploy ";
	 * "" = the option alone. */
	const char *widen_by;
	/* The file whose [sandbox] is to be changed, where no option widens it; NULL = there is one. */
	const char *widen_in;
	bool (*exists)(const char *path); /* NULL = by the file system */
};

enum { EXPLAIN_MAKE_MAX = 2 * SHELL_ADVICE_MAX };

/* What would allow a path. */
struct explain_advice {
	const char *option; /* "--read", "--write", or "--net" without a word; NULL = nothing */
	bool is_protected;
	char word[SHELL_WORD_MAX];   /* the path, for a shell */
	char make[EXPLAIN_MAKE_MAX]; /* the command that must come before, "" = none */
	char shown[FILE_SHOWN_MAX];
};

/* Looks for the first path in what a failed program wrote that an option would allow. */
bool explain_advise(
	const struct explain_context *context, struct str said, struct explain_advice *ret_advice);

/* Looks through the end of what a failed program wrote to stderr. When it names
 * a file or a thing that the policy denies, appends one line without newline: which
 * policy was in force, and which option would allow it. Returns whether it did. */
bool explain_failure(const struct explain_context *context, struct str said, struct buf *out);

/* The same by the program's name, when its stderr was not seen: for programs that make a sandbox of
 * their own. */
bool explain_nested(const struct explain_context *context, const char *program, struct buf *out);

/* The same for a program that failed; `said` is its output, "" where it was not seen. Tells at
 * least which layers were in force, and how to widen the policy. */
void explain_end(const struct explain_context *context, struct str said, struct buf *out);

#endif
