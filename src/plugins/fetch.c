/* Repositories, by the git command. */
#include "plugins/fetch.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"

/* clang-format off */
#define GIT "git", "--no-pager", \
	"-c", "core.hooksPath=/dev/null", \
	"-c", "core.fsmonitor=false", \
	"-c", "protocol.ext.allow=never", \
	"-c", "submodule.recurse=false", \
	"-c", "advice.detachedHead=false", \
	"-c", "gc.auto=0"
/* clang-format on */

/* The first word of a line, copied. */
static int fetch_keep_word(
	const struct buf *output, struct arena *arena, const char **ret_word, perch_err *err)
{
	struct str text = { output->data, output->len };
	struct str line = str_cut(&text, '\n');
	*ret_word = arena_dup(arena, str_cut(&line, '\t'));
	return *ret_word ? 0 : err_no_memory(err);
}

static bool fetch_looks_like_commit(const char *ref)
{
	size_t len = strlen(ref);
	return len >= 7 && len <= 64 && strspn(ref, "0123456789abcdefABCDEF") == len;
}

/* All branches, because a server need not hand out a commit by its name. */
static int fetch_commit(
	struct fetch_git *git, const struct plugin_source *source, const char *path, perch_err *err)
{
	const char *const clone[] = { GIT, "clone", "--quiet", "--template=", "--no-checkout",
		"--no-recurse-submodules", "--", source->location, path, NULL };
	int r = fetch_git_run(git, clone, NULL, "fetching", NULL, err);
	if (r < 0)
		return r;
	const char *const checkout[] = { GIT, "checkout", "--quiet", "--detach", source->ref, "--",
		NULL };
	return fetch_git_run(git, checkout, path, NULL, NULL, err);
}

static int fetch_ref(
	struct fetch_git *git, const struct plugin_source *source, const char *path, perch_err *err)
{
	const char *argv[32] = { GIT, "clone", "--quiet", "--template=", "--depth=1",
		"--no-recurse-submodules", "--single-branch", "--no-local" };
	size_t count = 0;
	while (argv[count])
		count++;
	if (source->ref[0]) {
		argv[count++] = "--branch";
		argv[count++] = source->ref;
	}
	argv[count++] = "--";
	argv[count++] = source->location;
	argv[count++] = path;
	return fetch_git_run(git, argv, NULL, "fetching", NULL, err);
}

/* ---- a ref that is not there ----------------------------------------------- */

enum { FETCH_NEAR_MAX = 3 };

struct fetch_near {
	const char *names[FETCH_NEAR_MAX];
	unsigned distances[FETCH_NEAR_MAX];
	size_t count;
};

/* Of two that are as near, the later version comes first. */
static void fetch_near_take(struct fetch_near *near, const char *name, const char *ref)
{
	unsigned distance = str_distance(ref, name);
	size_t at = near->count;
	while (at > 0 &&
		(near->distances[at - 1] > distance ||
			(near->distances[at - 1] == distance &&
				version_compare(near->names[at - 1], name) < 0)))
		at--;
	if (at == FETCH_NEAR_MAX)
		return;
	near->count += near->count < FETCH_NEAR_MAX;
	for (size_t i = near->count - 1; i > at; i--) {
		near->names[i] = near->names[i - 1];
		near->distances[i] = near->distances[i - 1];
	}
	near->names[at] = name;
	near->distances[at] = distance;
}

/* The tag or branch in a line of ls-remote. */
static struct str fetch_name_in(struct str line)
{
	static const struct str prefixes[] = { { "refs/tags/", 10 }, { "refs/heads/", 11 } };
	str_cut(&line, '\t');
	for (size_t i = 0; i < COUNT(prefixes); i++) {
		if (str_has_prefix(line, prefixes[i]))
			return (struct str){ line.data + prefixes[i].len, line.len - prefixes[i].len };
	}
	return (struct str){ 0 };
}

/* In place of git's words: which refs there are instead. Without an answer git's words stay. */
static int fetch_refuse_ref(
	struct fetch_git *git, const struct plugin_source *source, perch_err *err)
{
	_cleanup_(buf_free) struct buf output = { 0 };
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct fetch_near near = { 0 };
	const char *const argv[] = { GIT, "ls-remote", "--quiet", "--tags", "--heads", "--refs", "--",
		source->location, NULL };
	if (fetch_git_run(git, argv, NULL, NULL, &output, NULL) < 0)
		return -EIO;
	struct str rest = { output.data, output.len };
	for (int seen = 0; rest.len && seen < FETCH_TAGS_MAX; seen++) {
		struct str found = fetch_name_in(str_cut(&rest, '\n'));
		const char *name = found.len ? arena_dup(&arena, found) : NULL;
		if (name && !source_ref_problem(name))
			fetch_near_take(&near, name, source->ref);
	}
	if (!near.count)
		return -EIO;
	return err_set(err, -EIO, "there is no tag or branch '%s' in it; the nearest: %s%s%s%s%s",
		source->ref, near.names[0], near.count > 1 ? ", " : "", near.count > 1 ? near.names[1] : "",
		near.count > 2 ? ", " : "", near.count > 2 ? near.names[2] : "");
}

static int fetch_with(struct fetch_git *git, const struct plugin_source *source, const char *path,
	struct arena *arena, const char **ret_commit, perch_err *err)
{
	int r = fetch_ref(git, source, path, err);
	if (r == -EIO && fetch_looks_like_commit(source->ref) && access(path, F_OK) != 0)
		r = fetch_commit(git, source, path, err);
	else if (r == -EIO && err && strstr(err->text, "not found in upstream"))
		r = fetch_refuse_ref(git, source, err);
	if (r < 0)
		return r;
	_cleanup_(buf_free) struct buf output = { 0 };
	const char *const argv[] = { GIT, "rev-parse", "--verify", "HEAD", NULL };
	r = fetch_git_run(git, argv, path, NULL, &output, err);
	return r < 0 ? r : fetch_keep_word(&output, arena, ret_commit, err);
}

int fetch_clone(struct workshop *workshop, const struct plugin_source *source, const char *path,
	struct arena *arena, const char **ret_commit, perch_err *err)
{
	struct fetch_git git = { 0 };
	_cleanup_free_ char *stage = str_dup((struct str){ path, (size_t)(strrchr(path, '/') - path) });
	if (!stage)
		return err_no_memory(err);
	int r = fetch_git_open(&git, workshop, source->location, stage, err);
	if (r == 0)
		r = fetch_with(&git, source, path, arena, ret_commit, err);
	fetch_git_close(&git);
	return r;
}

/* ---- versions ------------------------------------------------------------ */

/* Takes the number at the start off the text; one that is too large is cut. */
static unsigned long fetch_take_number(const char **text)
{
	char *end;
	unsigned long number = strtoul(*text, &end, 10);
	*text = end;
	return number;
}

static const char *fetch_without_v(const char *text)
{
	return text[0] == 'v' || text[0] == 'V' ? text + 1 : text;
}

bool version_is(const char *text)
{
	const char *at = fetch_without_v(text);
	if (!isdigit((unsigned char)*at))
		return false;
	for (;;) {
		fetch_take_number(&at);
		if (at[0] != '.' || !isdigit((unsigned char)at[1]))
			break;
		at++;
	}
	return *at == '\0' || *at == '-' || *at == '+';
}

/* The part behind the numbers: none sorts later than a pre-release. */
static int fetch_compare_rest(const char *a, const char *b)
{
	bool a_is_early = *a == '-';
	bool b_is_early = *b == '-';
	if (a_is_early != b_is_early)
		return a_is_early ? -1 : 1;
	return a_is_early ? strverscmp(a, b) : 0;
}

int version_compare(const char *a, const char *b)
{
	a = fetch_without_v(a);
	b = fetch_without_v(b);
	while (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
		unsigned long first = isdigit((unsigned char)*a) ? fetch_take_number(&a) : 0;
		unsigned long second = isdigit((unsigned char)*b) ? fetch_take_number(&b) : 0;
		if (first != second)
			return first < second ? -1 : 1;
		a += *a == '.';
		b += *b == '.';
	}
	return fetch_compare_rest(a, b);
}

static bool fetch_is_later(const char *tag, const char *than, const char *ref)
{
	bool is_early = strchr(tag, '-') && !strchr(ref, '-');
	return version_is(tag) && !is_early && version_compare(tag, than) > 0;
}

int fetch_newer_tag(struct workshop *workshop, const struct plugin_source *source,
	struct arena *arena, const char **ret_tag, perch_err *err)
{
	const char *best = NULL;
	_cleanup_(buf_free) struct buf output = { 0 };
	const char *const argv[] = { GIT, "ls-remote", "--quiet", "--tags", "--refs", "--",
		source->location, NULL };
	struct fetch_git git = { 0 };
	int r = fetch_git_open(&git, workshop, source->location, "", err);
	if (r == 0)
		r = fetch_git_run(&git, argv, NULL, "looking for newer tags", &output, err);
	fetch_git_close(&git);
	if (r < 0)
		return r;
	struct str rest = { output.data, output.len };
	for (int seen = 0; version_is(source->ref) && rest.len && seen < FETCH_TAGS_MAX; seen++) {
		struct str found = fetch_name_in(str_cut(&rest, '\n'));
		const char *tag = found.len ? arena_dup(arena, found) : "";
		if (!tag)
			return err_no_memory(err);
		if (fetch_is_later(tag, best ? best : source->ref, source->ref) && !source_ref_problem(tag))
			best = tag;
	}
	*ret_tag = best;
	return 0;
}
