/* One case, carried out and judged. */
#ifndef CONFORMANCE_TRIAL_H
#define CONFORMANCE_TRIAL_H

#include "conformance/library.h"
#include "conformance/scene.h"
#include "perch/host.h"
#include "plugins/transcript.h"
#include "registry/manifest.h"
#include "tool/binding.h"

enum outcome { OUTCOME_PASSED, OUTCOME_FAILED, OUTCOME_SKIPPED };

/* How it went. `{0}` is a report of a case that did not run yet. */
struct trial_report {
	enum outcome outcome;
	struct arena arena;
	struct findings findings;     /* what is wrong, or (skipped) why it could not be seen */
	struct transcript transcript; /* the lines of both sides */
	uint64_t duration_ns;
};

/* Carries cases out. The owner may set is_stopped at any time (from the loop): a case under way is
 * ended. */
struct kit {
	perch_host *host;
	const char *self;  /* the program that plays the actor */
	const char *perch; /* the command, which hosts agents */
	enum protocol protocol;
	double within_max; /* seconds for a case, whatever it says; 0 = as it says */
	bool is_stopped;
};

/* A plugin, tool or agent to be checked. */
struct trial_subject {
	/* fledge */
	const char *program;
	const char *directory;
	const char *command;
	const struct manifest *manifest; /* NULL = a program alone */
	const char *const *args;
	const char *const *env; /* acp: NULL = ours */
	/* tool */
	const struct tool_binding *binding;
	const char *tool;  /* NULL = the first that it exposes */
	const char *input; /* JSON, on one line */
	/* agent */
	const char *profile;
};

/* Each fills in a report of zeros, to be freed by trial_report_free. They fail with words only
 * where the kit itself could not go on: -ECANCELED when it was stopped, -ENOMEM, the errors of
 * starting the host or the plugin. */
int trial_of_host(struct kit *kit, const struct library_file *file,
	const struct conformance_case *test, const char *command, struct trial_report *report,
	perch_err *err);
int trial_of_plugin(struct kit *kit, const struct conformance_case *test,
	const struct trial_subject *target, struct trial_report *report, perch_err *err);

void trial_report_init(struct trial_report *report);
void trial_report_free(struct trial_report *report);

/* In agent_trial.c, for trial_of_plugin. */
int agent_trial(struct kit *kit, const struct conformance_case *test,
	const struct trial_subject *target, struct trial_report *report, perch_err *err);

/* How many seconds a case has. */
double trial_within(const struct kit *kit, const struct conformance_case *test);

/* ---- for its parts: judge.c ------------------------------------------------------ */

#define PROBLEM(report, ...) findings_add(&(report)->findings, FINDING_ERROR, NULL, __VA_ARGS__)

/* What a program did, seen from outside. */
struct observed {
	int code; /* as a shell has it */
	struct str output;
	struct str errors;
	double timed_out; /* after so many seconds; 0 = not */
};

/* Compares it with the exit code, stdout and stderr that the case expects. 0 or -ENOMEM. */
int judge_outside(const struct conformance_case *test, const struct variable *variables,
	const struct observed *observed, struct trial_report *report);

/* Compares a text with one pattern; `what` names the text in findings. 0 or -ENOMEM. */
int judge_text(const char *what, const char *pattern, const struct variable *variables,
	struct str text, struct trial_report *report);

/* The outcome, once everything was found. 0, or -ENOMEM when not all was. */
int judge_end(struct trial_report *report, perch_err *err);

/* ---- left_behind.c ------------------------------------------------------ */

/* What is left of an actor once its host has ended: the processes that hold its pipe. */

/* How long the kernel may need to carry out what the host has killed. */
enum { LEFT_BEHIND_WAIT_MS = 3000 };

/* Waits until no process holds the other end of the pipe. false: one still does. */
bool left_behind_nobody(int pipe_fd);

/* Kills them. */
void left_behind_kill(int pipe_fd);

/* ---- orphans.c ---------------------------------------------------------- */

/* Processes that a program under test has left behind. A daemon (a session of its own, two forks)
 * is in no group that could be killed; it becomes our child instead of init's, and ends with its
 * case. */

/* From now on a process below us that loses its parent becomes our child. */
void orphans_adopt(void);

/* Kills them and their descendants, and waits for the end of all. The children that the host has
 * started itself are not touched. */
void orphans_end(const perch_host *host);

#endif
