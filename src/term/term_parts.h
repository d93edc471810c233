/* Inside of the terminal frontend: its parts, and what its files call of each
 * other. paint.c writes, input.c reads, term.c is the table. */
#ifndef TERM_TERM_PARTS_H
#define TERM_TERM_PARTS_H

#include "base/buf.h"
#include "frontend.h"
#include "proc/loop.h"
#include "term/asking.h"
#include "term/frame.h"
#include "term/screen.h"
#include "term/term.h"
#include "term/tty.h"

/* ---- sink.c ------------------------------------------------------------- */

/* A descriptor that is written to, of any kind: other programs may share it, so it is left blocking
 * or non-blocking as it is. */
struct sink {
	int fd;
	int error; /* the first that happened, a negative errno; nothing is written any more */
};

/* Writes all of it, waiting for a slow reader. */
void sink_write(struct sink *sink, const char *data, size_t len);

/* Writes the content of a buffer and empties it. */
void sink_write_buf(struct sink *sink, struct buf *buf);

/* ---- progress.c --------------------------------------------------------- */

/* How far a plugin is: a bar when it says how much there is to do, else a spinner. No I/O and no
 * clock. `{0}` is no progress. */
struct progress {
	bool is_on;
	bool has_amount;
	double current;
	double total;
	struct buf message; /* the start of it, as much as can ever be seen */
	unsigned step;      /* of the spinner */
};

void progress_free(struct progress *progress);

/* Takes over what is to be shown: PERCH_SHOWN_PROGRESS or PERCH_SHOWN_PROGRESS_DONE. */
void progress_set(struct progress *progress, const struct shown *shown);

static inline bool progress_is_spinning(const struct progress *progress)
{
	return progress->is_on && !progress->has_amount;
}

/* Adds its line to the frame, if it is on. */
void progress_draw(const struct progress *progress, struct frame *frame);

/* ---- the frontend ------------------------------------------------------------- */

struct term {
	struct frontend frontend;
	struct loop *loop;
	struct term_options options;
	bool has_terminal; /* out_fd is one */
	bool draws;        /* and its cursor can be moved */
	bool shares;       /* text_fd is (the same) terminal too */
	bool is_suspended;
	bool has_plain_line; /* the line of a question that cannot be drawn stands there */

	/* Writing. */
	struct sink ui;
	struct sink text;
	struct buf bytes;  /* for ui */
	struct buf output; /* for text */
	struct screen screen;
	struct progress progress;
	struct timer draw_timer;
	uint64_t drawn_ns;

	/* Asking. */
	struct asking asking;
	struct tty tty;
	struct source input;
	struct timer input_timer; /* bytes wait: for more of them, or to be read at all */
	bool awaits_rest;         /* the former: then they mean what they are */
	bool is_doomed;           /* the question cannot be asked: to be cancelled from the loop */
	uint64_t doomed_number;
	struct buf typed; /* bytes that no question has used yet */
	struct keys keys;
};

/* paint.c */

/* Keeps output for the next flush; a flood is written as it comes. */
void term_add_output(struct term *term, struct str text);
/* Writes the output that was held. The region gives way to it. */
void term_write_output(struct term *term);
/* Writes the output, and draws progress and question as they are now. */
void term_refresh(struct term *term);
/* The same, soon: not more often than an eye can see. */
void term_refresh_soon(struct term *term);
/* Brings everything out, and takes the region away. */
void term_erase(struct term *term);
/* Prints a permanent line, above the region if there is one. */
void term_show_message(struct term *term, const struct shown *shown);
/* Prints the line that stays of the question. */
void term_show_answered(struct term *term);
void term_draw_due(struct timer *timer, uint64_t now_ns);

/* input.c */

/* The open question gets the terminal. If it cannot, it is doomed. */
void term_begin_input(struct term *term);
void term_end_input(struct term *term);
/* Reads what was typed so far and takes it away: into this line, where an Enter becomes a blank, or
 * (NULL) nowhere. True if there was anything. */
bool term_take_typed(struct term *term, struct editor *line);
/* Cancels this question, from the loop. */
void term_doom(struct term *term, uint64_t number);
void term_input_ready(struct source *source, uint32_t events);
void term_input_due(struct timer *timer, uint64_t now_ns);

#endif
