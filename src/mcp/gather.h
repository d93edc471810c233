/* Lists that several MCP servers are asked for, each by a job of the service. */
#ifndef MCP_GATHER_H
#define MCP_GATHER_H

#include "base/arena.h"
#include "mcp/front_parts.h"

struct mcp_listing {
	const char *method;
	perch_entry_kind kind;
	const char *name; /* of an item: what it is known by */
};

/* A list of one server. */
struct mcp_part {
	struct mcp_gather *gather;
	const struct mcp_listing *listing;
	const char *binding;
	perch_job *job;   /* NULL: it has ended */
	struct buf items; /* JSON, an array; empty = there is none */
};

struct mcp_gather {
	struct link link;
	enum mcp_work work;
	struct mcp_front *front;
	struct mcp_job *wire; /* NULL: nobody waits for it any more, or it is for a subscription */
	struct arena arena;
	struct buf own; /* of perch itself */
	size_t open;
	/* What is to be done with the server that has it; method NULL: it is the list that is wanted.
	 */
	const char *method;
	struct mcp_wish wish;
	struct mcp_caller caller; /* of a subscription: its connection may be gone */
	const char *name;
	struct str params;
	bool is_abandoned;
	size_t count;
	struct mcp_part parts[];
};

/* NULL without memory. */
struct mcp_gather *mcp_gather_new(
	struct mcp_front *front, const struct mcp_wish *wish, size_t most);

/* A copy with a NUL, as long as the gathering lives; NULL without memory. */
const char *mcp_gather_dup(struct mcp_gather *gather, struct str text);

/* Asks one more server. What cannot be asked has nothing. */
void mcp_gather_ask(
	struct mcp_gather *gather, const struct mcp_listing *listing, const char *binding);

/* All are asked: their answers are waited for. It may be gone when this returns. */
void mcp_gather_wait(struct mcp_gather *gather);

/* ---- passage.c --------------------------------------------------------------- */

/* A job whose end is of no matter. */
void mcp_passage_errand(struct mcp_front *front, const struct mcp_caller *caller, bool is_legacy,
	const char *binding, const char *method, struct str params);

#endif
