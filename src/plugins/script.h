/* The user of a test: a frontend that answers as its case says and remembers
 * what it was shown. */
#ifndef PLUGINS_SCRIPT_H
#define PLUGINS_SCRIPT_H

#include "base/buf.h"
#include "frontend.h"
#include "plugins/cases.h"
#include "proc/loop.h"

enum { SCRIPT_OUTPUT_MAX = 10 * 1024 * 1024 };

struct script {
	struct frontend frontend;
	struct loop *loop;
	const struct test_case *test;
	struct findings *findings;
	const unsigned *line; /* the number of the plugin's last line, for what is found */
	/* The host's own words. */
	void (*told)(void *data, perch_shown_kind kind, struct str text);
	void *data;

	struct timer timer; /* answers come from the loop */
	const perch_question *open;
	size_t next; /* of the answers in order */
	bool *used;  /* of the answers to a question */
	struct buf output;
	bool is_over; /* the run is done */
};

/* Fills in the rest of a script whose first members are set. 0 or -ENOMEM. */
int script_init(struct script *script);
void script_free(struct script *script);

/* The run is over: answers that nobody asked for are an error. */
void script_check_used(struct script *script);

#endif
