/* perch tool serve: a resident host. Calls come in on stdin, one a line, and results go out as they
 * finish. So many calls run at a time; more wait in a queue, and when that is full nothing more is
 * read. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/tool/tool_serve.h"
#include "base/macros.h"
#include "data/json.h"
#include "proc/host.h"

enum {
	JOBS_DEFAULT = 64,
	JOBS_MAX = 256,
	QUEUE_MAX = 1024,       /* calls that wait */
	QUEUE_BYTES = 16 << 20, /* of their lines */
	OUTPUT_BYTES = 4 << 20, /* that the reader has not taken yet */
	LINE_BYTES = 2 << 20,   /* of a call */
};

#define SERVE_OF(pointer, member) container_of(pointer, struct serve, member)

/* ---- lines --------------------------------------------------------------- */

/* A cancel stands behind the call that it is for, so a full queue must not keep it from being read:
 * the queue is far larger than the number of running calls. */
static bool tool_serve_may_read(const struct serve *serve)
{
	return !serve->has_ended && !serve->signal && serve->waiting < QUEUE_MAX &&
		serve->waiting_bytes < QUEUE_BYTES && outlet_waiting(&serve->output) < OUTPUT_BYTES;
}

static void tool_serve_refuse_line(
	struct serve *serve, const struct serve_request *request, uint64_t number, const perch_err *err)
{
	perch_err told = { 0 };
	err_set(&told, -EINVAL, "line %" PRIu64 ": %s", number, err->text);
	const perch_tool_result result =
		tool_refusal(PERCH_TOOL_INVALID_REQUEST, "request", request->tool, &told);
	serve_answer(serve, request->id, &result);
}

/* A call that is over cannot be cancelled, and has had its answer. */
static void tool_serve_take_request(struct serve *serve, struct serve_call *call, uint64_t number)
{
	struct serve_call *same = *serve_find(serve, call->request.id);
	if (!call->request.is_cancel && !same) {
		serve_submit(serve, call);
		return;
	}
	perch_err err = { 0 };
	if (call->request.is_cancel && same) {
		serve_cancel(same);
	} else if (!call->request.is_cancel) {
		err_set(&err, -EEXIST, "a call with this id is under way");
		tool_serve_refuse_line(serve, &(struct serve_request){ .id = STR("null") }, number, &err);
	}
	serve_call_free(call);
}

static bool tool_serve_take_line(void *data, const perch_line *line)
{
	struct serve *serve = data;
	struct str text = str_trim((struct str){ line->data, line->len });
	perch_err err = { 0 };
	struct serve_request request = { .id = STR("null") };
	struct serve_call *call = NULL;
	if (!text.len)
		return true;
	if (line->flags & PERCH_LINE_TOO_LONG) {
		err_set(&err, PERCH_ELIMIT, "longer than %d bytes", LINE_BYTES);
		tool_serve_refuse_line(serve, &request, line->number, &err);
		return tool_serve_may_read(serve);
	}
	call = calloc(1, sizeof(*call));
	if (!call) {
		err_no_memory(&err);
		tool_serve_refuse_line(serve, &request, line->number, &err);
		return tool_serve_may_read(serve);
	}
	call->serve = serve;
	call->size = text.len;
	int r = serve_request_read(serve->json, text, &call->arena, &call->request, &err);
	if (r == 0) {
		tool_serve_take_request(serve, call, line->number);
	} else {
		tool_serve_refuse_line(serve, &call->request, line->number, &err);
		serve_call_free(call);
	}
	return tool_serve_may_read(serve);
}

static void tool_serve_input_ended(void *data, int error)
{
	struct serve *serve = data;
	serve->has_ended = true;
	serve->is_broken = serve->is_broken || error == -ENOMEM;
	if (error < 0 && error != -ENOMEM)
		tool_warn(serve->session, "no more calls can be read: %s", perch_strerror(error));
}

static const struct intake_events intake_events = { .line = tool_serve_take_line,
	.ended = tool_serve_input_ended };

/* Reads on after a pause. */
static void tool_serve_do_step(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct serve *serve = SERVE_OF(timer, step);
	if (tool_serve_may_read(serve))
		intake_resume(serve->intake);
}

static void tool_serve_output_moved(struct outlet *output)
{
	serve_step_soon(SERVE_OF(output, output));
}

static const struct outlet_events output_events = { .moved = tool_serve_output_moved };

/* ---- the end ------------------------------------------------------------- */

/* After a second signal a reader that never reads is not waited for. */
static void tool_serve_on_signal(void *data, int signal)
{
	struct serve *serve = data;
	serve->is_forced = serve->signal;
	serve->signal = signal;
	intake_stop(serve->intake);
	perch_service_cancel(serve->service, SIGTERM);
}

/* The reader of the answers is gone: the calls under way are not needed. */
static void tool_serve_check_reader(struct serve *serve)
{
	if (!serve->output.error || serve->is_unread)
		return;
	serve->is_unread = true;
	serve->has_ended = true;
	intake_stop(serve->intake);
	perch_service_cancel(serve->service, SIGTERM);
}

static bool tool_serve_is_over(const struct serve *serve)
{
	bool has_more = !serve->has_ended && !serve->signal;
	return serve->is_broken || serve->is_forced ||
		(!has_more && !serve->calls && !outlet_waiting(&serve->output) &&
			!perch_service_jobs(serve->service));
}

static int tool_serve_exit_code(const struct serve *serve)
{
	if (serve->is_broken)
		return cli_no_memory();
	if (serve->output.error)
		return EXIT_FAILURE;
	return exit_status_of(serve->signal, 0);
}

/* ---- the command --------------------------------------------------------- */

struct serve_words {
	struct option_list bindings;
	const char *jobs;
	unsigned job_count;
	bool yes;
};

/* Lines are not read while too many calls wait: the service has room for all that come. */
static int tool_serve_open_service(
	struct serve *serve, const struct serve_words *words, perch_err *err)
{
	struct tool_session *session = serve->session;
	perch_service_options options = tool_service_options(session);
	const char **bindings =
		arena_alloc(&session->arena, (words->bindings.count + 1) * sizeof(*bindings));
	if (!bindings)
		return err_no_memory(err);
	for (size_t i = 0; i < words->bindings.count; i++)
		bindings[i] = words->bindings.items[i];
	bindings[words->bindings.count] = NULL;
	options.bindings = bindings;
	options.max_jobs = words->job_count;
	options.queue = 2 * QUEUE_MAX;
	options.queue_bytes = SIZE_MAX / 2;
	return perch_service_new(session->host, &options, &serve->service, err);
}

static int tool_serve_open_serve(
	struct serve *serve, const struct serve_words *words, perch_err *err)
{
	static const int watched[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct tool_session *session = serve->session;
	cli_raise_open_files(session->host);
	int r = tool_serve_open_service(serve, words, err);
	if (r < 0)
		return r;
	if (perch_json_new(
			&(perch_json_options){ .duplicates = PERCH_JSON_DUPLICATES_REJECT }, &serve->json) < 0)
		return err_no_memory(err);
	r = signals_watch(&session->signals, serve->loop, watched, tool_serve_on_signal, serve);
	session->has_signals = r == 0;
	if (r == 0)
		r = outlet_open(&serve->output, serve->loop, STDOUT_FILENO, &output_events);
	if (r == 0)
		r = intake_new(
			serve->loop, STDIN_FILENO, LINE_BYTES, &intake_events, serve, &serve->intake);
	return r < 0 ? err_set(err, r, "cannot read calls: %s", perch_strerror(r)) : 0;
}

static void tool_serve_close_serve(struct serve *serve)
{
	while (serve->calls) {
		struct serve_call *call = serve->calls;
		serve->calls = call->next;
		serve_call_free(call);
	}
	perch_service_free(serve->service);
	intake_free(serve->intake);
	timer_cancel(&serve->loop->timers, &serve->step);
	timers_release(&serve->loop->timers);
	perch_json_free(serve->json);
	outlet_close(&serve->output);
}

static int tool_serve_calls(struct tool_session *session, void *data, perch_err *err)
{
	const struct serve_words *words = data;
	struct serve *serve = calloc(1, sizeof(*serve));
	if (!serve || timers_promise(&session->host->loop.timers) < 0) {
		free(serve);
		return err_no_memory(err);
	}
	serve->session = session;
	serve->loop = &session->host->loop;
	serve->yes = words->yes;
	serve->step.due = tool_serve_do_step;
	int r = tool_serve_open_serve(serve, words, err);
	while (r >= 0 && !tool_serve_is_over(serve)) {
		r = perch_host_wait(session->host, -1);
		tool_serve_check_reader(serve);
	}
	int code = r < 0 ? r : tool_serve_exit_code(serve);
	tool_serve_close_serve(serve);
	free(serve);
	return code;
}

static int tool_serve_run_serve(struct cli *cli, int argc, char **argv)
{
	struct serve_words words = { .job_count = JOBS_DEFAULT };
	const struct option_spec specs[] = {
		{ "binding", 0, OPTION_LIST, &words.bindings },
		{ "jobs", 'j', OPTION_TEXT, &words.jobs },
		{ "yes", 'y', OPTION_FLAG, &words.yes },
		TOOL_GLOBALS(cli),
	};
	int r = tool_words(specs, argc, argv, "write: perch tool serve", 0, 0, NULL);
	char *end = NULL;
	unsigned long jobs = words.jobs ? strtoul(words.jobs, &end, 10) : JOBS_DEFAULT;
	if (r == 0 && words.jobs && (*end || jobs < 1 || jobs > JOBS_MAX))
		r = cli_usage_error(
			NULL, "--jobs takes a number from 1 to %d, not '%s'", JOBS_MAX, words.jobs);
	words.job_count = (unsigned)jobs;
	if (r == 0)
		r = tool_in_session(cli, tool_serve_calls, &words);
	free(words.bindings.items);
	return r;
}

const struct command tool_verb_serve = {
	.name = "serve",
	.summary = "calls on stdin, results on stdout, one a line",
	.help =
		"usage: perch tool serve [OPTIONS]\n"
		"\n"
		"A resident host: one call a line on stdin, the results on stdout as they finish.\n"
		"\n"
		"  "
		"{\"id\":\"c1\",\"name\":\"acme.echo\",\"tool\":\"acme.say\",\"input\":{},\"timeout\":5}\n"
		"  {\"cancel\":\"c1\"}\n"
		"\n"
		"  --binding FILE   serve this one, too, under the name of its plugin\n"
		"  -j, --jobs N     so many calls at a time (64); others wait\n"
		"  -y, --yes        allow tools whose binding asks before each call\n"
		"\n"
		"At the end of stdin the calls under way are finished; SIGTERM and SIGINT cancel\n"
		"them. Spares are kept where a binding has `spares`.\n"
		"\n"
		"example:\n"
		"  echo '{\"id\":1,\"name\":\"acme.echo\",\"tool\":\"acme.say\"}' | perch tool serve\n",
	.run = tool_serve_run_serve,
};
