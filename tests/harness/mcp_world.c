/* A client and a frontend for the MCP server engine. */
#include "harness/mcp_world.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#define META "io.modelcontextprotocol/"

const struct mcp_server_options mcp_world_options = {
	.name = STR("perch"),
	.title = STR("Perch"),
	.version = STR("1"),
	.key = { 1, 2, 3 },
	.has_resources = true,
	.has_prompts = true,
	.has_completions = true,
	.has_subscriptions = true,
};

static const struct {
	char letter;
	const char *text;
} shorthands[] = {
	{ 'J', "\"jsonrpc\":\"2.0\"" },
	{ 'M',
		"\"_meta\":{\"" META "protocolVersion\":\"2026-07-28\",\"" META
		"clientCapabilities\":{}}" },
	{ 'E',
		"\"_meta\":{\"" META "protocolVersion\":\"2026-07-28\",\"" META
		"clientCapabilities\":{\"elicitation\":{}}}" },
	{ 'S',
		"\"_meta\":{\"" META
		"serverInfo\":{\"name\":\"perch\",\"title\":\"Perch\",\"version\":\"1\"}}" },
};

char *world_spell(const char *text)
{
	struct buf out = { 0 };
	for (; *text; text++) {
		const char *found = NULL;
		for (size_t i = 0; i < sizeof(shorthands) / sizeof(shorthands[0]); i++)
			if (text[0] == '@' && text[1] == shorthands[i].letter)
				found = shorthands[i].text;
		if (found) {
			buf_append_text(&out, found);
			text++;
		} else {
			buf_append_char(&out, *text == '\'' ? '"' : *text);
		}
	}
	char *spelt = buf_steal(&out);
	buf_free(&out);
	return spelt;
}

/* ---- what the engine does --------------------------------------------------- */

static void tape(struct mcp_world *world, char direction, size_t client, struct str line)
{
	if (world->tape)
		fprintf(world->tape, "%d.%u %zu %c %.*s\n", (int)getpid(), world->number, client, direction,
			(int)line.len, line.data);
}

/* data of a connection: its place in the world, which stands before it in this pair. */
struct place {
	struct mcp_world *world;
	size_t client;
};

static void world_send(void *data, const struct mcp_outgoing *outgoing)
{
	struct place *place = data;
	struct mcp_world *world = place->world;
	world->sent++;
	world->last_kind = outgoing->kind;
	world->last_code = outgoing->code;
	tape(world, '>', place->client, outgoing->line);
	if (outgoing->line.data[outgoing->line.len] != '\n' ||
		memchr(outgoing->line.data, '\n', outgoing->line.len))
		abort();
	if (world->is_quiet)
		return;
	if (place->client)
		buf_printf(&world->log, "%zu: ", place->client);
	if (outgoing->stream)
		buf_printf(&world->log, "%s: ", (const char *)outgoing->stream);
	buf_append(&world->log, outgoing->line.data, outgoing->line.len + 1);
}

static const char *const wish_names[] = {
	[MCP_LIST_TOOLS] = "list tools",
	[MCP_LIST_RESOURCES] = "list resources",
	[MCP_LIST_TEMPLATES] = "list templates",
	[MCP_LIST_PROMPTS] = "list prompts",
	[MCP_CALL_TOOL] = "call",
	[MCP_READ_RESOURCE] = "read",
	[MCP_GET_PROMPT] = "prompt",
	[MCP_COMPLETE] = "complete",
	[MCP_CANCEL] = "cancel",
	[MCP_ANSWER] = "answer",
	[MCP_RELAYED] = "relayed",
	[MCP_SUBSCRIBE] = "subscribe",
	[MCP_UNSUBSCRIBE] = "unsubscribe",
	[MCP_LOG_LEVEL] = "log level",
};

static const char *const action_names[] = {
	[MCP_ANSWERED] = "answered",
	[MCP_DECLINED] = "declined",
	[MCP_INTERRUPTED] = "interrupted",
	[MCP_UNANSWERED] = "unanswered",
};

static void log_answer(struct buf *log, const struct mcp_answer *answer)
{
	buf_printf(log, " %s text=%.*s yes=%d chosen=", action_names[answer->action],
		(int)answer->text.len, answer->text.data ? answer->text.data : "", answer->yes);
	for (size_t i = 0; i < answer->chosen_count; i++)
		buf_printf(log, "%s%zu", i ? "," : "", answer->chosen[i]);
}

static void log_raw(struct buf *log, const perch_json_value *value)
{
	struct str raw;
	raw.data = perch_json_raw(value, &raw.len);
	buf_printf(log, " %.*s", (int)raw.len, raw.data);
}

static void world_wish(void *data, const struct mcp_wish *wish)
{
	struct mcp_world *world = data;
	if (wish->kind <= MCP_COMPLETE && world->job_count < MCP_WORLD_JOBS)
		world->jobs[world->job_count++] = wish->job;
	if (!world->is_quiet) {
		buf_printf(&world->log, "!%s", wish_names[wish->kind]);
		if (wish->name.len)
			buf_printf(&world->log, " %.*s", (int)wish->name.len, wish->name.data);
		if (wish->arguments)
			log_raw(&world->log, wish->arguments);
		if (wish->kind == MCP_RELAYED)
			buf_printf(&world->log, " %d", (int)wish->number);
		if (wish->result)
			log_raw(&world->log, wish->result);
		else if (wish->reason.len)
			buf_printf(&world->log, " (%.*s)", (int)wish->reason.len, wish->reason.data);
		if (wish->answer)
			log_answer(&world->log, wish->answer);
		if (wish->kind == MCP_LOG_LEVEL)
			buf_printf(&world->log, " %d", (int)wish->level);
		buf_append_char(&world->log, '\n');
	}
	if (world->at_once)
		world->at_once(world, wish);
}

static const struct mcp_table world_table = { .send = world_send, .wish = world_wish };

/* ---- the world -------------------------------------------------------------- */

int world_open(struct mcp_world *world, const struct mcp_server_options *options)
{
	static unsigned number;
	*world = (struct mcp_world){ .number = ++number };
	const char *path = getenv("PERCH_MCP_TAPE");
	world->tape = path ? fopen(path, "a") : NULL;
	int r =
		mcp_server_new(options ? options : &mcp_world_options, &world_table, world, &world->server);
	return r < 0 ? r : world_join(world, 0, "");
}

void world_greet(struct mcp_world *world, const char *hello)
{
	ck_assert_int_eq(world_open(world, NULL), 0);
	world_say(world, hello);
	world_say(world, "{@J,'method':'notifications/initialized'}");
	world_forget(world);
}

int world_join(struct mcp_world *world, size_t client, const char *principal)
{
	struct place *place = malloc(sizeof(*place));
	if (!place)
		return -1;
	*place = (struct place){ world, client };
	int r = mcp_connection_new(world->server, str_from(principal), place, &world->clients[client]);
	if (r < 0)
		free(place);
	return r;
}

void world_leave(struct mcp_world *world, size_t client)
{
	struct mcp_connection *connection = world->clients[client];
	if (!connection)
		return;
	struct place *place = mcp_connection_data(connection);
	mcp_connection_close(connection);
	free(place);
	world->clients[client] = NULL;
}

void world_close(struct mcp_world *world)
{
	world->at_once = NULL;
	for (size_t i = 0; i < MCP_WORLD_CLIENTS; i++)
		world_leave(world, i);
	mcp_server_free(world->server);
	buf_free(&world->log);
	if (world->tape)
		fclose(world->tape);
}

void world_say_as(struct mcp_world *world, size_t client, const char *line)
{
	char *spelt = world_spell(line);
	if (!spelt) {
		world->ran_out = true;
		return;
	}
	struct mcp_line said = world->headers;
	said.text = str_from(spelt);
	tape(world, '<', client, said.text);
	mcp_connection_line(world->clients[client], &said);
	free(spelt);
}

void world_say(struct mcp_world *world, const char *line)
{
	world_say_as(world, 0, line);
}

bool world_log_is(struct mcp_world *world, const char *log)
{
	char *spelt = world_spell(log);
	bool is_it = !spelt || world->log.failed ||
		str_eq((struct str){ world->log.data, world->log.len }, str_from(spelt));
	free(spelt);
	return is_it;
}

void world_expect(struct mcp_world *world, const char *log)
{
	char *spelt = world_spell(log);
	ck_assert_int_eq(buf_terminate(&world->log), 0);
	ck_assert_str_eq(world->log.data, spelt);
	free(spelt);
	world_forget(world);
}

bool world_log_has(const struct mcp_world *world, const char *text)
{
	char *spelt = world_spell(text);
	bool has =
		!spelt || (world->log.len && memmem(world->log.data, world->log.len, spelt, strlen(spelt)));
	free(spelt);
	return has;
}

void world_forget(struct mcp_world *world)
{
	buf_clear(&world->log);
}

void world_pick(const struct mcp_world *world, const char *name, char *ret_text, size_t size)
{
	char wanted[64];
	snprintf(wanted, sizeof(wanted), "\"%s\":\"", name);
	*ret_text = '\0';
	const char *at =
		world->log.len ? memmem(world->log.data, world->log.len, wanted, strlen(wanted)) : NULL;
	if (!at)
		return;
	at += strlen(wanted);
	size_t len = 0;
	while (at + len < world->log.data + world->log.len && at[len] != '"' && len + 1 < size)
		len++;
	memcpy(ret_text, at, len);
	ret_text[len] = '\0';
}

struct mcp_job *world_job(const struct mcp_world *world)
{
	return world->job_count ? world->jobs[world->job_count - 1] : NULL;
}

const struct mcp_tool mcp_world_tool = {
	.name = STR("n"),
	.title = STR("T"),
	.description = STR("D"),
	.input_schema = STR("{\"properties\":{\"a\":{}},\n\"type\":\"array\"}"),
	.output_schema = STR("{\"type\":\"array\"}"),
	.is_read_only = true,
	.is_closed = true,
};

void mcp_world_write_tool(void *data, size_t item, const struct mcp_page *page)
{
	(void)item;
	mcp_tool_write(page, data);
}
