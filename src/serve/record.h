/* Jobs as the gateway knows them: accepted, written, run, ended, kept for a while; and their
 * events, in one order over all jobs, so that a client can go on from any of them. */
#ifndef SERVE_RECORD_H
#define SERVE_RECORD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "perch/job.h"
#include "perch/json.h"
#include "queue/job_result.h"
#include "queue/queue.h"
#include "queue/uploads.h"

enum {
	RECORD_ID_SIZE = 24,
	RECORD_BUCKETS = 4096,
	RECORD_NEAR = 4096,             /* stretches of numbers that one event of is remembered for */
	RECORD_KEY_SECONDS = 24 * 3600, /* how long an Idempotency-Key is remembered */
};

struct serve;
struct record;

/* One event. */
struct logged {
	struct link link; /* among those of its job */
	struct link in_all;
	struct record *record;
	uint64_t number;
	size_t len;
	char text[]; /* JSON */
};

/* An open question. */
struct record_ask {
	struct link link;
	uint64_t number;
	perch_ask_kind kind;
	size_t option_count;
	size_t len;
	char text[]; /* its event */
};

struct record {
	struct link link; /* among all, in the order of creation */
	struct record *next_hashed, *next_keyed;
	struct serve *serve;
	struct arena arena;
	char id[RECORD_ID_SIZE];
	unsigned kind; /* of metrics_kinds */
	enum queue_state state;
	struct str name, owner, session, key;
	struct str need;    /* of a worker, where workers run it */
	uint64_t revision;  /* of the queue's knowledge of it */
	struct str request; /* JSON; freed with the job's end */
	char *request_text;
	char *fingerprint; /* of a request of OpenAI's clients; NULL = it is none */
	char *client;
	const char *chain;      /* of a request of OpenAI's clients: what was said up to here */
	const char *chain_user; /* and the user that it is for */
	int64_t created_ms, started_ms, ended_ms, tries;
	uint64_t fence; /* by which the queue knows that it is ours to run */
	uint64_t told;  /* events of this run */
	perch_job *job;
	bool is_guest;  /* the job is a call's of an MCP client, which owns it */
	bool is_orphan; /* it was, and that client has gone with the last process */
	struct list events;
	uint64_t end_number; /* of the last event; 0 = it has not come */
	uint64_t forgotten;  /* the last event that is not kept any more; 0 = all are */
	size_t bytes;        /* of events */
	struct list asks;
	struct list watchers;
	struct job_result result;
	char *warnings;    /* JSON: a list */
	struct buf layers; /* of its sandbox, JSON: a list; empty = not known */
	bool is_written;   /* it has been accepted */
	bool is_saving;    /* the queue will tell whether it is accepted */
	bool is_cancelled; /* before it could begin */
	bool was_left;     /* its own client has cancelled it */
	uint64_t left_ns;  /* when its client gave up waiting, and may come again; 0 = it did not */
	struct uploads uploads;
	perch_entry_kind entry_kind;
	struct list waits; /* those who are told when it is written, or could not be */
};

/* Is called once, and forgotten before. */
typedef void record_accepted(struct record *record, void *data, int error);

struct record_wait {
	struct link link;
	record_accepted *accepted;
	void *data;
};

struct records {
	struct list all;
	struct list events;
	struct logged *near[RECORD_NEAR]; /* where to begin to look for a place among them */
	struct record *buckets[RECORD_BUCKETS];
	struct record *keys[RECORD_BUCKETS]; /* the newest first */
	uint64_t last_number;
	size_t bytes;   /* of events and records */
	uint64_t drops; /* events that were forgotten: what points to one may be void */
	size_t asked;   /* bytes of requests that have not ended */
	size_t waiting, running;
};

/* A new one, in no list of the queue's yet. NULL without memory. Texts are copied. */
struct record *record_new(struct serve *serve, unsigned kind, struct str name, struct str owner);
int record_set(struct record *record, struct str *place, struct str text);
void record_free(struct record *record);

struct record *records_find(const struct records *records, struct str id);
/* The newest that has this Idempotency-Key; none has an empty one. */
struct record *records_find_key(const struct records *records, struct str owner, struct str key);
/* Its key may come again. */
void records_forget_key(struct records *records, struct record *record);
void records_add(struct records *records, struct record *record);
void records_remove(struct records *records, struct record *record); /* frees it */
void records_free(struct records *records);

/* Who waits for it to be written: record_unwait forgets one by its data, record_tell forgets
 * all and tells them of `told`: the job itself, or the one that counts instead. -ENOMEM. */
int record_wait(struct record *record, record_accepted *accepted, void *data);
void record_unwait(struct record *record, const void *data);
void record_tell(struct record *record, struct record *told, int error);

/* Changes its state, and the counts of jobs by state. */
void record_become(struct record *record, enum queue_state state);

/* A question is no longer open; one that never was is fine. */
void record_close_ask(struct record *record, uint64_t number);

/* Adds an event as the queue has numbered it. NULL without memory. */
struct logged *record_put(struct record *record, uint64_t number, struct str text);

/* The first event behind this number, of one job, of all. */
struct logged *record_after(const struct record *record, uint64_t number);
struct logged *records_after(const struct records *records, uint64_t number);
struct logged *logged_next_of_all(const struct logged *logged);

/* Forgets jobs that are too old or too many. */
void records_trim(struct serve *serve, int64_t now_ms);

/* The job as an object of the API; the second with what was asked, as long as that is kept: until
 * its end. */
void record_write(const struct record *record, perch_json_writer *out);
void record_write_whole(const struct record *record, perch_json_writer *out);

/* A list of texts that ends with NULL, or is NULL. */
void record_write_list(perch_json_writer *out, const char *const *texts);

int64_t record_now_ms(void);

#endif
