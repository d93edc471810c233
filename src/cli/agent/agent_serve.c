/* perch agent serve: a resident bridge. Turns come in as lines of JSON, events go out as lines of
 * JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/macros.h"
#include "cli/agent/agent_commands.h"
#include "cli/agent/agent_serve_turns.h"
#include "cli/ui/signals.h"
#include "events/turn_report.h"
#include "proc/host.h"
#include "proc/intake.h"

enum {
	SERVE_LINE_MAX = 8 * 1024 * 1024,
	SERVE_ANSWERS_MAX = 1024 * 1024, /* to lines that were read while our output is not */
};

struct serve {
	struct cli *cli;
	perch_host *host;
	struct outlet outlet;
	size_t held_at; /* bytes that were waiting when the turns were held; 0 = they are not held */
	struct report report;
	struct serve_turns turns;
	struct intake *intake;
	perch_json *json;
	struct arena arena; /* of the line that is read */
	struct signals signals;
	bool has_signals;
	const char *profile;   /* of turns that name none */
	bool any_profile;      /* a turn may name another one all the same */
	perch_err no_sessions; /* why there are none: every turn is refused with it */
	bool is_ending;        /* no more turns are taken */
	bool is_unread;        /* the reader of the events is gone */
	int signal;            /* that ended it */
};

static void agent_serve_host_log(void *data, perch_log_level level, const char *text)
{
	struct serve *serve = data;
	if (level >= PERCH_LOG_WARN)
		report_warning(&serve->report, "%s", text);
}

/* ---- turns in ------------------------------------------------------------ */

/* A turn that was refused ends at once. Without an id there is no end to tell; and when its id is
 * in use, the end would be taken for that of the other turn. */
static void agent_serve_refuse(
	struct serve *serve, const char *id, const char *code, const char *text)
{
	const struct turn_report report = { &serve->report, id };
	turn_report_error(&report, code, str_from(text));
	if (!id || serve_turns_have(&serve->turns, id))
		return;
	const perch_agent_end end = {
		.exit_code = EXIT_HOST,
		.status = -1,
		.session_id = "",
		.hint = "",
		.reach = PERCH_REACH_GROUP,
	};
	turn_report_end(&report, &end);
}

static void agent_serve_refuse_line(
	struct serve *serve, const char *id, const perch_line *line, const char *why)
{
	char text[PERCH_ERR_TEXT_MAX + 64];
	snprintf(text, sizeof(text), "line %" PRIu64 ": %s", line->number, why);
	agent_serve_refuse(serve, id, "bad_request", text);
}

static void agent_serve_cancel_turn(struct serve *serve, const char *id)
{
	if (serve_turns_cancel(&serve->turns, id))
		return;
	const struct turn_report report = { &serve->report, id };
	turn_report_warning(&report, STR("there is no such turn, or it has ended"));
}

static void agent_serve_permit(struct serve *serve, const struct turn_permit *permit)
{
	perch_err err = { 0 };
	const struct turn_report report = { &serve->report, permit->turn };
	if (serve_turns_permit(&serve->turns, permit, &err) < 0)
		turn_report_warning(&report, str_from(err.text));
}

static void agent_serve_answer(struct serve *serve, const struct turn_answer *answer)
{
	perch_err err = { 0 };
	const struct turn_report report = { &serve->report, answer->turn };
	if (serve_turns_answer(&serve->turns, answer, &err) < 0)
		turn_report_warning(&report, str_from(err.text));
}

static const char *agent_serve_refusal_code(const perch_err *err)
{
	if (err->stage)
		return err->stage;
	return err->code == -EBUSY ? "busy" : err->code == -EEXIST ? "duplicate_id" : "start";
}

static void agent_serve_take_turn(struct serve *serve, const struct turn_request *request)
{
	perch_err err = { 0 };
	const char *id = request->id;
	for (size_t i = 0; i < request->unknown_count; i++) {
		char text[128];
		snprintf(text, sizeof(text), "\"%.80s\" means nothing in a turn", request->unknown[i]);
		const struct turn_report report = { &serve->report, id };
		turn_report_warning(&report, str_from(text));
	}
	if (serve->no_sessions.code)
		agent_serve_refuse(serve, id, "session", serve->no_sessions.text);
	else if (serve_turns_take(&serve->turns, request, &err) < 0)
		agent_serve_refuse(serve, id, agent_serve_refusal_code(&err), err.text);
}

static void agent_serve_read_line(struct serve *serve, const perch_line *line)
{
	const perch_json_value *root = NULL;
	struct turn_request request = { 0 };
	perch_err err = { 0 };
	struct str text = str_trim((struct str){ line->data, line->len });
	if (!text.len)
		return;
	if (line->flags & PERCH_LINE_TOO_LONG) {
		agent_serve_refuse_line(serve, NULL, line, "too long (at most 8 MiB)");
		return;
	}
	int r = perch_json_parse(serve->json, text.data, text.len, &root, &err);
	if (r == 0)
		r = turn_request_read(root, serve->profile, &serve->arena, &request, &err);
	if (r < 0)
		agent_serve_refuse_line(serve, request.id, line, err.text);
	else if (request.cancel)
		agent_serve_cancel_turn(serve, request.cancel);
	else if (request.permit.turn)
		agent_serve_permit(serve, &request.permit);
	else if (request.answer.turn)
		agent_serve_answer(serve, &request.answer);
	else if (agent_find_turn_profile(serve->profile, serve->any_profile, &serve->arena,
				 &request.turn.profile, &err) < 0)
		agent_serve_refuse(serve, request.id, "profile", err.text);
	else
		agent_serve_take_turn(serve, &request);
	arena_reset(&serve->arena);
}

/* A turn can be cancelled while the output is not read, but then not every line gets an answer. */
static bool agent_serve_may_read(const struct serve *serve)
{
	size_t unread = outlet_waiting(&serve->outlet) + serve->report.out.len;
	return !serve->held_at || unread < serve->held_at + SERVE_ANSWERS_MAX;
}

static bool agent_serve_take_line(void *data, const perch_line *line)
{
	struct serve *serve = data;
	agent_serve_read_line(serve, line);
	return agent_serve_may_read(serve);
}

static void agent_serve_input_ended(void *data, int error)
{
	struct serve *serve = data;
	if (error < 0)
		report_warning(&serve->report, "no more turns can be read: %s", perch_strerror(error));
	serve->is_ending = true;
	serve_turns_deny(&serve->turns);
}

static const struct intake_events intake_events = { .line = agent_serve_take_line,
	.ended = agent_serve_input_ended };

/* ---- the command --------------------------------------------------------- */

static void agent_serve_give_up(struct serve *serve, int signal)
{
	serve->is_ending = true;
	intake_stop(serve->intake);
	perch_service_cancel(serve->turns.service, signal);
}

/* After a second signal no reader is waited for. */
static void agent_serve_signal_arrived(void *data, int signal)
{
	struct serve *serve = data;
	uint64_t patience_ns = agent_patience_ns(serve_turns_grace_ns(&serve->turns));
	outlet_hurry(&serve->outlet, serve->signal ? 0 : patience_ns);
	serve->signal = signal;
	agent_serve_give_up(serve, signal == SIGINT ? SIGINT : SIGTERM);
}

/* Too much output waits for its reader: the agents have to wait. */
static void agent_serve_output_full(struct outlet *outlet)
{
	struct serve *serve = container_of(outlet, struct serve, outlet);
	serve->held_at = outlet_waiting(outlet);
	serve_turns_hold(&serve->turns, true);
}

static const struct outlet_events outlet_events = { .full = agent_serve_output_full };

static int agent_serve_open_serve(
	struct serve *serve, const perch_service_options *options, perch_err *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	int r = cli_make_host(agent_serve_host_log, serve, &serve->host, err);
	if (r < 0)
		return r;
	cli_raise_open_files(serve->host);
	r = perch_service_new(serve->host, options, &serve->turns.service, err);
	if (r < 0)
		return r;
	serve->turns.report = &serve->report;
	serve->turns.timers = &serve->host->loop.timers;
	serve->turns.sandbox = cli_sandbox_choice(serve->cli);
	perch_sessions *sessions;
	if (perch_service_sessions(serve->turns.service, &sessions, &serve->no_sessions) < 0)
		cli_error(NULL, "%s", serve->no_sessions.text);
	if (r == 0)
		r = outlet_open(&serve->outlet, &serve->host->loop, STDOUT_FILENO, &outlet_events);
	serve->report.outlet = &serve->outlet;
	if (r == 0)
		r = perch_json_new(NULL, &serve->json);
	if (r == 0)
		r = signals_watch(
			&serve->signals, &serve->host->loop, signals, agent_serve_signal_arrived, serve);
	serve->has_signals = r == 0;
	if (r == 0)
		r = intake_new(&serve->host->loop, STDIN_FILENO, SERVE_LINE_MAX, &intake_events, serve,
			&serve->intake);
	return r < 0 && !err->text[0] ? err_set(err, r, "%s", perch_strerror(r)) : r;
}

/* The reader of our events is gone, and with it the reason to go on. */
static void agent_serve_flush(struct serve *serve)
{
	report_flush(&serve->report);
	if (serve->held_at && !serve->outlet.is_full) {
		serve->held_at = 0;
		serve_turns_hold(&serve->turns, false);
	}
	if (agent_serve_may_read(serve))
		intake_resume(serve->intake);
	if (serve->outlet.error && !serve->is_unread) {
		serve->is_unread = true;
		agent_serve_give_up(serve, SIGTERM);
	}
}

static bool agent_serve_is_over(const struct serve *serve)
{
	return serve->is_ending && !serve->turns.turns.count && !outlet_waiting(&serve->outlet);
}

static int agent_serve_run_to_the_end(struct serve *serve, perch_err *err)
{
	int r = 0;
	agent_serve_flush(serve);
	while (r >= 0 && !agent_serve_is_over(serve)) {
		r = perch_host_wait(serve->host, -1);
		agent_serve_flush(serve);
	}
	if (r < 0)
		return err_set(err, r, "%s", perch_strerror(r));
	if (serve->signal)
		return EXIT_SIGNAL + serve->signal;
	if (serve->outlet.error)
		return EXIT_FAILURE;
	return serve->no_sessions.code ? EXIT_HOST : EXIT_SUCCESS;
}

static void agent_serve_close_serve(struct serve *serve)
{
	intake_free(serve->intake);
	serve_turns_free(&serve->turns);
	agent_end_service(serve->host, serve->turns.service);
	if (serve->has_signals)
		signals_close(&serve->signals);
	outlet_close(&serve->outlet);
	perch_host_free(serve->host);
	perch_json_free(serve->json);
	arena_free(&serve->arena);
	report_free(&serve->report);
}

static int agent_serve_read_count(
	const char *name, const char *text, size_t least, size_t *ret_count)
{
	enum { MOST = 1000000 };
	char *end = NULL;
	if (!text)
		return 0;
	errno = 0;
	unsigned long count = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || count < least || count > MOST)
		return cli_usage_error("see: perch agent serve --help",
			"--%s takes a number from %zu to %d, not '%s'", name, least, MOST, text);
	*ret_count = count;
	return 0;
}

static int agent_serve(struct cli *cli, int argc, char **argv)
{
	struct serve serve = { .cli = cli, .report.fd = STDOUT_FILENO };
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	const char *max_turns = NULL;
	const char *queue = NULL;
	const struct option_spec specs[] = {
		{ "profile", 'p', OPTION_TEXT, &serve.profile },
		{ "any-profile", 0, OPTION_FLAG, &serve.any_profile },
		{ "max-turns", 0, OPTION_TEXT, &max_turns },
		{ "queue", 0, OPTION_TEXT, &queue },
		{ "sandbox", 0, OPTION_MAYBE, &cli->sandbox },
		{ "json", 0, OPTION_FLAG, &cli->json }, /* always so */
		{ 0 },
	};
	struct option_list words = { 0 };
	int r = options_parse_words(specs, argc, argv, &words);
	size_t at = 0;
	if (r == 0 && words.count && !serve.profile)
		serve.profile = words.items[at++];
	if (r == 0 && at < words.count)
		r = cli_usage_error(
			"see: perch agent serve --help", "serve takes no '%s'", words.items[at]);
	free(words.items);
	if (r == 0)
		r = cli_check_sandbox(cli);
	if (r == 0)
		r = agent_serve_read_count("max-turns", max_turns, 1, &options.max_jobs);
	if (r == 0)
		r = agent_serve_read_count("queue", queue, 0, &options.queue);
	if (queue && !options.queue)
		options.queue = SIZE_MAX; /* no turn is refused because too many wait */
	if (r)
		return r;
	perch_err err = { 0 };
	struct arena names = { 0 };
	r = serve.profile ? agent_find_profile(serve.profile, &names, &serve.profile, &err) : 0;
	if (r == 0)
		r = agent_serve_open_serve(&serve, &options, &err);
	if (r == 0)
		r = agent_serve_run_to_the_end(&serve, &err);
	agent_serve_close_serve(&serve);
	arena_free(&names);
	if (r < 0)
		cli_error(NULL, "%s", err.text);
	return r < 0 ? EXIT_HOST : r;
}

const struct command agent_serve_command = {
	.name = "serve",
	.summary = "many turns at once: lines of JSON in, events out",
	.help =
		"usage: perch agent serve [NAME|FILE] [--max-turns N] [--queue N]\n"
		"\n"
		"A resident bridge. Every line of stdin is a turn, or the end of one:\n"
		"  {\"id\":\"t1\",\"message\":\"…\"}   also profile, session_name, from, new, attachments\n"
		"  also session_id, timeout, env, cwd, streaming, instead of what is stored\n"
		"  {\"cancel\":\"t1\"}\n"
		"  {\"permit\":\"t1\",\"request_id\":\"r\",\"allow\":true}   answers a `permission`\n"
		"  {\"answer\":\"t1\",\"ask\":1,\"value\":\"…\"}   answers a question; or \"cancel\":true\n"
		"Events come on stdout, as those of `perch agent run --json`, with the turn's id;\n"
		"each turn ends with one `end`. Turns of a session run one at a time, in order.\n"
		"\n"
		"  -p, --profile NAME|FILE   of all turns; --any-profile: of those that name none\n"
		"  --max-turns N             so many run at a time (16)\n"
		"  --queue N                 so many wait (1024); the next gets the error `busy`\n"
		"  --sandbox[=off]           confine them, or not, instead of what profiles say\n"
		"\n"
		"The end of the input finishes what is under way; SIGTERM cancels it.\n"
		"\n"
		"example:\n"
		"  echo '{\"id\":\"1\",\"message\":\"hi\"}' | perch agent serve bot.yaml\n",
	.words = WORDS_AGENTS,
	.run = agent_serve,
};
