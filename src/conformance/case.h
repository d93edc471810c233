/* The cases of the conformance kit, as their files have them: a rule of a contract, what the kit's
 * side of the wire does, and what must be seen then. docs/conformance.md explains every key. */
#ifndef CONFORMANCE_CASE_H
#define CONFORMANCE_CASE_H

#include "plugins/author_file.h"

enum protocol { PROTOCOL_FLEDGE, PROTOCOL_TOOL, PROTOCOL_AGENT, PROTOCOL_ACP, PROTOCOL_COUNT };

/* Which side is checked; the kit plays the other. */
enum side { SIDE_HOST, SIDE_PLUGIN };

enum {
	CASES_FILE_MAX = 1024 * 1024, /* bytes */
	CASES_OF_FILE_MAX = 500,
	STEPS_MAX = 200,
	STEP_FILL_MAX = 256 * 1024 * 1024,
};

#define CASE_WITHIN_DEFAULT 20.0 /* seconds */
#define CASE_WITHIN_MAX 600.0

enum step_kind {
	STEP_SEND,
	STEP_PUT,
	STEP_BYTES,
	STEP_FILL,
	STEP_READ,
	STEP_AWAIT,
	STEP_PASS,
	STEP_EOF,
	STEP_SERVE,
	STEP_DRAIN,
	STEP_CLOSE,
	STEP_SAY,
	STEP_SIGNAL,
	STEP_IGNORE,
	STEP_HANG,
	STEP_EXIT,
	STEP_DIE,
};

/* How `serve` answers what a plugin asks for. */
enum manner { MANNER_DEFAULTS, MANNER_DENY, MANNER_CANCEL, MANNER_EXTRA, MANNER_SILENT };

struct step {
	enum step_kind kind;
	struct toml_place at;
	struct str text;    /* a line, bytes, a pattern, a text */
	int64_t number;     /* a count, a signal, an exit code */
	enum manner manner; /* of serve; `number` is after how many requests it ends, 0 = never */
};

enum { EXIT_ANY = -1, EXIT_FAILURE_ANY = -2 };

/* What must be seen. All lists end with NULL. */
struct expectation {
	int exit;                    /* EXIT_ANY, EXIT_FAILURE_ANY: any but 0 */
	const char *stdout_is;       /* NULL = whatever it is */
	const char *const *lines;    /* patterns that lines of stdout match, in this order */
	const char *const *no_lines; /* and those that none may match */
	const char *const *stderr_has;
	const char *started; /* a pattern of how the kit's side was started; NULL = any */
	const char *state;   /* a pattern of the stored values; NULL = any */
	bool not_started;
};

struct conformance_case {
	const char *id; /* F-4.2, FP-4.1: protocol, P where a plugin is checked, section, number */
	const char *rule;
	struct toml_place at;
	enum side side;
	const struct step *steps;
	size_t step_count;
	double within; /* seconds, for all of it */
	int64_t runs;  /* of the host, one after the other */
	bool leaves_child;
	/* What the host, or the plugin, is given. */
	const char *message;        /* agent */
	const char *input;          /* tool: JSON */
	const char *tool;           /* tool: which one is called */
	const char *settings;       /* lines for the profile or the binding */
	const char *const *options; /* words for the host */
	const char *const *args;    /* fledge: of the command */
	const char *const *allowed; /* capabilities */
	struct author_pairs env, files, state;
	struct expectation expect;
};

/* The cases of a file: those of one section of a contract. */
struct case_file {
	enum protocol protocol;
	int64_t section;
	const char *title;
	const struct conformance_case *items;
	size_t count;
};

extern const char *const protocol_names[PROTOCOL_COUNT + 1]; /* "fledge", … */

/* Reads a text. Every mistake is a finding, also a key that is not known: a slip
 * must not make a case that checks nothing. Without an error *ret_file can be
 * used; everything lives in the arena. */
void case_file_parse(struct str text, enum protocol protocol, struct arena *arena,
	struct case_file *ret_file, struct findings *findings);

/* In steps.c. Reads `{ send = "…" }` and its like. */
void step_read(const struct author_file *reader, const struct toml_value *table, struct step *step);

/* In given.c. What a case gives is data: anything else in it is a finding. */
void given_check(const struct author_file *reader, const struct toml_value *table,
	enum protocol protocol, const struct conformance_case *test);

#endif
