/* The MCP client engine against any server: every message that it sends is one line of valid JSON,
 * each call ends once, quizzes are gone when they are answered, and in the end nothing is left. The
 * first byte chooses options. A line that begins with '!' is ours: its letters are what we do. */
#include "fuzz.h"

#include <string.h>

#include "wire/mcp_upstream.h"

enum { CALLS = 16 };

static struct {
	struct mcp_upstream *upstream;
	perch_json *json;
	struct mcp_call *calls[CALLS];
	size_t call_count;
	struct mcp_quiz *quiz; /* the newest */
	bool answers_at_once;
	uint64_t now_ns;
	int64_t watch;
} world;

static void fuzz_send(void *data, struct str line)
{
	const perch_json_value *root;
	(void)data;
	check(line.data[line.len] == '\n' && !memchr(line.data, '\n', line.len));
	check(perch_json_parse(world.json, line.data, line.len, &root, NULL) == 0);
	check(perch_json_is(perch_json_get(root, "jsonrpc"), "2.0"));
}

static void fuzz_told(void *data, const struct mcp_told *told)
{
	(void)data;
	check((told->kind == MCP_TOLD_OPEN) <= (mcp_upstream_facts(world.upstream) != NULL));
}

static void forget(const struct mcp_call *call)
{
	size_t i = 0;
	while (i < world.call_count && world.calls[i] != call)
		i++;
	check(i < world.call_count);
	world.calls[i] = world.calls[--world.call_count];
}

static void fuzz_news(void *data, struct mcp_call *call, const struct mcp_news *news)
{
	(void)data;
	if (news->kind >= MCP_NEWS_RESULT)
		forget(call);
}

static void fuzz_quizzed(void *data, const struct mcp_quizzed *quizzed)
{
	(void)data;
	world.quiz = quizzed->quiz;
	if (!world.answers_at_once)
		return;
	world.quiz = NULL;
	mcp_quiz_answer(quizzed->quiz, STR("{}"));
}

static void fuzz_withdrawn(void *data, struct mcp_quiz *quiz)
{
	(void)data;
	if (world.quiz == quiz)
		world.quiz = NULL;
}

static const struct mcp_upstream_table fuzz_table = {
	.send = fuzz_send,
	.told = fuzz_told,
	.news = fuzz_news,
	.quizzed = fuzz_quizzed,
	.withdrawn = fuzz_withdrawn,
};

static void begin_call(bool all_pages)
{
	struct mcp_call *call;
	const struct mcp_call_options options = {
		.method = "x",
		.params = STR("{\"a\":1}"),
		.wants_progress = true,
		.wants_all_pages = all_pages,
		.log_level = MCP_LEVEL_NONE,
	};
	if (world.call_count < CALLS && mcp_call_begin(world.upstream, &options, &call) == 0)
		world.calls[world.call_count++] = call;
}

static void end_quiz(bool is_refused)
{
	struct mcp_quiz *quiz = world.quiz;
	world.quiz = NULL;
	if (quiz && is_refused)
		mcp_quiz_refuse(quiz, STR("no"));
	else if (quiz)
		mcp_quiz_answer(quiz, STR("{\"a\":[]}"));
}

static void act(char letter)
{
	if (letter == 'c' || letter == 'l')
		begin_call(letter == 'l');
	else if (letter == 'a' || letter == 'r')
		end_quiz(letter == 'r');
	else if (letter == '+')
		mcp_upstream_tick(world.upstream, world.now_ns += 1000000000);
	else if (letter == 'x' && world.call_count)
		mcp_call_cancel(world.calls[--world.call_count], STR("why"));
	else if (letter == 'w')
		mcp_upstream_watch(world.upstream, STR("u"), &world.watch);
	else if (letter == 'u')
		mcp_upstream_unwatch(world.upstream, STR("u"), world.watch);
	else if (letter == 'v')
		mcp_upstream_set_level(world.upstream, MCP_LEVEL_INFO);
	else if (letter == 'L')
		mcp_upstream_line(world.upstream, STR(""), true);
	else if (letter == '.')
		mcp_upstream_end(world.upstream, STR("gone"));
}

static void take(const char *line, size_t len)
{
	if (!len || line[0] != '!') {
		mcp_upstream_line(world.upstream, (struct str){ line, len }, false);
		return;
	}
	for (size_t i = 1; i < len; i++)
		act(line[i]);
}

static void open_world(uint8_t choice)
{
	const struct mcp_upstream_options options = {
		.name = STR("f"),
		.version = STR("1"),
		.era = (enum mcp_upstream_era)(choice % 3),
		.abilities = choice >> 2 & MCP_CAN_ALL,
		.hello_abilities = choice >> 2 & MCP_CAN_ALL,
		.listens = choice & 32,
		.in_flight_max = 8,
	};
	memset(&world, 0, sizeof(world));
	world.answers_at_once = choice & 64;
	check(perch_json_new(NULL, &world.json) == 0);
	check(mcp_upstream_new(&options, &fuzz_table, NULL, &world.upstream) == 0);
	mcp_upstream_open(world.upstream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	open_world(data[0]);
	const char *at = (const char *)data + 1, *end = (const char *)data + size;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		take(at, (size_t)(stop - at));
		at = stop + 1;
	}
	mcp_upstream_free(world.upstream);
	perch_json_free(world.json);
	return 0;
}
