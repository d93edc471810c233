/* The table [mcp] of a binding: an MCP server that the operator has bound, and what was approved of
 * it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "data/toml_edit.h"
#include "tool/binding_keys.h"
#include "tool/binding_write.h"
#include "wire/mcp_url.h"

static const char *const server_eras[] = { "any", "legacy", "modern", "both", NULL };
#define SAMPLER "agent:"       /* before the name of the agent that answers */
enum { SERVER_BOTH_ERAS = 3 }; /* which of the words stands for no era alone */
static const char *const server_lifetimes[] = { "session", "shared", "call", NULL };

static int binding_server_era(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int r = key_choice(reading, key, table, server_eras);
	if (r < 0)
		return r;
	reading->binding->server.speaks_both = r == SERVER_BOTH_ERAS;
	reading->binding->server.era = r == SERVER_BOTH_ERAS ? MCP_FIND_OUT : (enum mcp_upstream_era)r;
	return 0;
}

static int binding_server_lifetime(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	int r = key_choice(reading, key, table, server_lifetimes);
	if (r >= 0)
		reading->binding->server.lifetime = (enum tool_lifetime)r;
	return r;
}

static int binding_server_url(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	struct mcp_url url;
	perch_err why = { 0 };
	char words[PERCH_ERR_TEXT_MAX + 16];
	int r = key_text(reading, key, table);
	if (r < 0 || mcp_url_read(reading->binding->server.url, &url, &why) == 0)
		return r;
	snprintf(words, sizeof(words), "is wrong: %s", why.text);
	return key_wrong(reading, toml_get(table, key->name), words);
}

/* ---- what it may ask ----------------------------------------------------------- */

int tool_server_set_elicitation(struct tool_server *server, const char *word, perch_err *err)
{
	if (strcmp(word, "refuse") != 0 && strcmp(word, "client") != 0)
		return err_set(err, -EINVAL, "elicitation is refuse or client, not '%.100s'", word);
	server->elicitation = word[0] == 'c' ? TOOL_ANSWER_CLIENT : TOOL_ANSWER_NOBODY;
	return 0;
}

int tool_server_set_sampling(struct tool_server *server, const char *word, perch_err *err)
{
	bool is_agent = strncmp(word, SAMPLER, strlen(SAMPLER)) == 0 && word[strlen(SAMPLER)];
	if (!is_agent && strcmp(word, "refuse") != 0 && strcmp(word, "client") != 0)
		return err_set(
			err, -EINVAL, "sampling is refuse, client or agent:NAME, not '%.100s'", word);
	server->sampling = is_agent ? TOOL_ANSWER_AGENT
		: word[0] == 'c'        ? TOOL_ANSWER_CLIENT
								: TOOL_ANSWER_NOBODY;
	server->sampler = is_agent ? word + strlen(SAMPLER) : "";
	return 0;
}

int tool_server_set_roots(struct tool_server *server, const char *word, perch_err *err)
{
	if (strcmp(word, "binding") != 0 && strcmp(word, "client") != 0)
		return err_set(err, -EINVAL, "roots are those of binding or client, not '%.100s'", word);
	server->roots = word[0] == 'c' ? TOOL_ANSWER_CLIENT : TOOL_ANSWER_BINDING;
	return 0;
}

unsigned tool_server_abilities(const struct tool_server *server, unsigned of_client)
{
	unsigned abilities = 0;
	if (server->elicitation == TOOL_ANSWER_CLIENT)
		abilities |= of_client & MCP_CAN_ELICIT;
	if (server->sampling == TOOL_ANSWER_AGENT)
		abilities |= MCP_CAN_SAMPLE;
	if (server->sampling == TOOL_ANSWER_CLIENT)
		abilities |= of_client & MCP_CAN_SAMPLE;
	abilities |= server->roots == TOOL_ANSWER_CLIENT ? of_client & MCP_HAS_ROOTS : MCP_HAS_ROOTS;
	return abilities;
}

bool tool_server_offers(const struct tool_server *server, const char *what)
{
	return !server->offers || list_has(server->offers, what);
}

/* A key whose word one of the functions above takes. */
static int binding_server_word(struct reading *reading, const struct key *key,
	const struct toml_value *table,
	int (*set)(struct tool_server *server, const char *word, perch_err *err))
{
	const char *word;
	perch_err fault = { 0 };
	int r = toml_get_string(table, key->name, &word, reading->err);
	if (r < 0)
		return r;
	const char *kept = arena_dup(reading->arena, str_from(word));
	if (!kept)
		return err_no_memory(reading->err);
	return set(&reading->binding->server, kept, &fault) < 0
		? key_wrong(reading, toml_get(table, key->name), strchr(fault.text, ' ') + 1)
		: 0;
}

static int binding_server_elicitation(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return binding_server_word(reading, key, table, tool_server_set_elicitation);
}

static int binding_server_sampling(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return binding_server_word(reading, key, table, tool_server_set_sampling);
}

static int binding_server_roots(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	return binding_server_word(reading, key, table, tool_server_set_roots);
}

/* ---- the table ----------------------------------------------------------------- */

int binding_read_server(
	struct reading *reading, const struct key *key, const struct toml_value *table)
{
	static const struct key keys[] = {
		{ "era", binding_server_era, 0 },
		{ "lifetime", binding_server_lifetime, 0 },
		{ "idle", key_seconds, offsetof(struct tool_binding, server.idle_ns) },
		{ "version", key_text, offsetof(struct tool_binding, server.version) },
		{ "instructions", key_text, offsetof(struct tool_binding, server.instructions) },
		{ "pin", key_checksum, offsetof(struct tool_binding, server.instructions_pin) },
		{ "url", binding_server_url, offsetof(struct tool_binding, server.url) },
		{ "token", key_path, offsetof(struct tool_binding, server.token) },
		{ "secrets", key_path, offsetof(struct tool_binding, server.secrets) },
		{ "elicitation", binding_server_elicitation, 0 },
		{ "sampling", binding_server_sampling, 0 },
		{ "roots", binding_server_roots, 0 },
		{ "asks", key_limit, offsetof(struct tool_binding, server.asks_max) },
		{ "offers", key_list, offsetof(struct tool_binding, server.offers) },
	};
	if (!reading->binding->server.is_server)
		return key_wrong(
			reading, toml_get(table, key->name), "is for bindings with protocol = \"mcp\"");
	return binding_keys_section(reading, key->name, keys, COUNT(keys), table);
}

const char *tool_lifetime_name(enum tool_lifetime lifetime)
{
	return server_lifetimes[lifetime];
}

const char *tool_era_name(const struct tool_server *server)
{
	return server_eras[server->speaks_both ? SERVER_BOTH_ERAS : (int)server->era];
}

const char *tool_answerer_name(enum tool_answerer answerer)
{
	static const char *const words[] = {
		[TOOL_ANSWER_NOBODY] = "refuse",
		[TOOL_ANSWER_BINDING] = "binding",
		[TOOL_ANSWER_CLIENT] = "client",
		[TOOL_ANSWER_AGENT] = SAMPLER,
	};
	return words[answerer];
}

static void binding_write_answers(struct buf *out, const struct tool_server *server)
{
	struct buf sampling = { 0 };
	buf_printf(&sampling, "%s%s", tool_answerer_name(server->sampling), server->sampler);
	binding_write_text_unless(
		out, "elicitation", tool_answerer_name(server->elicitation), "refuse");
	if (buf_terminate(&sampling) < 0)
		out->failed = true;
	else
		binding_write_text_unless(out, "sampling", sampling.data, "refuse");
	buf_free(&sampling);
	binding_write_text_unless(out, "roots", tool_answerer_name(server->roots), "binding");
	if (server->asks_max != TOOL_SERVER_ASKS)
		buf_printf(out, "asks = %llu\n", (unsigned long long)server->asks_max);
}

void binding_write_server(struct buf *out, const struct tool_binding *binding)
{
	const struct tool_server *server = &binding->server;
	size_t start = binding_write_begin_table(out, "[mcp]");
	binding_write_text_unless(out, "era", tool_era_name(server), server_eras[MCP_FIND_OUT]);
	binding_write_text_unless(out, "lifetime", server_lifetimes[server->lifetime],
		server_lifetimes[TOOL_LIFETIME_SESSION]);
	binding_write_seconds_unless(out, "idle", server->idle_ns, TOOL_SERVER_IDLE_NS);
	binding_write_text_unless(out, "version", server->version, "");
	binding_write_text_unless(out, "instructions", server->instructions, "");
	binding_write_text_unless(out, "pin", server->instructions_pin, "");
	binding_write_text_unless(out, "url", server->url, "");
	binding_write_text_unless(out, "token", server->token, "");
	binding_write_text_unless(out, "secrets", server->secrets, "");
	binding_write_answers(out, server);
	if (server->offers)
		binding_write_list(out, "offers", server->offers);
	binding_write_end_table(out, start, "[mcp]");
}
