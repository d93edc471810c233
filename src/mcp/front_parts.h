/* What the parts behind every transport share: the offers, and calls as jobs of the service. */
#ifndef MCP_FRONT_PARTS_H
#define MCP_FRONT_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"
#include "mcp/front.h"
#include "perch/loop.h"
#include "wire/mcp_names.h"

/* ---- offers.c -------------------------------------------------------------- */

/* What a client can call, under the names that it knows: the catalogue of the service, as it was
 * when it was read last. */

struct mcp_offer {
	const perch_entry *entry;
	const struct mcp_name *name;
};

struct mcp_offers {
	perch_catalog *catalog;
	struct mcp_name *names;
	struct mcp_offer *items; /* what can be used, in the order of the catalogue */
	size_t count;
};

/* Reads the catalogue. Fails with -EEXIST (two things of one name: err has both), -ENOMEM, and as
 * the service does; the offers stay as they were then. */
int mcp_offers_read(
	struct mcp_offers *offers, perch_service *service, bool without_prefix, perch_err *err);

/* NULL when there is none. */
const struct mcp_offer *mcp_offers_find(const struct mcp_offers *offers, struct str name);

/* Whether the caller may use it. */
bool mcp_caller_may(const struct mcp_caller *caller, const perch_entry *entry);

/* Answers a wish for the list of tools. */
void mcp_offers_list(
	struct mcp_job *job, const struct mcp_offers *offers, const struct mcp_caller *caller);

void mcp_offers_free(struct mcp_offers *offers);

/* ---- resources.c ----------------------------------------------------------- */

/* Whether the operator shows any. */
bool mcp_resources_are_shown(const struct mcp_offers *offers);

/* What is perch's own; no server may offer it. */
#define MCP_OWN_URI "perch://"

/* Answers a wish about resources: perch's own, and those of servers (passage.c). */
struct mcp_front;
void mcp_resources_list(struct mcp_front *front, const struct mcp_wish *wish);
void mcp_resources_list_templates(struct mcp_front *front, const struct mcp_wish *wish);
void mcp_resources_read(struct mcp_front *front, const struct mcp_wish *wish);

/* ---- passage.c ------------------------------------------------------------- */

/* Resources and prompts of MCP servers: what a client wants of them becomes jobs. */

/* What there is beside tools. */
struct mcp_server_offers mcp_passage_offers(const struct mcp_offers *offers);

/* A list of all servers, behind what perch has of its own (JSON, items with commas between). */
void mcp_passage_list(struct mcp_front *front, const struct mcp_wish *wish, struct str own);

/* A resource, a prompt, a completion: the server that has it is found, and asked. */
void mcp_passage_begin(struct mcp_front *front, const struct mcp_wish *wish);

void mcp_passage_subscribe(struct mcp_front *front, const struct mcp_wish *wish);

/* ---- the front and its calls ----------------------------------------------- */

enum {
	MCP_SETTLE_MS = 100,             /* an installation writes several files */
	MCP_PROMPT_MS = 300 * 1000,      /* a plugin waits as long for an answer */
	MCP_TEXT_MAX = 16 * 1024 * 1024, /* bytes of a command's output, of an agent's reply */
	MCP_NOTES_MAX = 16 * 1024,       /* bytes of what it says beside that */
	MCP_ASKS_MAX = 16,               /* questions of a job that are open at a time */
	MCP_ANSWER_TRIES = 3,            /* answers that are none, to one question */
	MCP_SESSION_SIZE = MCP_TAG_SIZE, /* of the name of an agent's session */
};

/* What a client waits for: the first member of what stands for it. */
enum mcp_work { MCP_WORK_TASK, MCP_WORK_GATHER };

struct mcp_front {
	struct mcp_front_options options;
	perch_service *service;
	struct mcp_offers offers;
	struct mcp_server *server; /* NULL: it has left */
	uint8_t key[MCP_KEY_SIZE];
	uint64_t sessions; /* of agents that were begun */
	struct list tasks;
	struct list gathers;  /* passage.c */
	perch_timer *engine;  /* when the engine wants to know the time */
	perch_timer *changes; /* when the catalogue is read again */
	bool is_in_engine;    /* its callbacks must not tell it the time */
	bool is_held;         /* no job is read */
	bool is_closed;
};

/* An open question. It may be gone when its number is still of use. */
struct mcp_open_ask {
	uint64_t number;
	const perch_ask *ask;
};

/* A call. */
struct mcp_task {
	struct link link;
	enum mcp_work work;
	struct mcp_front *front;
	struct mcp_job *wire; /* NULL: the client does not wait any more */
	perch_job *job;
	perch_entry_kind kind;
	const char *method; /* of an MCP server, instead of a call; NULL = a call */
	uint64_t begun_ns;
	bool approves; /* as its caller has it */
	bool is_abandoned;
	void *kept;         /* of who sees to its approval; NULL = nobody does */
	bool has_told;      /* its job has begun to tell */
	const char *advice; /* the same */
	struct buf text;    /* a command's output, an agent's reply */
	struct buf notes;   /* what went wrong, in words */
	struct buf tail;    /* the last lines of stderr */
	struct buf usage;   /* JSON */
	bool is_cut;
	char session[MCP_SESSION_SIZE];
	struct mcp_open_ask asks[MCP_ASKS_MAX]; /* the client is asked the first */
	size_t ask_count;
	unsigned tries;
	char *caller;
	char name[]; /* of the entry */
};

/* ---- front.c --------------------------------------------------------------- */

/* Before anything is told to the engine from the loop. */
void mcp_front_tick(struct mcp_front *front);

static inline struct mcp_caller *mcp_caller_of(const struct mcp_connection *connection)
{
	return mcp_connection_data(connection);
}

/* ---- task.c ---------------------------------------------------------------- */

/* A call of a client. */
void mcp_task_begin(struct mcp_front *front, const struct mcp_wish *wish);
/* The client does not wait for it any more. */
void mcp_task_abandon(struct mcp_task *task);
/* Adds to a text up to a limit; whether all of it had room. */
bool mcp_task_add(struct buf *buf, size_t max, struct str text);
/* A request to an MCP server that is no call: `binding` is asked for this. */
void mcp_task_pass(struct mcp_front *front, const struct mcp_wish *wish, const char *binding,
	const char *method, struct str params);
/* What the client says of itself, for a job of the service. */
void mcp_task_tell_client(
	const struct mcp_wish *wish, struct arena *arena, perch_job_request *request);
/* With its memory alone: its job is gone already. */
void mcp_task_free(struct mcp_task *task);

/* ---- task_request.c -------------------------------------------------------- */

/* What is asked for, in the memory of the arena. -EINVAL and words; -ENOENT: no such session. */
int mcp_task_request(struct mcp_task *task, const struct mcp_wish *wish, const perch_entry *entry,
	struct arena *arena, perch_job_request *request, perch_err *err);

/* Whether the headers of a call say what its arguments do; else it was refused. */
bool mcp_task_fits_headers(const struct mcp_wish *wish, const perch_entry *entry);

/* ---- task_ask.c ------------------------------------------------------------ */

void mcp_task_ask(struct mcp_task *task, const perch_ask *ask);
void mcp_task_withdraw(struct mcp_task *task, uint64_t number);
void mcp_task_answer(struct mcp_task *task, const struct mcp_answer *answer);
void mcp_task_relayed(struct mcp_task *task, const struct mcp_wish *wish);

/* ---- gather.c --------------------------------------------------------------- */

/* Lists that several MCP servers are asked for, each by a job of the service. */

struct mcp_listing {
	const char *method;
	perch_entry_kind kind;
	const char *name; /* of an item: what it is known by */
};

/* A list of one server. */
struct mcp_part {
	struct mcp_gather *gather;
	const struct mcp_listing *listing;
	const char *binding;
	perch_job *job;   /* NULL: it has ended */
	struct buf items; /* JSON, an array; empty = there is none */
};

struct mcp_gather {
	struct link link;
	enum mcp_work work;
	struct mcp_front *front;
	struct mcp_job *wire; /* NULL: nobody waits for it any more, or it is for a subscription */
	struct arena arena;
	struct buf own; /* of perch itself */
	size_t open;
	/* What is to be done with the server that has it; method NULL: it is the list that is wanted.
	 */
	const char *method;
	struct mcp_wish wish;
	struct mcp_caller caller; /* of a subscription: its connection may be gone */
	const char *name;
	struct str params;
	bool is_abandoned;
	size_t count;
	struct mcp_part parts[];
};

/* NULL without memory. */
struct mcp_gather *mcp_gather_new(
	struct mcp_front *front, const struct mcp_wish *wish, size_t most);

/* A copy with a NUL, as long as the gathering lives; NULL without memory. */
const char *mcp_gather_dup(struct mcp_gather *gather, struct str text);

/* Asks one more server. What cannot be asked has nothing. */
void mcp_gather_ask(
	struct mcp_gather *gather, const struct mcp_listing *listing, const char *binding);

/* All are asked: their answers are waited for. It may be gone when this returns. */
void mcp_gather_wait(struct mcp_gather *gather);

/* The client does not wait for it any more. */
void mcp_gather_abandon(struct mcp_gather *gather);
void mcp_gather_free(struct mcp_gather *gather);

/* ---- passage.c, further --------------------------------------------------------------- */

/* A request that is passed on to the MCP server of a binding; nothing is copied. */
perch_job_request mcp_passage_request(
	const char *binding, const char *method, struct str params, perch_sink_fn *sink, void *data);

/* A job whose end is of no matter. */
void mcp_passage_errand(struct mcp_front *front, const struct mcp_caller *caller, bool is_legacy,
	const char *binding, const char *method, struct str params);

/* ---- task_result.c --------------------------------------------------------- */

void mcp_task_result(struct mcp_task *task, const perch_job_end *end);
void mcp_task_refuse(struct mcp_job *wire, const char *words);

#endif
