/* perch-translate: an agent for a program that does not speak AgentProc. It starts the program as
 * its profile says, with the message and the session, and translates what that prints.
 *
 *     perch-translate FORMAT PROGRAM [OPTION…]
 *
 * A format is a table of functions: one file for each program. */
#ifndef TRANSLATE_H
#define TRANSLATE_H

#include <perch/agentkit.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "perch/json.h"

struct translation {
	perch_agentkit *agent;
	const struct format *format;
	const char *message;
	const char *session; /* "" = a new one; a format may set it */
	struct arena arena;
	perch_json *json;
	const char **argv; /* ends with NULL */
	size_t argc;
	struct buf input;      /* for its stdin; empty = it has none */
	struct buf said;       /* what it has said so far */
	bool is_told;          /* something was passed on */
	bool has_failed;       /* an error was told */
	bool is_in_reply;      /* behind what is printed before a reply */
	struct buf gossip;     /* the last of its stderr */
	uint64_t input_tokens; /* that it said to have used */
	uint64_t output_tokens;
};

struct format {
	const char *name;
	/* Adds to argv what depends on the turn. False = told why not. */
	bool (*begin)(struct translation *translation);
	/* A line without its end. */
	void (*line)(struct translation *translation, struct str line);
	/* It has ended, well or not (status != 0); may be NULL. Says what is left to be said. */
	void (*end)(struct translation *translation, int status);
};

extern const struct format format_aider;
extern const struct format format_copilot;
extern const struct format format_cursor;
extern const struct format format_llm;
extern const struct format format_ollama;

/* ---- translate.c ------------------------------------------------------------- */

/* One more argument; the text is the caller's. */
void translate_add(struct translation *translation, const char *argument);

/* The same of two texts joined: "--message=", message. */
void translate_add_joined(struct translation *translation, const char *option, const char *value);

/* What it said, passed on at once. */
void translate_say(struct translation *translation, struct str text);

/* The same for a text that programs print line by line: with the end of the line before. */
void translate_say_line(struct translation *translation, struct str line);

/* What it thinks, which is no part of the reply. */
void translate_think(struct translation *translation, struct str text);

/* What it has used further: told with the reply. */
enum { TOKENS_MAX = 1000 * 1000 * 1000 }; /* more at once is no number of tokens */
void translate_use(struct translation *translation, uint64_t input, uint64_t output);

/* The same from a line like "2.5k sent, 100 received": these are the two words. */
void translate_use_words(
	struct translation *translation, struct str line, const char *input, const char *output);

/* The turn has failed. */
void translate_fail(struct translation *translation, struct str why);

/* The id of the session from now on. */
void translate_session(struct translation *translation, struct str id);

/* A session of our own making, where the program takes any id: a random UUID. */
void translate_new_session(struct translation *translation);

/* A line of JSON; NULL when it is none. Valid until the next one. */
const perch_json_value *translate_parse(struct translation *translation, struct str line);

/* A member that is a string; empty when it is none. */
struct str translate_text(const perch_json_value *object, const char *name);

/* A member that is a whole number above 0; else 0. */
uint64_t translate_number(const perch_json_value *object, const char *name);

/* Tells what was used, with the reply. */
void translate_tell_usage(struct translation *translation);

/* A whole turn: the handler of the agent kit, `data` is the translation. */
int translate_turn(perch_agentkit *agent, void *data);

/* ---- translate_run.c ------------------------------------------------------------ */

/* Runs argv and hands its lines to the format. Returns its exit status, 128+n for a signal, or -1
 * after having told why it could not be started. */
int translate_run(struct translation *translation);

#endif
