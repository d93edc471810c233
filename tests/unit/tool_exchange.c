/* The life of an exchange, cell by cell: each state is met by each event, with a real process. */
#include "harness/suite.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "perch/host.h"
#include "proc/child.h"
#include "tool/binding.h"
#include "tool/exchange.h"

enum act {
	NOTHING, /* the event does not count */
	CLOCK,   /* the clock of the new state runs */
	SEE_OFF, /* its stdin is closed, its output not read, its exit waited for */
	WAKE,    /* its output is read again */
	STOP,
	KILL,
	BURY,   /* what is left of it is removed, and who owns it hears of it */
	REPORT, /* who owns it hears of it */
};

/* Written down here once more, on purpose. */
static const struct cell {
	enum act act;
	enum exchange_state next;
} wanted[EXCHANGE_STATES][EXCHANGE_EVENTS] = {
	[EXCHANGE_HANDSHAKE] = {
		[ON_READY] = { CLOCK, EXCHANGE_READY },
		[ON_ASKED] = { CLOCK, EXCHANGE_RESPONSE },
		[ON_DECIDED] = { STOP, EXCHANGE_STOPPING },
		[ON_KILL] = { KILL, EXCHANGE_KILLED },
		[ON_ENDED] = { BURY, EXCHANGE_OVER },
	},
	[EXCHANGE_READY] = {
		[ON_ASKED] = { CLOCK, EXCHANGE_RESPONSE },
		[ON_DECIDED] = { STOP, EXCHANGE_STOPPING },
		[ON_ENDED] = { BURY, EXCHANGE_OVER },
	},
	[EXCHANGE_RESPONSE] = {
		[ON_RESPONDED] = { SEE_OFF, EXCHANGE_NAPPING },
		[ON_DECIDED] = { STOP, EXCHANGE_STOPPING },
		[ON_KILL] = { KILL, EXCHANGE_KILLED },
		[ON_ENDED] = { BURY, EXCHANGE_OVER },
	},
	[EXCHANGE_NAPPING] = {
		[ON_DECIDED] = { STOP, EXCHANGE_STOPPING },
		[ON_STIR] = { WAKE, EXCHANGE_LEAVING },
		[ON_ENDED] = { BURY, EXCHANGE_OVER },
	},
	[EXCHANGE_LEAVING] = {
		[ON_DECIDED] = { STOP, EXCHANGE_STOPPING },
		[ON_ENDED] = { BURY, EXCHANGE_OVER },
	},
	[EXCHANGE_STOPPING] = { [ON_ENDED] = { BURY, EXCHANGE_OVER } },
	[EXCHANGE_KILLED] = { [ON_ENDED] = { BURY, EXCHANGE_OVER } },
	[EXCHANGE_CLEANING] = { [ON_CLEANED] = { REPORT, EXCHANGE_OVER } },
};

static perch_host *host;
static unsigned overs;

static void on_over(void *data)
{
	(void)data;
	overs++;
}

/* A process that says nothing, in this state. */
static struct exchange *begin(const struct tool_binding *binding, enum exchange_state state)
{
	const struct exchange_options options = {
		.binding = binding,
		.clocks = { 1000 * NSEC_PER_SEC, 500 * NSEC_PER_SEC, 100 * NSEC_PER_SEC },
		.listener.over = on_over,
	};
	struct exchange *exchange;
	perch_err err = { 0 };
	ck_assert_int_eq(exchange_new(host, &options, &exchange), 0);
	ck_assert_msg(exchange_start(exchange, &err) == 0, "%s", err.text);
	exchange->state = state;
	exchange->responded_ns = exchange->started_ns;
	if (state == EXCHANGE_NAPPING) {
		perch_child_pause(exchange->child, PERCH_STDOUT);
		perch_child_pause(exchange->child, PERCH_STDERR);
	}
	timer_cancel(&host->loop.timers, &exchange->clock);
	overs = 0;
	return exchange;
}

static bool is_paused(const struct exchange *exchange)
{
	return child_stream(exchange->child, PERCH_STDOUT)->paused &&
		child_stream(exchange->child, PERCH_STDERR)->paused;
}

static bool is_read(const struct exchange *exchange)
{
	return !child_stream(exchange->child, PERCH_STDOUT)->paused &&
		!child_stream(exchange->child, PERCH_STDERR)->paused;
}

/* How the process ends by itself from here. */
static void assert_ends_by(struct exchange *exchange, int signal)
{
	while (exchange->state != EXCHANGE_OVER)
		ck_assert_int_ge(perch_host_wait(host, -1), 0);
	ck_assert_int_eq(exchange->result.signal, signal);
	ck_assert_uint_eq(overs, 1);
}

static void assert_acted(struct exchange *exchange, enum act act, enum exchange_state before)
{
	bool has_clock = exchange->clock.position != 0;
	switch (act) {
	case NOTHING:
		ck_assert(!has_clock && overs == 0);
		ck_assert(before == EXCHANGE_NAPPING ? is_paused(exchange) : is_read(exchange));
		break;
	case CLOCK:
		ck_assert(has_clock && is_read(exchange));
		ck_assert_uint_eq(exchange->clock.when_ns, exchange_next_deadline(exchange).when_ns);
		break;
	case SEE_OFF:
		ck_assert(has_clock && is_paused(exchange));
		ck_assert_uint_lt(exchange->clock.when_ns, exchange_next_deadline(exchange).when_ns);
		assert_ends_by(exchange, 0);
		break;
	case WAKE:
		ck_assert(is_read(exchange));
		break;
	case STOP:
		ck_assert(is_read(exchange));
		assert_ends_by(exchange, SIGTERM);
		break;
	case KILL:
		ck_assert(is_read(exchange));
		assert_ends_by(exchange, SIGKILL);
		break;
	case BURY:
	case REPORT:
		while (!overs)
			ck_assert_int_ge(perch_host_wait(host, -1), 0);
		ck_assert_uint_eq(overs, 1);
		break;
	}
}

START_TEST(each_state_meets_each_event)
{
	static const char *const words[] = { "1000", NULL };
	static const char *const no_words[] = { NULL };
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	ck_assert_int_eq(perch_host_new(&options, &host, NULL), 0);
	struct tool_binding binding = tool_binding_default();
	binding.name = "t.p";
	binding.widening.is_off = true;
	for (enum exchange_state state = 0; state < EXCHANGE_STATES; state++) {
		for (enum exchange_event event = 0; event < EXCHANGE_EVENTS; event++) {
			const struct cell *cell = &wanted[state][event];
			bool counts = cell->act != NOTHING;
			/* The one leaves when its stdin is closed, the other does not. */
			binding.command = cell->act == SEE_OFF ? "/bin/cat" : "/bin/sleep";
			binding.args = cell->act == SEE_OFF ? no_words : words;
			struct exchange *exchange = begin(&binding, state);
			ck_assert_msg(exchange_happen(exchange, event) == counts, "%d %d", state, event);
			bool is_known = counts && cell->next != EXCHANGE_OVER;
			ck_assert_msg(!is_known || exchange->state == cell->next, "%d %d", state, event);
			ck_assert_msg(counts || exchange->state == state, "%d %d", state, event);
			assert_acted(exchange, cell->act, state);
			ck_assert(!counts || is_known || exchange->state == EXCHANGE_OVER);
			exchange_free(exchange);
		}
	}
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("tool-exchange", each_state_meets_each_event)
