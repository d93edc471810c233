#include "harness/gateway.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness/home.h"
#include "perch/loop.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"

enum {
	GATEWAY_ROUNDS = 1000,       /* of the loop, for one connection */
	GATEWAY_SAID_MAX = 64 * 1024 /* what a socket takes at a time */
};

int gateway_open(struct gateway *gateway, perch_err *err)
{
	const struct serve_options options = { .is_check = true, .no_store = true };
	*gateway = (struct gateway){ 0 };
	int r = perch_host_new(NULL, &gateway->host, err);
	if (r == 0)
		r = serve_new(gateway->host, &options, &gateway->serve, err);
	if (r < 0)
		gateway_close(gateway);
	return r;
}

void gateway_close(struct gateway *gateway)
{
	serve_free(gateway->serve);
	perch_host_free(gateway->host);
	*gateway = (struct gateway){ 0 };
}

static struct gateway *gateway_alone;

static void gateway_leave(void)
{
	gateway_close(gateway_alone);
}

int gateway_open_alone(struct gateway *gateway)
{
	int r = home_open();
	if (r < 0)
		return r;
	gateway_alone = gateway;
	atexit(gateway_leave);
	return gateway_open(gateway, NULL);
}

static void gateway_settle(struct serve *serve)
{
	do {
		peers_settle(serve);
		guests_settle(serve);
	} while (serve->touched);
}

/* Whether more may come. */
static bool gateway_hear(int fd, struct buf *answer)
{
	char piece[4096];
	ssize_t len;
	while ((len = recv(fd, piece, sizeof(piece), MSG_DONTWAIT)) > 0)
		buf_append(answer, piece, (size_t)len);
	return len < 0 && errno == EAGAIN;
}

int gateway_say(struct gateway *gateway, struct str bytes, struct buf *answer)
{
	struct address here;
	int ends[2];
	address_parse(STR("127.0.0.1"), &here);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -errno;
	size_t len = bytes.len < GATEWAY_SAID_MAX ? bytes.len : GATEWAY_SAID_MAX;
	bool is_said = send(ends[0], bytes.data, len, MSG_NOSIGNAL) == (ssize_t)len;
	shutdown(ends[0], SHUT_WR);
	peer_open(gateway->serve, ends[1], &here);
	int r = 0;
	for (int i = 0; i < GATEWAY_ROUNDS && r >= 0; i++) {
		gateway_settle(gateway->serve);
		if (!gateway_hear(ends[0], answer))
			break;
		r = perch_host_wait(gateway->host, 0);
	}
	close(ends[0]);
	peers_free(gateway->serve);
	gateway_settle(gateway->serve);
	return !is_said ? -EIO : r < 0 ? r : answer->failed ? -ENOMEM : 0;
}

int gateway_ask(struct gateway *gateway, const char *request_line, bool is_known, struct str body,
	struct buf *answer)
{
	_cleanup_(buf_free) struct buf request = { 0 };
	buf_printf(&request,
		"%s HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n",
		request_line, body.len);
	if (is_known)
		buf_printf(&request, "Authorization: Bearer %s\r\n", serve_own_token(gateway->serve));
	buf_append(&request, "\r\n", 2);
	buf_append(&request, body.data, body.len);
	if (request.failed)
		return -ENOMEM;
	return gateway_say(gateway, (struct str){ request.data, request.len }, answer);
}
