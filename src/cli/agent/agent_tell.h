/* How a turn is told: to programs as events (--json), to people, or as agentproc does. */
#ifndef CLI_AGENT_AGENT_TELL_H
#define CLI_AGENT_AGENT_TELL_H

#include "cli/agent/agent_ask.h"
#include "cli/ui/stderr_outlet.h"
#include "events/turn_report.h"

struct agent_tell {
	const struct cli *cli;
	struct agent_asker *asker;          /* whose questions stand below what is told */
	struct outlet outlet;               /* stdout; see agent_tell_attach */
	struct stderr_outlet stderr_outlet; /* stderr */
	struct report report;               /* --json */
	struct agent_print print;           /* else */
	struct buf agentproc_error;         /* called by that name: told at the end */
};

/* Must not be moved afterwards. */
void agent_tell_open(struct agent_tell *tell, const struct cli *cli, struct agent_asker *asker);

void agent_tell_start(struct agent_tell *tell, const struct agent_turn_options *options);
void agent_tell_partial(
	struct agent_tell *tell, enum agent_dialect dialect, struct str text, struct str raw);
void agent_tell_session(struct agent_tell *tell, struct str id);
void agent_tell_warning(struct agent_tell *tell, struct str text);
void agent_tell_error(struct agent_tell *tell, const char *code, struct str text);
void agent_tell_reply(struct agent_tell *tell, struct str text);
void agent_tell_permission(struct agent_tell *tell, const struct agent_permission *permission);
void agent_tell_end(struct agent_tell *tell, const struct agent_end *end);

/* From now on nobody waits for who reads. 0 or -ENOMEM. */
int agent_tell_attach(struct agent_tell *tell, struct loop *loop);

/* Whether something was not read yet, and whether that is too much; see outlet.h for the patience.
 */
bool agent_tell_waits(const struct agent_tell *tell);
bool agent_tell_is_full(const struct agent_tell *tell);
void agent_tell_hurry(struct agent_tell *tell, uint64_t patience_ns);

/* Before anything else is written, and before waiting. */
void agent_tell_flush(struct agent_tell *tell);

void agent_tell_close(struct agent_tell *tell);

#endif
