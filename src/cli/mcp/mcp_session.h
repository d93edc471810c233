/* A conversation with an MCP server, for a command: it waits for each answer. */
#ifndef CLI_MCP_MCP_SESSION_H
#define CLI_MCP_MCP_SESSION_H

#include "cli/cli.h"
#include "cli/ui/signals.h"
#include "upstream/upstream_process.h"

enum { MCP_SESSION_NOTES_MAX = 20, MCP_SESSION_WAIT_S = 60 };

/* What a command line says about the server. */
struct mcp_target {
	const char *const *command; /* NULL: perch mcp itself */
	const char *era;            /* NULL, "legacy", "modern" */
	const char *timeout;        /* seconds */
	const char *config;         /* for perch itself */
};

/* For a table of options. */
#define MCP_TARGET_OPTIONS(target)                                                                \
	{ "era", 0, OPTION_TEXT, &(target)->era }, { "timeout", 0, OPTION_TEXT, &(target)->timeout }, \
	{                                                                                             \
		"config", 0, OPTION_TEXT, &(target)->config                                               \
	}

struct mcp_session {
	perch_host *host;
	struct upstream_process *process;
	struct signals signals;
	bool has_signals;
	uint64_t wait_ns;
	bool is_open, is_gone;
	int signal;      /* that interrupted us; 0 = none */
	perch_err error; /* of the conversation, or of the last call */
	bool is_wrong;   /* what was asked for, says the server */
	size_t note_count;
	bool is_quiet; /* notes are counted, not shown */
	/* The call that is waited for. */
	bool is_answered;
	void (*take)(void *data, const perch_json_value *result);
	void *data;
};

/* Takes the words behind `--` for the command: they are cut off from argv. */
void mcp_target_cut(struct mcp_target *target, int *argc, char **argv);

/* Starts the server and waits until it can be spoken with. Fails with words. */
int mcp_session_open(struct mcp_session *session, const struct mcp_target *target, perch_err *err);

const struct mcp_upstream_facts *mcp_session_facts(const struct mcp_session *session);

/* Makes a call and waits for its end. Each result is handed to take: a list has one for each of its
 * pages. Fails with words; -EREMOTEIO: the server's. */
int mcp_session_call(struct mcp_session *session, const char *method, struct str params,
	void (*take)(void *data, const perch_json_value *result), void *data, perch_err *err);

/* Ends the server and waits until it is gone. */
void mcp_session_close(struct mcp_session *session);

/* Says why a command failed; its exit code. */
int mcp_session_failure(const struct mcp_session *session, const perch_err *err);

#endif
