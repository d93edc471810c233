/* fledge-v1, the protocol: lines of a plugin go in, effects come out. No I/O: it reads no clock,
 * file or descriptor. Everything it wants is a call of its effects; everything it learns is a call
 * of one of the functions below. The contract is docs/fledge.md. */
#ifndef FLEDGE_FLEDGE_ENGINE_H
#define FLEDGE_FLEDGE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "frontend.h"
#include "registry/capabilities.h"

struct fledge_engine;

/* Answers given in advance (--answer, --answers FILE), looked up by message. */
struct fledge_answer {
	struct str message;
	struct str value;
};

enum fledge_asking {
	FLEDGE_ASK,             /* a user can be asked */
	FLEDGE_TAKE_DEFAULTS,   /* no user: the default, or the answer nearest to none */
	FLEDGE_DEMAND_DEFAULTS, /* no user, and only an explicit default will do */
};

struct fledge_engine_options {
	struct str plugin; /* its name, for what is shown */
	struct capabilities granted;
	/* The command to which the word is added that grants it ("perch plugins allow NAME --grant "),
	 * and what can be granted so; NULL = there is no such command. */
	const char *grant_by;
	struct capabilities wishes;
	enum fledge_asking asking;
	uint64_t prompt_timeout_ns; /* 0 = for ever */
	const struct fledge_answer *answers;
	size_t answer_count;
};

struct fledge_exec {
	struct str command;
	bool has_cwd;
	struct str cwd;
	bool has_timeout;
	double timeout_seconds;
};

/* The effects of the engine. A ticket names a request that must be answered with engine_result,
 * sooner or later and in any order; 0 = no answer is wanted. Texts are valid during the call
 * only. */
struct fledge_effects {
	void (*send)(void *data, struct str line); /* to the plugin, with its '\n' */
	void (*show)(void *data, const struct shown *shown);
	void (*ask)(void *data, const perch_question *question); /* stays valid until answered */
	void (*withdraw)(void *data);                            /* the open question */
	void (*store)(void *data, uint64_t ticket, struct str key, struct str value);
	void (*load)(void *data, uint64_t ticket, struct str key);
	void (*exec)(void *data, uint64_t ticket, const struct fledge_exec *exec);
	void (*metadata)(void *data, uint64_t ticket, const perch_text *keys, size_t count);
	/* Every request was cancelled: no result is wanted any more. */
	void (*drop)(void *data);
	/* The plugin is to end: begin the ladder. Called once. */
	void (*stop)(void *data);
	/* Too much is waiting (true), or no longer: stop reading, go on reading. */
	void (*hold)(void *data, bool on);
	/* A decision without anything to show or to do. NULL = not wanted. */
	void (*note)(void *data, const char *text);
};

/* Options, effects and data must outlive the engine. -ENOMEM. */
int fledge_engine_new(const struct fledge_engine_options *options,
	const struct fledge_effects *effects, void *data, struct fledge_engine **ret_engine);
void fledge_engine_free(struct fledge_engine *engine);

/* A line of the plugin, without its newline. too_long: only its start. */
void fledge_engine_line(
	struct fledge_engine *engine, const char *line, size_t len, bool too_long, uint64_t now_ns);

/* The result for this ticket, as JSON text. */
void fledge_engine_result(
	struct fledge_engine *engine, uint64_t ticket, struct str json, uint64_t now_ns);

/* The user has answered, or does not want to (which interrupts the run). */
void fledge_engine_answer(
	struct fledge_engine *engine, const struct answer *answer, uint64_t now_ns);

/* The user can no longer be asked: the open question and all later ones are decided by their
 * defaults. */
void fledge_engine_stop_asking(struct fledge_engine *engine, uint64_t now_ns);

/* Cancels everything that is pending, and every later request, with this reason ("user_interrupt").
 * A second call changes nothing. */
void fledge_engine_cancel(struct fledge_engine *engine, const char *reason, uint64_t now_ns);

/* Time has passed. */
void fledge_engine_tick(struct fledge_engine *engine, uint64_t now_ns);

/* When fledge_engine_tick must be called; UINT64_MAX = never. */
uint64_t fledge_engine_deadline(const struct fledge_engine *engine);

/* Moves the deadline by time that is not to count. */
void fledge_engine_delay(struct fledge_engine *engine, uint64_t delay_ns);

/* Whether a question is open. */
bool fledge_engine_is_asking(const struct fledge_engine *engine);

/* The bytes that requests without an answer, and answers behind them, take. */
size_t fledge_engine_held(const struct fledge_engine *engine);

/* How many requests wait for their answer. */
size_t fledge_engine_pending(const struct fledge_engine *engine);

/* A question could not be answered (non-interactive, timeout, declined): the
 * run has failed even if the plugin exits with 0. */
bool fledge_engine_failed(const struct fledge_engine *engine);

/* Memory ran out: the conversation cannot go on truthfully. */
bool fledge_engine_is_broken(const struct fledge_engine *engine);

#endif
