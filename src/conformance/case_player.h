/* Plays the steps of a case, on either side of the wire. No I/O: lines go in,
 * acts come out, and the caller carries them out.
 *
 *     while ((act = player_next(player)).kind != ACT_DONE) …
 *
 * ACT_WAIT means: nothing to do before the next player_hear or player_hear_end. */
#ifndef CONFORMANCE_CASE_PLAYER_H
#define CONFORMANCE_CASE_PLAYER_H

#include "base/buf.h"
#include "conformance/case.h"
#include "conformance/pattern.h"

enum act_kind {
	ACT_WAIT,
	ACT_WRITE,       /* text: bytes for the other side */
	ACT_SAY,         /* text, for stderr */
	ACT_CLOSE_STDIN, /* of the program on the plugin's side, be it a real one or an actor */
	ACT_CLOSE_STDOUT,
	ACT_SIGNAL, /* number, to the other side */
	ACT_IGNORE, /* number: this signal, from now on */
	ACT_HANG,   /* for ever; the script has come to its end */
	ACT_EXIT,   /* number */
	ACT_DIE,    /* by the signal `number` */
	ACT_DONE,   /* nothing is left to do, or something was wrong */
};

struct act {
	enum act_kind kind;
	struct str text; /* valid until the next call */
	int number;
};

struct player {
	const struct conformance_case *test;
	const struct variable *variables;
	size_t at;          /* the step that is next, or under way */
	int64_t filled;     /* bytes of a fill, requests of a serve */
	struct buf last;    /* the last line that a read has read */
	struct buf out;     /* what is being written */
	bool has_answer;    /* `out` holds something that was not yet given out */
	struct buf problem; /* what was wrong first; empty = nothing */
	bool has_failed;    /* it was, or memory ran out */
	bool is_out_of_memory;
	bool ended_early; /* the other side has ended before the last step */
};

/* Both must outlive the player. */
void player_init(
	struct player *player, const struct conformance_case *test, const struct variable *variables);
void player_free(struct player *player);

struct act player_next(struct player *player);

void player_hear(struct player *player, struct str line);

/* The other side has closed its end. */
void player_hear_end(struct player *player);

/* In answer.c. Appends what a host answers to a line of a plugin, with newlines; nothing
 * when there is nothing to answer. Returns 1 when it was a request, 0 when not, -ENOMEM. */
int answer_request(enum manner manner, struct str line, struct buf *out);

/* The same for a line of an agent of ACP: a permission is given, the rest refused. */
int answer_acp_request(struct str line, struct buf *out);

#endif
