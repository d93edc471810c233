/* The messages of agents' sessions, with their owners: $XDG_STATE_HOME/perch/transcripts.db.
 * Nothing waits: questions are answered from the loop, as JSON. */
#ifndef QUEUE_TRANSCRIPTS_H
#define QUEUE_TRANSCRIPTS_H

#include "base/buf.h"
#include "base/str.h"
#include "perch/host.h"

enum { TRANSCRIPTS_PAGE = 100 }; /* messages, sessions in one answer */

struct transcripts;

int transcripts_open(
	perch_host *host, const char *path, struct transcripts **ret_transcripts, perch_err *err);
void transcripts_free(struct transcripts *transcripts); /* NULL is fine */

/* A turn that has ended. Texts are copied. */
struct transcripts_turn {
	struct str agent, owner, session, job, message, reply;
	struct str cwd; /* where it was; no data = not known, and the session is no conversation */
	int64_t time_ms;
	uint64_t patience_ns; /* it may wait so long for others, to be written with them; no question
						   * is answered without it */
};
int transcripts_add(struct transcripts *transcripts, const struct transcripts_turn *turn);

enum transcripts_question {
	TRANSCRIPTS_LIST, /* {"sessions":[…]}, last used before `before` (ms), with `text` in them */
	TRANSCRIPTS_GET,  /* a session */
	TRANSCRIPTS_MESSAGES, /* {"messages":[…]}, the last ones before `before` */
	TRANSCRIPTS_RENAME,   /* its title becomes `text` */
	TRANSCRIPTS_REMOVE,
	TRANSCRIPTS_TRIM, /* sessions last used before `before` (ms) are forgotten */
	/* Conversations: what agents and a user said in one session and one directory, by its name. */
	TRANSCRIPTS_TALKS, /* {"sessions":[…]} of `agents`, in `cwd`, behind the cursor `text` */
	TRANSCRIPTS_TALK,  /* the one called `text`; -ENOENT: there is none of `agents` */
	TRANSCRIPTS_SAID,  /* {"messages":[…]} of `text`, the first ones behind `before` */
	TRANSCRIPTS_DROP,  /* `text` is forgotten */
};

/* error: -ENOENT (no such session of this owner), or as writing fails. `found` is empty then. For
 * REMOVE, it is the session as it was. */
typedef void transcripts_fn(void *data, int error, const struct buf *found);

struct transcripts_ask {
	enum transcripts_question question;
	struct str owner; /* without data: of all owners */
	int64_t session;
	int64_t before; /* 0 = from the end */
	struct str text;
	struct str agents;    /* of conversations: ",a,b," */
	struct str cwd;       /* the same; no data = any */
	transcripts_fn *done; /* NULL = not wanted */
	void *data;
};
/* -ENOMEM: nothing will be told. */
int transcripts_ask(struct transcripts *transcripts, const struct transcripts_ask *ask);

#endif
