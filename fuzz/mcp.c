/* The MCP server engine against any two clients and a frontend that does anything it may:
 * every message is one line of valid JSON, wishes are about jobs that are there, and in the
 * end nothing is left. The first byte chooses options. A line that begins with '!' is the
 * frontend's: its letters are what it does. '@' stands for the last requestState, '#' for the
 * last cursor, '~' for the _meta of a modern client that can ask. */
#include "fuzz.h"

#include <string.h>

#include "wire/mcp_server.h"

enum { JOBS = 64 };

static struct {
	struct mcp_server *server;
	struct mcp_connection *clients[2];
	size_t speaking;
	struct mcp_job *jobs[JOBS];
	bool is_asking[JOBS];
	size_t count;
	perch_json *json;
	char state[MCP_TICKET_SIZE], cursor[MCP_CURSOR_SIZE];
	uint64_t now_ns;
} world;

static void remember(const perch_json_value *result, const char *name, char *text, size_t size)
{
	const perch_json_value *value = perch_json_get(result, name);
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return;
	struct str said = json_str(value);
	check(said.len < size);
	memcpy(text, said.data, said.len);
	text[said.len] = '\0';
}

static void fuzz_send(void *data, const struct mcp_outgoing *outgoing)
{
	const perch_json_value *root;
	(void)data;
	check(outgoing->line.data[outgoing->line.len] == '\n');
	check(!memchr(outgoing->line.data, '\n', outgoing->line.len));
	check(perch_json_parse(world.json, outgoing->line.data, outgoing->line.len, &root, NULL) == 0);
	perch_json_type type = perch_json_type_of(root);
	check(type == PERCH_JSON_ARRAY || perch_json_is(perch_json_get(root, "jsonrpc"), "2.0"));
	const perch_json_value *result = perch_json_get(root, "result");
	remember(result, "requestState", world.state, sizeof(world.state));
	remember(result, "nextCursor", world.cursor, sizeof(world.cursor));
}

static size_t place_of(const struct mcp_job *job)
{
	size_t i = 0;
	while (i < world.count && world.jobs[i] != job)
		i++;
	check(i < world.count);
	return i;
}

static void forget(size_t place)
{
	world.count--;
	world.jobs[place] = world.jobs[world.count];
	world.is_asking[place] = world.is_asking[world.count];
}

static void fuzz_wish(void *data, const struct mcp_wish *wish)
{
	(void)data;
	if (wish->kind == MCP_CANCEL) {
		forget(place_of(wish->job));
	} else if (wish->kind == MCP_ANSWER) {
		size_t place = place_of(wish->job);
		check(world.is_asking[place] && wish->answer);
		world.is_asking[place] = false;
	} else if (wish->kind <= MCP_COMPLETE) {
		check(wish->job && wish->version);
		if (world.count == JOBS) {
			mcp_job_unknown(wish->job, STR("full"));
			return;
		}
		static char mark;
		mcp_job_set_data(wish->job, wish->kind <= MCP_LIST_PROMPTS ? &mark : NULL);
		world.is_asking[world.count] = false;
		world.jobs[world.count++] = wish->job;
	} else {
		check(!wish->job);
	}
}

static void write_item(void *data, size_t item, const struct mcp_page *page)
{
	(void)data;
	(void)item;
	mcp_tool_write(page, &(struct mcp_tool){ .name = STR("n"), .input_schema = STR("{\n}") });
}

static bool is_list(const struct mcp_job *job)
{
	/* Its kind is kept as its data. */
	return mcp_job_data(job) != NULL;
}

static void ask(size_t place, enum mcp_question_kind kind)
{
	static const struct str options[] = { STR("a"), STR("b") };
	struct mcp_question question = { .kind = kind,
		.message = STR("m"),
		.options = options,
		.option_count = kind >= MCP_SELECT ? 2 : 0 };
	if (mcp_job_ask(world.jobs[place], &question, world.now_ns + 5) == 0)
		world.is_asking[place] = true;
}

/* What a frontend does with the job at this place. */
static void act(char letter, size_t place)
{
	struct mcp_job *job = world.jobs[place];
	switch (letter) {
	case 'p':
		mcp_job_progress(job, (double)world.now_ns, -1, STR("m"));
		return;
	case 'l':
		mcp_job_log(job, MCP_LEVEL_ERROR, STR("l"), STR("{\n}"));
		return;
	case 'q':
	case 'c':
	case 's':
	case 'm':
		ask(place,
			letter == 'q'       ? MCP_PROMPT
				: letter == 'c' ? MCP_CONFIRM
				: letter == 's' ? MCP_SELECT
								: MCP_MULTI_SELECT);
		return;
	case 'w':
		mcp_job_withdraw(job);
		world.is_asking[place] = false;
		return;
	default:
		break;
	}
	if (!strchr("rtoue", letter))
		return;
	forget(place);
	if (letter == 'r')
		mcp_job_result(job, &(struct mcp_result){ .structured = STR("{\"a\":\n1}") });
	else if (letter == 't')
		mcp_job_result(job, &(struct mcp_result){ .text = STR("a text that is too long") });
	else if (letter == 'o')
		mcp_job_object(job, STR("{\"ttlMs\":3,\"_meta\":{\"a\":1}}"));
	else if (letter == 'u')
		mcp_job_unknown(job, STR("no"));
	else if (is_list(job))
		mcp_job_list(job, 5, write_item, NULL);
	else
		mcp_job_error(job, -1, STR("no"), STR("1"));
}

static void frontend(const char *letters, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char letter = letters[i];
		if (letter == '2')
			world.speaking = !world.speaking;
		else if (letter == '+')
			mcp_server_tick(world.server, ++world.now_ns);
		else if (letter == '*')
			mcp_server_list_changed(world.server, MCP_TOOLS);
		else if (letter == '$')
			mcp_server_resource_updated(world.server, STR("u"));
		else if (letter == '.')
			mcp_connection_finish(world.clients[world.speaking]);
		else if (world.count)
			act(letter, world.count - 1);
	}
}

static void say(const uint8_t *data, size_t len)
{
	struct buf line = { 0 };
	for (size_t i = 0; i < len; i++) {
		const char c = (char)data[i];
		if (c == '@')
			buf_append_text(&line, world.state);
		else if (c == '#')
			buf_append_text(&line, world.cursor);
		else if (c == '~')
			buf_append_text(&line,
				"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
				"\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}");
		else
			buf_append_char(&line, c);
	}
	mcp_connection_line(world.clients[world.speaking],
		&(struct mcp_line){ .text = { line.data ? line.data : "", line.len } });
	buf_free(&line);
}

static const struct mcp_table fuzz_table = { .send = fuzz_send, .wish = fuzz_wish };

static void live(const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;
		if (len && data[0] == '!')
			frontend((const char *)data + 1, len - 1);
		else
			say(data, len);
		data += len + (end != NULL);
		size -= len + (end != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct mcp_server_options options = {
		.name = STR("p"),
		.version = STR("1"),
		.has_resources = data[0] & 1,
		.has_prompts = data[0] & 1,
		.has_completions = data[0] & 1,
		.has_subscriptions = data[0] & 1,
		.page_size = data[0] & 2 ? 2 : 0,
		.result_chars_max = data[0] & 4 ? 4 : 0,
		.in_flight_max = data[0] & 8 ? 3 : 0,
		.parked_each_max = data[0] & 16 ? 1 : 0,
		.heartbeat_ns = data[0] & 32 ? 3 : 0,
	};
	world.count = world.speaking = world.now_ns = 0;
	world.state[0] = world.cursor[0] = '\0';
	check(perch_json_new(NULL, &world.json) == 0);
	check(mcp_server_new(&options, &fuzz_table, NULL, &world.server) == 0);
	check(mcp_connection_new(world.server, STR(""), NULL, &world.clients[0]) == 0);
	check(mcp_connection_new(world.server, STR("b"), NULL, &world.clients[1]) == 0);
	live(data + 1, size - 1);
	for (size_t i = 0; i < 2; i++) {
		check(!mcp_connection_is_broken(world.clients[i]));
		mcp_connection_close(world.clients[i]);
	}
	mcp_server_free(world.server);
	perch_json_free(world.json);
	check(world.count == 0);
	return 0;
}
