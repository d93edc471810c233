/* How far the source of a plugin is known: its owner, and whether the user trusts that owner. The
 * author of a source may want to look like another one, so only letters without a special meaning
 * are understood. */
#include "plugins/trust.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

#include "base/err.h"
#include "base/macros.h"
#include "data/config.h"

static const struct str default_host = { "github.com", 10 };

const char *trust_name(enum trust_tier tier)
{
	static const char *const names[] = {
		[TRUST_LOCAL] = "local",
		[TRUST_OFFICIAL] = "official",
		[TRUST_TEAM] = "team",
		[TRUST_UNVERIFIED] = "unverified",
	};
	return names[tier];
}

/* ---- the owner of a source ----------------------------------------------- */

/* The parts of a location. In an entry of a list the repository may be empty: every repository of
 * that owner. */
struct origin {
	struct str host;
	struct str owner;
	struct str repository; /* with what lies between it and the owner */
};

static bool trust_is_same(struct str a, struct str b, bool ignores_case)
{
	if (!ignores_case)
		return str_eq(a, b);
	return a.len == b.len && strncasecmp(a.data, b.data, a.len) == 0;
}

static bool trust_is_plain(struct str text, const char *also)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!isalnum((unsigned char)text.data[i]) && !strchr(also, text.data[i]))
			return false;
	}
	return text.len && text.data[0] != '-';
}

static bool trust_is_segment(struct str text)
{
	return trust_is_plain(text, "-_.+~") && !str_is(text, ".") && !str_is(text, "..");
}

/* OWNER/REPOSITORY, or more levels; the ref and .git do not count. */
static bool trust_read_path(struct str path, struct origin *origin)
{
	path = str_cut(&path, '@');
	if (str_has_suffix(path, STR("/")))
		path.len--;
	if (str_has_suffix(path, STR(".git")))
		path.len -= 4;
	origin->owner = str_cut(&path, '/');
	origin->repository = path;
	if (!trust_is_segment(origin->owner) || !path.len)
		return false;
	bool is_more = true;
	while (is_more) {
		is_more = memchr(path.data, '/', path.len);
		if (!trust_is_segment(str_cut(&path, '/')))
			return false;
	}
	return true;
}

/* The host of USER@HOST or USER:PASSWORD@HOST; empty when programs could read the user
 * differently. */
static struct str trust_host_of(struct str authority)
{
	const char *at = authority.len ? memrchr(authority.data, '@', authority.len) : NULL;
	if (!at)
		return authority;
	struct str user = { authority.data, (size_t)(at - authority.data) };
	size_t behind = authority.len - user.len - 1;
	return (struct str){ at + 1, trust_is_plain(user, "-_.~:") ? behind : 0 };
}

/* The part behind the scheme, when nothing can change the files on their way to us. */
static bool trust_is_safe_url(struct str source, struct str *ret_rest)
{
	static const struct str schemes[] = { { "https://", 8 }, { "ssh://", 6 } };
	for (size_t i = 0; i < COUNT(schemes); i++) {
		if (!str_has_prefix(source, schemes[i]))
			continue;
		*ret_rest = (struct str){ source.data + schemes[i].len, source.len - schemes[i].len };
		return true;
	}
	return false;
}

static bool trust_read_source(struct str source, struct origin *origin)
{
	struct str rest = source;
	struct str colon = source;
	if (trust_is_safe_url(source, &rest)) {
		origin->host = trust_host_of(str_cut(&rest, '/'));
	} else if (memmem(source.data, source.len, "://", 3)) {
		return false;
	} else if (str_cut(&colon, ':').len < str_cut(&rest, '/').len) {
		rest = source;
		origin->host = trust_host_of(str_cut(&rest, ':'));
	} else {
		rest = source;
		origin->host = default_host;
	}
	if (!trust_is_plain(origin->host, "-.:") || !trust_read_path(rest, origin))
		return false;
	/* No owner/repository has a third part: it would be something else. */
	bool is_default = trust_is_same(origin->host, default_host, true);
	return !is_default || !memchr(origin->repository.data, '/', origin->repository.len);
}

/* ---- the owners that the user trusts ------------------------------------- */

/* An owner on the default host has no dot in its name; every host has one. */
static bool trust_read_entry(struct str entry, struct origin *origin)
{
	struct str rest = entry;
	struct str first = str_cut(&rest, '/');
	origin->host = default_host;
	if (memchr(first.data, '.', first.len)) {
		origin->host = first;
		first = str_cut(&rest, '/');
	}
	origin->owner = first;
	origin->repository = rest;
	return first.len > 0;
}

static bool trust_lists(const char *const *entries, const struct origin *origin)
{
	for (; entries && *entries; entries++) {
		struct origin entry;
		if (!trust_read_entry(str_from(*entries), &entry) ||
			!trust_is_same(entry.host, origin->host, true))
			continue;
		bool ignores_case = trust_is_same(origin->host, default_host, true);
		if (trust_is_same(entry.owner, origin->owner, ignores_case) &&
			(!entry.repository.len ||
				trust_is_same(entry.repository, origin->repository, ignores_case)))
			return true;
	}
	return false;
}

static bool trust_is_path(struct str source)
{
	return str_has_prefix(source, STR("/")) || str_has_prefix(source, STR("./")) ||
		str_has_prefix(source, STR("../")) || str_has_prefix(source, STR("~/")) ||
		str_is(source, ".") || str_is(source, "..") || str_is(source, "~");
}

enum trust_tier trust_of(const struct trust_lists *lists_of_user, const char *source)
{
	struct origin origin;
	if (trust_is_path(str_from(source)))
		return TRUST_LOCAL;
	if (!trust_read_source(str_from(source), &origin))
		return TRUST_UNVERIFIED;
	if (trust_lists(lists_of_user->official, &origin))
		return TRUST_OFFICIAL;
	bool is_team =
		trust_lists(lists_of_user->orgs, &origin) || trust_lists(lists_of_user->users, &origin);
	return is_team ? TRUST_TEAM : TRUST_UNVERIFIED;
}

bool trust_write_owner(const char *source, struct buf *out)
{
	struct origin origin;
	if (trust_is_path(str_from(source)) || !trust_read_source(str_from(source), &origin))
		return false;
	bool is_default = trust_is_same(origin.host, default_host, true);
	if (!is_default && !memchr(origin.host.data, '.', origin.host.len))
		return false; /* it would be read as an owner */
	if (!is_default)
		buf_printf(out, "%.*s/", (int)origin.host.len, origin.host.data);
	buf_append(out, origin.owner.data, origin.owner.len);
	return true;
}

/* ---- the lists ----------------------------------------------------------- */

struct trust_reading {
	struct arena *arena;
	struct trust_lists lists;
};

static int trust_read_lists(const struct toml_value *root, void *data, perch_err *err)
{
	static const struct toml_value nothing = { .type = TOML_TABLE };
	struct arena *arena = ((struct trust_reading *)data)->arena;
	struct trust_lists *lists = &((struct trust_reading *)data)->lists;
	const struct toml_value *table = &nothing;
	int r = toml_get_table(root, "trust", &table, err);
	if (r >= 0)
		r = toml_get_strings(table, "official", arena, &lists->official, err);
	if (r == 0)
		r = toml_get_strings(table, "orgs", arena, &lists->orgs, err);
	return r < 0 ? r : toml_get_strings(table, "users", arena, &lists->users, err);
}

int trust_read(const char *config_directory, struct arena *arena, struct trust_lists *ret_lists,
	perch_err *err)
{
	struct trust_reading reading = { .arena = arena };
	int r = config_read(config_directory, trust_read_lists, &reading, err);
	if (r == 0)
		*ret_lists = reading.lists;
	return r;
}
