/* perch-remote, the companion: stands in the place of a remote MCP server. perch starts it as it
 * starts the servers that are programs, and its own sandbox has the network. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/exit_status.h"
#include "base/macros.h"
#include "perch/host.h"
#include "remote/remote_http.h"
#include "stdio/client.h"
#include "wire/http_text.h"
#include "wire/mcp_url.h"

struct remote_run {
	perch_host *host;
	struct remote *remote;
	struct transfers *transfers;
	struct stdio_input input;
	struct stdio_output output;
	struct stdio_parent parent;
	perch_timer *timer;
	bool is_held;
};

/* ---- the engine ------------------------------------------------------------------- */

static void remote_run_begin(
	void *data, struct remote_exchange *exchange, const struct remote_request *request)
{
	struct remote_run *run = data;
	transfers_begin(run->transfers, exchange, request);
}

static void remote_run_give_up(void *data, struct remote_exchange *exchange)
{
	(void)data;
	transfers_give_up(exchange);
}

/* perch keeps progress and results apart by itself: no gaps between them. */
static void remote_run_write(void *data, struct str line)
{
	struct remote_run *run = data;
	stdio_output_take(&run->output, line, false);
}

static void remote_run_note(void *data, struct str text)
{
	(void)data;
	fprintf(stderr, "perch-remote: %.*s\n", (int)text.len, text.data);
}

static const struct remote_table remote_run_table = {
	.begin = remote_run_begin,
	.give_up = remote_run_give_up,
	.write = remote_run_write,
	.note = remote_run_note,
};

/* ---- the loop ----------------------------------------------------------------------- */

static void remote_run_tick(void *data)
{
	const struct remote_run *run = data;
	remote_tick(run->remote, clock_now_ns());
}

static void remote_run_due(perch_timer *timer, void *data)
{
	(void)timer;
	remote_run_tick(data);
}

static bool remote_run_line(void *data, struct str line, bool is_too_long)
{
	struct remote_run *run = data;
	remote_run_tick(run);
	remote_line(run->remote, line, is_too_long);
	return true;
}

static void remote_run_left(void *data)
{
	struct remote_run *run = data;
	remote_run_tick(run);
	stdio_input_stop(&run->input);
	remote_leave(run->remote);
}

/* What cannot be done in the middle of something else. */
static void remote_run_settle(struct remote_run *run)
{
	size_t waiting = stdio_output_waiting(&run->output);
	bool is_held =
		waiting >= REMOTE_UNREAD_MAX || (run->is_held && waiting > REMOTE_UNREAD_MAX / 2);
	if (run->output.error)
		remote_run_left(run);
	if (is_held != run->is_held) {
		run->is_held = is_held;
		transfers_hold(run->transfers, is_held);
	}
	remote_settle(run->remote);
	uint64_t due_ns = remote_deadline(run->remote), now_ns = clock_now_ns();
	perch_timer_set(run->timer, due_ns == NEVER ? NEVER : due_ns > now_ns ? due_ns - now_ns : 0);
}

/* The last words of a broken one are still to be read. */
static bool remote_run_is_over(const struct remote_run *run)
{
	bool is_said = run->output.error || !stdio_output_waiting(&run->output);
	if (remote_is_broken(run->remote))
		return is_said || run->input.has_ended;
	return run->input.has_ended && remote_is_idle(run->remote);
}

static int remote_run_wait(struct remote_run *run)
{
	int r = 0;
	remote_run_settle(run);
	while (r >= 0 && !remote_run_is_over(run)) {
		r = perch_host_wait(run->host, -1);
		remote_run_settle(run);
	}
	if (r < 0)
		return r;
	return remote_is_broken(run->remote) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- life ----------------------------------------------------------------------------- */

static int remote_run_open(struct remote_run *run, int input, int output,
	const struct transfers_options *options, const char *const *headers, perch_err *err)
{
	run->input = (struct stdio_input){
		.line_max = MCP_LINE_MAX,
		.take = remote_run_line,
		.ended = remote_run_left,
		.data = run,
	};
	run->parent = (struct stdio_parent){ .fd = -1, .left = remote_run_left, .data = run };
	int r = perch_host_new(NULL, &run->host, err);
	if (r == 0)
		r = perch_timer_new(run->host, remote_run_due, run, &run->timer, err);
	if (r == 0)
		r = transfers_new(run->host, options, remote_run_tick, run, &run->transfers, err);
	if (r == 0 && remote_new(headers, &remote_run_table, run, &run->remote) < 0)
		r = err_no_memory(err);
	if (r == 0)
		r = stdio_output_open(&run->output, run->host, output, err);
	if (r == 0)
		r = stdio_input_open(&run->input, run->host, input, err);
	if (r == 0)
		stdio_parent_watch(&run->parent, run->host);
	return r;
}

static void remote_run_close(struct remote_run *run)
{
	remote_free(run->remote);
	transfers_free(run->transfers);
	stdio_parent_close(&run->parent);
	stdio_input_close(&run->input);
	stdio_output_close(&run->output);
	perch_timer_free(run->timer);
	perch_host_free(run->host);
}

/* Until perch is gone and the session has ended: an exit code, or a negative error. */
static int remote_run(int input, int output, const struct transfers_options *options,
	const char *const *headers, perch_err *err)
{
	struct remote_run run = { 0 };
	int r = remote_run_open(&run, input, output, options, headers, err);
	if (r == 0)
		r = remote_run_wait(&run);
	remote_run_close(&run);
	return r;
}

/* ---- words ------------------------------------------------------------------------- */

static const char remote_main_help[] =
	"usage: perch-remote [--connect-timeout SECONDS] URL\n"
	"\n"
	"Speaks MCP in lines on stdin and stdout, and Streamable HTTP with the server at\n"
	"URL. perch starts it for bindings with a URL. A variable PERCH_HEADER_NAME is the\n"
	"header NAME of every request; SSL_CERT_FILE names the certificates that are\n"
	"trusted, https_proxy a proxy for https://, and no_proxy the hosts that are not asked\n"
	"through it.\n"
	"\n"
	"example:\n"
	"  PERCH_HEADER_Authorization='Bearer …' perch-remote https://example.org/mcp\n";

/* ---- headers ----------------------------------------------------------------------- */

/* Those that are the transport's own. */
static bool remote_main_is_own(struct str name)
{
	static const char *const names[] = { "Accept", "Connection", "Content-Encoding",
		"Content-Length", "Content-Type", "Expect", "Host", "Last-Event-ID", "TE", "Trailer",
		"Transfer-Encoding", "Upgrade" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (http_same_word(name, str_from(names[i])))
			return true;
	struct str start = { name.data, name.len < 4 ? name.len : 4 };
	return http_same_word(start, STR("Mcp-"));
}

static int remote_main_header(
	struct arena *arena, const char *variable, const char **ret_header, perch_err *err)
{
	struct str value = str_from(variable);
	struct str name = str_cut(&value, '=');
	if (!http_is_token(name) || remote_main_is_own(name))
		return err_set(err, -EINVAL, "'%.*s' is no header that can be set",
			(int)(name.len < 100 ? name.len : 100), name.data);
	for (size_t i = 0; i < value.len; i++)
		if (!http_is_line_char(value.data[i]))
			return err_set(err, -EINVAL, "the value of the header %.*s is more than a line",
				(int)(name.len < 100 ? name.len : 100), name.data);
	const char *own = arena_dup(arena, name);
	/* libcurl's way to write one without a value. */
	*ret_header = own && value.len ? arena_join(arena, own, ": ", value.data, NULL)
		: own                      ? arena_join(arena, own, ";", NULL)
								   : NULL;
	return *ret_header ? 0 : err_no_memory(err);
}

static int remote_main_headers(struct arena *arena, const char *const **ret_headers, perch_err *err)
{
	size_t count = 0, n = 0;
	while (environ[count])
		count++;
	const char **list = arena_alloc(arena, (count + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		if (!str_has_prefix(str_from(environ[i]), STR(MCP_HEADER_VARIABLE)))
			continue;
		int r = remote_main_header(
			arena, environ[i] + sizeof(MCP_HEADER_VARIABLE) - 1, &list[n++], err);
		if (r < 0)
			return r;
	}
	list[n] = NULL;
	*ret_headers = list;
	return 0;
}

static bool remote_main_seconds(const char *word, uint64_t *ret_ms)
{
	uint64_t seconds;
	if (!http_read_number(str_from(word), &seconds) || !seconds || seconds > 3600)
		return false;
	*ret_ms = seconds * 1000;
	return true;
}

/* Returns -1, or an exit code. */
static int remote_main_words(int argc, char **argv, struct transfers_options *options)
{
	static const struct option words[] = {
		{ "connect-timeout", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	for (int word; (word = getopt_long(argc, argv, "h", words, NULL)) >= 0;) {
		if (word == 'h')
			return fputs(remote_main_help, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
		if (word != 'c' || !remote_main_seconds(optarg, &options->connect_ms)) {
			fputs(remote_main_help, stderr);
			return EXIT_USAGE;
		}
	}
	if (optind + 1 != argc) {
		fputs(remote_main_help, stderr);
		return EXIT_USAGE;
	}
	options->url = argv[optind];
	return -1;
}

int main(int argc, char **argv)
{
	struct transfers_options options = {
		.certificates = getenv("SSL_CERT_FILE"),
		.connect_ms = TRANSFER_CONNECT_MS,
	};
	struct mcp_url url;
	struct arena arena = { 0 };
	const char *const *headers = NULL;
	perch_err err = { 0 };
	int status = remote_main_words(argc, argv, &options);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	int r = mcp_url_read(options.url, &url, &err);
	if (r == 0)
		options.is_local = !url.is_tls;
	if (r == 0)
		r = remote_main_headers(&arena, &headers, &err);
	if (r == 0)
		r = remote_run(STDIN_FILENO, STDOUT_FILENO, &options, headers, &err);
	arena_free(&arena);
	if (r < 0)
		fprintf(stderr, "perch-remote: %s\n", err.text);
	return r < 0 ? EXIT_FAILURE : r;
}
