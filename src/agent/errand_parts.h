/* Errands: what a process of an agent asks perch to do for it. errand_take.c reads the requests,
 * errand.c runs them, errand_terminal.c has those that go on. */
#ifndef AGENT_ERRAND_PARTS_H
#define AGENT_ERRAND_PARTS_H

#include "agent/resident_parts.h"
#include "proc/tail.h"

enum {
	ERRANDS_MAX = 32,                  /* of a process, at a time */
	ERRAND_FILE_MAX = 4 * 1024 * 1024, /* bytes that are read */
	ERRAND_OUTPUT_MAX = 1024 * 1024,   /* of a terminal that are kept */
	ERRAND_STDERR_TAIL = 4 * 1024,     /* bytes */
	ERRAND_SHOWN = 500,                /* bytes of what a command has said, beside why it failed */
	ERRAND_WORDS_MAX = 1024,           /* arguments, variables */
	ERRAND_WAITING_MAX = 8,            /* requests that wait for the end of a terminal */
};
#define ERRAND_FILE_NS (30 * NSEC_PER_SEC) /* a pipe or a slow disk is not read for ever */

enum errand_kind { ERRAND_READ, ERRAND_WRITE, ERRAND_TERMINAL };

struct errand {
	struct link link;
	struct resident *resident;
	struct resident_session *session; /* NULL: its turn is over, and it is being stopped */
	enum errand_kind kind;
	uint64_t number; /* of its request, and so the name of a terminal */
	perch_child *child;
	perch_timer *timer;
	struct buf out;       /* of a file */
	struct tail tail;     /* of stderr, or all output of a terminal */
	uint64_t line, limit; /* of a file: the first line, and how many */
	bool is_listed, is_too_long, is_late;
	bool is_done;          /* a terminal: how it ended */
	int exit_code, signal; /* the code is -1 where nobody knows it */
	uint64_t waiting[ERRAND_WAITING_MAX];
	size_t waiting_count;
};

struct errand_command {
	const char *const *argv;
	const char *const *env; /* NAME=VALUE over the agent's */
	const char *cwd;        /* NULL = the agent's */
	struct str input;       /* its data NULL = none */
};

/* ---- errand.c --------------------------------------------------------------- */

/* NULL without memory, and where the process has ERRANDS_MAX already. */
struct errand *errand_new(struct resident_session *session, enum errand_kind kind, uint64_t number,
	size_t tail, perch_err *err);
int errand_start(struct errand *errand, const struct errand_command *command, perch_err *err);
void errand_free(struct errand *errand);

void errand_answer(struct errand *errand, uint64_t number, const struct buf *json);
void errand_refuse(struct errand *errand, uint64_t number, struct str text);

/* "what: said; what allows it". Returns whether the sandbox is why: then the user is to be told. */
bool errand_explain(
	const struct errand *errand, const char *what, struct str said, struct buf *out);

/* Tells the user of its turn. That may end here, and its errands with it. */
void errand_tell_user(struct resident_session *session, const struct buf *text);

/* The request fails by this text, and the errand is gone. */
void errand_give_up(struct errand *errand, const struct buf *text);

/* ---- errand_write.c ---------------------------------------------------------- */

extern const char errand_write_script[];

/* ---- errand_terminal.c ------------------------------------------------------- */

void errand_terminal_done(struct errand *errand, const perch_result *result);
void errand_terminal_output(struct errand *errand, uint64_t number);
void errand_terminal_wait(struct errand *errand, uint64_t number);
void errand_terminal_kill(struct errand *errand, uint64_t number);
void errand_terminal_release(struct errand *errand, uint64_t number);

#endif
