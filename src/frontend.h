/* The table a host reports to. A host never prints and never reads a key: it
 * asks, shows, and says when it is done. The terminal and the JSON-events
 * frontend implement it; so can an MCP server or a test. */
#ifndef FRONTEND_H
#define FRONTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "perch/fledge.h"

/* U+2424: one line shows all of a message, and the history has it as a line. */
#define FRONTEND_NEWLINE "\xE2\x90\xA4"

/* How a question of the host's own is asked; a question of a plugin has no manner. */
struct question_manner {
	/* Confirm: the answer has consequences. It is the word yes or no and Enter; keys typed before
	 * the question could be read do not count, and as much of the message is shown as fits. */
	bool is_deliberate;
	/* Deliberate: further words that mean yes, each in a way of its own; ends with NULL, NULL =
	 * none. */
	const char *const *yes_words;
	struct str hint; /* deliberate: what these words mean; not kept with the answer */
	/* Prompt: a message of a conversation. It leaves no line when it is cancelled. A line end in
	 * it is FRONTEND_NEWLINE, in `typed`, the history and the answer too. */
	bool is_conversation;
	struct str typed;          /* prompt: what stands in the line already */
	const struct str *history; /* prompt: lines entered before, the oldest first */
	size_t history_count;
};

struct answer {
	uint64_t number;   /* of the question */
	bool cancelled;    /* the user does not want to answer (Ctrl+C, Ctrl+D, Escape) */
	bool is_end;       /* with cancelled: nor any later question (Ctrl+D, the end of the input) */
	struct str text;   /* prompt; of a conversation also when cancelled */
	bool wants_editor; /* with cancelled, of a conversation: Ctrl+X Ctrl+E */
	bool yes;          /* confirm */
	const char *word;  /* the same: which of yes_words it was; NULL = none */
	const size_t *chosen; /* select: one index; multi_select: any, ascending */
	size_t chosen_count;
};

/* As perch_shown, but the texts have no NUL behind them, and the plugin that they come from is
 * named. */
struct shown {
	perch_shown_kind kind;
	struct str text;
	struct str key;
	struct str level;
	struct str plugin; /* the name in its manifest, with a NUL; empty where there is none */
	bool has_amount;
	double current;
	double total;
};

struct frontend;

/* Called by the frontend when the user has answered. What `answer` points to
 * is valid during the call. */
typedef void answered_fn(void *data, const struct answer *answer);

struct frontend_table {
	/* Begins to ask. One question is open at a time. `question` and all it points to, and what
	 * `manner` (may be NULL) points to, stay valid until it is answered or withdrawn. The
	 * answer comes later, from the loop. */
	void (*ask)(struct frontend *frontend, const perch_question *question,
		const struct question_manner *manner);
	/* The open question is no longer wanted (timeout, the plugin is gone). */
	void (*withdraw)(struct frontend *frontend);
	void (*show)(struct frontend *frontend, const struct shown *shown);
	/* The host is about to wait: buffered output must be written. */
	void (*flush)(struct frontend *frontend);
	/* Before the process stops (Ctrl+Z), and when it goes on. */
	void (*suspend)(struct frontend *frontend);
	void (*resume)(struct frontend *frontend);
	/* The run is over; nothing is called any more but free. */
	void (*done)(struct frontend *frontend, const perch_fledge_end *outcome);
	void (*free)(struct frontend *frontend);
};

/* The first member of every frontend. The host sets `answered`, and `went_away`, which is called
 * when no user can be asked any more. */
struct frontend {
	const struct frontend_table *table;
	answered_fn *answered;
	void (*went_away)(void *data);
	void *answered_data;
	/* Whether a user can be asked at all. If not, the host takes defaults. */
	bool is_interactive;
};

#endif
