/* Where a plugin comes from. The text may be copied from anywhere: one that git, ssh or a server
 * could read as something else than it looks like is refused. */
#include "plugins/source.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/config.h"

static int source_refuse(perch_err *err, const char *text, const char *problem)
{
	char shown[FILE_SHOWN_MAX];
	return err_set(err, -EINVAL, "the source '%s' %s", file_shown(text, shown), problem);
}

static bool source_has_strange_characters(const char *text)
{
	return strpbrk(text, " \\") || !utf8_is_seen(text, strlen(text));
}

const char *source_ref_problem(const char *ref)
{
	size_t len = strlen(ref);
	if (!len)
		return "is empty";
	if (len > SOURCE_REF_MAX)
		return "is too long";
	if (ref[0] == '-')
		return "must not begin with -";
	if (strstr(ref, "..") || strcasestr(ref, "%2e"))
		return "must not contain ..";
	if (source_has_strange_characters(ref) || strpbrk(ref, "~^:?*[") || strstr(ref, "@{"))
		return "has a character that no tag, branch or commit has";
	if (ref[0] == '/' || ref[len - 1] == '/' || ref[len - 1] == '.' || strstr(ref, "//"))
		return "is no name of a tag, branch or commit";
	return NULL;
}

/* Takes @REF off the end: the first '@' from `from` on. */
static int source_split_ref(const char *text, size_t from, struct arena *arena,
	struct plugin_source *source, perch_err *err)
{
	const char *at = strchr(text + from, '@');
	size_t len = at ? (size_t)(at - text) : strlen(text);
	source->location = arena_dup(arena, (struct str){ text, len });
	source->ref = at ? arena_dup(arena, str_from(at + 1)) : "";
	if (!source->location || !source->ref)
		return err_no_memory(err);
	const char *problem = at ? source_ref_problem(source->ref) : NULL;
	char shown[FILE_SHOWN_MAX];
	if (problem)
		return err_set(err, -EINVAL, "the ref '%s' %s", file_shown(source->ref, shown), problem);
	return 0;
}

/* ---- paths --------------------------------------------------------------- */

static bool source_is_path(const char *text)
{
	static const char *const alone[] = { ".", "..", "~" };
	static const char *const in_front[] = { "/", "./", "../", "~/" };
	for (size_t i = 0; i < COUNT(alone); i++)
		if (strcmp(text, alone[i]) == 0)
			return true;
	for (size_t i = 0; i < COUNT(in_front); i++)
		if (str_has_prefix(str_from(text), str_from(in_front[i])))
			return true;
	return false;
}

/* The resolved path of a directory, in the arena. */
static int source_resolve(
	const char *path, struct arena *arena, const char **ret_path, perch_err *err)
{
	const char *home = getenv("HOME");
	_cleanup_free_ char *whole = NULL;
	if (path[0] == '~' && home && home[0])
		whole = str_join(home, path + 1, NULL);
	else
		whole = str_dup(str_from(path));
	if (!whole)
		return err_no_memory(err);
	char resolved[PATH_MAX];
	char shown[FILE_SHOWN_MAX];
	struct stat status;
	if (!realpath(whole, resolved) || stat(resolved, &status) < 0)
		return err_set(err, -errno, "cannot use the directory %s: %s", file_shown(path, shown),
			perch_strerror(-errno));
	if (!S_ISDIR(status.st_mode))
		return err_set(err, -ENOTDIR, "%s is not a directory: name the one with plugin.toml in it",
			file_shown(path, shown));
	*ret_path = arena_dup(arena, str_from(resolved));
	return *ret_path ? 0 : err_no_memory(err);
}

/* A directory may have an '@' in its name: it comes first. */
static int source_parse_path(
	const char *text, struct arena *arena, struct plugin_source *source, perch_err *err)
{
	source->is_path = true;
	source->ref = "";
	perch_err inner = { 0 };
	int r = source_resolve(text, arena, &source->location, &inner);
	const char *at = strrchr(text, '@');
	if (r == -ENOENT && at) {
		_cleanup_free_ char *before = str_dup((struct str){ text, (size_t)(at - text) });
		if (!before)
			return err_no_memory(err);
		r = source_split_ref(text, (size_t)(at - text), arena, source, err);
		if (r < 0)
			return r;
		source->is_repository = true;
		r = source_resolve(before, arena, &source->location, &inner);
	}
	return r < 0 ? err_set(err, r, "%s", inner.text) : 0;
}

/* ---- repositories -------------------------------------------------------- */

static bool source_is_made_of(struct str text, const char *also)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!isalnum((unsigned char)text.data[i]) && !strchr(also, text.data[i]))
			return false;
	}
	return text.len && text.data[0] != '-' && text.data[0] != '.';
}

/* The part behind the scheme, or NULL when the scheme is not allowed. */
static const char *source_behind_scheme(const char *text)
{
	static const char *const schemes[] = { "https://", "ssh://", "git://", "file://" };
	for (size_t i = 0; i < COUNT(schemes); i++) {
		if (str_has_prefix(str_from(text), str_from(schemes[i])))
			return text + strlen(schemes[i]);
	}
	return NULL;
}

/* USER@HOST: a text that ssh could take for an option, and passwords, are refused. */
static const char *source_authority_problem(struct str authority, bool may_have_user)
{
	const char *at = authority.len ? memrchr(authority.data, '@', authority.len) : NULL;
	struct str host = authority;
	if (at) {
		struct str user = { authority.data, (size_t)(at - authority.data) };
		if (!may_have_user || !source_is_made_of(user, "-_."))
			return "has a user or password in it: leave that to a git credential helper";
		host = (struct str){ at + 1, authority.len - user.len - 1 };
	}
	bool is_number = host.len && host.data[0] == '['; /* [2001:db8::1] */
	if (is_number)
		host = (struct str){ host.data + 1, host.len - 1 };
	return source_is_made_of(host, is_number ? ":.]" : "-.:_") ? NULL : "has no proper host in it";
}

static int source_parse_url(const char *text, const char *rest, struct arena *arena,
	struct plugin_source *source, perch_err *err)
{
	bool is_file = str_has_prefix(str_from(text), STR("file://"));
	bool is_https = str_has_prefix(str_from(text), STR("https://"));
	const char *slash = strchr(rest, '/');
	if (!slash || !slash[1])
		return source_refuse(err, text, "has no path to a repository in it");
	struct str authority = { rest, (size_t)(slash - rest) };
	const char *problem = is_file ? (authority.len ? "must be file:// and an absolute path" : NULL)
								  : source_authority_problem(authority, !is_https);
	if (problem)
		return source_refuse(err, text, problem);
	return source_split_ref(text, (size_t)(slash - text), arena, source, err);
}

/* git@host:path */
static int source_parse_remote(const char *text, const char *colon, struct arena *arena,
	struct plugin_source *source, perch_err *err)
{
	struct str authority = { text, (size_t)(colon - text) };
	const char *problem = source_authority_problem(authority, true);
	if (!problem && (!colon[1] || colon[1] == '-' || colon[1] == ':'))
		problem = "has no path to a repository in it";
	if (problem)
		return source_refuse(err, text, problem);
	return source_split_ref(text, (size_t)(colon - text), arena, source, err);
}

/* Users often write the bare name of a directory that lies here. */
static bool source_is_plugin_here(const char *name)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "./%s/plugin.toml", name);
	return len < PATH_MAX && access(path, R_OK) == 0;
}

static int source_parse_short(const char *text, const char *base, struct arena *arena,
	struct plugin_source *source, perch_err *err)
{
	int r = source_split_ref(text, 0, arena, source, err);
	if (r < 0)
		return r;
	struct str repository = str_from(source->location);
	struct str owner = str_cut(&repository, '/');
	if (!repository.len && source_is_plugin_here(text))
		return err_set(err, -EINVAL,
			"'%.128s' alone names no source, but there is a plugin in ./%.128s: write ./ before it",
			text, text);
	if (!source_is_made_of(owner, "-_.") || !source_is_made_of(repository, "-_."))
		return source_refuse(err, text,
			"is not understood: write ./PATH, OWNER/REPOSITORY, an URL (https, ssh, git, file) or "
			"git@HOST:PATH");
	source->location = arena_join(arena, base, "/", source->location, NULL);
	return source->location ? 0 : err_no_memory(err);
}

static int source_parse_repository(const char *text, const char *base, struct arena *arena,
	struct plugin_source *source, perch_err *err)
{
	source->is_repository = true;
	const char *rest = source_behind_scheme(text);
	const char *colon = strchr(text, ':');
	const char *slash = strchr(text, '/');
	if (rest)
		return source_parse_url(text, rest, arena, source, err);
	if (strstr(text, "://") || strstr(text, "::"))
		return source_refuse(err, text, "must begin with https://, ssh://, git:// or file://");
	if (colon && (!slash || colon < slash))
		return source_parse_remote(text, colon, arena, source, err);
	return source_parse_short(text, base, arena, source, err);
}

int source_parse(const char *text, const char *base, struct arena *arena,
	struct plugin_source *ret_source, perch_err *err)
{
	struct plugin_source source = { .ref = "" };
	int r;
	if (!text[0])
		return err_set(err, -EINVAL, "the source is empty");
	if (strlen(text) > SOURCE_LENGTH_MAX)
		return source_refuse(err, text, "is too long");
	if (source_is_path(text)) {
		r = source_parse_path(text, arena, &source, err);
	} else if (strcasestr(text, "%2e") || strstr(text, "..")) {
		return source_refuse(err, text, "must not contain .. or its encoding");
	} else if (text[0] == '-' || source_has_strange_characters(text)) {
		return source_refuse(err, text, "has a character in it that no source has");
	} else {
		r = source_parse_repository(text, base, arena, &source, err);
	}
	if (r == 0)
		*ret_source = source;
	return r;
}

/* ---- the base ------------------------------------------------------------ */

struct base_reading {
	struct arena *arena;
	const char *base;
};

static int source_read_base(const struct toml_value *root, void *data, perch_err *err)
{
	struct base_reading *reading = data;
	const struct toml_value *table = NULL;
	const char *base = SOURCE_BASE_DEFAULT;
	int r = toml_get_table(root, "plugins", &table, err);
	if (r > 0)
		r = toml_get_string(table, "base_url", &base, err);
	if (r < 0)
		return r;
	if (r > 0 &&
		(!source_behind_scheme(base) || source_has_strange_characters(base) || strchr(base, '@'))) {
		const struct toml_value *value = toml_get(table, "base_url");
		return err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column,
			"`base_url` must be an URL that begins with https://, ssh://, git:// or file://");
	}
	struct str trimmed = str_from(base);
	while (str_has_suffix(trimmed, STR("/")))
		trimmed.len--;
	reading->base = arena_dup(reading->arena, trimmed);
	return reading->base ? 0 : err_no_memory(err);
}

int source_base(
	const char *config_directory, struct arena *arena, const char **ret_base, perch_err *err)
{
	struct base_reading reading = { .arena = arena };
	int r = config_read(config_directory, source_read_base, &reading, err);
	if (r == 0)
		*ret_base = reading.base;
	return r;
}
