/* The terminal's own modes. Raw only while a question is open: then every key
 * is ours; at all other times Ctrl+C is a signal as usual. */
#ifndef TERM_TTY_H
#define TERM_TTY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "proc/guard.h"

struct tty {
	int fd;                /* where keys come from */
	struct guard *guard;   /* restores it if we are killed; NULL = none does */
	const char *restoring; /* and writes this then */
	struct termios found;
	volatile sig_atomic_t is_raw;
};

/* Every byte as it comes, no echo, no signals. What was typed before stays.
 * Returns 0 or a negative errno. */
int tty_enter(struct tty *tty);

/* Back to how it was found. Async-signal-safe; does nothing when not raw. */
void tty_leave(struct tty *tty);

/* Throws away what was typed, also a line without its end. */
void tty_forget(int fd);

/* The size of the terminal behind fd; zeros when it is not known. */
void tty_size(int fd, size_t *ret_columns, size_t *ret_rows);

/* TERM says that the cursor cannot be moved, or says nothing. */
bool tty_is_dumb(void);

#endif
