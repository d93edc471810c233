/* Attempts to get at the network and at sockets of others, and the server that
 * they try to reach. */
#include "escape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_alg.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MPTCP = 262, FASTOPEN_CONNECT = 30 };

static struct sockaddr_in local(const char *variable)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(variable ? (in_port_t)attempt_number(variable) : 0),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

static int connect_with(int type, int protocol, const char *variable)
{
	struct sockaddr_in address = local(variable);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, protocol);
	return fd < 0 ? errno
				  : attempt_result(connect(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int make_socket(int family, int type, int protocol)
{
	return attempt_result(socket(family, type | SOCK_CLOEXEC, protocol));
}

/* ---- the network ----------------------------------------------------------------- */

static int connect_tcp(void)
{
	return connect_with(SOCK_STREAM, 0, "TCP_PORT");
}

static int connect_mptcp(void)
{
	return connect_with(SOCK_STREAM, MPTCP, "TCP_PORT");
}

static int connect_udp(void)
{
	return connect_with(SOCK_DGRAM, 0, "TCP_PORT");
}

static int send_udp(void)
{
	struct sockaddr_in address = local("TCP_PORT");
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	return attempt_result(sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof(address)));
}

static int fast_open(void)
{
	struct sockaddr_in address = local("TCP_PORT");
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	return attempt_result(
		sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof(address)));
}

static int fast_open_connect(void)
{
	int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	return attempt_result(setsockopt(fd, IPPROTO_TCP, FASTOPEN_CONNECT, &on, sizeof(on)));
}

static int listen_unbound(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? errno : attempt_result(listen(fd, 1));
}

static int bind_tcp(void)
{
	struct sockaddr_in address = local(NULL);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? errno : attempt_result(bind(fd, (struct sockaddr *)&address, sizeof(address)));
}

static int make_tcp6(void)
{
	return make_socket(AF_INET6, SOCK_STREAM, 0);
}

static int make_raw(void)
{
	return make_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static int make_sctp(void)
{
	return make_socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);
}

static int make_packet(void)
{
	return make_socket(AF_PACKET, SOCK_RAW, 0);
}

static int make_netlink_route(void)
{
	return make_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}

static int make_netlink_uevent(void)
{
	return make_socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
}

static int make_vsock(void)
{
	return make_socket(AF_VSOCK, SOCK_STREAM, 0);
}

static int make_alg(void)
{
	return make_socket(AF_ALG, SOCK_SEQPACKET, 0);
}

/* ---- sockets of the machine --------------------------------------------------------- */

static socklen_t unix_address(struct sockaddr_un *address, const char *name, bool is_abstract)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	char *path = address->sun_path + (is_abstract ? 1 : 0);
	strncpy(path, name, sizeof(address->sun_path) - 2);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name) + 1);
}

static int connect_unix(int type, const char *variable, bool is_abstract)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, attempt_path(variable, ""), is_abstract);
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	int error = attempt_result(connect(fd, (struct sockaddr *)&address, len));
	/* What lies over a hidden socket is a file that nobody listens on. */
	return error == ECONNREFUSED ? ENOENT : error;
}

static int connect_control_socket(void)
{
	return connect_unix(SOCK_STREAM, "CONTROL_SOCKET", false);
}

static int connect_abstract(void)
{
	return connect_unix(SOCK_STREAM, "ABSTRACT_SOCKET", true);
}

static int make_pair(void)
{
	int fds[2];
	return attempt_result(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
}

/* One's own, with both ends inside. */
static int connect_own_socket(void)
{
	struct sockaddr_un address;
	unlink("own-socket");
	socklen_t len = unix_address(&address, "own-socket", false);
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server < 0 || bind(server, (struct sockaddr *)&address, len) < 0 || listen(server, 1) < 0)
		return errno;
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return attempt_result(connect(client, (struct sockaddr *)&address, len));
}

const struct row socket_rows[] = {
	{ "tcp", connect_tcp, .by_seccomp = true, .only_without_net = true },
	{ "tcp6", make_tcp6, .by_seccomp = true, .only_without_net = true },
	{ "tcp-bind", bind_tcp, .by_seccomp = true, .only_without_net = true },
	{ "tcp-listen", listen_unbound, .by_seccomp = true, .only_without_net = true },
	{ "mptcp", connect_mptcp, .by_seccomp = true, .only_without_net = true },
	{ "fast-open", fast_open, .by_seccomp = true, .only_without_net = true },
	{ "fast-open-connect", fast_open_connect, .by_seccomp = true, .only_without_net = true },
	{ "udp-connect", connect_udp, .by_seccomp = true, .only_without_net = true },
	{ "udp-send", send_udp, .by_seccomp = true, .only_without_net = true },
	{ "netlink-route", make_netlink_route, .by_seccomp = true, .only_without_net = true },
	{ "netlink-uevent", make_netlink_uevent, .by_seccomp = true },
	{ "raw", make_raw, .by_seccomp = true },
	{ "sctp", make_sctp, .by_seccomp = true },
	{ "packet", make_packet, .by_seccomp = true },
	{ "vsock", make_vsock, .by_seccomp = true },
	{ "alg", make_alg, .by_seccomp = true },
	/* Without a room by seccomp, in one by its mounts. */
	{ "control-socket", connect_control_socket, .by_seccomp = true },
	{ "abstract-socket", connect_abstract, .by_seccomp = true },
	{ "socket-pair", make_pair, .by_seccomp = false },
	{ "own-socket", connect_own_socket, .needs_room_and = 6 },
	{ 0 },
};

/* ---- the server ---------------------------------------------------------------------- */

static int listen_on(int family, const struct sockaddr *address, socklen_t len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, address, len) < 0 || listen(fd, 64) < 0) {
		perror("escape serve");
		exit(1);
	}
	return fd;
}

int serve(void)
{
	static const char secret[] = "in the memory of another";
	struct sockaddr_in address = local(NULL);
	socklen_t len = sizeof(address);
	int tcp = listen_on(AF_INET, (struct sockaddr *)&address, sizeof(address));
	getsockname(tcp, (struct sockaddr *)&address, &len);
	struct sockaddr_un name;
	len = unix_address(&name, attempt_path("CONTROL_SOCKET", ""), false);
	listen_on(AF_UNIX, (struct sockaddr *)&name, len);
	char abstract[64];
	snprintf(abstract, sizeof(abstract), "perch-escape-%d", (int)getpid());
	len = unix_address(&name, abstract, true);
	listen_on(AF_UNIX, (struct sockaddr *)&name, len);
	printf("TCP_PORT=%d\nABSTRACT_SOCKET=%s\nVICTIM=%d\nVICTIM_ADDRESS=%p\n",
		ntohs(address.sin_port), abstract, (int)getpid(), (const void *)secret);
	fflush(stdout);
	char byte;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
