/* What there is to be used: tools of bindings, commands of plugins, agents. A catalogue is what a
 * service (perch/service.h) shows to its frontend, as it was at the time of the call. */
#ifndef PERCH_CATALOG_H
#define PERCH_CATALOG_H

#include <perch/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perch_service perch_service;
typedef struct perch_catalog perch_catalog;

typedef enum perch_entry_kind {
	PERCH_ENTRY_TOOL,     /* a tool of a binding: its name is BINDING/TOOL */
	PERCH_ENTRY_COMMAND,  /* a command of a plugin */
	PERCH_ENTRY_AGENT,    /* a profile in perch/agents: its name is the file's, without .yaml */
	PERCH_ENTRY_RESOURCE, /* of an MCP server: its name is the URI */
	PERCH_ENTRY_TEMPLATE, /* of URIs; also of perch itself: perch://sessions/{session} */
	PERCH_ENTRY_PROMPT,   /* of an MCP server */
} perch_entry_kind;

/* "tool", "command", "agent", "resource", "template", "prompt". */
PERCH_API const char *perch_entry_kind_name(perch_entry_kind kind);

/* One thing that can be used. Its texts come from its author: take control characters out before
 * you draw them. NULL where there is none. */
typedef struct perch_entry {
	perch_entry_kind kind;
	const char *name;
	const char *owner; /* the binding, the plugin; the path of the profile */
	const char *title;
	const char *description;
	const char *input_schema; /* JSON, as the three behind it */
	const char *output_schema;
	const char *annotations;
	const char *arguments; /* of a command: the list `args` of its manifest */
	bool asks;             /* a user must approve every job of it */
	bool is_waived;        /* but this frontend need not ask: its `approve` lists it */
	bool is_dangerous;     /* its manifest says so */
	bool has_network;      /* what its sandbox lets it do; both true where nothing confines it. */
	bool can_write;        /* Beyond a directory of its own, that is */
	const char *problem;   /* why it cannot be used as it is */
	const char *protocol;  /* an agent: "0.1", "0.4" */
	unsigned retries;      /* an agent: a turn that was interrupted may be begun again so often */
	const char *verdict;   /* a tool of a plugin: what decides a call, its "exit" or "response" */
} perch_entry;

/* What the service's frontend may see of it now, in a stable order (kind, name). The snapshot stays
 * as it is until perch_catalog_free, whatever changes. What cannot be read is a note, or the
 * problem of an entry. -ENOMEM, or as reading the configuration fails. */
PERCH_API int perch_service_catalog(
	perch_service *service, perch_catalog **ret_catalog, perch_err *err);

PERCH_API const perch_entry *perch_catalog_entries(const perch_catalog *catalog, size_t *ret_count);

/* NULL = there is none, or it is not exposed. */
PERCH_API const perch_entry *perch_catalog_find(
	const perch_catalog *catalog, perch_entry_kind kind, const char *name);

/* An MCP server of a binding that may have resources or prompts, of which the frontend is shown
 * some. They are asked for by jobs (`method` of a request). */
typedef struct perch_catalog_server {
	const char *binding;
	bool has_resources;
	bool has_prompts;
	bool has_completions;
} perch_catalog_server;

/* In the order of their names. */
PERCH_API const perch_catalog_server *perch_catalog_servers(
	const perch_catalog *catalog, size_t *ret_count);

/* What could not be read, and what is hidden from this frontend: a sentence each, ends with
 * NULL. */
PERCH_API const char *const *perch_catalog_notes(const perch_catalog *catalog);

/* NULL is fine. */
PERCH_API void perch_catalog_free(perch_catalog *catalog);

#ifdef __cplusplus
}
#endif

#endif
