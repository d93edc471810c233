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
#include "base/err.h"
#include "base/exit_status.h"
#include "base/macros.h"
#include "remote/remote_run.h"
#include "wire/http_text.h"
#include "wire/mcp_url.h"

static const char remote_main_help[] =
	"usage: perch-remote [--connect-timeout SECONDS] URL\n"
	"\n"
	"Speaks MCP in lines on stdin and stdout, and Streamable HTTP with the server at\n"
	"URL. perch starts it for bindings with a URL. A variable PERCH_HEADER_NAME is the\n"
	"header NAME of every request; SSL_CERT_FILE names the certificates that are\n"
	"trusted, https_proxy a proxy.\n"
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

/* ---- words ------------------------------------------------------------------------- */

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
		r = remote_main_headers(&arena, &headers, &err);
	if (r == 0)
		r = remote_run(STDIN_FILENO, STDOUT_FILENO, &options, headers, &err);
	arena_free(&arena);
	if (r < 0)
		fprintf(stderr, "perch-remote: %s\n", err.text);
	return r < 0 ? EXIT_FAILURE : r;
}
