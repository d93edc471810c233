/* The way of a job: wanted, written, begun, told of, ended. */
#ifndef SERVE_JOBS_H
#define SERVE_JOBS_H

#include "perch/loop.h"
#include "serve/serve_exchange.h"
#include "serve/record.h"

/* How the stored request of an MCP client's call ends. */
#define JOBS_GUEST_MARK ",\"guest\":true}"

enum jobs_kind { JOBS_TURN, JOBS_CALL, JOBS_RUN };

/* A job that is wanted. Texts are copied. */
struct jobs_wish {
	enum jobs_kind kind;
	struct str name;    /* of agent, tool or command */
	struct str session; /* of a turn; without data: "default" */
	struct str request; /* JSON: all that is needed to run it */
	struct str key;     /* Idempotency-Key; without data = none */
	const char *fingerprint;
	const char *warnings; /* JSON */
	struct str label;     /* of the workers that may run it; without data = any */
};

/* Makes a job for this exchange, which may be answered by it (NULL is returned then): not found,
 * the queue is full, no memory, draining. `accepted` is called when it is written or could not be,
 * never before this has returned. A job of the same key is given as it is; where that is still
 * being written, `accepted` is called for it likewise. */
struct record *jobs_take(
	struct exchange *exchange, const struct jobs_wish *wish, record_accepted *accepted, void *data);

/* Makes a job of a call that an MCP client has begun and waits for: `job` stays the client's, and
 * is held until the queue says that it may begin. NULL: there is no room for it, or no memory. */
struct record *jobs_adopt(struct exchange *exchange, const struct jobs_wish *wish, perch_job *job);

/* Answers that a job was not taken, by the error of its writing. */
void jobs_refuse(struct exchange *exchange, int error);

/* Opens the queue of this process alone, which runs its jobs itself. */
int jobs_open(struct serve *serve, const char *path, perch_err *err);

/* Begins the jobs that can begin. */
void jobs_look(struct serve *serve);

/* Cancels a job: a running one gets SIGTERM first, a waiting one is over at once. */
void jobs_cancel(struct record *record);

/* ---- jobs_run.c ------------------------------------------------------------------ */

/* Runs it: from now on it tells. */
void jobs_begin(struct record *record);

/* What a job of another owner tells. */
void jobs_adopted_told(struct record *record, perch_job *job, const perch_event *event);

/* Ends a job that has not run, or whose end was not told, with words for its error. */
void jobs_fail(struct record *record, enum queue_state state, const char *code, const char *text);

/* Its end: frees what is not needed behind it. */
void jobs_settle(struct record *record, enum queue_state state);

/* ---- jobs_news.c ----------------------------------------------------------------- */

/* What the queue is to tell. */
struct queue_news jobs_news(struct serve *serve);

/* ---- jobs_remote.c ---------------------------------------------------------------- */

/* Opens the queue that is shared with other gateways, and with the workers that run the jobs. */
int jobs_remote_open(struct serve *serve, perch_err *err);

/* What the job needs of a worker. Fails as reading the profile does, and with -ENOMEM. */
int jobs_remote_prepare(struct record *record, struct str label);
/* Asks how many jobs and workers there are, for the metrics. */
void jobs_remote_count(struct serve *serve);
void jobs_remote_reap(struct serve *serve, uint64_t now_ns);

/* Says what it needs, and signs it: the scratch of SHA256_HEX_SIZE holds the signature. */
void jobs_remote_sign(const struct record *record, struct queue_job *job, char *scratch);

#endif
