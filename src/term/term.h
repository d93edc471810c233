/* The terminal frontend: what a person sees of a run. Questions are asked with
 * a line editor and menus, progress is a bar or a spinner, logs and output
 * flow by above them.
 *
 * What it expects of the program (the command line):
 * - SIGPIPE is ignored, or the reader of text_fd going away kills us.
 * - SIGWINCH: call term_resized.
 * - SIGTSTP: call table->suspend, stop (raise(SIGSTOP)), then table->resume.
 *   While a question is open Ctrl+Z arrives as a key; it is turned into what
 *   the terminal would have done: SIGTSTP to the whole foreground group,
 *   ourselves included. Calling suspend twice, or resume twice, does no harm.
 * - A signal that ends the process at once: call table->withdraw first.
 * - Ctrl+C is a signal while no question is open; while one is, it is the
 *   answer "cancelled".
 *
 * Everything is to be called from the thread of the loop. The frontend may be freed from inside
 * `answered`. */
#ifndef TERM_TERM_H
#define TERM_TERM_H

#include "base/buf.h"
#include "frontend.h"
#include "proc/loop.h"

struct term_options {
	int in_fd;           /* keys */
	int out_fd;          /* the user interface: stderr */
	int text_fd;         /* what the plugin puts out: stdout */
	bool colored;        /* the user interface may use colours */
	bool verbose;        /* show debug messages */
	bool quiet;          /* no progress, no debug and info messages */
	bool utf8;           /* the terminal shows UTF-8; else ASCII must do */
	struct guard *guard; /* of the host: restores the terminal if we are killed; or NULL */
};

/* The descriptors stay the caller's, are taken as they are (blocking or not)
 * and must outlive the frontend, as must the loop. Interactive when in_fd and
 * out_fd are terminals; progress is drawn when out_fd is one. With TERM=dumb
 * questions are plain lines. Fails with -ENOMEM. */
int term_new(struct loop *loop, const struct term_options *options, struct frontend **ret_frontend,
	perch_err *err);

/* Whether what was drawn can be drawn again. With TERM=dumb it cannot: a question stays where it
 * was written, and text that is shown meanwhile breaks it apart. */
bool term_draws(const struct frontend *frontend);

/* Takes the open line of a conversation away, and appends what was typed in it to the
 * draft: `typed` of the next one. */
void term_withdraw_draft(struct frontend *frontend, struct buf *draft);

/* Another writer is about to write whole lines to the terminal: the region gives way to them until
 * the next flush. */
void term_give_way(struct frontend *frontend);

/* The terminal has another size. */
void term_resized(struct frontend *frontend);

/* 0, or what went wrong when `output` was written: a negative errno. */
int term_output_error(const struct frontend *frontend);

#endif
