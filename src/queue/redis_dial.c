/* Connecting to Redis, and hiredis in our loop. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>

#include "base/clock.h"
#include "queue/redis_link_parts.h"

static void redis_dial_watch(struct redis_link *link, unsigned events)
{
	if (!link || !link->source || events == link->watched)
		return;
	link->watched = events;
	if (perch_source_watch(link->source, events) < 0)
		perch_timer_set(link->timer, 0);
}

static void redis_dial_add_read(void *data)
{
	struct redis_link *link = data;
	if (link)
		redis_dial_watch(link, link->watched | PERCH_READABLE);
}

static void redis_dial_del_read(void *data)
{
	struct redis_link *link = data;
	if (link)
		redis_dial_watch(link, link->watched & ~(unsigned)PERCH_READABLE);
}

static void redis_dial_add_write(void *data)
{
	struct redis_link *link = data;
	if (link)
		redis_dial_watch(link, link->watched | PERCH_WRITABLE);
}

static void redis_dial_del_write(void *data)
{
	struct redis_link *link = data;
	if (link)
		redis_dial_watch(link, link->watched & ~(unsigned)PERCH_WRITABLE);
}

static void redis_dial_heard(perch_source *source, void *data, unsigned events)
{
	struct redis_link *link = data;
	redisAsyncContext *context = link->context;
	(void)source;
	if (events & (PERCH_READABLE | PERCH_HANGUP))
		redisAsyncHandleRead(context);
	if (link->context == context && context && events & PERCH_WRITABLE)
		redisAsyncHandleWrite(context);
}

static void redis_dial_connected(const redisAsyncContext *context, int status)
{
	struct redis_link *link = context->data;
	if (!link || status != REDIS_OK)
		return; /* hiredis frees it, and says so by the end */
	link->state = REDIS_GREETING;
	redis_greet(link);
}

/* hiredis has given the context up. */
static void redis_dial_cleanup(void *data)
{
	struct redis_link *link = data;
	if (!link)
		return;
	char problem[160];
	const char *words = link->context->errstr && link->context->errstr[0]
		? link->context->errstr
		: "the connection has ended";
	snprintf(problem, sizeof(problem), "%s", words);
	link->context = NULL;
	/* A subscription that is refused ends the connection. */
	redis_link_fail(link, redis_greet_is_refusal(problem), "%s", problem);
}

static int redis_dial_hold(struct redis_link *link, redisAsyncContext *context)
{
	perch_err err = { 0 };
	int fd = context->c.fd;
	int on = 1, idle = 10, every = 3, count = 3;
	unsigned silent_ms = REDIS_ANSWER_SECONDS * 1000;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (link->options.url->host[0]) {
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
		setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
		setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent_ms, sizeof(silent_ms));
	}
	int r = perch_source_new(
		link->options.host, fd, PERCH_WRITABLE, redis_dial_heard, link, &link->source, &err);
	if (r < 0)
		return r;
	link->watched = PERCH_WRITABLE;
	context->data = link;
	context->ev.data = link;
	context->ev.addRead = redis_dial_add_read;
	context->ev.delRead = redis_dial_del_read;
	context->ev.addWrite = redis_dial_add_write;
	context->ev.delWrite = redis_dial_del_write;
	context->ev.cleanup = redis_dial_cleanup;
	redisAsyncSetConnectCallback(context, redis_dial_connected);
	link->context = context;
	return 0;
}

static void redis_dial_at(struct redis_link *link, const char *address, const char *problem)
{
	const struct redis_url *url = link->options.url;
	if (problem) {
		redis_link_fail(link, false, "%s", problem);
		return;
	}
	redisAsyncContext *context = url->host[0] ? redisAsyncConnect(address, (int)url->port)
											  : redisAsyncConnectUnix(url->path);
	link->state = REDIS_CONNECTING;
	link->begun_ns = clock_now_ns();
	if (!context || context->err || redis_dial_hold(link, context) < 0) {
		char words[160];
		snprintf(words, sizeof(words), "%s",
			context && context->err ? context->errstr : "no memory or descriptor for it");
		if (context)
			redisAsyncFree(context);
		redis_link_fail(link, false, "%s", words);
		return;
	}
	perch_timer_set(link->timer, NSEC_PER_SEC);
}

void redis_dial(struct redis_link *link)
{
	unsigned char number[sizeof(struct in6_addr)];
	const char *host = link->options.url->host;
	perch_err err = { 0 };
	if (!host[0] || inet_pton(AF_INET, host, number) == 1 ||
		inet_pton(AF_INET6, host, number) == 1) {
		redis_dial_at(link, host, NULL);
		return;
	}
	link->state = REDIS_RESOLVING;
	if (redis_resolver_ask(link, redis_dial_at, &err) < 0)
		redis_link_fail(link, false, "%s", err.text[0] ? err.text : "no memory");
}
