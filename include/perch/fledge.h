/* Running plugins that speak fledge-v1: the plugin asks, shows and wants things
 * done; you answer its questions and show what it shows. The protocol is described in
 * docs/fledge.md.
 *
 *     perch_fledge_options options = PERCH_FLEDGE_OPTIONS_INIT;
 *     options.command = "deploy";
 *     options.args = (const char *const[]){ "--dry-run", NULL };
 *     options.events = &events;
 *     perch_fledge_run_start(host, &options, &run, &err);
 *     while (!ended) perch_host_wait(host, -1);
 *     perch_fledge_run_free(run);
 *
 * Many may run in one host. A plugin runs in the sandbox that its user gave it;
 * what it may do is what was granted when it was installed. */
#ifndef PERCH_FLEDGE_H
#define PERCH_FLEDGE_H

#include <perch/base.h>
#include <perch/child.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_fledge_run perch_fledge_run;

/* ---- questions -------------------------------------------------------------- */

typedef enum perch_question_kind {
	PERCH_QUESTION_PROMPT,       /* a line of text: perch_fledge_answer_text */
	PERCH_QUESTION_CONFIRM,      /* yes or no: perch_fledge_answer_confirm */
	PERCH_QUESTION_SELECT,       /* one of the options: perch_fledge_answer_choice */
	PERCH_QUESTION_MULTI_SELECT, /* any of the options: the same */
} perch_question_kind;

/* What the text of a prompt must be. */
typedef enum perch_validator {
	PERCH_VALIDATE_NOTHING,
	PERCH_VALIDATE_NON_EMPTY,
	PERCH_VALIDATE_INTEGER,
	PERCH_VALIDATE_PATH_EXISTS,
	PERCH_VALIDATE_URL,
} perch_validator;

/* Texts come from the plugin: take control characters out before you draw them. */
typedef struct perch_question {
	uint64_t number; /* to be given with the answer */
	perch_question_kind kind;
	perch_text message;
	bool has_default;
	perch_text default_text; /* prompt */
	bool default_yes;        /* confirm */
	const size_t *defaults;  /* select, multi_select: indexes of options */
	size_t default_count;
	const perch_text *options;
	size_t option_count;
	perch_validator validator; /* prompt */
} perch_question;

/* ---- what is shown ------------------------------------------------------------ */

typedef enum perch_shown_kind {
	PERCH_SHOWN_OUTPUT,   /* text: for stdout, as it is */
	PERCH_SHOWN_LOG,      /* level ("debug" … "error"), text */
	PERCH_SHOWN_PROGRESS, /* text; current and total with has_amount */
	PERCH_SHOWN_PROGRESS_DONE,
	PERCH_SHOWN_STORE,    /* key: the plugin stores something */
	PERCH_SHOWN_LOAD,     /* key */
	PERCH_SHOWN_EXEC,     /* text: the command that is run for it */
	PERCH_SHOWN_METADATA, /* text: the names of what it is told */
	PERCH_SHOWN_WARNING,  /* text: the library's own words */
	PERCH_SHOWN_ERROR,    /* the same, for what makes the run fail */
	PERCH_SHOWN_DEBUG,    /* the same, for users who want details */
} perch_shown_kind;

typedef struct perch_shown {
	perch_shown_kind kind;
	perch_text text;
	perch_text key;
	perch_text level;
	bool has_amount;
	double current;
	double total;
} perch_shown;

/* How a run ended. */
typedef struct perch_fledge_end {
	bool success;
	int exit_code; /* the plugin's; 128 + signal; 1 when a question found no answer */
	int signal;    /* that killed it; 0 = none */
	uint64_t duration_ns;
	const char *const *sandbox; /* the layers, ends with NULL; NULL = none */
	perch_reach reach;
	perch_background_end background;
} perch_fledge_end;

/* What a run tells; any may be NULL. Pointers are valid during the call, but for
 * those of a question: until it is answered or withdrawn. No callback may free the
 * run but `end`. */
typedef struct perch_fledge_events {
	size_t size; /* sizeof(perch_fledge_events) */
	/* May be called before perch_fledge_run_start has returned; when that fails, the run
	 * is gone. */
	void (*show)(perch_fledge_run *run, void *data, const perch_shown *shown);
	/* Answer by one of the functions below, now or later; one question is open at a time. NULL: no
	 * user can be asked, as with PERCH_ASKING_DEFAULTS. */
	void (*ask)(perch_fledge_run *run, void *data, const perch_question *question);
	/* The open question is no longer wanted: too late, or the plugin is gone. */
	void (*withdraw)(perch_fledge_run *run, void *data);
	/* A line of the plugin's stderr. NULL: its stderr is ours. */
	void (*stderr_line)(perch_fledge_run *run, void *data, perch_text line);
	/* The last one; the run may be freed in it. */
	void (*end)(perch_fledge_run *run, void *data, const perch_fledge_end *end);
} perch_fledge_events;

/* ---- runs ----------------------------------------------------------------------- */

typedef enum perch_asking {
	PERCH_ASKING_USER,     /* `ask` */
	PERCH_ASKING_DEFAULTS, /* no user: the default, or the answer nearest to none */
	PERCH_ASKING_STRICT,   /* no user: an explicit default, else the run fails */
} perch_asking;

/* The capabilities that a plugin which is not installed can be granted; see grants. */
enum {
	PERCH_GRANT_EXEC = 1,
	PERCH_GRANT_STORE = 2,
	PERCH_GRANT_METADATA = 4,
	PERCH_GRANT_NETWORK = 8,
};

/* Whether a plugin or an agent is confined, whatever was granted to it. */
typedef enum perch_sandbox_choice {
	PERCH_SANDBOX_AS_GRANTED,
	PERCH_SANDBOX_ON,
	PERCH_SANDBOX_OFF,
} perch_sandbox_choice;

/* Zero is the sane default everywhere. */
typedef struct perch_fledge_options {
	size_t size;             /* PERCH_FLEDGE_OPTIONS_INIT sets it */
	const char *command;     /* of a plugin, as `perch run` takes it */
	const char *const *args; /* behind the command; ends with NULL; NULL = none */
	/* Where a plugin.toml with this command is: the plugin need not be installed.
	 * An absolute path; NULL = look among what is installed. */
	const char *plugin_dir;
	unsigned grants;         /* PERCH_GRANT_…, with plugin_dir: of what its manifest asks for */
	bool no_sandbox;         /* with plugin_dir: it runs with all our rights */
	const char *project_dir; /* an absolute path; NULL = the current directory */
	perch_asking asking;
	const char *const *answers;   /* "MESSAGE=VALUE" in advance, ends with NULL; NULL = none */
	uint64_t prompt_timeout_ns;   /* of a question; 0 = 300 s, UINT64_MAX = for ever */
	uint64_t exec_timeout_max_ns; /* the longest a command may ask for; 0 = 3600 s */
	size_t line_limit;            /* bytes of a line; 0 = 8 MiB */
	const char *shell;            /* that runs its commands; NULL = "sh" */
	const char *trace;            /* a file that every line is recorded in; NULL = none */
	const perch_fledge_events *events;
	void *data; /* handed to every callback */
	/* Bytes of requests, questions and answers that wait; at the limit the plugin is not read,
	 * at twice the limit the run fails. 0 = 64 MiB. */
	size_t waiting_limit;
	perch_sandbox_choice sandbox; /* of an installed plugin, for this run */
	uint64_t unread_timeout_ns;   /* it may write so long without reading answers; 0 = 60 s */
	bool trace_secrets;           /* in the trace: also values that it stores or loads */
	bool is_strict;               /* what is left for git to execute is removed, not only told */
} perch_fledge_options;

#ifdef __cplusplus
static inline perch_fledge_options perch_fledge_options_init(void)
{
	perch_fledge_options init = perch_fledge_options();
	init.size = sizeof(init);
	return init;
}
#define PERCH_FLEDGE_OPTIONS_INIT perch_fledge_options_init()
#else
#define PERCH_FLEDGE_OPTIONS_INIT            \
	{                                        \
		.size = sizeof(perch_fledge_options) \
	}
#endif

/* Starts a plugin. Everything in the options is copied. On success *ret_run belongs
 * to the caller until perch_fledge_run_free. Fails with
 *   -ENOENT           no such command, or it is not in the plugin's manifest
 *   -EACCES, -ENOEXEC, PERCH_EINTERPRETER  it cannot be executed
 *   -EPROTONOSUPPORT  it speaks no protocol, or one we do not: a program without a
 *                     protocol wants a terminal, run it by perch_child_start
 *   -EPERM            the plugin is not what its user approved
 *   -EINVAL           no command, no events, an answer without '=', a path that is
 *                     not absolute, something set that a newer library added
 *   PERCH_ESYNTAX     a file of it cannot be read; err tells where
 *   PERCH_ESANDBOX    its sandbox cannot be made here
 * and as perch_child_start does. */
PERCH_API int perch_fledge_run_start(perch_host *host, const perch_fledge_options *options,
	perch_fledge_run **ret_run, perch_err *err);

/* Answers the open question; the plugin gets it from the loop. Texts and lists are
 * copied. Fails with -ESTALE (that question is not open), -EINVAL (not an answer to
 * this kind of question, or not what it asks for: err has words for the user, and the
 * question stays open), -ENOMEM. */
PERCH_API int perch_fledge_answer_text(
	perch_fledge_run *run, uint64_t number, const char *text, size_t len, perch_err *err);
PERCH_API int perch_fledge_answer_confirm(
	perch_fledge_run *run, uint64_t number, bool yes, perch_err *err);
/* Indexes of options, ascending; one for a select. */
PERCH_API int perch_fledge_answer_choice(
	perch_fledge_run *run, uint64_t number, const size_t *chosen, size_t count, perch_err *err);

/* The user does not want to answer: that cancels the run, as SIGINT does. -ESTALE. */
PERCH_API int perch_fledge_decline(perch_fledge_run *run, uint64_t number);

/* As if the user had sent this signal: SIGINT → exit code 130, SIGTERM → 143. The
 * plugin is told, then asked to end, then made to; again: the next step now. */
PERCH_API void perch_fledge_run_cancel(perch_fledge_run *run, int signal);

/* Back-pressure: nothing more of the run is read until it is released (not from a callback). Clocks
 * and cancelling go on; a plugin that has exited meanwhile ends after the release. */
PERCH_API void perch_fledge_run_hold(perch_fledge_run *run, bool is_held);

/* Ends what is left of the run, without `end`. Before its host is freed. NULL is fine. */
PERCH_API void perch_fledge_run_free(perch_fledge_run *run);

#ifdef __cplusplus
}
#endif

#endif
