/* Where clients come in: an address, a unix socket, sockets that systemd hands over. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"

enum {
	LISTENER_BACKLOG = 1024,
	LISTENER_ROUND = 64,
	LISTENER_FIRST_FD = 3,
	LISTENER_KEPT_FDS = 64, /* for files, databases, the loop */
	LISTENER_JOB_FDS = 16,
};

/* ---- taking connections ------------------------------------------------------------ */

static void listeners_watch(struct serve *serve, unsigned events)
{
	for (size_t i = 0; i < serve->listener_count; i++)
		perch_source_watch(serve->listeners[i].source, events);
	serve->is_paused = !events;
}

/* Clients do not get the descriptors that jobs need. */
static size_t listeners_room(const struct serve *serve)
{
	size_t most = (size_t)serve->settings.connections;
	return most < serve->sockets_max ? most : serve->sockets_max;
}

static void listeners_count(struct serve *serve)
{
	size_t kept = LISTENER_KEPT_FDS + LISTENER_JOB_FDS * (size_t)serve->settings.max_jobs;
	struct rlimit limit;
	serve->sockets_max = SIZE_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	size_t all = (size_t)limit.rlim_cur;
	serve->sockets_max = kept < all / 2 ? all - kept : all / 2;
	if (serve->sockets_max < (size_t)serve->settings.connections / 2) /* far from what was wished */
		serve_warn(serve, "it takes %zu connections at most: the limit of open files is %zu",
			serve->sockets_max, all);
}

void serve_resume(struct serve *serve)
{
	if (serve->is_paused && serve->peers.count < listeners_room(serve))
		listeners_watch(serve, PERCH_READABLE);
}

/* False: no client waits, or none can be taken now. */
static bool listener_take(struct listener *listener)
{
	struct serve *serve = listener->serve;
	struct sockaddr_storage from = { 0 };
	socklen_t len = sizeof(from);
	if (serve->peers.count >= listeners_room(serve)) {
		listeners_watch(serve, 0);
		return false;
	}
	int fd = accept4(listener->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
		listeners_watch(serve, 0);
	if (fd < 0)
		return errno == ECONNABORTED || errno == EINTR;
	const struct address address = address_of(&from);
	peer_open(serve, fd, &address);
	return true;
}

static void listener_ready(perch_source *source, void *data, unsigned events)
{
	(void)source;
	(void)events;
	for (int i = 0; i < LISTENER_ROUND && listener_take(data); i++)
		continue;
}

/* ---- opening ------------------------------------------------------------------------ */

/* Connections take over that nothing waits in the kernel: an event behind a head would otherwise
 * wait for the client's acknowledgement, which is 40 ms. A socket of a path has no such option. */
static void listener_send_at_once(int fd)
{
	const int yes = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

static int listener_add(struct serve *serve, int fd, perch_err *err)
{
	if (serve->listener_count == SERVE_LISTENERS) {
		fd_close(fd);
		return err_set(err, -E2BIG, "more than %d sockets to listen on", SERVE_LISTENERS);
	}
	struct listener *listener = &serve->listeners[serve->listener_count++];
	*listener = (struct listener){ .serve = serve, .fd = fd };
	listener_send_at_once(fd);
	return perch_source_new(
		serve->host, fd, PERCH_READABLE, listener_ready, listener, &listener->source, err);
}

/* Its name is the one that the kernel says: the port may have been 0. */
static void listener_name(struct serve *serve, int fd)
{
	struct sockaddr_storage name = { 0 };
	socklen_t len = sizeof(name);
	char host[ADDRESS_TEXT_SIZE];
	if (serve->port || getsockname(fd, (struct sockaddr *)&name, &len) < 0 ||
		(name.ss_family != AF_INET && name.ss_family != AF_INET6))
		return;
	bool is_long = name.ss_family == AF_INET6;
	const struct address address = address_of(&name);
	address_write(&address, host);
	serve->port = ntohs(is_long ? ((struct sockaddr_in6 *)&name)->sin6_port
								: ((struct sockaddr_in *)&name)->sin_port);
	snprintf(serve->listening, sizeof(serve->listening), "%s%s%s:%u", is_long ? "[" : "", host,
		is_long ? "]" : "", serve->port);
	snprintf(serve->address, sizeof(serve->address), "http://%s", serve->listening);
}

static int listener_bind(const struct sockaddr_storage *place)
{
	const int yes = 1;
	_cleanup_fd_ int fd =
		fd_above_stdio(socket(place->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (const struct sockaddr *)place, sizeof(*place)) < 0 ||
		listen(fd, LISTENER_BACKLOG) < 0)
		return -errno;
	return fd_steal(&fd);
}

static bool listener_read_port(const char *text, in_port_t *ret_port)
{
	char *end = NULL;
	unsigned long port = strtoul(text, &end, 10);
	*ret_port = htons((uint16_t)port);
	return text[0] >= '0' && text[0] <= '9' && !*end && port <= UINT16_MAX;
}

/* "127.0.0.1:4747", "[::1]:4747", "localhost:4747"; ":4747" is loopback, too. */
static bool listener_read(const char *text, struct sockaddr_storage *ret_place)
{
	const char *colon = strrchr(text, ':');
	char host[ADDRESS_TEXT_SIZE] = "127.0.0.1";
	in_port_t port = 0;
	if (!colon || !listener_read_port(colon + 1, &port) || (size_t)(colon - text) >= sizeof(host))
		return false;
	struct str name = { text, (size_t)(colon - text) };
	bool is_long = name.len > 2 && name.data[0] == '[' && name.data[name.len - 1] == ']';
	if (is_long)
		name = (struct str){ name.data + 1, name.len - 2 };
	if (name.len && !str_is(name, "localhost"))
		snprintf(host, sizeof(host), "%.*s", (int)name.len, name.data);
	if (is_long) {
		struct sockaddr_in6 *place = (struct sockaddr_in6 *)ret_place;
		*place = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
		return inet_pton(AF_INET6, host, &place->sin6_addr) == 1;
	}
	struct sockaddr_in *place = (struct sockaddr_in *)ret_place;
	*place = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
	return inet_pton(AF_INET, host, &place->sin_addr) == 1;
}

static int listener_open_address(struct serve *serve, const char *text, perch_err *err)
{
	struct sockaddr_storage place = { 0 };
	if (!listener_read(text, &place))
		return err_set(err, -EINVAL,
			"listen takes ADDRESS:PORT in numbers, like 127.0.0.1:4747, not '%.100s'", text);
	int fd = listener_bind(&place);
	if (fd == -EADDRINUSE)
		return err_set(err, fd,
			"cannot listen on %s: another program does; --listen 127.0.0.1:0 takes a port that is "
			"free",
			text);
	if (fd < 0)
		return err_set(err, fd, "cannot listen on %s: %s", text, perch_strerror(fd));
	listener_name(serve, fd);
	return listener_add(serve, fd, err);
}

/* A socket without a listener is in the way. */
static void listener_clear(const struct sockaddr_un *name)
{
	struct stat info;
	_cleanup_fd_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (lstat(name->sun_path, &info) < 0 || !S_ISSOCK(info.st_mode) || fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)name, sizeof(*name)) < 0 && errno == ECONNREFUSED)
		unlink(name->sun_path);
}

static int listener_open_path(struct serve *serve, const char *path, perch_err *err)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(name.sun_path))
		return err_set(err, -ENAMETOOLONG, "the path of a socket has less than %zu bytes: %s",
			sizeof(name.sun_path), path);
	strcpy(name.sun_path, path);
	listener_clear(&name);
	_cleanup_fd_ int fd =
		fd_above_stdio(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	mode_t before = umask(0177);
	int r = fd < 0 ? fd : bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0 ? -errno : 0;
	umask(before);
	if (r == 0 && listen(fd, LISTENER_BACKLOG) < 0)
		r = -errno;
	if (r < 0)
		return err_set(err, r, "cannot listen on %s: %s", path, perch_strerror(r));
	r = listener_add(serve, fd_steal(&fd), err);
	if (r == 0 && !(serve->listeners[serve->listener_count - 1].path = strdup(path)))
		return err_no_memory(err);
	return r;
}

static int listener_take_over(struct serve *serve, int fd, perch_err *err)
{
	int listens = 0;
	socklen_t len = sizeof(listens);
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens)
		return err_set(err, -EINVAL, "descriptor %d is no socket that listens", fd);
	int own = fd_duplicate_above(fd, LISTENER_FIRST_FD + SERVE_LISTENERS);
	if (own < 0)
		return err_set(err, own, "no descriptor is left: %s", perch_strerror(own));
	close(fd);
	fd_set_nonblocking(own);
	listener_name(serve, own);
	return listener_add(serve, own, err);
}

int listeners_open(struct serve *serve, perch_err *err)
{
	int r = 0;
	listeners_count(serve);
	for (int i = 0; r == 0 && i < serve->options.sockets; i++)
		r = listener_take_over(serve, LISTENER_FIRST_FD + i, err);
	if (r == 0 && !serve->options.sockets)
		r = listener_open_address(serve, serve->settings.listen, err);
	if (r == 0 && serve->settings.socket)
		r = listener_open_path(serve, serve->settings.socket, err);
	return r;
}

void listeners_close(struct serve *serve)
{
	for (size_t i = 0; i < serve->listener_count; i++) {
		struct listener *listener = &serve->listeners[i];
		perch_source_free(listener->source);
		fd_close(listener->fd);
		if (listener->path)
			unlink(listener->path);
		free(listener->path);
	}
	serve->listener_count = 0;
}
