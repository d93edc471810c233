/* perch tool add of a remote MCP server: its address in the place of a command. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/paths.h"
#include "cli/tool/tool_add.h"
#include "wire/http_text.h"
#include "wire/mcp_url.h"

bool add_is_url(const struct add_words *words)
{
	const char *word = words->command ? words->command[0] : words->source;
	return word && mcp_url_is(word);
}

/* The host, with dashes where a name can have no other character. */
static const char *server_url_name(struct arena *arena, struct str host)
{
	char *name = arena_dup(arena, host);
	for (char *c = name; c && *c; c++)
		*c = http_is_alnum(*c) ? *c : '-';
	return name;
}

/* perch tool add URL is perch tool add --mcp HOST -- URL. */
int add_url_words(struct tool_session *session, struct add_words *words, perch_err *err)
{
	struct mcp_url url;
	if (words->server)
		return 0;
	int r = mcp_url_read(words->source, &url, err);
	if (r < 0)
		return r;
	const char **command = arena_alloc(&session->arena, 2 * sizeof(*command));
	words->server = words->name ? words->name : server_url_name(&session->arena, url.host);
	if (!command || !words->server)
		return err_no_memory(err);
	command[0] = words->source;
	command[1] = NULL;
	words->command = command;
	words->source = NULL;
	return 0;
}

/* What speaks with it needs the network, and no more. */
int add_url(struct adding *adding, perch_err *err)
{
	const struct add_words *words = adding->words;
	struct tool_binding *binding = adding->binding;
	struct mcp_url url;
	int r = mcp_url_read(words->command[0], &url, err);
	if (r < 0)
		return r;
	if (words->command[1])
		return err_set(err, -EINVAL, "behind the address of a server stands nothing");
	if (words->net && strcmp(words->net, "none") == 0)
		return err_set(err, -EINVAL, "a remote server is reached over the network: not --no-net");
	binding->server.url = words->command[0];
	binding->widening.net = WIDENING_NET_FULL;
	return words->token
		? paths_absolute(words->token, &adding->session->arena, &binding->server.token, err)
		: 0;
}
