/* Asking the user for a permission that an agent wants, or what it wants to know: one question
 * after the other, on the terminal. `{0}` with cli and host is an asker without a question. */
#ifndef CLI_AGENT_AGENT_ASK_H
#define CLI_AGENT_AGENT_ASK_H

#include "cli/agent/agent_commands.h"
#include "frontend.h"
#include "perch/job.h"
#include "proc/host.h"

struct wish;

struct agent_asker {
	const struct cli *cli;
	perch_host *host;
	perch_job *job;            /* whose questions they are */
	struct frontend *terminal; /* NULL until the first question, unless it is lent */
	struct wish *first;        /* the one that is open */
	struct wish *last;
	/* What is wrong with an answer; NULL = it is not told. */
	void (*say)(void *data, struct str text);
	void *say_data;
};

/* Asks, or denies where no user can be asked. */
void agent_asker_ask(struct agent_asker *asker, perch_job *job, const perch_ask *ask);

/* It is not wanted any more. */
void agent_asker_withdraw(struct agent_asker *asker, uint64_t number);

/* The terminal has another size. */
void agent_asker_resized(struct agent_asker *asker);

/* Other text is about to be written, in whole lines: an open question stands below it, from the
 * next flush on. */
void agent_asker_give_way(struct agent_asker *asker);

/* agent_print_note and agent_print_flush for when a question may be open. */
void agent_asker_note(
	struct agent_asker *asker, struct agent_print *print, const char *kind, struct str text);
void agent_asker_print(struct agent_asker *asker, struct agent_print *print);

/* Writes everything, before the loop waits. */
void agent_asker_flush(struct agent_asker *asker);

/* The turn is over: no question is open any more. */
void agent_asker_end(struct agent_asker *asker);
void agent_asker_free(struct agent_asker *asker);

#endif
