/* `perch acp`: the first chunk of a prompt beside the first partial of `perch agent serve`, and how
 * many updates a second pass through, in how much memory. */
#include "bench.h"

#include <string.h>
#include <unistd.h>

#include "floor.h"
#include "place.h"

enum { TURNS = 10, ROUNDS = 40, UPDATES = 300000 };

static struct floor_child editor;
static struct floor_child bridge;
static char perch[2100];
static char session[64];

/* What was read and not yet looked at, of either. */
struct reader {
	char block[256 * 1024];
	size_t kept;
};
static struct reader of_editor, of_bridge;

static void write_profile(const char *name, const char *command, const char *args, const char *more)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s.yaml", place_home(), name);
	FILE *file = fopen(path, "w");
	if (!file)
		abort();
	fprintf(file, "command: %s\nargs: [%s]\nmax_reply_chars: 100000000\n%s", command, args, more);
	fclose(file);
}

static void say(const struct floor_child *child, const char *line)
{
	size_t len = strlen(line);
	if (write(child->in, line, len) != (ssize_t)len)
		abort();
}

/* Reads lines until so many have the word; the last of them is in `found`, if that is wanted. */
static void await(const struct floor_child *child, struct reader *reader, const char *word,
	long count, char *found, size_t size)
{
	while (count > 0) {
		ssize_t n = read(
			child->out, reader->block + reader->kept, sizeof(reader->block) - 1 - reader->kept);
		if (n <= 0)
			abort();
		reader->kept += (size_t)n;
		reader->block[reader->kept] = '\0';
		char *line = reader->block;
		for (char *end; count > 0 && (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			if (!strstr(line, word))
				continue;
			count--;
			if (found)
				snprintf(found, size, "%.*s", (int)size - 1, line);
		}
		reader->kept -= (size_t)(line - reader->block);
		memmove(reader->block, line, reader->kept);
	}
}

/* Without new bytes: what is left of the last read may hold it. */
static void await_again(const struct floor_child *child, struct reader *reader, const char *word)
{
	reader->block[reader->kept] = '\0';
	char *at = strstr(reader->block, word);
	char *end = at ? strchr(at, '\n') : NULL;
	if (!end) {
		await(child, reader, word, 1, NULL, 0);
		return;
	}
	reader->kept -= (size_t)(end + 1 - reader->block);
	memmove(reader->block, end + 1, reader->kept);
}

static void start_editor(const char *name)
{
	char profile[256];
	char line[1024];
	snprintf(profile, sizeof(profile), "%s/%s.yaml", place_home(), name);
	const char *const argv[] = { perch, "acp", "--agent", profile, NULL };
	editor = floor_start(argv, true, false);
	of_editor.kept = 0;
	say(&editor,
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
		"{\"protocolVersion\":1}}\n");
	await(&editor, &of_editor, "\"id\":0", 1, NULL, 0);
	say(&editor,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":"
		"{\"cwd\":\"/\",\"mcpServers\":[]}}\n");
	await(&editor, &of_editor, "\"id\":1", 1, line, sizeof(line));
	const char *id = strstr(line, "acp-");
	if (!id)
		abort();
	snprintf(session, sizeof(session), "%.36s", id);
}

static void prompt(void)
{
	char line[256];
	snprintf(line, sizeof(line),
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":"
		"\"%s\",\"prompt\":[{\"type\":\"text\",\"text\":\"hi\"}]}}\n",
		session);
	say(&editor, line);
}

/* ---- the first chunk ------------------------------------------------------- */

static double editor_ns(void)
{
	uint64_t sum = 0;
	for (int i = 0; i < TURNS; i++) {
		uint64_t begin = bench_now_ns();
		prompt();
		await(&editor, &of_editor, "agent_message_chunk", 1, NULL, 0);
		sum += bench_now_ns() - begin;
		await_again(&editor, &of_editor, "stopReason");
	}
	return (double)sum / TURNS;
}

static double bridge_ns(void)
{
	uint64_t sum = 0;
	for (int i = 0; i < TURNS; i++) {
		uint64_t begin = bench_now_ns();
		say(&bridge, "{\"id\":\"1\",\"message\":\"hi\",\"session_name\":\"s\"}\n");
		await(&bridge, &of_bridge, "\"event\":\"partial\"", 1, NULL, 0);
		sum += bench_now_ns() - begin;
		await_again(&bridge, &of_bridge, "\"event\":\"end\"");
	}
	return (double)sum / TURNS;
}

static void bench_first_chunk(void)
{
	char profile[256];
	snprintf(profile, sizeof(profile), "%s/bot.yaml", place_home());
	const char *const argv[] = { perch, "agent", "serve", "--profile", profile, NULL };
	start_editor("bot");
	bridge = floor_start(argv, true, false);
	struct bench_pairs pairs = bench_compare(editor_ns, bridge_ns, ROUNDS);
	bench_print_pairs("acp/first-chunk", &pairs, "us", 1e3, 1.3);
	floor_wait(&bridge);
	floor_wait(&editor);
}

/* ---- many updates ---------------------------------------------------------- */

static long peak_kib(pid_t pid)
{
	char path[64];
	char line[256];
	long kib = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	}
	if (file)
		fclose(file);
	return kib;
}

static void bench_updates(void)
{
	start_editor("flood");
	uint64_t begin = bench_now_ns();
	prompt();
	await(&editor, &of_editor, "agent_message_chunk", UPDATES, NULL, 0);
	double seconds = (double)(bench_now_ns() - begin) / 1e9;
	await_again(&editor, &of_editor, "stopReason");
	bench_print_least("acp/updates", "passed-on", UPDATES / seconds, "a second", 100000);
	bench_print_most(
		"acp/updates", "memory", (double)peak_kib(editor.pid) / 1024, "MB at most", 10);
	floor_wait(&editor);
}

/* ---- agents that speak ACP under perch -------------------------------------- */

static void start_bridge(const char *name)
{
	char profile[256];
	snprintf(profile, sizeof(profile), "%s/%s.yaml", place_home(), name);
	const char *const argv[] = { perch, "agent", "serve", "--profile", profile, NULL };
	bridge = floor_start(argv, true, false);
	of_bridge.kept = 0;
}

static double exchange_ns(
	const struct floor_child *child, struct reader *reader, const char *line, const char *word)
{
	uint64_t begin = bench_now_ns();
	for (int i = 0; i < TURNS; i++) {
		say(child, line);
		await_again(child, reader, word);
	}
	return (double)(bench_now_ns() - begin) / TURNS;
}

/* What a turn costs beyond the agent's own time, once its process runs: the best of many. */
static void bench_second_turn(const char *peer)
{
	const char *const argv[] = { peer, "acp", "1", NULL };
	double hosted = 1e12, own = 1e12;
	start_bridge("hosted");
	editor = floor_start(argv, true, false);
	of_editor.kept = 0;
	for (int i = 0; i < ROUNDS; i++) {
		double ns = exchange_ns(
			&bridge, &of_bridge, "{\"id\":\"1\",\"message\":\"hi\"}\n", "\"event\":\"end\"");
		hosted = ns < hosted ? ns : hosted;
		ns = exchange_ns(&editor, &of_editor,
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/prompt\"}\n", "stopReason");
		own = ns < own ? ns : own;
	}
	bench_print_most("acp/second-turn", "beyond the agent", (hosted - own) / 1e3, "us", 200);
	floor_wait(&bridge);
	floor_wait(&editor);
}

static void bench_hosted_updates(void)
{
	start_bridge("hosted-flood");
	uint64_t begin = bench_now_ns();
	say(&bridge, "{\"id\":\"1\",\"message\":\"hi\"}\n");
	await(&bridge, &of_bridge, "\"event\":\"partial\"", UPDATES, NULL, 0);
	double seconds = (double)(bench_now_ns() - begin) / 1e9;
	await_again(&bridge, &of_bridge, "\"event\":\"end\"");
	bench_print_least("acp/hosted-updates", "passed-on", UPDATES / seconds, "a second", 100000);
	bench_print_most(
		"acp/hosted-updates", "memory", (double)peak_kib(bridge.pid) / 1024, "MB at most", 10);
	floor_wait(&bridge);
}

int main(void)
{
	char peer[2100];
	char flood[200];
	char chunks[32];
	setenv("XDG_STATE_HOME", place_home(), 1);
	place_find("perch", perch, sizeof(perch));
	place_find("bench/peer", peer, sizeof(peer));
	snprintf(flood, sizeof(flood), "-c, \"yes 'AGENT_PARTIAL:\\\"x\\\"' | head -n %d\"", UPDATES);
	snprintf(chunks, sizeof(chunks), "acp, '%d'", UPDATES);
	write_profile("bot", peer, "agent", "");
	write_profile("flood", "/bin/sh", flood, "");
	write_profile("hosted", peer, "acp, '1'", "protocol: acp\n");
	write_profile("hosted-flood", peer, chunks, "protocol: acp\n");
	bench_first_chunk();
	bench_updates();
	bench_second_turn(peer);
	bench_hosted_updates();
	return 0;
}
