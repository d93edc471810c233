/* Where a Redis is. */
#include "queue/redis_url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

/* Takes a piece up to this character off the text; without data where there is none. */
static struct str redis_url_cut(struct str *text, char at)
{
	const char *found = text->len ? memchr(text->data, at, text->len) : NULL;
	if (!found)
		return (struct str){ 0 };
	struct str piece = { text->data, (size_t)(found - text->data) };
	*text = (struct str){ found + 1, text->len - piece.len - 1 };
	return piece;
}

static int redis_url_copy(
	struct str text, const char *what, char *place, size_t size, perch_err *err)
{
	if (text.len >= size)
		return err_set(err, -EINVAL, "the queue's %s is longer than %zu bytes", what, size - 1);
	for (size_t i = 0; i < text.len; i++) {
		if ((unsigned char)text.data[i] <= ' ' || text.data[i] == 0x7f)
			return err_set(err, -EINVAL, "the queue's %s has a blank or a control character", what);
	}
	memcpy(place, text.data, text.len);
	place[text.len] = '\0';
	return 0;
}

static int redis_url_number(
	struct str text, const char *what, unsigned most, unsigned *ret_number, perch_err *err)
{
	unsigned number = 0;
	for (size_t i = 0; i < text.len && number <= most; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			number = most;
		number = number * 10 + (unsigned)(text.data[i] - '0');
	}
	if (!text.len || number > most)
		return err_set(err, -EINVAL, "the queue's %s is a number up to %u", what, most);
	*ret_number = number;
	return 0;
}

static int redis_url_unix(struct str path, struct redis_url *url, perch_err *err)
{
	if (!path.len)
		return err_set(err, -EINVAL, "the queue's unix: needs the path of a socket behind it");
	return redis_url_copy(path, "path", url->path, sizeof(url->path), err);
}

static int redis_url_user(struct str *rest, struct redis_url *url, perch_err *err)
{
	struct str user = redis_url_cut(rest, '@');
	if (!user.data)
		return 0;
	if (memchr(user.data, ':', user.len))
		return err_set(err, -EINVAL,
			"a password in the queue's address can be read by everybody: give it by "
			"--password-file or PERCH_QUEUE_PASSWORD");
	return redis_url_copy(user, "user", url->user, sizeof(url->user), err);
}

/* A name or a number; a wrong one would be looked up all the same. */
static bool redis_url_is_host(struct str host)
{
	for (size_t i = 0; i < host.len; i++) {
		char c = host.data[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		if (!is_letter && !(c >= '0' && c <= '9') && !strchr(".-_:", c))
			return false;
	}
	return host.len;
}

/* HOST, HOST:PORT, [::1]:PORT */
static int redis_url_host(struct str rest, struct redis_url *url, perch_err *err)
{
	struct str host = rest;
	struct str port = { 0 };
	if (rest.len && rest.data[0] == '[') {
		rest = (struct str){ rest.data + 1, rest.len - 1 };
		host = redis_url_cut(&rest, ']');
		if (!host.data || (rest.len && rest.data[0] != ':'))
			return err_set(err, -EINVAL, "the queue's address has no matching brackets");
		port = rest.len ? (struct str){ rest.data + 1, rest.len - 1 } : port;
	} else if ((host = redis_url_cut(&rest, ':')).data) {
		port = rest;
	} else {
		host = rest;
	}
	if (!redis_url_is_host(host))
		return err_set(
			err, -EINVAL, "the queue's address has no host, as redis://127.0.0.1:6379 has one");
	url->port = REDIS_PORT;
	int r = redis_url_copy(host, "host", url->host, sizeof(url->host), err);
	if (r == 0 && port.data)
		r = redis_url_number(port, "port", 65535, &url->port, err);
	return r;
}

static int redis_url_tcp(struct str rest, struct redis_url *url, perch_err *err)
{
	int r = redis_url_user(&rest, url, err);
	struct str before = redis_url_cut(&rest, '/');
	struct str database = before.data ? rest : (struct str){ 0 };
	if (r == 0)
		r = redis_url_host(before.data ? before : rest, url, err);
	if (r == 0 && database.len)
		r = redis_url_number(database, "database", 1 << 20, &url->database, err);
	return r;
}

int redis_url_parse(struct str text, struct redis_url *ret_url, perch_err *err)
{
	const struct str tcp = STR("redis://"), tls = STR("rediss://"), local = STR("unix:");
	struct redis_url url = { 0 };
	int r;
	if (text.len > REDIS_URL_MAX)
		return err_set(err, -EINVAL, "the queue's address is longer than %d bytes", REDIS_URL_MAX);
	if (str_has_prefix(text, tls))
		return err_set(err, -EINVAL,
			"rediss:// is not spoken: Debian's hiredis has no TLS; let stunnel or a private "
			"network carry redis://");
	if (str_has_prefix(text, tcp))
		r = redis_url_tcp((struct str){ text.data + tcp.len, text.len - tcp.len }, &url, err);
	else if (str_has_prefix(text, local))
		r = redis_url_unix((struct str){ text.data + local.len, text.len - local.len }, &url, err);
	else
		r = err_set(err, -EINVAL, "a queue is redis://HOST:PORT or unix:PATH");
	if (r == 0)
		*ret_url = url;
	return r;
}

/* By its number: 127.0.0.1.example.org is a name, and may be any machine's. */
bool redis_url_is_local(const struct redis_url *url)
{
	struct in_addr four;
	struct in6_addr six;
	if (inet_pton(AF_INET, url->host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
	if (inet_pton(AF_INET6, url->host, &six) == 1)
		return IN6_IS_ADDR_LOOPBACK(&six);
	return !url->host[0] || strcmp(url->host, "localhost") == 0;
}

void redis_url_write(const struct redis_url *url, char *text, size_t size)
{
	bool is_wide = strchr(url->host, ':');
	if (!url->host[0])
		snprintf(text, size, "unix:%s", url->path);
	else
		snprintf(text, size, "redis://%s%s%s:%u/%u", is_wide ? "[" : "", url->host,
			is_wide ? "]" : "", url->port, url->database);
}
