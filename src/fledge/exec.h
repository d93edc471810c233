/* The shell commands that a plugin has the host run. */
#ifndef FLEDGE_EXEC_H
#define FLEDGE_EXEC_H

#include "base/meter.h"
#include "fledge/fledge_engine.h"
#include "perch/host.h"
#include "proc/confine.h"

enum {
	EXEC_OUTPUT_MAX = 10 * 1024 * 1024,     /* of each stream */
	EXEC_WRITTEN_MAX = 2 * EXEC_OUTPUT_MAX, /* the same as JSON, where a byte may take six */
	EXEC_PARALLEL_DEFAULT = 16,
	EXEC_KEPT_GROUPS = 256,    /* leaders that stay unreaped so that their groups can be killed */
	EXEC_TIMEOUT_DEFAULT = 30, /* seconds */
	EXEC_TIMEOUT_MAX_DEFAULT = 3600,
};

struct execs;
struct explain_context;

/* The result of a command as JSON; valid during the call. */
typedef void exec_done_fn(void *data, uint64_t ticket, struct str json);

struct execs_options {
	perch_host *host;
	const char *shell;        /* "sh" */
	const char *project_root; /* resolved; "" = it cannot be read, nothing is inside it */
	const char *plugin_dir;   /* resolved; "" = none */
	const char *const *env;
	const struct perch_confine *confine;
	/* Tells why a command failed in its sandbox, where that can be seen. NULL = never. */
	const struct explain_context *explain;
	void (*explained)(void *data, const char *text);
	/* A command has failed; may be NULL. */
	void (*failed)(void *data, const char *command, struct str out, struct str err);
	unsigned parallel;
	double timeout_max;  /* seconds */
	struct meter *meter; /* counts commands that wait and what others have printed; or NULL */
	exec_done_fn *done;
	void *data;
};

/* options and what it points to must outlive the execs. -ENOMEM. */
int execs_new(const struct execs_options *options, struct execs **ret_execs);

/* Runs it as soon as fewer than `parallel` run. Returns 0, or -ENOMEM; every
 * other trouble is a result. */
int execs_run(struct execs *execs, uint64_t ticket, const struct fledge_exec *exec);

/* No result is wanted any more: all commands are ended, and no result comes. */
void execs_drop(struct execs *execs);

/* Which of the commands are read, and so may come to their end. */
enum execs_pace {
	EXECS_ALL,
	EXECS_OLDEST, /* no other is started either */
	EXECS_NONE,
};
void execs_pace(struct execs *execs, enum execs_pace pace);

/* Signals everything that runs: SIGSTOP and SIGCONT for Ctrl+Z. */
void execs_signal(struct execs *execs, int signal);

/* Ends everything that any of the commands has started. */
void execs_free(struct execs *execs);

#endif
