/* ACP's agent side against any editor: every message that it sends is one line of valid JSON, each
 * request is answered once, and in the end nothing is left. The first byte chooses options. A line
 * that begins with '!' is ours: its letters are what we do. */
#include "fuzz.h"

#include <string.h>

#include "wire/acp_agent.h"

enum { OWED = 64 };

static struct {
	struct acp_agent *agent;
	perch_json *json;
	struct acp_request *owed[OWED];
	size_t owed_count;
	unsigned sessions;
	uint64_t number;
	bool is_quick;
} world;

static void fuzz_send(void *data, struct str line, bool is_response)
{
	const perch_json_value *root;
	(void)data;
	check(line.data[line.len] == '\n' && !memchr(line.data, '\n', line.len));
	check(perch_json_parse(world.json, line.data, line.len, &root, NULL) == 0);
	check(perch_json_is(perch_json_get(root, "jsonrpc"), "2.0"));
	check(is_response == !perch_json_get(root, "method"));
}

static void fuzz_open(const struct acp_wish *wish)
{
	static const char *const names[] = { "a", "b", "c" };
	struct acp_session *session = wish->session;
	int r = 0;
	if (!session)
		r = acp_session_open(world.agent,
			wish->id.data ? wish->id : str_from(names[world.sessions++ % 3]), NULL, &session);
	if (r < 0) {
		acp_request_fail(wish->request, JSONRPC_INTERNAL_ERROR, STR("full"), (struct str){ 0 });
		return;
	}
	acp_session_chunk(session, ACP_USER_SAYS, STR("before"), (struct str){ 0 });
	acp_request_session(wish->request, session, STR("[]"));
}

static void fuzz_wish(void *data, const struct acp_wish *wish)
{
	(void)data;
	if (wish->kind <= ACP_WISH_RESUME)
		fuzz_open(wish);
	else if (wish->kind == ACP_WISH_PROMPT && !world.is_quick && world.owed_count < OWED) {
		world.owed[world.owed_count++] = wish->request;
		acp_request_set_data(wish->request, wish->session);
	} else if (wish->kind == ACP_WISH_PROMPT)
		acp_request_stop(wish->request, ACP_END_TURN, STR("{}"));
	else if (wish->kind < ACP_WISH_PROMPT)
		acp_request_object(wish->request, STR("{}"));
}

static void fuzz_act(char letter)
{
	static const struct acp_option yes = { STR("y"), STR("Yes"), STR("allow_once") };
	static const struct acp_permission may = {
		.call = STR("c"), .title = STR("t"), .options = &yes, .option_count = 1
	};
	static const struct mcp_question sure = { .kind = MCP_CONFIRM, .message = STR("sure?") };
	if (!world.owed_count)
		return;
	struct acp_request *first = world.owed[0];
	if (letter == 'p')
		acp_request_permission(first, ++world.number, &may);
	else if (letter == 'f')
		acp_request_form(first, ++world.number, &sure);
	else if (letter == 'w')
		acp_request_withdraw(first, world.number);
	else if (letter == 'c')
		acp_session_chunk(acp_request_data(first), ACP_AGENT_SAYS, STR("x"), (struct str){ 0 });
	if (letter != 's' && letter != 'x')
		return;
	memmove(world.owed, world.owed + 1, --world.owed_count * sizeof(first));
	if (letter == 's')
		acp_request_stop(first, ACP_STOP_CANCELLED, (struct str){ 0 });
	else
		acp_request_fail(first, 1, STR("no"), STR("{}"));
}

static const struct acp_agent_table fuzz_table = { .send = fuzz_send, .wish = fuzz_wish };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct str rest = { (const char *)data + 1, size - 1 };
	const struct acp_agent_options options = {
		.name = STR("perch"),
		.version = STR("1"),
		.has_store = data[0] & 1,
		.has_attachments = data[0] & 2,
		.has_directories = data[0] & 4,
		.sessions_max = 3,
		.waiting_max = 2,
	};
	memset(&world, 0, sizeof(world));
	world.is_quick = data[0] & 8;
	check(perch_json_new(NULL, &world.json) == 0);
	check(acp_agent_new(&options, &fuzz_table, NULL, &world.agent) == 0);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (!str_has_prefix(line, STR("!")))
			acp_agent_line(world.agent, line, false);
		for (size_t i = 1; i < line.len && line.data[0] == '!'; i++)
			fuzz_act(line.data[i]);
	}
	acp_agent_free(world.agent);
	perch_json_free(world.json);
	return 0;
}
