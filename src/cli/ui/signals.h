/* Signals as events of the loop. The command may do what the library must
 * not: it blocks them for itself and reads them from a descriptor. */
#ifndef CLI_UI_SIGNALS_H
#define CLI_UI_SIGNALS_H

#include <signal.h>

#include "proc/loop.h"

struct frontend;

typedef void signal_fn(void *data, int signal);

struct signals {
	struct loop *loop;
	struct source source;
	sigset_t before; /* the mask to go back to */
	signal_fn *arrived;
	void *data;
};

/* Watches the signals of a list that ends with 0. Returns 0 or a negative
 * errno. */
int signals_watch(
	struct signals *signals, struct loop *loop, const int *list, signal_fn *arrived, void *data);

/* Gives them back their effect. */
void signals_close(struct signals *signals);

/* Watches those that end a server, or have it read its settings again, while `run` runs. Returns
 * what that does, or a negative errno. */
int signals_serve(struct loop *loop, signal_fn *arrived, int (*run)(void *data), void *data);

/* Stops this process as Ctrl+Z does by default, and returns when it is
 * continued. Gives the time that it was stopped, in nanoseconds. */
uint64_t signals_stop_self(void);

/* The same, with a terminal (NULL = none) that is left usable and drawn again. */
void signals_suspend(struct frontend *terminal);

#endif
