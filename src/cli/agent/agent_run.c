/* perch agent run: one turn. Its options, and the process around it: host, signals, output. */
#include "cli/agent/agent_run.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "cli/ui/granted.h"
#include "proc/host.h"
#include "trace/trace.h"

/* The reader of stdout has as long as the agent has; after a second signal it is not waited for. */
static void agent_run_stop(struct agent_run *run, int signal)
{
	if (run->turn)
		agent_turn_cancel(run->turn, signal);
	else if (!run->is_ending)
		agent_run_end_early(run, EXIT_SIGNAL + signal, "cancelled", "cancelled");
	agent_tell_hurry(&run->tell, run->signal ? 0 : agent_patience_ns(run->profile.kill_grace_ns));
	run->signal = signal;
}

static void agent_run_signal_arrived(void *data, int signal)
{
	struct agent_run *run = data;
	if (signal == SIGWINCH)
		agent_asker_resized(&run->asker);
	else if (signal == SIGTSTP)
		signals_suspend(run->asker.terminal);
	else
		agent_run_stop(run, signal);
}

static void agent_run_host_log(void *data, perch_log_level level, const char *text)
{
	struct agent_run *run = data;
	if (level >= PERCH_LOG_WARN && run->is_over)
		cli_warning(text);
	else if (level >= PERCH_LOG_WARN)
		agent_tell_warning(&run->tell, str_from(text));
}

static int agent_run_open_host(struct agent_run *run, perch_err *err)
{
	static const int list[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0 };
	int r = cli_make_host(agent_run_host_log, run, &run->host, err);
	if (r < 0)
		return r;
	run->asker = (struct agent_asker){ .cli = run->cli, .host = run->host };
	r = agent_tell_attach(&run->tell, &run->host->loop);
	if (r < 0)
		return err_no_memory(err);
	r = signals_watch(&run->signals, &run->host->loop, list, agent_run_signal_arrived, run);
	run->has_signals = r == 0;
	return r < 0 ? err_set(err, r, "signals cannot be watched: %s", perch_strerror(r)) : 0;
}

static void agent_run_flush(struct agent_run *run)
{
	perch_err err = { 0 };
	if (trace_flush(run->trace, &err) < 0)
		agent_tell_warning(&run->tell, str_from(err.text));
	agent_tell_flush(&run->tell);
	agent_asker_flush(&run->asker);
	bool must_hold = run->turn && agent_tell_is_full(&run->tell);
	if (must_hold != run->is_held) {
		run->is_held = must_hold;
		agent_turn_hold(run->turn, must_hold);
	}
}

static int agent_run_exit_code(const struct agent_run *run)
{
	int error = run->tell.outlet.error;
	bool was_left = error && run->signal && run->code == 0; /* what it has said was not taken */
	return cli_check_output(error, was_left ? EXIT_SIGNAL + run->signal : run->code);
}

static int agent_run_to_the_end(struct agent_run *run, perch_err *err)
{
	if (!run->cli->json)
		agent_run_warn_of_profile(run);
	int r = agent_run_open_host(run, err);
	if (r == 0)
		r = agent_run_begin(run, err);
	if (r < 0)
		agent_run_end_early(run, EXIT_HOST, "session", err->text);
	agent_run_flush(run);
	while (!run->is_over || agent_tell_waits(&run->tell)) {
		r = perch_host_wait(run->host, -1);
		if (r < 0 && run->is_ending)
			break;
		if (r < 0) {
			err_set(err, r, "waiting failed: %s", perch_strerror(r));
			agent_run_end_early(run, EXIT_HOST, "host", err->text);
		}
		agent_run_flush(run);
	}
	stderr_outlet_close(&run->tell.stderr_outlet);
	return agent_run_exit_code(run);
}

static void agent_run_close(struct agent_run *run)
{
	agent_turn_free(run->turn);
	agent_session_close(&run->session);
	free(run->stored);
	agent_asker_free(&run->asker);
	if (run->has_signals)
		signals_close(&run->signals);
	trace_close(run->trace, NULL);
	agent_tell_close(&run->tell);
	perch_host_free(run->host);
	agent_words_free(&run->words);
	arena_free(&run->arena);
}

static int agent_run_refuse(struct agent_run *run, int code, const char *kind, const char *text)
{
	agent_run_end_early(run, code, kind, text);
	agent_run_flush(run);
	return code;
}

static int agent_run_prepare(struct agent_run *run, int argc, char **argv)
{
	perch_err err = { 0 };
	int r = agent_words_read(&run->words, run->cli, argc, argv);
	if (r)
		return r;
	run->words.no_store = run->words.no_store || run->cli->is_agentproc;
	agent_tell_open(&run->tell, run->cli, &run->asker);
	run->options = (struct agent_turn_options){
		.events = &agent_run_events,
		.data = run,
		.session_id = "",
		.stderr_bytes = run->cli->verbose ? agent_run_on_stderr : NULL,
	};
	r = agent_profile_read(run->words.profile, &run->arena, &run->profile, &err);
	if (r == 0)
		r = granted_agent(run->cli, &run->arena, &run->profile, &err);
	if (r == 0 && run->cli->trace)
		r = trace_open(run->cli->trace, run->cli->trace_secrets, &run->trace, &err);
	if (r < 0)
		return agent_run_refuse(run, EXIT_HOST, "profile", err.text);
	run->options.trace = run->trace;
	trace_start(run->trace, run->profile.command, run->profile.args);
	r = agent_words_apply(&run->words, &run->profile, &run->arena, &run->options, &err);
	if (r == -EINVAL && !run->cli->json)
		return cli_usage_error(NULL, "%s", err.text);
	return r < 0 ? agent_run_refuse(run, r == -EINVAL ? EXIT_USAGE : EXIT_HOST, "start", err.text)
				 : 0;
}

static int agent_run(struct cli *cli, int argc, char **argv)
{
	struct agent_run run = { .cli = cli };
	perch_err err = { 0 };
	int code = agent_run_prepare(&run, argc, argv);
	if (code == 0)
		code = agent_run_to_the_end(&run, &err);
	agent_run_close(&run);
	return code;
}

const struct command agent_run_command = {
	.name = "run",
	.summary = "one turn: a message in, the reply out",
	.help = "usage: perch agent run -p|--profile FILE (--prompt TEXT | --stdin) [OPTIONS]\n"
			"\n"
			"One turn: partials and the reply on stdout as they come, the rest on stderr.\n"
			"\n"
			"  --session ID | --session-name NAME | --new   which session is continued\n"
			"  --from USER            who speaks\n"
			"  --image, --file, --audio, --video URL   what is attached (again for more)\n"
			"  --cwd DIR, --env NAME=VALUE, --timeout SECS   instead of the profile's\n"
			"  --no-stream            the reply alone, no partials\n"
			"  --no-store             neither read nor write the stored session\n"
			"  --allow-shell-message  let a shell read {{MESSAGE}} as a script\n"
			"  --sandbox[=off]        confine it, or not, whatever the profile says\n"
			"  --line-limit BYTES, --output-limit BYTES   (8388608, 67108864)\n"
			"  --json                 events as JSON lines\n"
			"  --trace FILE           record every line\n"
			"  -v, -q                 with the agent's stderr; without warnings\n"
			"\n"
			"The exit code is the turn's: the agent's own, 124 timeout, 130 interrupted, 127\n"
			"no such command, 126 not executable, 125 profile or host.\n"
			"\n"
			"example:\n"
			"  perch agent run --profile bot.yaml --prompt 'What is new?'\n",
	.run = agent_run,
};
