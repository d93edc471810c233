/* How much of a run may wait in our memory: requests, questions and their options, commands and
 * their output, answers that the plugin has not read. At the limit the plugin is not read any more,
 * and its commands come to their end one at a time, each when the plugin has read the results
 * before; output of the one command that is still read may double it. Beyond that the run fails,
 * and so does a run in which both sides wait for the other to read. */
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "fledge/run_parts.h"
#include "proc/child.h"
#include "trace/trace.h"

#define RUN_MIB ((double)(1024 * 1024))

void run_pace(struct fledge_run *run)
{
	bool is_quiet = run->is_held || run->is_full || run->is_held_back;
	if (is_quiet && !run->is_given_up)
		perch_child_pause(run->child, PERCH_STDOUT);
	else
		perch_child_resume(run->child, PERCH_STDOUT);
}

void fledge_run_hold(struct fledge_run *run, bool is_held)
{
	if (!run->child || run->has_ended)
		return;
	run->is_held_back = is_held;
	run_pace(run);
	if (run->options.reads_stderr && is_held)
		perch_child_pause(run->child, PERCH_STDERR);
	else if (run->options.reads_stderr)
		perch_child_resume(run->child, PERCH_STDERR);
}

void run_fail(struct fledge_run *run, const char *why)
{
	if (run->has_ended || run->is_given_up)
		return;
	run->is_given_up = true;
	run_say(run, PERCH_SHOWN_ERROR, why);
	perch_child_signal(run->child, SIGKILL);
	run_pace(run); /* the end of a child that is not read does not come */
}

static size_t run_weight(const struct fledge_run *run)
{
	return run->meter.bytes + run->early.len + fledge_engine_held(run->engine) +
		perch_child_unwritten(run->child);
}

static void run_fail_full(struct fledge_run *run, const char *how)
{
	char text[256];
	snprintf(text, sizeof(text),
		"%s: more than %.3g MiB of its requests and their answers wait; it is ended "
		"(--waiting-limit allows more)",
		how, (double)run->options.waiting_limit / RUN_MIB);
	run_fail(run, text);
}

static void run_set_full(struct fledge_run *run, bool on)
{
	struct timers *timers = &run->host->loop.timers;
	run->is_full = on;
	trace_note(run->options.trace,
		on ? "too much waits: the plugin is not read" : "the plugin is read again");
	run->unwritten_before = perch_child_unwritten(run->child);
	if (on)
		timer_set(
			timers, &run->standstill, clock_after(clock_now_ns(), run->options.unread_timeout_ns));
	else
		timer_cancel(timers, &run->standstill);
	run_pace(run);
}

/* At the limit one command at a time comes to its end, and only when the plugin has read the
 * results of those before: a plugin that reads slowly is waited for. */
static void run_pace_execs(struct fledge_run *run)
{
	if (!run->execs)
		return;
	bool has_unread = perch_child_unwritten(run->child) > 0;
	execs_pace(run->execs, !run->is_full ? EXECS_ALL : has_unread ? EXECS_NONE : EXECS_OLDEST);
}

void run_weigh(struct fledge_run *run)
{
	if (!run->child || run->has_ended || run->is_given_up)
		return;
	size_t limit = run->options.waiting_limit;
	size_t weight = run_weight(run);
	if (weight > limit && weight - limit > limit)
		run_fail_full(run, "the plugin asks for more than it reads");
	else if (run->is_full ? weight <= limit / 2 : weight > limit)
		run_set_full(run, !run->is_full);
	run_pace_execs(run);
}

void run_meter_grew(void *data)
{
	run_weigh(data);
}

/* Whether the plugin has written bytes that we do not read now. */
static bool run_is_waited_for(const struct fledge_run *run)
{
	int said = 0;
	int fd = child_stream(run->child, PERCH_STDOUT)->source.fd;
	return fd >= 0 && ioctl(fd, FIONREAD, &said) == 0 && said > 0;
}

void run_standstill_due(struct timer *timer, uint64_t now_ns)
{
	struct fledge_run *run = RUN_OF(timer, standstill);
	size_t unwritten = perch_child_unwritten(run->child);
	bool has_moved = unwritten != run->unwritten_before;
	run->unwritten_before = unwritten;
	if (!has_moved && unwritten && run_is_waited_for(run))
		run_fail_full(run, "the plugin writes and does not read");
	else
		timer_set(
			&run->host->loop.timers, timer, clock_after(now_ns, run->options.unread_timeout_ns));
}
