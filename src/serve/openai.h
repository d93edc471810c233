/* OpenAI's surface: models are agents, a completion is a turn. It answers what real clients were
 * seen to need, and refuses, in words, what an agent cannot do. */
#ifndef SERVE_OPENAI_H
#define SERVE_OPENAI_H

#include "base/sha256.h"
#include "serve/body.h"
#include "serve/serve_exchange.h"
#include "serve/record.h"

struct serve;
struct watcher;
struct watcher_kind;

enum {
	OPENAI_CONVERSATIONS_MAX = 4096,
	OPENAI_JOIN_MS = 60 * 1000,  /* a repeated request joins a job that ended so recently */
	OPENAI_PATIENCE_MAX = 86400, /* seconds; a larger number in the header is not believed */
};

/* ---- handlers -------------------------------------------------------------------- */

void openai_models(struct exchange *exchange);
void openai_model(struct exchange *exchange);
void openai_chat(struct exchange *exchange);
void openai_responses(struct exchange *exchange);

/* ---- openai_request.c: what is asked for --------------------------------------------- */

/* Each hash is made of the one before and a message: the conversation up to here, in order. */
struct openai_chain {
	char hex[SHA256_HEX_SIZE];
};
void openai_chain_add(struct openai_chain *chain, struct str role, struct str text);

struct openai_request {
	struct str model;
	bool is_stream;
	bool wants_usage;
	struct buf message;     /* of the user, the last one */
	struct buf transcript;  /* what was before it, as text */
	struct buf attachments; /* JSON: members of a list */
	size_t attachment_count;
	struct openai_chain before; /* all but the last message */
	struct openai_chain after;  /* with it */
	size_t messages;            /* before the last one */
	struct str user;
	struct str session;  /* named by the client; empty = not */
	struct str previous; /* previous_response_id */
};

/* False: answered. */
bool openai_read_chat(struct body *body, struct openai_request *request);
bool openai_read_responses(struct body *body, struct openai_request *request);
void openai_request_free(struct openai_request *request);

/* ---- openai_session.c: which session a stateless client means ------------------------ */

/* The session that ends with this chain; empty = none. */
struct str openai_find_session(
	struct serve *serve, struct str owner, struct str model, struct str user, const char *chain);

/* Cancels turns whose clients did not come again. */
void openai_tick(struct serve *serve);

/* A turn has ended: its session ends with the reply from now on. */
void openai_note_end(struct record *record);
void openai_free(struct serve *serve);

/* ---- openai_outcome.c: what the agent has said --------------------------------------- */

struct openai_outcome {
	struct buf content;
	struct buf reasoning;
	struct buf error;
	int64_t input_tokens;
	int64_t output_tokens;
	bool has_failed;
};

enum openai_said { OPENAI_NOTHING, OPENAI_CONTENT, OPENAI_REASONING };

/* The text of an event; it is added to the end of the outcome. */
enum openai_said openai_hear(
	struct openai_outcome *outcome, const struct logged *logged, struct str *ret_text);
void openai_outcome_free(struct openai_outcome *outcome);

/* ---- openai_chat.c, openai_responses.c: how it is written ------------------------------ */

struct openai_turn {
	const struct openai_format *format;
	struct record *record;
	struct openai_outcome outcome;
	char *model;
	bool wants_stream;
	bool has_gap; /* of what was said, something was forgotten before it was heard */
	bool wants_usage;
	bool has_begun;
	int64_t sequence;
	uint64_t patience_ns; /* behind which the client gives up, and comes again; 0 = not known */
	uint64_t quiet_ns;    /* since when it was told nothing */
};

struct openai_format {
	void (*whole)(struct openai_turn *turn, struct buf *out);
	/* Events of a stream. */
	void (*begin)(struct openai_turn *turn, struct buf *out);
	void (*delta)(struct openai_turn *turn, struct buf *out, struct str text, bool is_reasoning);
	void (*end)(struct openai_turn *turn, struct buf *out);
};

extern const struct openai_format openai_chat_format;
extern const struct openai_format openai_responses_format;

/* ---- openai_watcher.c: a client that waits for a turn --------------------------------- */

extern const struct watcher_kind openai_watcher; /* its data is an openai_turn */

/* Tells the client what is new. */
void openai_pump(struct watcher *watcher);
void openai_turn_free(struct openai_turn *turn);

#endif
