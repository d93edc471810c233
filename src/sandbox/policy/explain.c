/* Why a program failed in a sandbox, as far as its stderr tells. */
#include "sandbox/policy/explain.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/shell_word.h"
#include "data/toml_edit.h"

enum { TAIL = 4096 };

/* Words that a line must have, in upper or lower case. */
static const char *const denial_words[] = { "permission denied", "operation not permitted",
	"no permissions to", "read-only file system", "eacces", "eperm", "erofs" };
static const char *const absence_words[] = { "no such file", "enoent", "not found", "nonexistent" };
static const char *const making_words[] = { "cannot create", "mkdir" };
static const char *const nested_words[] = { "namespace", "unshare", "uid map", "bwrap", "chroot",
	"pivot_root", "landlock" };
static const char *const net_words[] = { "resolve host", "name resolution", "getaddrinfo",
	"eai_again", "connect", "socket", "network", "bind" };
static const char *const nested_programs[] = { "bwrap", "unshare", "firejail", "flatpak", "nsjail",
	"podman", "runc", "chroot" };

static bool explain_has_word(struct str text, const char *word)
{
	size_t len = strlen(word);
	for (size_t at = 0; at + len <= text.len; at++) {
		if (strncasecmp(text.data + at, word, len) == 0)
			return true;
	}
	return false;
}

static bool explain_has_any(struct str text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (explain_has_word(text, words[i]))
			return true;
	}
	return false;
}

#define HAS(text, words) explain_has_any((text), (words), COUNT(words))

/* A quote as programs write it, in any locale: its length, 0 = none is there. */
static size_t explain_quote(struct str line, size_t at)
{
	static const char *const quotes[] = { "'", "\"", "`", "\xE2\x80\x98", "\xE2\x80\x99",
		"\xE2\x80\x9C", "\xE2\x80\x9D" };
	for (size_t i = 0; i < COUNT(quotes); i++) {
		size_t len = strlen(quotes[i]);
		if (at + len <= line.len && memcmp(line.data + at, quotes[i], len) == 0)
			return len;
	}
	return 0;
}

/* Whether a quote ends where `at` begins. */
static bool explain_is_quoted(struct str line, size_t at)
{
	return (at >= 1 && explain_quote(line, at - 1) == 1) ||
		(at >= 3 && explain_quote(line, at - 3) == 3);
}

/* The end of the path that begins at `at`: a quote where one stands before it, else a character
 * that usually ends one. */
static size_t explain_path_end(struct str line, size_t at)
{
	size_t end = at;
	while (explain_is_quoted(line, at) && end < line.len && !explain_quote(line, end))
		end++;
	if (end > at && end < line.len)
		return end;
	for (end = at; end < line.len && !explain_quote(line, end);) {
		if (strchr(" \t):,;>]\r", line.data[end]))
			break;
		end++;
	}
	return end;
}

static bool explain_exists(const struct explain_context *context, const char *path)
{
	return context->exists ? context->exists(path) : access(path, F_OK) == 0;
}

static bool explain_is_there(const struct explain_context *context, struct str path)
{
	_cleanup_free_ char *text = str_dup(path);
	return text && explain_exists(context, text);
}

/* Shells quote no path: it ends at ": ", and may have blanks. Where what stands before its first
 * blank is there, the blank ended it. */
static size_t explain_shell_end(const struct explain_context *context, struct str line, size_t at)
{
	size_t end = explain_path_end(line, at);
	const char *colon = memmem(line.data + at, line.len - at, ": ", 2);
	if (end == line.len || line.data[end] != ' ' || !colon ||
		explain_is_there(context, (struct str){ line.data + at, end - at }))
		return end;
	return (size_t)(colon - line.data);
}

/* Whether a shell's words stand before it. */
static bool explain_is_of_shell(struct str line, size_t at)
{
	static const char *const words[] = { ": ", "cannot create ", "cannot open " };
	for (size_t i = 0; i < COUNT(words); i++) {
		if (str_has_suffix((struct str){ line.data, at }, str_from(words[i])))
			return true;
	}
	return false;
}

/* The last absolute path of a line. Paths of programs stand in front ("/bin/sh: 1: cannot create
 * /etc/x: …"). */
static struct str explain_find_path(const struct explain_context *context, struct str line)
{
	struct str found = { 0 };
	for (size_t at = 0; at < line.len; at++) {
		bool begins =
			at == 0 || strchr(" \t(=:<[", line.data[at - 1]) || explain_is_quoted(line, at);
		if (line.data[at] != '/' || !begins)
			continue;
		size_t end = explain_is_of_shell(line, at) ? explain_shell_end(context, line, at)
												   : explain_path_end(line, at);
		found = (struct str){ line.data + at, end - at };
		at = end;
	}
	return found;
}

static void explain_begin(const struct explain_context *context, struct buf *out)
{
	buf_printf(out, "the sandbox policy '%s' was in force; ", context->policy_name);
}

/* ---- a path ------------------------------------------------------------------- */

/* The command that makes a path which is to be written and is not there; "" where it is, and where
 * it cannot be advised. What is above it is never allowed in its place. */
static void explain_make(
	const struct explain_context *context, const char *path, struct str line, char *ret_command)
{
	static const char *const directory_words[] = { "create directory", "mkdir" };
	char above[SHELL_WORD_MAX];
	char word[SHELL_WORD_MAX];
	char parent[SHELL_WORD_MAX];
	ret_command[0] = '\0';
	if (explain_exists(context, path) || !shell_word(path, word)[0])
		return;
	snprintf(above, sizeof(above), "%s", path);
	*strrchr(above, '/') = '\0';
	if (HAS(line, directory_words))
		snprintf(ret_command, EXPLAIN_MAKE_MAX, "mkdir -p %s", word);
	else if (!above[0] || explain_exists(context, above))
		snprintf(ret_command, EXPLAIN_MAKE_MAX, "touch %s", word);
	else if (shell_word(above, parent)[0])
		snprintf(ret_command, EXPLAIN_MAKE_MAX, "mkdir -p %s && touch %s", parent, word);
}

/* Whether it is a new file in a directory that is there, but not for the program. */
static bool explain_is_making(
	const struct explain_context *context, const char *path, struct str line)
{
	struct str above = { path, (size_t)(strrchr(path, '/') - path) };
	return HAS(line, making_words) && above.len && explain_is_there(context, above);
}

/* What would allow the path; false: nothing is to be said of it. */
static bool explain_judge(const struct explain_context *context, const char *path, bool is_absence,
	struct str line, struct explain_advice *advice)
{
	const struct sandbox_policy *policy = context->policy;
	bool is_hidden =
		policy_is_inside_any(path, policy->hide) && !policy_is_inside_any(path, policy->reveal);
	bool is_named = policy_is_inside_any(path, policy->read);
	bool is_tmp = policy->has_private_tmp && !is_named &&
		!policy_is_inside_any(path, policy->reveal) && policy_is_shared(path);
	bool is_read = policy->reads_everything || is_named;
	*advice = (struct explain_advice){ 0 };
	if (is_absence && !is_hidden && !is_tmp)
		return false;
	if (is_absence && !explain_exists(context, path) && !explain_is_making(context, path, line))
		return false;
	file_shown(path, advice->shown);
	shell_word(path, advice->word);
	if (policy_is_inside_any(path, policy->protect))
		advice->is_protected = true;
	else if (!advice->word[0])
		return true;
	else if ((is_hidden || is_tmp || !is_read) && explain_exists(context, path))
		advice->option = "--read";
	else
		advice->option = "--write";
	if (advice->option && strcmp(advice->option, "--write") == 0)
		explain_make(context, path, line, advice->make);
	return true;
}

/* As a line of the file: read = ["/srv/data"]. */
static void explain_say_line(const struct explain_context *context,
	const struct explain_advice *advice, const char *path, struct buf *out)
{
	char shown[FILE_SHOWN_MAX];
	buf_printf(out, "%s = [", advice->option + 2);
	toml_write_string(out, path);
	buf_printf(out, "] under [sandbox] in %s would allow it%s%s",
		file_shown(context->widen_in, shown), advice->make[0] ? ", once it is there: " : "",
		advice->make);
}

static void explain_say(const struct explain_context *context, const struct explain_advice *advice,
	const char *path, struct buf *out)
{
	const char *by = context->widen_by;
	const char *word = advice->word;
	explain_begin(context, out);
	if (advice->is_protected)
		buf_printf(
			out, "it protects %s, which the host would execute or trust later", advice->shown);
	else if (!advice->option)
		buf_printf(out, "it does not allow that for %s", advice->shown);
	else if (context->widen_in)
		explain_say_line(context, advice, path, out);
	else if (strcmp(advice->option, "--read") == 0)
		buf_printf(out, "%s--read %s would show it, --write %s allow to change it", by, word, word);
	else if (advice->make[0] && by[0])
		buf_printf(out, "%s && %s--write %s would allow it", advice->make, by, word);
	else
		buf_printf(out, "%s--write %s would allow it%s%s", by, word,
			advice->make[0] ? ", once it is there: " : "", advice->make);
}

/* The path of a line that denies something, or says that it is not there. NULL = there is none. */
static char *explain_path_of(
	const struct explain_context *context, struct str line, bool *ret_is_absence)
{
	bool is_denial = HAS(line, denial_words);
	bool is_absence = HAS(line, absence_words);
	*ret_is_absence = is_absence && !is_denial;
	struct str found =
		is_denial || is_absence ? explain_find_path(context, line) : (struct str){ 0 };
	return found.len > 1 ? str_dup(found) : NULL;
}

static void explain_say_nested(const struct explain_context *context, struct buf *out)
{
	const char *by = context->widen_by;
	char shown[FILE_SHOWN_MAX];
	explain_begin(context, out);
	buf_append_text(out, "no other sandbox can be made inside it: switch one of the two off");
	if (context->widen_in)
		buf_printf(
			out, " (mode = \"off\" under [sandbox] in %s)", file_shown(context->widen_in, shown));
	else
		buf_printf(out, "%s%s%s", by[0] ? " (" : "", by,
			by[0] ? "--sandbox off)" : ", and run it without perch sandbox run");
}

static void explain_say_net(const struct explain_context *context, struct buf *out)
{
	char shown[FILE_SHOWN_MAX];
	explain_begin(context, out);
	if (context->widen_in)
		buf_printf(out, "net = \"full\" under [sandbox] in %s would give it a network",
			file_shown(context->widen_in, shown));
	else
		buf_printf(out, "%s--net would give it a network", context->widen_by);
}

static bool explain_line(const struct explain_context *context, struct str line, struct buf *out)
{
	if (HAS(line, denial_words) && HAS(line, nested_words)) {
		explain_say_nested(context, out);
		return true;
	}
	bool is_absence;
	struct explain_advice advice;
	_cleanup_free_ char *path = explain_path_of(context, line, &is_absence);
	if (path && explain_judge(context, path, is_absence, line, &advice)) {
		explain_say(context, &advice, path, out);
		return true;
	}
	if (context->policy->net == SANDBOX_NET_NONE && HAS(line, net_words)) {
		explain_say_net(context, out);
		return true;
	}
	return false;
}

bool explain_advise(
	const struct explain_context *context, struct str said, struct explain_advice *ret_advice)
{
	if (said.len > TAIL)
		said = (struct str){ said.data + said.len - TAIL, TAIL };
	while (said.len) {
		struct str line = str_cut(&said, '\n');
		bool is_absence;
		_cleanup_free_ char *path = explain_path_of(context, line, &is_absence);
		if (path && explain_judge(context, path, is_absence, line, ret_advice) &&
			ret_advice->option)
			return true;
		*ret_advice = (struct explain_advice){ .option = "--net" };
		if (context->policy->net == SANDBOX_NET_NONE && HAS(line, net_words))
			return true;
	}
	return false;
}

bool explain_failure(const struct explain_context *context, struct str said, struct buf *out)
{
	if (said.len > TAIL)
		said = (struct str){ said.data + said.len - TAIL, TAIL };
	while (said.len) {
		struct str line = str_cut(&said, '\n');
		if (line.len && explain_line(context, line, out))
			return true;
	}
	return false;
}

bool explain_nested(const struct explain_context *context, const char *program, struct buf *out)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	for (size_t i = 0; i < COUNT(nested_programs); i++) {
		if (strcmp(name, nested_programs[i]) == 0)
			return explain_line(context, STR("namespace: operation not permitted"), out);
	}
	return false;
}

void explain_end(const struct explain_context *context, struct str said, struct buf *out)
{
	if (explain_failure(context, said, out))
		return;
	explain_begin(context, out);
	buf_printf(out, "if it was denied something, %s%s", context->widen_by,
		"--read PATH, --write PATH, --env NAME or --net allows it");
}
