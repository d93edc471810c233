/* `perch acp`: agents that perch hosts, for an editor on a pair of descriptors. */
#ifndef ACP_EDITOR_H
#define ACP_EDITOR_H

#include "perch/host.h"

struct acp_editor;

struct acp_editor_options {
	int input;
	int output;
	const char *const *profiles; /* files, ends with NULL; the first is the default */
	bool no_store;               /* conversations are not kept */
	const char *trace;           /* a file, as perch_service_options has it; NULL = none */
	bool trace_secrets;
	/* A sentence for the log of the editor. */
	void (*warn)(void *data, const char *text);
	void *data;
};

/* Fails as perch_service_new does, with the words of a profile that cannot be read, and as opening
 * the transcripts does. */
int acp_editor_new(perch_host *host, const struct acp_editor_options *options,
	struct acp_editor **ret_editor, perch_err *err);

/* Serves until the editor is gone (its end of the input is closed, its process has ended, it does
 * not read), or until acp_editor_stop; then everything that runs is ended, within 1.5 s. 0, or
 * -ENOMEM. */
int acp_editor_run(struct acp_editor *editor);

/* From the loop alone. */
void acp_editor_stop(struct acp_editor *editor);

/* NULL is fine. */
void acp_editor_free(struct acp_editor *editor);

#endif
