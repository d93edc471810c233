/* The fledge engine against any plugin: every message with an id gets exactly
 * one answer, answers come in order, and nothing crashes. The first byte
 * chooses capabilities and who is there to be asked. */
#include "fuzz.h"

#include <string.h>

#include "fledge/fledge_engine.h"

enum { TICKETS = 64 };

struct world {
	struct fledge_engine *engine;
	uint64_t tickets[TICKETS]; /* results that are owed */
	size_t count;
	size_t sent;
	uint64_t open; /* the question that is asked */
	const perch_question *question;
};

static void on_send(void *data, struct str line)
{
	struct world *world = data;
	check(line.len >= 2 && line.data[0] == '{' && line.data[line.len - 1] == '\n');
	check(!memchr(line.data, '\n', line.len - 1));
	world->sent++;
}

static void on_show(void *data, const struct shown *shown)
{
	(void)data;
	(void)shown;
}

static void on_ask(void *data, const perch_question *question)
{
	struct world *world = data;
	check(!world->open);
	world->open = question->number;
	world->question = question;
}

static void on_withdraw(void *data)
{
	struct world *world = data;
	check(world->open);
	world->open = 0;
}

static void owe(struct world *world, uint64_t ticket)
{
	if (ticket && world->count < TICKETS)
		world->tickets[world->count++] = ticket;
	else if (ticket)
		fledge_engine_result(world->engine, ticket, STR("0"), 0);
}

static void on_store(void *data, uint64_t ticket, struct str key, struct str value)
{
	(void)key;
	(void)value;
	owe(data, ticket);
}

static void on_load(void *data, uint64_t ticket, struct str key)
{
	(void)key;
	owe(data, ticket);
}

static void on_exec(void *data, uint64_t ticket, const struct fledge_exec *exec)
{
	check(!exec->has_timeout || exec->timeout_seconds > 0);
	owe(data, ticket);
}

static void on_metadata(void *data, uint64_t ticket, const perch_text *keys, size_t count)
{
	(void)keys;
	(void)count;
	owe(data, ticket);
}

static void on_drop(void *data)
{
	struct world *world = data;
	world->count = 0;
}

static void on_stop(void *data)
{
	(void)data;
}

static void on_hold(void *data, bool on)
{
	(void)data;
	(void)on;
}

static const struct fledge_effects effects = {
	.send = on_send,
	.show = on_show,
	.ask = on_ask,
	.withdraw = on_withdraw,
	.store = on_store,
	.load = on_load,
	.exec = on_exec,
	.metadata = on_metadata,
	.drop = on_drop,
	.stop = on_stop,
	.hold = on_hold,
};

static void answer(struct world *world, uint8_t how, uint64_t now)
{
	size_t chosen = 0;
	bool has_options = world->question->option_count > 0;
	struct answer given = {
		.number = world->open,
		.cancelled = how % 16 == 15,
		.text = STR("text"),
		.yes = how & 1,
		.chosen = &chosen,
		.chosen_count = has_options,
	};
	world->open = 0;
	fledge_engine_answer(world->engine, &given, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	const struct fledge_engine_options options = {
		.plugin = STR("p"),
		.granted = { .exec = data[0] & 1, .store = data[0] & 2, .metadata = data[0] & 4 },
		.asking = (enum fledge_asking)((data[0] >> 3) % 3),
		.prompt_timeout_ns = 1000,
	};
	struct world world = { 0 };
	if (fledge_engine_new(&options, &effects, &world, &world.engine) < 0)
		return 0;
	uint64_t now = 0;
	struct str rest = { (const char *)data + 1, size - 1 };
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		uint8_t how = line.len ? (uint8_t)line.data[line.len - 1] : 0;
		fledge_engine_line(world.engine, line.data, line.len, how == 0xFE, now += 7);
		if (world.count && how % 3 == 0)
			fledge_engine_result(world.engine, world.tickets[--world.count], STR("1"), now);
		if (world.open && how % 5 == 0)
			answer(&world, how, now);
		if (how == 0xFD)
			fledge_engine_stop_asking(world.engine, now);
		fledge_engine_tick(world.engine, now);
	}
	while (world.count)
		fledge_engine_result(world.engine, world.tickets[--world.count], STR("1"), now);
	fledge_engine_cancel(world.engine, "user_interrupt", now);
	fledge_engine_free(world.engine);
	return 0;
}
