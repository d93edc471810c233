/* perch sandbox run: any command, in the sandbox of plugins or tools. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "cli/ui/foreground.h"
#include "cli/sandbox/sandbox_commands.h"
#include "cli/ui/signals.h"
#include "proc/host.h"
#include "proc/program.h"
#include "proc/tail.h"

enum { SAID_MAX = 64 * 1024 };

struct sandboxed_run {
	struct cli *cli;
	struct sandbox_request request;
	struct arena arena;
	perch_sandbox_options options;
	perch_host *host;
	perch_sandbox *sandbox;
	struct signals signals;
	bool has_signals;
	bool is_on_terminal;
	bool sees_stderr;
	perch_child *child;
	struct tail said; /* the end of its stderr, when that is explained */
	bool has_ended;
	perch_result result;
};

/* ---- the child ---------------------------------------------------------------- */

static void sandbox_run_on_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	(void)child;
	(void)stream;
	struct sandboxed_run *run = data;
	(void)!fwrite(bytes, 1, len, stderr);
	fflush(stderr);
	tail_append(&run->said, bytes, len);
}

static void sandbox_run_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct sandboxed_run *run = data;
	run->has_ended = true;
	run->result = *result;
}

static const perch_child_events events = {
	.size = sizeof(events),
	.bytes = sandbox_run_on_bytes,
	.ended = sandbox_run_on_ended,
};

static void sandbox_run_signal_arrived(void *data, int number)
{
	struct sandboxed_run *run = data;
	if (run->child)
		perch_child_signal(run->child, number);
}

/* On a terminal the command stays in our process group: it gets the keys' signals
 * itself, and we survive them. What is sent to us alone is passed on. */
static int sandbox_run_watch_signals(struct sandboxed_run *run, perch_err *err)
{
	static const int from_others[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, 0 };
	static const int all[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, 0 };
	if (run->is_on_terminal) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	int r = signals_watch(&run->signals, &run->host->loop, run->is_on_terminal ? from_others : all,
		sandbox_run_signal_arrived, run);
	run->has_signals = r == 0;
	return r < 0 ? err_set(err, r, "signals cannot be watched: %s", perch_strerror(r)) : 0;
}

static int sandbox_run_start(
	struct sandboxed_run *run, const char *program, char **argv, perch_err *err)
{
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = (const char *const *)argv;
	spec.program = program;
	if (perch_sandbox_apply(run->sandbox, &spec) < 0)
		return err_no_memory(err);
	spec.stdin_mode = PERCH_STDIN_INHERIT;
	spec.stderr_mode = run->sees_stderr ? PERCH_OUTPUT_BYTES : PERCH_OUTPUT_INHERIT;
	spec.session = run->is_on_terminal ? PERCH_SESSION_SHARED : PERCH_SESSION_OWN;
	spec.events = &events;
	spec.data = run;
	return perch_child_start(run->host, &spec, &run->child, err);
}

/* ---- telling -------------------------------------------------------------------- */

static void sandbox_run_print_list(const char *name, const char *const *list)
{
	for (; list && *list; list++)
		cli_tell(stderr, "  %-8s %s\n", name, *list);
}

static void sandbox_run_print_limit(const char *name, uint64_t value)
{
	if (value)
		fprintf(stderr, "  %-8s %s=%llu\n", "limit", name, (unsigned long long)value);
}

static void sandbox_run_print_explanation(const struct sandboxed_run *run)
{
	const perch_sandbox_rules *rules = perch_sandbox_rules_of(run->sandbox);
	fprintf(stderr, "sandbox policy '%s'\n", run->request.policy_name);
	cli_tell(stderr, "  %-8s %s\n", "read",
		rules->reads_everything ? "everything but what is hidden" : "only:");
	sandbox_run_print_list("read", rules->read);
	sandbox_run_print_list("write", rules->write);
	sandbox_run_print_list("hide", rules->hide);
	sandbox_run_print_list("reveal", rules->reveal);
	sandbox_run_print_list("protect", rules->protect);
	sandbox_run_print_list("env", rules->env);
	cli_tell(stderr, "  %-8s %s\n", "net", rules->has_network ? "full" : "none");
	if (rules->tmp)
		cli_tell(stderr, "  %-8s %s\n", "tmp", rules->tmp);
	sandbox_run_print_limit("memory", rules->limits.memory);
	sandbox_run_print_limit("processes", rules->limits.processes);
	sandbox_run_print_limit("files", rules->limits.files);
	sandbox_run_print_limit("size", rules->limits.size);
	sandbox_run_print_limit("cpu", rules->limits.cpu);
	fprintf(stderr, "layers\n");
	sandbox_run_print_list("", rules->layers);
}

static void sandbox_run_print_warnings(const struct sandboxed_run *run)
{
	const char *note = perch_sandbox_rules_of(run->sandbox)->note;
	if (run->cli->quiet)
		return;
	if (note)
		cli_tell(stderr, "note: %s; --write . allows it\n", note);
	const char *const *warning = perch_sandbox_warnings(run->sandbox);
	for (; warning && *warning; warning++)
		cli_warning(*warning);
}

static void sandbox_run_print_hint(struct sandboxed_run *run, const char *program)
{
	const struct str said = tail_text(&run->said);
	const char *hint = perch_sandbox_explain(run->sandbox, program, said.data, said.len);
	if (hint)
		cli_hint(str_from(hint));
}

static int sandbox_run_exit_code(const struct sandboxed_run *run)
{
	return exit_status_of(run->result.signal, run->result.exit_code);
}

/* ---- the run --------------------------------------------------------------------- */

static bool sandbox_run_is_on_terminal(void)
{
	return isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) || isatty(STDERR_FILENO);
}

static int sandbox_run_wait_for_end(struct sandboxed_run *run, perch_err *err)
{
	int r = 0;
	while (r >= 0 && !run->has_ended)
		r = perch_host_wait(run->host, -1);
	return r < 0 ? err_set(err, r, "waiting failed: %s", perch_strerror(r)) : 0;
}

/* Opens the sandbox, starts the command, waits for it. Returns its exit code, or a negative error.
 */
static int sandbox_run_to_the_end(
	struct sandboxed_run *run, const char *program, char **argv, perch_err *err)
{
	run->is_on_terminal = sandbox_run_is_on_terminal();
	run->sees_stderr = run->request.explain && !isatty(STDERR_FILENO);
	run->options.shares_group = run->is_on_terminal;
	run->options.program = program;
	int r = perch_sandbox_open(run->host, &run->options, &run->sandbox, err);
	if (r < 0)
		return r == -ENOENT ? -EIO : r; /* not a missing command: it would end with 127 */
	sandbox_run_print_warnings(run);
	if (run->request.explain)
		sandbox_run_print_explanation(run);
	bool had_terminal = run->is_on_terminal && foreground_is_ours();
	r = sandbox_run_watch_signals(run, err);
	if (r == 0)
		r = sandbox_run_start(run, program, argv, err);
	if (r == 0)
		r = sandbox_run_wait_for_end(run, err);
	if (had_terminal)
		foreground_take_back();
	if (r < 0)
		return r;
	if (sandbox_run_exit_code(run) != 0)
		sandbox_run_print_hint(run, program);
	return sandbox_run_exit_code(run);
}

static void sandbox_run_close(struct sandboxed_run *run)
{
	perch_child_free(run->child);
	perch_sandbox_free(run->sandbox);
	if (run->has_signals)
		signals_close(&run->signals);
	perch_host_free(run->host);
	buf_free(&run->said.kept);
	arena_free(&run->arena);
	free(run->request.read.items);
	free(run->request.write.items);
	free(run->request.hide.items);
	free(run->request.env.items);
	free(run->request.presets.items);
	free(run->request.limits.items);
}

/* Found outside of the sandbox, whose working directory may be another one: so the path is
 * absolute. */
static int sandbox_run_find_program(
	struct sandboxed_run *run, const char *name, const char **ret_path, perch_err *err)
{
	_cleanup_free_ char *found = NULL;
	int r = program_find(name, (const char *const *)environ, &found, err);
	if (r < 0)
		return r;
	_cleanup_free_ char *real = found[0] == '/' ? NULL : realpath(found, NULL);
	if (found[0] != '/' && !real)
		return err_set(err, -errno, "cannot run '%s': %s", name, perch_strerror(-errno));
	*ret_path = arena_dup(&run->arena, str_from(real ? real : found));
	return *ret_path ? 0 : err_no_memory(err);
}

static int sandbox_run_command(struct sandboxed_run *run, char **argv)
{
	const char *program = NULL;
	perch_err err = { 0 };
	int r = sandbox_run_find_program(run, argv[0], &program, &err);
	if (r == 0) {
		int code = sandbox_request_options(&run->request, &run->options);
		if (code)
			return code;
		r = cli_host_new(&run->host, &err);
	}
	if (r == 0)
		r = sandbox_run_to_the_end(run, program, argv, &err);
	if (r >= 0)
		return r;
	if (r == -EINVAL && !run->sandbox)
		return cli_usage_error(NULL, "%s", err.text);
	cli_error(
		r == PERCH_ESANDBOX ? "--on-unsupported warn runs it all the same" : NULL, "%s", err.text);
	return exit_status_of_failed_start(r);
}

static int sandbox_run_parse(struct cli *cli, int argc, char **argv)
{
	struct sandboxed_run run = {
		.cli = cli,
		.request = { .policy_name = "fledge" },
		.options = PERCH_SANDBOX_OPTIONS_INIT,
		.said = { .limit = SAID_MAX },
	};
	struct sandbox_request *request = &run.request;
	const struct option_spec options[] = {
		{ "policy", 0, OPTION_TEXT, &request->policy_name },
		{ "read", 0, OPTION_LIST, &request->read },
		{ "write", 0, OPTION_LIST, &request->write },
		{ "hide", 0, OPTION_LIST, &request->hide },
		{ "env", 0, OPTION_LIST, &request->env },
		{ "preset", 0, OPTION_LIST, &request->presets },
		{ "limit", 0, OPTION_LIST, &request->limits },
		{ "net", 0, OPTION_NET, &request->net },
		{ "no-net", 0, OPTION_NO_NET, &request->net },
		{ "on-unsupported", 0, OPTION_TEXT, &request->on_unsupported },
		{ "strict", 0, OPTION_FLAG, &request->is_strict },
		{ "explain", 0, OPTION_FLAG, &request->explain },
		{ "quiet", 'q', OPTION_FLAG, &cli->quiet },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(options, argc, argv, &at);
	if (r == 0 && at >= argc)
		r = cli_usage_error("see: perch help sandbox run", "run what? A command is missing");
	if (r == 0)
		r = sandbox_run_command(&run, argv + at);
	sandbox_run_close(&run);
	return r;
}

const struct command sandbox_run = {
	.name = "run",
	.summary = "run any command confined",
	.help = "usage: perch sandbox run [OPTIONS] -- COMMAND [ARGUMENTS]\n"
			"\n"
			"Gives any command the sandbox of a plugin or of a tool:\n"
			"\n"
			"  --policy fledge    reads all but secrets, writes here, network (the default)\n"
			"  --policy tool      reads the system, writes its own directory only, no network\n"
			"  --read P, --write P, --hide P, --env NAME   beyond that; again for more\n"
			"  --preset NAME      aws, docker, git, github, kube, npm, ssh … (see the manual)\n"
			"  --net, --no-net    the network, or none\n"
			"  --limit memory=1G,processes=64,files=256,size=256M,cpu=60\n"
			"  --on-unsupported refuse|warn   what cannot be enforced here\n"
			"  --strict           remove what is left for git to execute, not only tell of it\n"
			"  --explain          show policy and layers; say why something was denied\n"
			"  -q, --quiet        no warnings\n"
			"\n"
			"The exit code is the command's.\n"
			"\n"
			"example:\n"
			"  perch sandbox run --no-net --hide ~/mail -- make test\n",
	.run = sandbox_run_parse,
};
