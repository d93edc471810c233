/* A perch inside of a plugin's sandbox: it asks the host outside to run a command. */
#include "cli/run/run_call.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "fledge/call_request.h"
#include "proc/confine.h"

bool call_is_inside(void)
{
	const char *name = getenv(CALLS_INSIDE);
	return name && name[0];
}

/* ---- why not ------------------------------------------------------------------ */

static int call_refuse(void)
{
	struct str rest = str_from(getenv(CALLS_INSIDE));
	struct str name = str_cut(&rest, ' ');
	if (rest.len)
		cli_error(NULL, "the host of this plugin runs no others for it; `perch run` does");
	else
		cli_error(NULL,
			"the plugin '%.*s' may not call others: perch plugins allow %.*s --grant plugins",
			(int)name.len, name.data, (int)name.len, name.data);
	return EXIT_NOT_EXECUTABLE;
}

static bool call_has_channel(void)
{
	int type;
	socklen_t size = sizeof(type);
	return getsockopt(CONFINE_CHANNEL, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
		type == SOCK_SEQPACKET;
}

/* ---- asking ------------------------------------------------------------------- */

static void call_add(struct buf *packet, const char *word)
{
	buf_append(packet, word, strlen(word) + 1);
}

/* Sends the words with our output and the end of a line to us. */
static int call_send(const struct buf *packet, int line)
{
	const int fds[CALLS_DESCRIPTORS] = {
		[CALLS_STDOUT] = STDOUT_FILENO,
		[CALLS_STDERR] = STDERR_FILENO,
		[CALLS_LINE] = line,
	};
	char control[CMSG_SPACE(sizeof(fds))] = { 0 };
	struct iovec bytes = { packet->data, packet->len };
	struct msghdr message = { .msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	*header = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(fds)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS
	};
	memcpy(CMSG_DATA(header), fds, sizeof(fds));
	ssize_t sent;
	do
		sent = sendmsg(CONFINE_CHANNEL, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static int call_wait(int line)
{
	char answer[CALLS_ANSWER_MAX + 1] = "";
	ssize_t len;
	do
		len = recv(line, answer, CALLS_ANSWER_MAX, 0);
	while (len < 0 && errno == EINTR);
	if (len <= 0) {
		cli_error(NULL, "the host has not run it: the plugin's run is over");
		return EXIT_HOST;
	}
	if (answer[1])
		cli_error(NULL, "%s", answer + 1);
	return (unsigned char)answer[0];
}

static int call_ask(const struct buf *packet)
{
	int ends[2];
	if (!call_has_channel())
		return call_refuse();
	if (packet->failed)
		return cli_no_memory();
	if (packet->len > CALLS_MESSAGE_MAX) {
		cli_error(NULL, "the arguments are too long: at most %d bytes", CALLS_MESSAGE_MAX);
		return EXIT_HOST;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		cli_error(NULL, "the host cannot be asked: %s", perch_strerror(-errno));
		return EXIT_HOST;
	}
	_cleanup_fd_ int ours = ends[0];
	int r = call_send(packet, ends[1]);
	fd_close(ends[1]);
	if (r < 0) {
		cli_error(NULL, "the host cannot be asked: %s", perch_strerror(r));
		return EXIT_HOST;
	}
	return call_wait(ours);
}

static void call_begin(struct buf *packet)
{
	char here[PATH_MAX];
	call_add(packet, getcwd(here, sizeof(here)) ? here : "");
}

/* The caller may not give options that widen the callee's rights or write a file for it. */
static const char *call_forbidden(const struct cli *cli)
{
	if (cli->trace)
		return "--trace";
	if (cli->sandbox)
		return "--sandbox";
	if (cli->shell)
		return "--shell";
	return cli->answers_file ? "--answers" : NULL;
}

int call_run(const struct cli *cli, int argc, char **argv)
{
	_cleanup_(buf_free) struct buf packet = { 0 };
	const char *forbidden = call_forbidden(cli);
	if (forbidden)
		return cli_usage_error(NULL, "%s is not for a plugin that calls another", forbidden);
	call_begin(&packet);
	if (cli->json)
		call_add(&packet, "--json");
	for (size_t i = 0; i < cli->answers.count; i++) {
		call_add(&packet, "--answer");
		call_add(&packet, cli->answers.items[i]);
	}
	call_add(&packet, "run");
	for (int i = 0; i < argc; i++)
		call_add(&packet, argv[i]);
	return call_ask(&packet);
}

int call_plugins(const struct cli *cli, int argc, char **argv)
{
	_cleanup_(buf_free) struct buf packet = { 0 };
	bool is_json = cli->json;
	for (int i = 1; i < argc; i++)
		is_json |= strcmp(argv[i], "--json") == 0;
	if (!call_has_channel())
		return call_refuse();
	if (strcmp(argv[0], "list") != 0 || !is_json) {
		cli_error(
			NULL, "a plugin may `run` commands of others and `list --json`, and nothing else");
		return EXIT_NOT_EXECUTABLE;
	}
	call_begin(&packet);
	call_add(&packet, "plugins");
	call_add(&packet, "list");
	call_add(&packet, "--json");
	return call_ask(&packet);
}
