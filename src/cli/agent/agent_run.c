/* perch agent run: one turn, a job of the service. Its options, and the process around it: host,
 * signals, output. */
#include "cli/agent/agent_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/ui/signals.h"
#include "proc/host.h"

struct agent_run {
	struct cli *cli;
	struct agent_words words;
	struct arena arena;
	perch_host *host;
	perch_service *service;
	perch_job *job; /* NULL = it was not taken */
	struct signals signals;
	bool has_signals;
	struct agent_tell tell;
	struct agent_asker asker;
	bool is_held; /* the turn: its output is not read */
	bool is_over;
	bool has_ended; /* its job has told so */
	int code;
	int signal; /* that came last; 0 = none */
};

/* ---- what happens -------------------------------------------------------------------- */

static void agent_run_explain(struct agent_run *run, const perch_agent_end *end)
{
	char text[PERCH_ERR_TEXT_MAX];
	if (!run->cli->json && !run->cli->is_agentproc && agent_end_is_own_failure(end) &&
		agent_check_explain(run->cli, &run->words, text))
		agent_print_note(&run->tell.print, "hint", str_from(text));
}

static void agent_run_event(perch_job *job, void *data, const perch_event *event)
{
	struct agent_run *run = data;
	if (event->kind == PERCH_EVENT_WITHDRAW)
		agent_asker_withdraw(&run->asker, event->number);
	else if (event->kind == PERCH_EVENT_END)
		agent_asker_end(&run->asker);
	if (event->kind != PERCH_EVENT_WITHDRAW)
		agent_tell_event(&run->tell, job, event);
	if (event->kind == PERCH_EVENT_ASK)
		agent_asker_ask(&run->asker, job, event->ask);
	if (event->kind != PERCH_EVENT_END)
		return;
	agent_run_explain(run, event->end->turn);
	run->code = event->end->exit_code;
	run->is_over = run->has_ended = true;
}

/* The reader of stdout gets as much time as the agent; after a second signal nothing waits for it.
 */
static void agent_run_stop(struct agent_run *run, int signal)
{
	perch_job_cancel(run->job, signal);
	agent_tell_hurry(&run->tell, run->signal ? 0 : agent_patience_ns(perch_job_grace_ns(run->job)));
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

static void agent_run_warn(struct agent_run *run, const char *text)
{
	if (run->is_over)
		cli_warning(text);
	else
		agent_tell_warning(&run->tell, str_from(text));
}

static void agent_run_say(void *data, struct str text)
{
	struct agent_run *run = data;
	agent_tell_warning(&run->tell, text);
}

static void agent_run_host_log(void *data, perch_log_level level, const char *text)
{
	if (level >= PERCH_LOG_WARN)
		agent_run_warn(data, text);
}

static void agent_run_service_warns(perch_service *service, void *data, const char *text)
{
	(void)service;
	agent_run_warn(data, text);
}

/* The turn ends before it could begin. */
static int agent_run_refuse(struct agent_run *run, int code, const char *kind, const char *text)
{
	const perch_agent_end end = {
		.exit_code = code,
		.status = -1,
		.session_id = run->words.session && code != EXIT_USAGE ? run->words.session : "",
		.hint = "",
		.reach = PERCH_REACH_GROUP,
	};
	agent_tell_error(&run->tell, kind, str_from(text));
	agent_tell_end(&run->tell, &end);
	run->is_over = true;
	run->code = code;
	return code;
}

/* ---- its beginning ------------------------------------------------------------------- */

static int agent_run_open_host(struct agent_run *run, perch_err *err)
{
	static const int list[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH, 0 };
	int r = cli_make_host(agent_run_host_log, run, &run->host, err);
	if (r < 0)
		return r;
	run->host->runs_once = true;
	guard_begin(&run->host->guard);
	run->asker = (struct agent_asker){
		.cli = run->cli, .host = run->host, .say = agent_run_say, .say_data = run
	};
	if (agent_tell_attach(&run->tell, &run->host->loop) < 0)
		return err_no_memory(err);
	r = signals_watch(&run->signals, &run->host->loop, list, agent_run_signal_arrived, run);
	run->has_signals = r == 0;
	return r < 0 ? err_set(err, r, "signals cannot be watched: %s", perch_strerror(r)) : 0;
}

static int agent_run_open_service(struct agent_run *run, perch_err *err)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.no_store = run->words.no_store;
	options.no_spares = true; /* one turn, and then the end */
	options.trace = run->cli->trace;
	options.trace_secrets = run->cli->trace_secrets;
	options.warn = agent_run_service_warns;
	options.data = run;
	return perch_service_new(run->host, &options, &run->service, err);
}

/* A mistake in the command line is reported as such, unless a program reads the output. */
static int agent_run_refuse_words(struct agent_run *run, const perch_err *err)
{
	char text[PERCH_ERR_TEXT_MAX + sizeof(AGENT_NO_STORE) + 16];
	bool is_id = err->stage && strcmp(err->stage, "session_id") == 0;
	bool is_usage = err->code == -EINVAL && (!err->stage || is_id);
	snprintf(text, sizeof(text), "%s%s", is_id ? "--session " : "", err->text);
	bool is_stored = err->stage && strcmp(err->stage, "session") == 0;
	if (!is_usage && is_stored)
		snprintf(text, sizeof(text), "%s; " AGENT_NO_STORE, err->text);
	if (!is_usage)
		return agent_run_refuse(run, EXIT_HOST, err->stage ? err->stage : "start", text);
	if (run->cli->json)
		return agent_run_refuse(run, EXIT_USAGE, "start", text);
	run->is_over = true;
	return run->code = cli_usage_error(NULL, "%s", text);
}

static int agent_run_submit(struct agent_run *run)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	perch_agent_turn_options turn = PERCH_AGENT_TURN_OPTIONS_INIT;
	perch_err err = { 0 };
	int r = agent_words_apply(&run->words, &run->arena, &request, &turn, &err);
	request.sandbox = cli_sandbox_choice(run->cli);
	request.shows_stderr = run->cli->verbose;
	request.sink = agent_run_event;
	request.data = run;
	if (r == 0)
		r = perch_job_submit(run->service, &request, &run->job, &err);
	return r < 0 ? agent_run_refuse_words(run, &err) : 0;
}

/* The file that a name stands for. */
static int agent_run_find(struct agent_run *run)
{
	perch_err err = { 0 };
	if (agent_find_profile(run->words.profile, &run->arena, &run->words.profile, &err) < 0)
		return agent_run_refuse(run, EXIT_HOST, "profile", err.text);
	if (run->cli->is_agentproc)
		agentproc_settle(&run->words, &run->arena, &run->tell.dialect);
	return 0;
}

static int agent_run_begin(struct agent_run *run)
{
	perch_err err = { 0 };
	int r = agent_run_find(run);
	if (r)
		return r;
	if (agent_run_open_host(run, &err) < 0)
		return agent_run_refuse(run, EXIT_HOST, "host", err.text);
	if (agent_run_open_service(run, &err) < 0)
		return agent_run_refuse(run, EXIT_HOST, "start", err.text);
	return agent_run_submit(run);
}

/* ---- all of it ----------------------------------------------------------------------- */

static void agent_run_flush(struct agent_run *run)
{
	agent_tell_flush(&run->tell);
	agent_asker_flush(&run->asker);
	bool must_hold = !run->is_over && agent_tell_is_full(&run->tell);
	if (must_hold != run->is_held && !run->is_over)
		perch_job_hold(run->job, must_hold);
	run->is_held = must_hold;
}

static int agent_run_exit_code(const struct agent_run *run)
{
	int error = run->tell.outlet.error;
	bool was_left = error && run->signal && run->code == 0; /* what it has said was not taken */
	return cli_check_output(error, was_left ? EXIT_SIGNAL + run->signal : run->code);
}

static int agent_run_to_the_end(struct agent_run *run)
{
	char text[128];
	agent_run_begin(run);
	agent_run_flush(run);
	while (run->host && (!run->is_over || agent_tell_waits(&run->tell))) {
		int r = perch_host_wait(run->host, -1);
		if (r < 0 && run->is_over)
			break;
		if (r < 0) {
			snprintf(text, sizeof(text), "waiting failed: %s", perch_strerror(r));
			agent_run_refuse(run, EXIT_HOST, "host", text);
		}
		agent_run_flush(run);
	}
	stderr_outlet_close(&run->tell.stderr_outlet);
	return agent_run_exit_code(run);
}

/* Behind the end of its turn the process ends: most of what the service has goes with it sooner
 * than it is taken apart. */
static bool agent_run_leaves_service(const struct agent_run *run)
{
	return run->has_ended && !run->cli->trace;
}

static void agent_run_close(struct agent_run *run)
{
	if (!agent_run_leaves_service(run)) {
		perch_job_free(run->job);
		perch_service_free(run->service);
	}
	agent_asker_free(&run->asker);
	if (run->has_signals)
		signals_close(&run->signals);
	agent_tell_close(&run->tell);
	perch_host_free(run->host);
	agent_words_free(&run->words);
	arena_free(&run->arena);
}

static int agent_run(struct cli *cli, int argc, char **argv)
{
	struct agent_run run = { .cli = cli };
	int code = agent_words_read(&run.words, cli, argc, argv);
	agent_tell_open(&run.tell, cli, &run.asker);
	run.tell.thinking = agent_thinking_of(run.words.thinking);
	if (code == 0)
		code = agent_run_to_the_end(&run);
	agent_run_close(&run);
	if (agent_run_leaves_service(&run))
		exit(cli_program_finish(code));
	return code;
}

const struct command agent_run_command = {
	.name = "run",
	.summary = "one turn: a message in, the reply out",
	.help = "usage: perch agent run NAME|FILE [MESSAGE] [OPTIONS]\n"
			"\n"
			"One turn: partials and the reply on stdout as they come, the rest on stderr.\n"
			"Without a message it is read from stdin, where that is a pipe or a file.\n"
			"\n"
			"  -p, --profile NAME|FILE, --prompt TEXT, --stdin   the same as options\n"
			"  --protocol 0.1|0.4|acp   how the agent speaks, whatever the profile says\n"
			"  --session ID | --session-name NAME | --new   which session is continued\n"
			"  --from USER            the sender of the message\n"
			"  --image, --file, --audio, --video URL   what is attached (again for more)\n"
			"  --cwd DIR, --env NAME=VALUE, --timeout SECS   instead of the profile's\n"
			"  --thinking show|fold|hide   what is no part of the reply (fold on a terminal)\n"
			"  --no-stream, --no-store   no partials; no stored session, read or written\n"
			"  --allow-shell-message  let a shell read {{MESSAGE}} as a script\n"
			"  --sandbox[=off]        confine it, or not, instead of what the profile says\n"
			"  --line-limit BYTES, --output-limit BYTES   (8388608, 67108864)\n"
			"  --json, --trace FILE   events as JSON lines; record every line\n"
			"  -v, -q                 with the agent's stderr; without warnings\n"
			"\n"
			"The exit code is the turn's: the agent's own, 124 timeout, 130 interrupted, 127\n"
			"no such command, 126 not executable, 125 profile or host.\n"
			"\n"
			"example:\n"
			"  perch agent run bot 'What is new?'\n",
	.words = WORDS_AGENTS,
	.run = agent_run,
};
