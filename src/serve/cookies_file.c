/* Cookies over a restart: $XDG_STATE_HOME/perch/cookies, 0600, a line for each:
 *
 *     HASH-OF-THE-COOKIE UNTIL HASH-OF-ITS-TOKEN NAME-OF-ITS-TOKEN
 *
 * so that the cookie of a token that was revoked meanwhile, or is another of the same name, is
 * worth nothing. "-": a cookie by the link. One by the token that lives as long as the server does
 * ends with it, and is not written. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/paths.h"
#include "serve/serve_parts.h"
#include "wire/http_text.h"

enum { COOKIE_LINE_MAX = 512 };

/* ---- writing --------------------------------------------------------------------- */

static void cookies_file_write(const struct cookies *cookies, struct buf *out)
{
	for (const struct cookie *item = list_first(&cookies->list); item; item = list_next(item)) {
		const struct identity *who = item->who;
		if (item->is_by_link || !who->is_own)
			buf_printf(out, "%s %" PRId64 " %s %s\n", item->hash, item->until,
				item->is_by_link ? "-" : who->token.hash, who->token.name);
	}
}

/* Not flushed: the loop does not wait for a disk, and what is lost is a sign-in. */
static int cookies_file_put(const char *path, const struct buf *text)
{
	_cleanup_free_ char *fresh = str_join(path, ".new", NULL);
	if (!fresh)
		return -1;
	unlink(fresh);
	_cleanup_fd_ int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, text->data, text->len) < 0)
		return -1;
	return rename(fresh, path);
}

void cookies_save(const struct cookies *cookies)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	cookies_file_write(cookies, &text);
	if (!text.failed && paths_user(PATH_STATE, "perch/cookies", &path, NULL) == 0)
		(void)cookies_file_put(path, &text);
}

/* ---- reading ---------------------------------------------------------------------- */

/* The owner of a cookie, if the token is still the same. */
static struct identity *cookies_file_owner(
	const struct serve *serve, struct str token, struct str name)
{
	_cleanup_free_ char *text = str_dup(name);
	struct identity *who = text ? identities_named(&serve->identities, text) : NULL;
	if (!who || who->is_revoked)
		return NULL;
	return str_is(token, who->is_own ? "-" : who->token.hash) ? who : NULL;
}

static bool cookies_file_is_hash(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!text.data[i] || !strchr("0123456789abcdef", text.data[i]))
			return false;
	return text.len == SHA256_HEX_SIZE - 1;
}

static void cookies_file_take(struct serve *serve, struct str line)
{
	struct str hash = str_cut(&line, ' ');
	struct str until = str_cut(&line, ' ');
	struct str token = str_cut(&line, ' ');
	struct identity *who = cookies_file_owner(serve, token, line);
	char text[SHA256_HEX_SIZE];
	uint64_t number;
	int64_t now = (int64_t)time(NULL);
	if (!who || !cookies_file_is_hash(hash) || !http_read_number(until, &number) ||
		number > (uint64_t)(now + COOKIE_SECONDS) || (int64_t)number <= now)
		return;
	memcpy(text, hash.data, hash.len);
	text[hash.len] = '\0';
	cookies_add(&serve->cookies, text, (int64_t)number, who, who->is_own);
}

void cookies_load(struct serve *serve)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	if (paths_user(PATH_STATE, "perch/cookies", &path, NULL) < 0 ||
		file_read(path, COOKIES_MAX * COOKIE_LINE_MAX, &text, NULL) < 0)
		return;
	struct str rest = { text.data, text.len };
	while (rest.len && serve->cookies.list.count < COOKIES_MAX)
		cookies_file_take(serve, str_cut(&rest, '\n'));
}
