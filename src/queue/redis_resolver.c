/* Names of hosts, looked up in a thread: the loop does not wait for a name server. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "queue/desk.h"
#include "queue/redis_link_parts.h"

struct redis_resolver {
	struct desk_order order;
	struct desk *desk;
	struct redis_link *link;
	void (*done)(struct redis_link *link, const char *address, const char *problem);
	int problem; /* of getaddrinfo */
	char host[sizeof(((struct redis_url *)0)->host)];
	char address[NI_MAXHOST];
};

static int redis_resolver_nothing(void *context)
{
	(void)context;
	return 0;
}

static void redis_resolver_undo(void *context)
{
	(void)context;
}

static int redis_resolver_work(struct desk_order *order, void *context)
{
	struct redis_resolver *resolver = (struct redis_resolver *)order;
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	(void)context;
	resolver->problem = getaddrinfo(resolver->host, NULL, &hints, &found);
	if (resolver->problem == 0)
		resolver->problem = getnameinfo(found->ai_addr, found->ai_addrlen, resolver->address,
			sizeof(resolver->address), NULL, 0, NI_NUMERICHOST);
	if (found)
		freeaddrinfo(found);
	return 0;
}

static void redis_resolver_worked(struct desk_order *order, int result)
{
	struct redis_resolver *resolver = (struct redis_resolver *)order;
	(void)result;
	if (resolver->done)
		resolver->done(resolver->link, resolver->problem ? NULL : resolver->address,
			resolver->problem ? gai_strerror(resolver->problem) : NULL);
}

static const struct desk_round redis_resolver_round = {
	.begin = redis_resolver_nothing,
	.end = redis_resolver_nothing,
	.undo = redis_resolver_undo,
};

int redis_resolver_ask(struct redis_link *link,
	void (*done)(struct redis_link *link, const char *address, const char *problem), perch_err *err)
{
	struct redis_resolver *resolver = link->resolver;
	if (!resolver) {
		resolver = calloc(1, sizeof(*resolver));
		if (!resolver)
			return -ENOMEM;
		int r = desk_open(link->options.host, &redis_resolver_round, NULL, &resolver->desk, err);
		if (r < 0) {
			free(resolver);
			return r;
		}
		link->resolver = resolver;
	}
	resolver->order =
		(struct desk_order){ .work = redis_resolver_work, .done = redis_resolver_worked };
	resolver->link = link;
	resolver->done = done;
	memcpy(resolver->host, link->options.url->host, sizeof(resolver->host));
	desk_take(resolver->desk, &resolver->order);
	return 0;
}

void redis_resolver_free(struct redis_resolver *resolver)
{
	if (!resolver)
		return;
	resolver->done = NULL;
	desk_close(resolver->desk);
	free(resolver);
}
