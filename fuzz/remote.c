/* The client's side of Streamable HTTP against any server, and any perch: what it writes is lines
 * of valid JSON, what it sends can be a header, and whatever is left is given up. A line that
 * begins with '>' is perch's. Others are about one of the requests that are under way, by a digit:
 * `h` a head (a digit for the status, one for the type), `b` bytes of its body ('~' is a line end),
 * `d` its end, `e` its end by an error. `+` is time, `.` the end of perch. */
#include "fuzz.h"

#include <string.h>

#include "base/clock.h"
#include "data/json.h"
#include "remote/remote.h"

enum { UNDER_WAY = 300 };

static struct {
	struct remote *remote;
	perch_json *json;
	struct remote_exchange *all[UNDER_WAY];
	size_t count;
	uint64_t now_ns;
} world;

static void fuzz_begin(
	void *data, struct remote_exchange *exchange, const struct remote_request *request)
{
	(void)data;
	check(world.count < UNDER_WAY);
	check(request->headers.len == 0 || request->headers.data[request->headers.len - 1] == '\0');
	check(!request->headers.len || !memchr(request->headers.data, '\n', request->headers.len));
	check(!request->body.len || !memchr(request->body.data, '\n', request->body.len));
	world.all[world.count++] = exchange;
}

static void forget(const struct remote_exchange *exchange)
{
	size_t i = 0;
	while (i < world.count && world.all[i] != exchange)
		i++;
	check(i < world.count);
	world.all[i] = world.all[--world.count];
}

static void fuzz_give_up(void *data, struct remote_exchange *exchange)
{
	(void)data;
	forget(exchange);
}

static void fuzz_write(void *data, struct str line)
{
	const perch_json_value *root;
	(void)data;
	check(line.data[line.len] == '\n' && !memchr(line.data, '\n', line.len));
	check(perch_json_parse(world.json, line.data, line.len, &root, NULL) == 0);
}

static void fuzz_note(void *data, struct str text)
{
	(void)data;
	check(text.len && text.data);
}

static const struct remote_table fuzz_table = {
	.begin = fuzz_begin,
	.give_up = fuzz_give_up,
	.write = fuzz_write,
	.note = fuzz_note,
};

static void fuzz_head(struct remote_exchange *exchange, const char *line, size_t len)
{
	static const int statuses[] = { 200, 202, 404, 405, 401, 500, 307, 100, 400, 204 };
	static const char *const types[] = { "application/json", "text/event-stream",
		"text/event-stream; charset=utf-8", "text/html", "" };
	const struct remote_head head = {
		.status = statuses[len > 2 ? (uint8_t)line[2] % 10 : 0],
		.type = str_from(types[len > 3 ? (uint8_t)line[3] % 5 : 0]),
		.session = { line + 4, len > 4 ? len - 4 : 0 },
		.location = { line + 4, len > 4 ? len - 4 : 0 },
	};
	remote_head(exchange, &head);
}

static void fuzz_body(struct remote_exchange *exchange, const char *line, size_t len)
{
	char bytes[4096];
	size_t count = len > 2 ? len - 2 : 0;
	count = count < sizeof(bytes) ? count : sizeof(bytes);
	for (size_t i = 0; i < count; i++)
		bytes[i] = line[2 + i] == '~' ? '\n' : line[2 + i];
	remote_body(exchange, (struct str){ bytes, count });
}

static void answer(const char *line, size_t len)
{
	if (!world.count || len < 2)
		return;
	struct remote_exchange *exchange = world.all[(uint8_t)line[1] % world.count];
	if (line[0] == 'h')
		fuzz_head(exchange, line, len);
	else if (line[0] == 'b')
		fuzz_body(exchange, line, len);
	if (line[0] != 'd' && line[0] != 'e')
		return;
	forget(exchange);
	remote_done(exchange, str_from(line[0] == 'e' ? "it broke" : ""));
}

static void take(const char *line, size_t len)
{
	if (!len)
		return;
	if (line[0] == '>')
		remote_line(world.remote, (struct str){ line + 1, len - 1 }, false);
	else if (line[0] == '+')
		remote_tick(world.remote, world.now_ns += len * NSEC_PER_SEC);
	else if (line[0] == '.')
		remote_leave(world.remote);
	else
		answer(line, len);
	remote_settle(world.remote);
	check(remote_deadline(world.remote) >= world.now_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const headers[] = { "X-Own: 1", NULL };
	memset(&world, 0, sizeof(world));
	check(perch_json_new(NULL, &world.json) == 0);
	check(remote_new(headers, &fuzz_table, NULL, &world.remote) == 0);
	const char *at = (const char *)data, *end = at + size;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		take(at, (size_t)(stop - at));
		at = stop + 1;
	}
	remote_free(world.remote);
	check(!world.count);
	perch_json_free(world.json);
	return 0;
}
