/* A question that is open: keys go in, a picture and at last an answer come
 * out. No I/O but that of the validators. */
#ifndef TERM_ASKING_H
#define TERM_ASKING_H

#include "frontend.h"
#include "term/editor.h"
#include "term/frame.h"
#include "term/keys.h"
#include "term/menu.h"

enum { ASKING_WORDS_MAX = 160 };

/* `{0}` is no question. */
struct asking {
	const perch_question *question; /* NULL = none is open */
	struct question_manner manner;
	struct editor editor;          /* prompt, and the word of a deliberate answer */
	size_t steps_back;             /* prompt: how far back in its history it is */
	struct buf draft;              /* what was in the line before that */
	bool is_prefixed;              /* conversation: Ctrl+X was pressed */
	struct menu menu;              /* select, multi_select */
	bool yes;                      /* confirm */
	const char *word;              /* the same: one of the manner's */
	char wanted[ASKING_WORDS_MAX]; /* deliberate: "Type yes or no" and "please type yes or no" */
	char wrong[ASKING_WORDS_MAX];
	bool is_told;         /* its words stand above, because they are longer than the screen */
	const char *note;     /* what is wrong with what was entered, or NULL */
	struct answer answer; /* valid once it is given */
};

enum asking_step {
	ASKING_GOES_ON,
	ASKING_ANSWERED,  /* see answer */
	ASKING_CANCELLED, /* the same, with answer.cancelled */
	ASKING_SUSPENDS,  /* Ctrl+Z */
	ASKING_CLEARS,    /* Ctrl+L */
};

/* The question, and the history of its manner, must outlive it; manner may be NULL. Returns 0 or
 * -ENOMEM. */
int asking_open(
	struct asking *asking, const perch_question *question, const struct question_manner *manner);
void asking_close(struct asking *asking);

enum asking_step asking_key(struct asking *asking, const struct key *key);

/* Takes the word that answers a deliberate question; it has no default. */
enum asking_step asking_word(struct asking *asking, struct str word);

/* What a deliberate question asks for, as it is shown. */
struct str asking_wanted_word(struct asking *asking);

/* Gives the answer that editor, menu or yes hold: for other ways to ask. */
enum asking_step asking_answer(struct asking *asking);
enum asking_step asking_cancel(struct asking *asking);
enum asking_step asking_end(struct asking *asking); /* cancelled, and so is every later question */

/* Enter at a confirm: the default, unless the user cannot have seen the whole question. */
enum asking_step asking_take_default(struct asking *asking);

/* ---- asking_draw.c ------------------------------------------------------ */

/* Whether all of its words and the answer have room in so many rows of such a screen. Where they
 * have not, the words are to be told above it once, and is_told set. */
bool asking_fits(const struct asking *asking, const struct look *look, size_t rows);

/* Adds all of its words to the frame, in as many lines as they take. */
void asking_tell(const struct asking *asking, struct frame *frame);

/* Adds the question to the frame, at most `rows` lines. */
void asking_draw(struct asking *asking, struct frame *frame, size_t rows);

/* Adds what stays when it is answered or cancelled. */
void asking_draw_answered(const struct asking *asking, struct frame *frame);

#endif
