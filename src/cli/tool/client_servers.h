/* The MCP servers that the configuration of a client names: Claude Desktop and Code, Cursor, VS
 * Code, Gemini, Windsurf and Zed write JSON, Codex writes TOML. */
#ifndef CLI_TOOL_CLIENT_SERVERS_H
#define CLI_TOOL_CLIENT_SERVERS_H

#include "base/arena.h"
#include "base/str.h"
#include "perch/base.h"

enum {
	CLIENT_FILE_MAX = 4 << 20, /* bytes of a configuration */
	CLIENT_SERVERS_MAX = 256,
};

/* Lists end with NULL. */
struct client_server {
	const char *name;
	const char *command; /* "" = none */
	const char *url;     /* "" = none */
	const char *const *args;
	const char *const *env;     /* NAME=VALUE */
	const char *const *headers; /* the same; a value may have placeholders in it */
	bool is_sse;                /* a URL of the transport before Streamable HTTP */
	bool is_disabled;
};

struct client_servers {
	struct client_server *items;
	size_t count;
};

/* All lives in the arena. PERCH_ESYNTAX (err has the place), -EINVAL (no servers in it),
 * PERCH_ELIMIT, -ENOMEM. */
int client_servers_read_json(
	struct str text, struct arena *arena, struct client_servers *ret_servers, perch_err *err);
int client_servers_read_toml(
	struct str text, struct arena *arena, struct client_servers *ret_servers, perch_err *err);

/* Whether an option's value is a secret: --api-key, --token= and the like. The value begins at
 * *ret_value of the word itself; 0 = it is the next word. */
bool client_secret_option(const char *word, size_t *ret_value);

/* Whether a value only stands for one: ${input:token}, ${env:TOKEN}, ${TOKEN}, <your key>,
 * YOUR_API_KEY, an empty one. ret_variable is the variable of the environment that it names, empty
 * = none. */
bool client_is_placeholder(const char *value, struct str *ret_variable);

#endif
