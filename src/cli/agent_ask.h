/* Asking the user whether an agent may: one question after the other, on the
 * terminal. `{0}` with cli and host is one that has not been asked yet. */
#ifndef CLI_AGENT_ASK_H
#define CLI_AGENT_ASK_H

#include "agent/turn.h"
#include "cli/cli.h"
#include "frontend.h"
#include "proc/host.h"

struct wish;

struct agent_asker {
	const struct cli *cli;
	perch_host *host;
	struct agent_turn *turn;   /* whose questions they are */
	struct frontend *terminal; /* NULL until the first question, unless it is lent */
	struct wish *first;        /* the one that is open */
	struct wish *last;
};

/* Asks, or denies where nobody can be asked. */
void agent_asker_ask(struct agent_asker *asker, const struct agent_permission *permission);

/* The terminal has another size. */
void agent_asker_resized(struct agent_asker *asker);

/* What is shown must be out before we wait. */
void agent_asker_flush(struct agent_asker *asker);

/* The turn is over: no question is open any more. */
void agent_asker_end(struct agent_asker *asker);
void agent_asker_free(struct agent_asker *asker);

#endif
