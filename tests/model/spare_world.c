/* The hand-over of a spare: the pool, its exchanges with their table, and the engine of tools are
 * the real ones; processes are made of flags. Two spares shake hands, say too much, hang up, exit,
 * in every order with what the host hears of it and with calls. No call may be given to a process
 * that had said or done anything since its handshake, also where the host has not heard of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/stamp.h"
#include "explorer.h"
#include "proc/child.h"
#include "proc/host.h"
#include "tool/call_parts.h"
#include "tool/exchange.h"
#include "tool/server.h"
#include "tool/tool_notes.h"

#define HANDSHAKE                                                                           \
	"{\"type\":\"handshake\",\"manifest\":{\"plugin_id\":\"t.p\",\"plugin_version\":\"1\"," \
	"\"protocol_version\":\"rterm.plugin.v1\",\"exposed_tools\":[\"t.x\"]}}"

/* ---- processes ---------------------------------------------------------------------------- */

enum said { SAID_NOTHING, SAID_HANDSHAKE, SAID_TOO_MUCH, SAID_END };
enum { SPARES = 2, SAID_MAX = 3 };

struct process {
	const perch_child_events *events;
	void *data;
	enum said waiting[SAID_MAX + 1]; /* in its pipe; ends with SAID_NOTHING */
	bool has_shaken, has_babbled, has_closed, is_deaf, has_exited, is_paused, was_stopped, is_freed;
};

static struct process processes[SPARES];
static unsigned born;

static struct process *process_of(const perch_child *child)
{
	return (struct process *)(uintptr_t)child;
}

static void process_say(struct process *process, enum said what)
{
	size_t at = 0;
	while (process->waiting[at])
		at++;
	process->waiting[at] = what;
}

static void process_exit(struct process *process)
{
	if (!process->has_closed)
		process_say(process, SAID_END);
	process->has_closed = process->is_deaf = process->has_exited = true;
}

static int model_launch_start(struct launch *launch, perch_host *host,
	const struct tool_binding *binding, perch_child_spec *spec, perch_child **ret_child,
	perch_err *err)
{
	(void)launch, (void)host, (void)binding, (void)err;
	struct process *process = &processes[born++];
	process->events = spec->events;
	process->data = spec->data;
	*ret_child = (perch_child *)process;
	return 0;
}

static int model_child_write(perch_child *child, const void *data, size_t len)
{
	(void)data, (void)len;
	return process_of(child)->is_deaf ? -EPIPE : 0;
}

static bool model_child_has_output(const perch_child *child, perch_stream which)
{
	(void)which;
	return process_of(child)->waiting[0];
}

static void model_child_pause(perch_child *child, bool is_paused)
{
	process_of(child)->is_paused = is_paused;
}

static void model_child_stop(perch_child *child)
{
	process_of(child)->was_stopped = true;
}

static int model_child_signal(perch_child *child, int number)
{
	(void)number;
	process_exit(process_of(child));
	return 0;
}

static void model_child_free(perch_child *child)
{
	if (child)
		process_of(child)->is_freed = true;
}

static struct exchange_options model_exchange_options(struct tool_call *call);

#define servers_forget(servers, binding) ((void)(servers), (void)(binding))
#define call_exchange_options model_exchange_options
#define launch_start model_launch_start
#define launch_clean_some(launch) true
#define launch_close(launch) ((void)(launch))
#define perch_child_write model_child_write
#define child_has_output model_child_has_output
#define perch_child_close_stdin(child) ((void)(child))
#define perch_child_pause(child, stream) model_child_pause(child, true)
#define perch_child_resume(child, stream) model_child_pause(child, false)
#define perch_child_stop model_child_stop
#define perch_child_signal model_child_signal
#define perch_child_free model_child_free
#include EXCHANGE_SOURCE
#include "tool/exchange_life.c"
#include POOL_SOURCE

/* ---- the world ------------------------------------------------------------------------------ */

enum deed { SHAKES_HANDS, BABBLES, CLOSES, GETS_DEAF, EXITS, IS_HEARD, IS_BURIED, DEEDS };
enum { CALL = SPARES * DEEDS, RETIRE };

static perch_host host;
static struct tool_binding binding;
static struct tool_pool pool;
static struct spare_set *set;
static const char *const no_capabilities[] = { NULL };
static const struct tool_engine_request request = {
	.tool = STR("t.x"), .request_id = STR("plugin_req_0123456789abcdef"), .line = STR("{}\n")
};
static struct exchange *handed[SPARES];
static unsigned calls;

static void call_is_over(void *data)
{
	(void)data;
}

static struct exchange_options model_exchange_options(struct tool_call *call)
{
	(void)call;
	return (struct exchange_options){
		.binding = &binding,
		.request = &request,
		.clocks = { NEVER, NEVER, NEVER },
		.listener = { .over = call_is_over },
	};
}

static void spare_begin(void)
{
	memset(processes, 0, sizeof(processes));
	memset(handed, 0, sizeof(handed));
	born = calls = 0;
	host = (perch_host){ 0 };
	binding = (struct tool_binding){ .path = "",
		.name = "t.p",
		.command = "/",
		.protocol = "rterm.plugin.v1",
		.capabilities = no_capabilities,
		.handshake_ns = NEVER,
		.teardown_ns = NEVER,
		.spare_ttl_ns = NEVER,
		.spares = SPARES };
	pool = (struct tool_pool){ .host = &host };
	if (pool_add(&pool, &binding, &pool.first) < 0)
		abort();
	set = pool.first;
	pool_refill(set);
	set->is_outdated = true; /* two are enough */
}

static uint32_t process_can(const struct process *process, unsigned at)
{
	uint32_t can = 0;
	bool is_heard = !process->is_freed && !process->is_paused && process->waiting[0];
	if (!process->has_closed && !process->has_shaken)
		can |= 1U << SHAKES_HANDS;
	if (!process->has_closed && process->has_shaken && !process->has_babbled)
		can |= 1U << BABBLES;
	if (!process->has_closed)
		can |= 1U << CLOSES;
	if (!process->is_deaf)
		can |= 1U << GETS_DEAF;
	if (!process->has_exited)
		can |= 1U << EXITS;
	if (is_heard)
		can |= 1U << IS_HEARD;
	if (process->has_exited && !process->is_freed && !is_heard)
		can |= 1U << IS_BURIED;
	return process->is_freed ? 0 : can << (at * DEEDS);
}

static uint32_t spare_can(void)
{
	uint32_t can = 0;
	for (unsigned i = 0; i < born; i++)
		can |= process_can(&processes[i], i);
	if (calls < SPARES)
		can |= 1U << CALL;
	if (set->spares && !set->spares->is_retiring)
		can |= 1U << RETIRE;
	return can;
}

static void process_be_heard(struct process *process)
{
	enum said what = process->waiting[0];
	memmove(process->waiting, process->waiting + 1, sizeof(process->waiting[0]) * SAID_MAX);
	const char *text = what == SAID_HANDSHAKE ? HANDSHAKE : "{\"type\":\"more\"}";
	const perch_line line = { .data = text, .len = strlen(text) };
	if (what == SAID_END)
		process->events->closed((perch_child *)process, process->data, PERCH_STDOUT);
	else
		process->events->line((perch_child *)process, process->data, PERCH_STDOUT, &line);
}

static void process_be_buried(struct process *process)
{
	const perch_result result = { .status_known = true, .stop_asked = process->was_stopped };
	process->events->exited((perch_child *)process, process->data, &result);
	if (!process->is_freed)
		process->events->ended((perch_child *)process, process->data, &result);
	process->is_freed = true;
}

static void process_do(struct process *process, enum deed deed)
{
	switch (deed) {
	case SHAKES_HANDS:
		process_say(process, SAID_HANDSHAKE);
		process->has_shaken = true;
		break;
	case BABBLES:
		process_say(process, SAID_TOO_MUCH);
		process->has_babbled = true;
		break;
	case CLOSES:
		process_say(process, SAID_END);
		process->has_closed = true;
		break;
	case GETS_DEAF:
		process->is_deaf = true;
		break;
	case EXITS:
		process_exit(process);
		break;
	case IS_HEARD:
		process_be_heard(process);
		break;
	default:
		process_be_buried(process);
	}
}

static void spare_call(void)
{
	struct tool_call call = { 0 };
	calls++;
	if (!pool_use_spare(set, &call))
		return;
	const struct process *process = process_of(call.exchange->child);
	handed[calls - 1] = call.exchange;
	if (process->has_babbled || process->has_closed || process->has_exited || process->is_deaf)
		explorer_wrong("a call is given to a spare that is dying");
	if (!process->has_shaken)
		explorer_wrong("a call is given to a spare that has not shaken hands");
}

static void spare_happen(unsigned event)
{
	if (event == CALL)
		spare_call();
	else if (event == RETIRE)
		pool_retire(set->spares);
	else
		process_do(&processes[event / DEEDS], event % DEEDS);
}

static const char *spare_describe(unsigned event)
{
	static const char *const deeds[] = { "shakes hands", "says too much", "closes its output",
		"stops reading", "exits", "is heard", "is buried" };
	static char text[64];
	if (event >= CALL)
		return event == CALL ? "a call comes" : "the oldest spare is retired";
	snprintf(text, sizeof(text), "spare %u %s", event / DEEDS + 1, deeds[event % DEEDS]);
	return text;
}

static void spare_mix(void)
{
	for (unsigned i = 0; i < born; i++) {
		const struct process *process = &processes[i];
		const bool flags[] = { process->has_shaken, process->has_babbled, process->has_closed,
			process->is_deaf, process->has_exited, process->is_paused, process->was_stopped,
			process->is_freed };
		for (size_t at = 0; at < COUNT(flags); at++)
			explorer_mix(flags[at]);
		for (int at = 0; at < SAID_MAX; at++)
			explorer_mix(process->waiting[at]);
		const struct exchange *exchange = process->is_freed ? NULL : process->data;
		explorer_mix(exchange ? exchange->state + 1U : 0);
		explorer_mix(exchange ? tool_engine_stage(exchange->engine) + 1U : 0);
		explorer_mix(exchange ? tool_engine_has_hung_up(exchange->engine) : 0);
	}
	for (const struct spare *spare = set->spares; spare; spare = spare->next)
		explorer_mix(spare->is_retiring + 2U);
	explorer_mix(calls);
}

/* All of them exit, and the host hears of it: no spare is left then. */
static void spare_finish(void)
{
	for (unsigned i = 0; i < born; i++) {
		struct process *process = &processes[i];
		process_exit(process);
		while (!process->is_freed && !process->is_paused && process->waiting[0])
			process_be_heard(process);
		if (!process->is_freed)
			process_be_buried(process);
	}
	if (set->spares)
		explorer_wrong("a spare whose process is gone stays in the list");
	for (unsigned i = 0; i < SPARES; i++)
		exchange_free(handed[i]);
	tool_pool_forget(&pool, &binding);
	timers_free(&host.loop.timers);
}

int main(void)
{
	static const struct world world = { "the hand-over of a spare", spare_begin, spare_can,
		spare_happen, spare_describe, spare_mix, spare_finish };
	return explore(&world);
}
