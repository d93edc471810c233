/* The url of a remote without its credentials. */
#include <strings.h>

#include "fledge/git_parts.h"

static bool git_url_ends_in(struct str text, struct str word)
{
	return text.len >= word.len &&
		strncasecmp(text.data + text.len - word.len, word.data, word.len) == 0;
}

/* "http", and "helper::http" too. */
static bool git_url_is_http(struct str scheme)
{
	return git_url_ends_in(scheme, STR("http")) || git_url_ends_in(scheme, STR("https"));
}

static size_t git_url_length_until(struct str text, const char *stops)
{
	size_t length = 0;
	while (length < text.len && !strchr(stops, text.data[length]))
		length++;
	return length;
}

/* "user:password@" at the start of an authority, its '@' included; 0 = none. */
static size_t git_url_userinfo_length(struct str authority)
{
	const char *at = authority.len ? memrchr(authority.data, '@', authority.len) : NULL;
	return at ? (size_t)(at - authority.data) + 1 : 0;
}

/* scheme, "://", [user "@"], host and the rest: what stays is moved together. */
static char *git_url_join(struct str start, struct str user, struct str rest, struct arena *arena)
{
	char *url = arena_alloc(arena, start.len + user.len + 1 + rest.len + 1);
	if (!url)
		return NULL;
	char *at = mempcpy(url, start.data, start.len);
	if (user.len) {
		at = mempcpy(at, user.data, user.len);
		*at++ = '@';
	}
	at = mempcpy(at, rest.data, rest.len);
	*at = '\0';
	return url;
}

char *git_url_clean(struct str url, struct arena *arena)
{
	const char *colon = url.len ? memmem(url.data, url.len, "://", 3) : NULL;
	if (!colon)
		return arena_dup(arena, url);
	struct str scheme = { url.data, (size_t)(colon - url.data) };
	struct str start = { url.data, scheme.len + 3 };
	struct str rest = { url.data + start.len, url.len - start.len };
	struct str authority = { rest.data, git_url_length_until(rest, "/?#") };
	size_t userinfo = git_url_userinfo_length(authority);
	struct str user = { rest.data, userinfo ? userinfo - 1 : 0 };
	rest.data += userinfo;
	rest.len -= userinfo;
	if (git_url_is_http(scheme)) {
		user.len = 0;
		rest.len = git_url_length_until(rest, "?#");
	}
	user.len = git_url_length_until(user, ":");
	return git_url_join(start, user, rest, arena);
}
