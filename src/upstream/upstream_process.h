/* An MCP server as a process: its stdin and stdout are the lines of the client engine
 * (wire/mcp_upstream.h), and its end is the end of the conversation. */
#ifndef UPSTREAM_UPSTREAM_PROCESS_H
#define UPSTREAM_UPSTREAM_PROCESS_H

#include "perch/host.h"
#include "wire/mcp_upstream.h"

struct upstream_process;

struct upstream_process_table {
	/* As in struct mcp_upstream_table. */
	void (*told)(void *data, const struct mcp_told *told);
	void (*news)(void *data, struct mcp_call *call, const struct mcp_news *news);
	void (*quizzed)(void *data, const struct mcp_quizzed *quizzed);
	void (*withdrawn)(void *data, struct mcp_quiz *quiz);
	/* A line of its stderr. */
	void (*said)(void *data, struct str line);
	/* Every line of the conversation, for a record of it; NULL = not wanted. */
	void (*heard)(void *data, bool is_ours, struct str line);
	/* The last: the process and all that it left in its group are gone. */
	void (*gone)(void *data, const perch_result *result);
};

/* argv, environment, directory and sandbox of the child; its streams are ours to choose. Says hello
 * as soon as it runs. Fails as perch_child_start does. */
int upstream_process_start(perch_host *host, const perch_child_spec *spec,
	const struct mcp_upstream_options *options, const struct upstream_process_table *table,
	void *data, struct upstream_process **ret_process, perch_err *err);

/* To make calls with. */
struct mcp_upstream *upstream_process_engine(struct upstream_process *process);

/* Whether nothing more can come of it: it has ended, or was asked to. */
bool upstream_process_is_over(const struct upstream_process *process);

/* Ends it: its stdin is closed, then it is asked, then killed. What waits fails. */
void upstream_process_stop(struct upstream_process *process);

/* Kills what is left, without a word. NULL is fine. */
void upstream_process_free(struct upstream_process *process);

#endif
