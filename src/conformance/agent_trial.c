/* One case for an agent: a turn of it by our own host, whose events show what the agent said, and
 * whose warnings name its mistakes. */
#include <errno.h>

#include "agent/profile.h"
#include "base/clock.h"
#include "base/err.h"
#include "conformance/trial.h"
#include "proc/capture.h"

enum { EVENTS_MAX = 64 * 1024 * 1024, WORDS_MAX = 32 };

struct agent_turn {
	struct capture *capture;
	bool has_ended;
};

static void agent_trial_turn_ended(void *data, struct capture *capture)
{
	(void)capture;
	((struct agent_turn *)data)->has_ended = true;
}

static void agent_trial_keep_events(struct str events, struct trial_report *report)
{
	while (events.len)
		transcript_add(&report->transcript, TRACE_HOST, str_cut(&events, '\n'));
}

static int agent_trial_run_turn(
	struct kit *kit, const struct capture_spec *spec, struct agent_turn *turn, perch_err *err)
{
	int r = capture_start(kit->host, spec, &turn->capture, err);
	if (r < 0)
		return r;
	while (r >= 0 && !turn->has_ended && !kit->is_stopped)
		r = perch_host_wait(kit->host, -1);
	if (kit->is_stopped)
		return err_set(err, -ECANCELED, "interrupted");
	return r < 0 ? err_set(err, r, "waiting failed: %s", perch_strerror(r)) : 0;
}

static int agent_trial_judge_turn(const struct kit *kit, const struct conformance_case *test,
	const struct capture *capture, struct trial_report *report)
{
	static const struct variable none = { 0 };
	const struct observed observed = {
		.code = capture_code(capture),
		.output = { capture->out.data, capture->out.len },
		.errors = { capture->err.data, capture->err.len },
		.timed_out = capture->timed_out ? trial_within(kit, test) : 0,
	};
	report->duration_ns = capture->result.duration_ns;
	agent_trial_keep_events(observed.output, report);
	return capture->out_of_memory ? -ENOMEM : judge_outside(test, &none, &observed, report);
}

/* A profile of the published collection is right as it is: what is judged is its agent. */
static bool agent_trial_is_published(const char *path)
{
	struct arena arena = { 0 };
	struct agent_profile profile;
	bool is_it =
		agent_profile_read(path, &arena, &profile, NULL) == 0 && profile.evidence == DIALECT_LIKELY;
	arena_free(&arena);
	return is_it;
}

int agent_trial(struct kit *kit, const struct conformance_case *test,
	const struct trial_subject *target, struct trial_report *report, perch_err *err)
{
	const char *argv[WORDS_MAX] = { kit->perch, "agent", "run", "--json", "--no-store", "--profile",
		target->profile, "--prompt", test->message ? test->message : "hello" };
	size_t count = 9;
	struct agent_turn turn = { 0 };
	if (agent_trial_is_published(target->profile)) {
		argv[count++] = "--protocol";
		argv[count++] = "0.4";
	}
	for (size_t i = 0; test->options[i] && count + 1 < WORDS_MAX; i++)
		argv[count++] = test->options[i];
	const struct capture_spec spec = {
		.argv = argv,
		.limit = EVENTS_MAX,
		.timeout_ns = clock_from_seconds(trial_within(kit, test)),
		.done = agent_trial_turn_ended,
		.data = &turn,
	};
	int r = agent_trial_run_turn(kit, &spec, &turn, err);
	if (r == 0 && agent_trial_judge_turn(kit, test, turn.capture, report) < 0)
		r = err_no_memory(err);
	capture_free(turn.capture);
	return r;
}
