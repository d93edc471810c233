/* The table a host reports to. A host never prints and never reads a key: it
 * asks, shows, and says when it is done. The terminal and the JSON-events
 * frontend implement it; so can an MCP server or a test. */
#ifndef FRONTEND_H
#define FRONTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "perch/child.h"

enum question_kind {
	QUESTION_PROMPT,       /* a line of text */
	QUESTION_CONFIRM,      /* yes or no */
	QUESTION_SELECT,       /* one of the options */
	QUESTION_MULTI_SELECT, /* any of the options */
};

enum validator {
	VALIDATE_NOTHING,
	VALIDATE_NON_EMPTY, /* after trimming */
	VALIDATE_INTEGER,   /* 64 bits */
	VALIDATE_PATH_EXISTS,
	VALIDATE_URL, /* http:// or https:// and a host */
};

/* Texts come from a plugin: whoever draws them takes control characters out. */
struct question {
	uint64_t number; /* ours, unique in a run: the ids of plugins repeat */
	enum question_kind kind;
	struct str message;
	bool has_default;
	struct str default_text; /* prompt */
	bool default_yes;        /* confirm */
	size_t default_index;    /* select */
	const size_t *defaults;  /* multi_select: indexes of what is chosen already */
	size_t default_count;
	const struct str *options; /* select, multi_select */
	size_t option_count;
	enum validator validator; /* prompt */
	/* Confirm: much depends on it. The answer is the word yes or no and Enter, nothing that
	 * was typed before the question could be read counts, and all of the message is shown
	 * that fits. */
	bool is_deliberate;
	/* Prompt: a line of a conversation. It leaves no line when it is cancelled. */
	bool is_conversation;
	struct str typed;          /* prompt: what stands in the line already */
	const struct str *history; /* prompt: lines entered before, the oldest first */
	size_t history_count;
};

struct answer {
	uint64_t number;      /* of the question */
	bool cancelled;       /* the user does not want to answer (Ctrl+C, Ctrl+D, Escape) */
	bool is_end;          /* with cancelled: nor will he any more (Ctrl+D, the end of the input) */
	struct str text;      /* prompt; of a conversation also when cancelled */
	bool yes;             /* confirm */
	const size_t *chosen; /* select: one index; multi_select: any, ascending */
	size_t chosen_count;
};

enum shown_kind {
	SHOWN_OUTPUT,   /* text: verbatim, to stdout */
	SHOWN_LOG,      /* level, text */
	SHOWN_PROGRESS, /* text, has_amount: current, total */
	SHOWN_PROGRESS_DONE,
	SHOWN_STORE,    /* key; the value is not shown */
	SHOWN_LOAD,     /* key */
	SHOWN_EXEC,     /* text: the command */
	SHOWN_METADATA, /* text: the keys, joined by ", " */
	SHOWN_WARNING,  /* text: the host's own words about something wrong */
	SHOWN_ERROR,    /* the same for what makes the run fail */
	SHOWN_DEBUG,    /* the same for those who asked for more (-v) */
};

struct shown {
	enum shown_kind kind;
	struct str text;
	struct str key;
	struct str level;
	struct str plugin; /* the name in its manifest; empty where there is none */
	bool has_amount;
	double current;
	double total;
};

/* How a run ended. */
struct outcome {
	bool success;
	int exit_code; /* what the command exits with */
	int signal;    /* 0, or what killed the plugin */
	uint64_t duration_ns;
	perch_reach reach;
	const char *const *sandbox; /* the layers in force, NULL-terminated; NULL = none */
};

struct frontend;

/* Called by the frontend when the user has answered. What `answer` points to
 * is valid during the call. */
typedef void answered_fn(void *data, const struct answer *answer);

struct frontend_table {
	/* Begins to ask. One question is open at a time. `question` and all it
	 * points to stay valid until it is answered or withdrawn. The answer comes
	 * later, from the loop. */
	void (*ask)(struct frontend *frontend, const struct question *question);
	/* The open question is no longer wanted (timeout, the plugin is gone). */
	void (*withdraw)(struct frontend *frontend);
	void (*show)(struct frontend *frontend, const struct shown *shown);
	/* The host is about to wait: whatever is buffered must be out. */
	void (*flush)(struct frontend *frontend);
	/* Before the process stops (Ctrl+Z), and when it goes on. */
	void (*suspend)(struct frontend *frontend);
	void (*resume)(struct frontend *frontend);
	/* The run is over; nothing is called any more but free. */
	void (*done)(struct frontend *frontend, const struct outcome *outcome);
	void (*free)(struct frontend *frontend);
};

/* The first member of every frontend. The host sets `answered`, and `went_away`
 * for when nobody can be asked any more. */
struct frontend {
	const struct frontend_table *table;
	answered_fn *answered;
	void (*went_away)(void *data);
	void *answered_data;
	/* Whether somebody can be asked at all. Without, the host takes defaults. */
	bool is_interactive;
};

#endif
