/* One turn of an agent: a process, the engine that reads its lines, and the events of both. Many at
 * once in one host. Stored sessions are not known here: the caller gives the session id and is told
 * a new one. */
#ifndef AGENT_TURN_H
#define AGENT_TURN_H

#include "agent/profile.h"
#include "base/str.h"
#include "perch/agent.h"
#include "perch/ask.h"

struct residents;
struct trace;
struct agent_turn;

struct agent_permission {
	struct str request_id;
	struct str tool_name;
	struct str input;       /* raw JSON */
	struct str description; /* what the agent says about it; may be empty */
	struct str call;        /* of ACP: the tool call that it is for */
	/* The answers that the agent offers; none = yes or no. */
	const struct agent_option {
		struct str id, name, kind;
	} * options;
	size_t option_count;
};

/* The events of a turn. Any may be NULL. Texts are valid during the call. */
struct agent_turn_events {
	void (*started)(void *data, struct agent_turn *turn);
	void (*partial)(void *data, struct agent_turn *turn, struct str text, struct str raw);
	/* 0.4: what is no part of the reply, and what the turn has used so far: JSON as the agent wrote
	 * it. */
	void (*thinking)(void *data, struct agent_turn *turn, struct str text, struct str raw);
	void (*usage)(void *data, struct agent_turn *turn, struct str json);
	/* ACP: what it does, "tool" or "plan", as JSON. */
	void (*activity)(void *data, struct agent_turn *turn, const char *what, struct str json);
	/* A session line was read: the caller should store the id now. */
	void (*session)(void *data, struct agent_turn *turn, struct str id);
	void (*warning)(void *data, struct agent_turn *turn, struct str text);
	/* For the user: `code` is "agent_error", "timeout", "exit", "signal",
	 * "start", "output_limit", "cancelled" …; not called where the profile says
	 * send_error_reply: false (an agent_error always is). */
	void (*error)(void *data, struct agent_turn *turn, const char *code, struct str text);
	void (*reply)(void *data, struct agent_turn *turn, struct str text);
	/* 0.4: answer with agent_turn_permit, in any order. NULL = denied. */
	void (*permission)(
		void *data, struct agent_turn *turn, const struct agent_permission *permission);
	/* ACP: the agent wants its user asked; answer with agent_turn_answer. It is valid until then,
	 * or until it is withdrawn. NULL = nobody is there. */
	void (*question)(
		void *data, struct agent_turn *turn, struct str request_id, const perch_question *question);
	/* ACP: an answer is not wanted any more. */
	void (*withdrawn)(void *data, struct agent_turn *turn, struct str request_id);
	/* The last. */
	void (*end)(void *data, struct agent_turn *turn, const perch_agent_end *end);
};

struct agent_turn_options {
	const struct agent_profile *profile;
	struct residents *residents; /* keeps processes that serve many turns; NULL = none is kept */
	struct str message;
	const char *session_id;   /* "" = a new one */
	const char *session_name; /* NULL = "default" */
	const char *from;         /* NULL = "" */
	const perch_attachment *attachments;
	size_t attachment_count;
	const char *cwd;            /* NULL = the profile's */
	const char *context;        /* JSON, for agents of 0.4 and ACP; NULL = none */
	const char *const *env;     /* NAME=VALUE over the profile's; NULL = none */
	const char *const *own_env; /* the bridge's; NULL = environ */
	bool has_timeout;
	uint64_t timeout_ns; /* instead of the profile's */
	uint64_t spent_ns;   /* of the profile's budget, by earlier turns of the session */
	bool no_stream;
	bool allow_shell_message;
	bool is_quiet;      /* nothing is told before agent_turn_show */
	size_t line_limit;  /* bytes; 0 = AGENT_LINE_LIMIT, 8 MiB */
	size_t total_limit; /* of stdout; 0 = AGENT_TOTAL_LIMIT, 64 MiB */
	struct trace *trace;
	void (*stderr_bytes)(void *data, const char *bytes, size_t len); /* NULL = tail only */
	const struct agent_turn_events *events;
	void *data;
};

/* Starts a turn. Options (copied) and what they point to must outlive it. A turn that could not be
 * started ends by `error` and `end`, from the loop. -ENOMEM alone. */
int agent_turn_start(perch_host *host, const struct agent_turn_options *options,
	struct agent_turn **ret_turn, perch_err *err);

/* As if the user had sent this signal: SIGINT → 130, SIGTERM → 143. Again: the
 * next step of the ladder now. */
void agent_turn_cancel(struct agent_turn *turn, int signal);

/* Back-pressure: its output is not read until it is released; all clocks but that of silence go on.
 * A turn whose agent has exited meanwhile ends after the release. */
void agent_turn_hold(struct agent_turn *turn, bool is_held);

/* What it has to tell is told, if it was to be quiet. */
void agent_turn_show(struct agent_turn *turn);

void agent_turn_permit(
	struct agent_turn *turn, struct str request_id, bool allowed, struct str message);

/* The same by one of the options that the agent offers. */
void agent_turn_choose(
	struct agent_turn *turn, struct str request_id, bool allowed, struct str option);

/* Answers a question; the next one of the same form comes from the loop. Fails with -EINVAL (it
 * does not fit: err has words for the user, and it stays open), -ESTALE (not open), -ENOMEM. */
int agent_turn_answer(
	struct agent_turn *turn, struct str request_id, const perch_answer *answer, perch_err *err);

/* Of the sandbox that it runs in; NULL = none, or it has not come so far. */
const char *const *agent_turn_layers(const struct agent_turn *turn);

/* Ends what is left of it, without `end`; in any of its events too. NULL is fine. */
void agent_turn_free(struct agent_turn *turn);

#endif
