/* MCP's client side without I/O, both eras: lines of a server go in, lines to send come out, and
 * the outcome of a request is told to its maker. It reads no clock: the time is given. The maker
 * of requests never sees which era the server speaks: a question of a legacy server is a request
 * of its own, one of a modern server comes instead of a result, and both are told alike.
 *
 * An upstream is one conversation: a process, or a session over HTTP. */
#ifndef WIRE_MCP_UPSTREAM_H
#define WIRE_MCP_UPSTREAM_H

#include "wire/jsonrpc.h"
#include "wire/mcp_terms.h"
#include "wire/mcp_version.h"

struct mcp_upstream;
struct mcp_call; /* a request that waits for its answer */
struct mcp_quiz; /* something that the server wants to know */

/* The code of a call whose server is gone, or that failed on our side. */
enum { MCP_UPSTREAM_FAILED = -32000 };

/* What an option of 0 stands for, and bounds that have none. */
enum {
	MCP_UPSTREAM_PROBE_MS = 3000,       /* to find out whether it is a modern server */
	MCP_UPSTREAM_OPEN_MS = 30 * 1000,   /* to say hello to a legacy one */
	MCP_UPSTREAM_IN_FLIGHT_MAX = 16384, /* calls */
	MCP_UPSTREAM_QUIZZES_MAX = 64,      /* questions of the server that are open */
	MCP_UPSTREAM_ROUNDS_MAX = 32,       /* of questions before a result */
	MCP_UPSTREAM_PAGES_MAX = 1000,      /* of a list */
	MCP_UPSTREAM_FORGOTTEN = 64,        /* calls that were given up: their answers may still come */
	MCP_UPSTREAM_FACT_MAX = 64 * 1024,  /* bytes of what it says of itself, a text each */
};

enum mcp_upstream_era { MCP_FIND_OUT, MCP_ONLY_LEGACY, MCP_ONLY_MODERN };

/* What the server says of itself. Texts are empty where it says nothing; they stay. */
struct mcp_upstream_facts {
	const struct mcp_version *version;
	struct str name, title, server_version, instructions;
	struct str capabilities; /* JSON, an object */
	bool has_tools, has_resources, has_prompts, has_completions, has_logging;
	bool has_subscriptions; /* of single resources */
};

enum mcp_told_kind {
	MCP_TOLD_OPEN,    /* calls can be made: mcp_upstream_facts */
	MCP_TOLD_FAILED,  /* it cannot be spoken with; text says why */
	MCP_TOLD_CHANGED, /* list */
	MCP_TOLD_UPDATED, /* a resource: text is its URI */
	MCP_TOLD_LOG,     /* level; text: the logger; value */
	MCP_TOLD_NOISE,   /* a line that is no message, or belongs to no request; text says what */
};

/* Everything is valid during the call; so below. */
struct mcp_told {
	enum mcp_told_kind kind;
	struct str text;
	enum mcp_list list;
	enum mcp_level level;
	const perch_json_value *value;
};

enum mcp_news_kind {
	MCP_NEWS_PROGRESS, /* progress, total (< 0 = not known), text */
	MCP_NEWS_PAGE,     /* value: a page of a list that is not its last */
	MCP_NEWS_RESULT,   /* value: an object. The call is gone behind it */
	MCP_NEWS_ERROR,    /* code, text, value (NULL = none). The same */
};

/* What comes of a call. */
struct mcp_news {
	enum mcp_news_kind kind;
	double progress, total;
	int64_t code;
	struct str text;
	const perch_json_value *value;
	bool is_ours; /* an error that the server did not send */
};

enum mcp_quiz_kind { MCP_QUIZ_ELICITATION, MCP_QUIZ_SAMPLING, MCP_QUIZ_ROOTS };

struct mcp_quizzed {
	struct mcp_quiz *quiz;
	enum mcp_quiz_kind kind;
	const perch_json_value *params; /* an object, or NULL */
	struct mcp_call *call;          /* it belongs to; NULL: a legacy server does not say */
	struct str key;                 /* what the server calls it; empty: a legacy one does not */
};

/* None may feed a line or free the upstream; all else is allowed. */
struct mcp_upstream_table {
	/* Behind the line stands a '\n' that is not counted. Must not call back. */
	void (*send)(void *data, struct str line);
	void (*told)(void *data, const struct mcp_told *told);
	void (*news)(void *data, struct mcp_call *call, const struct mcp_news *news);
	/* To be answered, now or later. */
	void (*quizzed)(void *data, const struct mcp_quizzed *quizzed);
	/* The request is gone: its answer is not wanted any more. */
	void (*withdrawn)(void *data, struct mcp_quiz *quiz);
};

/* Texts are copied. */
struct mcp_upstream_options {
	struct str name; /* ours, as a client */
	struct str version;
	enum mcp_upstream_era era;
	unsigned abilities;       /* enum mcp_ability, of all callers together … */
	unsigned hello_abilities; /* … and those that a legacy server is told, once */
	bool listens;             /* to changes of lists: modern servers want to be asked for that */
	uint64_t probe_ns, open_ns;
	size_t in_flight_max;
};

/* -ENOMEM. */
int mcp_upstream_new(const struct mcp_upstream_options *options,
	const struct mcp_upstream_table *table, void *data, struct mcp_upstream **ret_upstream);

/* Calls and quizzes that are left are gone without a word. NULL is fine. */
void mcp_upstream_free(struct mcp_upstream *upstream);

/* Says hello. */
void mcp_upstream_open(struct mcp_upstream *upstream);

/* Tells the time, by any clock that never goes back, before any other call. */
void mcp_upstream_now(struct mcp_upstream *upstream, uint64_t now_ns);

/* The same, and has done what is due; when the next one is needed, UINT64_MAX = never. What the
 * server has said must be taken before: its answer counts, however late it comes. */
void mcp_upstream_tick(struct mcp_upstream *upstream, uint64_t now_ns);
uint64_t mcp_upstream_deadline(const struct mcp_upstream *upstream);

/* A line of the server, without its newline. One that was too long fails all that waits: it may
 * have been the answer to any of it. */
void mcp_upstream_line(struct mcp_upstream *upstream, struct str line, bool is_too_long);

/* Nothing more will come: all that waits fails with these words. */
void mcp_upstream_end(struct mcp_upstream *upstream, struct str why);

/* Memory ran out: what was to be sent or told is lost. End it. */
bool mcp_upstream_is_broken(const struct mcp_upstream *upstream);

/* NULL as long as it is not open. */
const struct mcp_upstream_facts *mcp_upstream_facts(const struct mcp_upstream *upstream);

/* ---- calls ------------------------------------------------------------------ */

struct mcp_call_options {
	const char *method;     /* a constant */
	struct str params;      /* JSON, an object; empty = none. Its _meta is not sent */
	struct str traceparent; /* empty = none */
	bool wants_progress;
	bool wants_all_pages;     /* a list: the next page is asked for until there is none */
	enum mcp_level log_level; /* modern: of this call alone. Not MCP_LEVEL_NONE: set it */
	unsigned abilities;       /* of whoever waits for it, as far as the upstream's own go */
	void *data;
};

/* Fails with -ENOTCONN (it is not open), -EINVAL (params), PERCH_ELIMIT, -ENOMEM. */
int mcp_call_begin(struct mcp_upstream *upstream, const struct mcp_call_options *options,
	struct mcp_call **ret_call);
void *mcp_call_data(const struct mcp_call *call);

/* Gives it up: the server is told, the call is gone. */
void mcp_call_cancel(struct mcp_call *call, struct str reason);

/* Has the server tell when a resource changes, and no more. A modern one is asked by a request that
 * lasts: *watch, to be handed in again. Fails as mcp_call_begin. */
int mcp_upstream_watch(struct mcp_upstream *upstream, struct str uri, int64_t *watch);
void mcp_upstream_unwatch(struct mcp_upstream *upstream, struct str uri, int64_t watch);

/* The least level that a legacy server is to log; a modern one is told by each call. */
int mcp_upstream_set_level(struct mcp_upstream *upstream, enum mcp_level level);

/* ---- quizzes ---------------------------------------------------------------- */

void mcp_quiz_set_data(struct mcp_quiz *quiz, void *data);
void *mcp_quiz_data(const struct mcp_quiz *quiz);

/* Whether it belongs to no call, and does not end with one. */
bool mcp_quiz_is_alone(const struct mcp_quiz *quiz);

/* result is a JSON object. The quiz is gone then. */
void mcp_quiz_answer(struct mcp_quiz *quiz, struct str result);

/* There is no answer. A form is cancelled, for a legacy server it is an error; a modern server's
 * call fails, where it asks for anything else than a form. */
void mcp_quiz_refuse(struct mcp_quiz *quiz, struct str why);

#endif
