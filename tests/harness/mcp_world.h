/* A client and a frontend for the MCP server engine: what the engine sends and wishes for
 * becomes a text to compare with. In texts ' stands for ", and
 *   @J  "jsonrpc":"2.0"
 *   @M  the _meta of a modern request
 *   @E  the same of a client that can ask its user
 *   @S  the _meta of a modern result
 * With PERCH_MCP_TAPE in the environment, both directions are also appended to that file:
 * tests/wire/schema.bats validates them. */
#ifndef HARNESS_MCP_WORLD_H
#define HARNESS_MCP_WORLD_H

#include <stdint.h>
#include <stdio.h>

#include "wire/mcp_server.h"

enum { MCP_WORLD_JOBS = 64, MCP_WORLD_CLIENTS = 4 };

struct mcp_world {
	struct mcp_server *server;
	struct mcp_connection *clients[MCP_WORLD_CLIENTS];
	struct mcp_job *jobs[MCP_WORLD_JOBS]; /* the newest last; those that are gone too */
	size_t job_count;
	struct buf log;
	FILE *tape;
	unsigned number;         /* of this world, on the tape */
	struct mcp_line headers; /* what the next line says of itself; its stream is a text */
	bool is_quiet;           /* only counts what is sent */
	size_t sent;
	enum jsonrpc_kind last_kind; /* of what was sent last */
	int64_t last_code;
	/* With this, jobs are answered inside of their wish. */
	void (*at_once)(struct mcp_world *world, const struct mcp_wish *wish);
	bool ran_out; /* of memory, in the harness itself */
};

/* The options of most tests. */
extern const struct mcp_server_options mcp_world_options;

/* With options, or NULL; one client is there. -ENOMEM. */
int world_open(struct mcp_world *world, const struct mcp_server_options *options);
void world_close(struct mcp_world *world);

/* One whose client has said hello, and what was said is forgotten. */
void world_greet(struct mcp_world *world, const char *hello);

/* One more client, of that principal. */
int world_join(struct mcp_world *world, size_t client, const char *principal);
void world_leave(struct mcp_world *world, size_t client);

/* A line of the first client, or of another. */
void world_say(struct mcp_world *world, const char *line);
void world_say_as(struct mcp_world *world, size_t client, const char *line);

/* Whether the log is exactly that; it is empty afterwards. Without memory all is well. */
bool world_log_is(struct mcp_world *world, const char *log);

/* The same as an assertion that shows both. */
void world_expect(struct mcp_world *world, const char *log);

/* Whether it is in the log, which stays; and emptying it. */
bool world_log_has(const struct mcp_world *world, const char *text);
void world_forget(struct mcp_world *world);

/* The text behind `name":"` in the log, up to the next quote; "" = none. */
void world_pick(const struct mcp_world *world, const char *name, char *ret_text, size_t size);

/* The newest job. */
struct mcp_job *world_job(const struct mcp_world *world);

/* A text with its shorthands written out, NUL-terminated; the caller frees. */
char *world_spell(const char *text);

#define SECOND ((uint64_t)1000000000)

/* The newest legacy version, and how a client of one says hello. */
#define NOW "2025-11-25"
#define LEGACY_HELLO(version, capabilities)                                  \
	"{@J,'id':0,'method':'initialize','params':{'protocolVersion':'" version \
	"','capabilities':" capabilities ",'clientInfo':{'name':'c','version':'1'}}}"

/* A tool that a server may list, and what lists it: its data is the tool. */
extern const struct mcp_tool mcp_world_tool;
void mcp_world_write_tool(void *data, size_t item, const struct mcp_page *page);

#endif
