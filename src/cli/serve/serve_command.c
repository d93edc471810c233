/* perch serve: reads its options, watches signals, and has src/serve answer. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/queue/queue_option.h"
#include "cli/ui/signals.h"
#include "data/json.h"
#include "proc/host.h"
#include "serve/serve.h"
#include "serve/serve_settings.h"

struct serve_words {
	struct queue_words queue;
	struct queue_place place;
	const char *config;
	const char *drain;
	const char *mcp_prefix;
	struct option_list agents; /* as they were given */
	char **paths;              /* the same, from the root on; ends with NULL */
	struct serve *serve;       /* NULL: it is not there yet */
	bool log_json;
	bool is_check;
};

/* ---- what it says ----------------------------------------------------------------- */

static void serve_command_log(void *data, const char *level, const char *text, struct str members)
{
	(void)data;
	_cleanup_(buf_free) struct buf line = { 0 };
	perch_json_writer out = json_writer_on(&line);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "time");
	perch_json_write_double(&out, (double)now.tv_sec + (double)(now.tv_nsec / 1000000) / 1000);
	json_write_text(&out, "level", str_from(level));
	json_write_text(&out, "message", str_from(text));
	if (members.len) {
		perch_json_write_name(&out, "job");
		perch_json_write_raw(&out, members.data, members.len);
	}
	perch_json_end_object(&out);
	buf_append_char(&line, '\n');
	if (!line.failed && buf_write_to(&line, stderr))
		fflush(stderr);
}

static void serve_command_say(void *data, bool is_warning, const char *text)
{
	const struct serve_words *words = data;
	if (words->log_json)
		serve_command_log(data, is_warning ? "warning" : "info", text, (struct str){ 0 });
	else if (is_warning)
		cli_warning(text);
	else
		cli_tell(stderr, "%s\n", text);
}

/* What the library has to tell. */
static void serve_command_warn(void *data, perch_log_level level, const char *text)
{
	if (level >= PERCH_LOG_WARN)
		serve_command_say(data, true, text);
}

static void serve_command_note(void *data, struct str job)
{
	const struct serve_words *words = data;
	if (words->log_json)
		serve_command_log(data, "info", "a job has ended", job);
}

/* A token is shown on a terminal only: log files are kept, and other users may read them. */
static void serve_command_welcome(struct serve *serve, struct serve_words *words)
{
	const char *address = serve_address(serve);
	const char *token = serve_own_token(serve);
	const char *once = NULL;
	char text[256];
	snprintf(text, sizeof(text), "perch serves at %s", address ? address : "its socket");
	serve_command_say(words, false, text);
	if (!isatty(STDERR_FILENO)) {
		if (token)
			serve_command_say(words, true,
				"there is no token, and none is shown here: perch token create NAME makes one");
		return;
	}
	if (token)
		cli_tell(stderr, "There is no token: this one is good until it ends\n  %s\n", token);
	if (address && serve_make_once(serve, &once) == 0)
		cli_tell(stderr, "In a browser, once, within 5 minutes\n  %s/#once=%s\n", address, once);
}

/* ---- running ------------------------------------------------------------------------ */

static void serve_command_signal(void *data, int signal)
{
	const struct serve_words *words = data;
	if (signal == SIGHUP)
		serve_reload(words->serve);
	else
		serve_stop(words->serve);
}

/* Sockets that systemd hands over, if they are for us. */
static int serve_command_sockets(void)
{
	const char *pid = getenv("LISTEN_PID");
	const char *count = getenv("LISTEN_FDS");
	bool is_ours = pid && count && strtol(pid, NULL, 10) == (long)getpid();
	int sockets = is_ours ? (int)strtol(count, NULL, 10) : 0;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return sockets < 0 ? 0 : sockets;
}

static int serve_command_loop(void *data)
{
	struct serve_words *words = data;
	serve_command_welcome(words->serve, words);
	return serve_run(words->serve);
}

static int serve_command_check(struct serve *serve, bool as_json)
{
	struct buf out = { 0 };
	perch_err err = { 0 };
	if (serve_describe(serve, as_json, &out, &err) < 0) {
		buf_free(&out);
		return cli_no_memory();
	}
	return as_json ? cli_print_json(&out) : cli_print(&out);
}

static int serve_command_serve(perch_host *host, const struct cli *cli,
	struct serve_options *options, struct serve_words *words)
{
	perch_err err = { 0 };
	if (serve_new(host, options, &words->serve, &err) < 0) {
		if (words->log_json)
			serve_command_log(words, "error", err.text, (struct str){ 0 });
		else
			cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	int r = words->is_check
		? serve_command_check(words->serve, cli->json)
		: signals_serve(&host->loop, serve_command_signal, serve_command_loop, words);
	if (r < 0)
		cli_error(NULL, "it can serve no longer: %s", perch_strerror(r));
	serve_free(words->serve);
	return r < 0 ? EXIT_HOST : r;
}

/* ---- options -------------------------------------------------------------------------- */

/* The service wants absolute paths and a list that ends with NULL; the words of the command line
 * stay as they are. */
static int serve_command_agents(struct serve_words *words)
{
	words->paths = calloc(words->agents.count + 1, sizeof(*words->paths));
	if (!words->paths)
		return cli_no_memory();
	for (size_t i = 0; i < words->agents.count; i++) {
		words->paths[i] = realpath(words->agents.items[i], NULL);
		if (!words->paths[i]) {
			cli_error("it takes the file of a profile; perch agent list shows those you have",
				"--agent %s: %s", words->agents.items[i], perch_strerror(-errno));
			return EXIT_HOST;
		}
	}
	return 0;
}

static void serve_command_forget(struct serve_words *words)
{
	for (size_t i = 0; words->paths && words->paths[i]; i++)
		free(words->paths[i]);
	free(words->paths);
	free(words->agents.items);
}

static int serve_command_read(struct serve_words *words, struct serve_options *options)
{
	if (words->drain && !duration_parse(words->drain, &options->drain_seconds))
		return cli_usage_error(NULL, "--drain takes seconds, or 15m, not '%s'", words->drain);
	if (words->mcp_prefix && strcmp(words->mcp_prefix, "none") != 0)
		return cli_usage_error(NULL, "--mcp-prefix takes none, not '%s'", words->mcp_prefix);
	options->mcp_without_prefix = words->mcp_prefix;
	options->has_drain = words->drain;
	options->is_check = words->is_check;
	options->sockets = words->is_check ? 0 : serve_command_sockets();
	int r = cli_set_config(words->config);
	if (r == 0)
		r = serve_command_agents(words);
	if (r == 0)
		r = queue_option_read(&words->queue, &words->place);
	if (r == 0 && words->place.is_given) {
		options->queue = &words->place.url;
		options->queue_password = queue_option_password(&words->place);
		options->queue_key = queue_option_key(&words->place);
		options->queue_shards = words->place.shards;
	}
	options->agents = (const char *const *)words->paths;
	return r;
}

static int serve_command_run(struct cli *cli, int argc, char **argv)
{
	struct serve_words words = { 0 };
	perch_host *host = NULL;
	struct serve_options options = {
		.say = serve_command_say,
		.note = serve_command_note,
		.data = &words,
	};
	const struct option_spec specs[] = {
		{ "listen", 0, OPTION_TEXT, &options.listen },
		{ "socket", 0, OPTION_TEXT, &options.socket },
		{ "config", 0, OPTION_TEXT, &words.config },
		{ "agent", 0, OPTION_LIST, &words.agents },
		{ "drain", 0, OPTION_TEXT, &words.drain },
		{ "queue", 0, OPTION_TEXT, &words.queue.url },
		{ "password-file", 0, OPTION_TEXT, &words.queue.password_file },
		{ "key-file", 0, OPTION_TEXT, &words.queue.key_file },
		{ "shards", 0, OPTION_TEXT, &words.queue.shards },
		{ "durable", 0, OPTION_FLAG, &options.is_durable },
		{ "no-store", 0, OPTION_FLAG, &options.no_store },
		{ "mcp-prefix", 0, OPTION_TEXT, &words.mcp_prefix },
		{ "anonymous", 0, OPTION_TEXT, &options.anonymous },
		{ "check", 0, OPTION_FLAG, &words.is_check },
		{ "log-json", 0, OPTION_FLAG, &words.log_json },
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error(NULL, "serve takes no word: '%s'", argv[at]);
	if (r == 0)
		r = serve_command_read(&words, &options);
	if (r == 0)
		r = cli_host_serve(serve_command_warn, &words, &host);
	if (r == 0)
		r = serve_command_serve(host, cli, &options, &words);
	perch_host_free(host);
	serve_command_forget(&words);
	queue_option_free(&words.place);
	return r;
}

const struct command command_serve = {
	.name = "serve",
	.summary = "offer agents, tools and plugins over HTTP",
	.group = GROUP_TOOLS,
	.help = "usage: perch serve [OPTIONS]\n"
			"\n"
			"Agents, tools and plugins over HTTP, by an API of its own with events, OpenAI's\n"
			"and MCP. Every request needs a token: perch token create NAME.\n"
			"\n"
			"  --listen ADDR:PORT  where (127.0.0.1:4747)\n"
			"  --socket PATH       on a unix socket, too\n"
			"  --config DIR        configuration in DIR/perch instead of ~/.config/perch\n"
			"  --agent FILE        offer this agent, too; may be given again\n"
			"  --drain SECS        how long running jobs may take after SIGTERM (30)\n"
			"  --queue URL         workers run the jobs: perch help worker\n"
			"  --password-file FILE, --key-file FILE, --shards N  for that queue\n"
			"  --durable           a job is accepted when it is on disk\n"
			"  --no-store          keep neither sessions nor transcripts\n"
			"  --anonymous NAME    requests without a token, from this machine, are NAME's\n"
			"  --mcp-prefix none   names of tools at /mcp without that of their binding\n"
			"  --check             print what each token is offered, and end; also --json\n"
			"  --log-json          messages as JSON, one object a line\n"
			"\n"
			"What is offered is listed in [expose.http] of perch/config.toml: all tools, no\n"
			"plugins and no agents unless it says otherwise. SIGHUP reads it again.\n"
			"\n"
			"example:\n"
			"  perch serve --agent bot.yaml\n",
	.run = serve_command_run,
};
