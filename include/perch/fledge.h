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
	perch_text plugin; /* its name, of what the plugin says and of what is said of it; or empty */
	perch_text json; /* a log of an MCP server: what it said, as it said it; `key` is the logger */
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

/* What is done with a command that speaks no protocol: a program that wants a terminal. */
typedef enum perch_legacy {
	PERCH_LEGACY_REFUSE,
	/* Its streams, its session and its process group are ours; so it gets the signals of the
	 * terminal itself, and the program that runs it has to survive them. It is confined only when
	 * its user has said so. */
	PERCH_LEGACY_INHERIT,
	PERCH_LEGACY_TELL, /* the same, but what it prints is told by `show` */
} perch_legacy;

typedef struct perch_fledge_command perch_fledge_command;

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
	const char *shell; /* that runs its commands; NULL = the one that it was granted, or "sh" */
	const char *trace; /* a file that every line is recorded in; NULL = none */
	const perch_fledge_events *events;
	void *data; /* handed to every callback */
	/* Bytes of requests, questions and answers that wait; at the limit the plugin is not read,
	 * at twice the limit the run fails. 0 = 64 MiB. */
	size_t waiting_limit;
	perch_sandbox_choice sandbox; /* of an installed plugin, for this run */
	uint64_t unread_timeout_ns;   /* it may write so long without reading answers; 0 = 60 s */
	bool trace_secrets;           /* in the trace: also values that it stores or loads */
	bool is_strict;               /* what is left for git to execute is removed, not only told */
	/* What `command` is, looked up by perch_fledge_find: it is not looked up again, and plugin_dir,
	 * grants, no_sandbox and is_called are those it was found with. It must outlive the run. */
	const perch_fledge_command *found;
	bool is_called; /* perhaps by another plugin: see perch_fledge_find */
	bool explains;  /* what the sandbox may have to do with a failure is shown as a debug text */
	perch_legacy legacy;
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

/* ---- commands: what would be run ----------------------------------------------- */

typedef struct perch_fledge_facts {
	int error;          /* it cannot be run: what perch_fledge_run_start fails with; 0 = it can */
	const char *path;   /* what is executed */
	const char *plugin; /* the name of its plugin; NULL = it belongs to none */
	const char *shell;  /* that its user has granted it; NULL = none */
	bool is_legacy;     /* it speaks no protocol */
	bool is_called;     /* another plugin has called for it: no user is asked */
} perch_fledge_facts;

/* Looks a command up: `command`, `plugin_dir`, `grants`, `no_sandbox` and `is_called` of the
 * options, nothing else of them. One that cannot be run is found, too: then the facts have the
 * error, and a start of it fails with that and with words. With is_called, the variables by which a
 * host lets a perch that it has started know of the plugin that called are taken out of the
 * environment, and hold. Fails with -EINVAL, -ENOMEM. */
PERCH_API int perch_fledge_find(
	const perch_fledge_options *options, perch_fledge_command **ret_command, perch_err *err);

/* Valid as long as the command is. */
PERCH_API const perch_fledge_facts *perch_fledge_command_facts(const perch_fledge_command *command);

/* NULL is fine. */
PERCH_API void perch_fledge_command_free(perch_fledge_command *command);

/* ---- runs of them ------------------------------------------------------------- */

/* Starts a plugin. Everything in the options but `found` is copied. On success *ret_run belongs
 * to the caller until perch_fledge_run_free. err->stage is "prepare" where it failed before it came
 * to the program, whatever the error. Fails with
 *   -ENOENT           no such command, or it is not in the plugin's manifest
 *   -EACCES, -ENOEXEC, PERCH_EINTERPRETER  it cannot be executed
 *   -EPROTONOSUPPORT  it speaks no protocol (see `legacy`), or one we do not
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

/* For a program that is about to stop itself (Ctrl+Z), and for when it goes on: everything that the
 * run has started is stopped, and continued; no deadline of its host counts the time between. Not
 * from a callback of the run. */
PERCH_API void perch_fledge_run_suspend(perch_fledge_run *run);
PERCH_API void perch_fledge_run_resume(perch_fledge_run *run);

/* No user can be asked any more: the open question and all that follow get what they would get with
 * PERCH_ASKING_DEFAULTS, from the loop. */
PERCH_API void perch_fledge_run_stop_asking(perch_fledge_run *run);

/* Ends what is left of the run, without `end`. Before its host is freed. NULL is fine. */
PERCH_API void perch_fledge_run_free(perch_fledge_run *run);

#ifdef __cplusplus
}
#endif

#endif
