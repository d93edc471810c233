/* Why a program failed in a sandbox, as far as its stderr tells. */
#include "sandbox/policy/explain.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/shell_word.h"

enum { TAIL = 4096 };

/* Words that a line must have, in upper or lower case. */
static const char *const denial_words[] = { "permission denied", "operation not permitted",
	"no permissions to", "read-only file system", "eacces", "eperm", "erofs" };
static const char *const absence_words[] = { "no such file", "enoent", "not found" };
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

/* The last absolute path of a line, up to a character that usually ends one. Paths of programs
 * stand in front ("/bin/sh: 1: cannot create /etc/x: …"). */
static struct str explain_find_path(struct str line)
{
	struct str found = { 0 };
	for (size_t at = 0; at < line.len; at++) {
		bool begins = at == 0 || strchr(" \t'\"`(=:<[", line.data[at - 1]);
		if (line.data[at] != '/' || !begins)
			continue;
		size_t end = at;
		while (end < line.len && !strchr(" \t'\"`):,;>]\r", line.data[end]))
			end++;
		found = (struct str){ line.data + at, end - at };
		at = end;
	}
	return found;
}

static void explain_begin(const struct explain_context *context, struct buf *out)
{
	buf_printf(out, "the sandbox policy '%s' was in force; ", context->policy_name);
}

static bool explain_path(
	const struct explain_context *context, const char *path, bool is_absence, struct buf *out)
{
	const struct sandbox_policy *policy = context->policy;
	bool is_hidden =
		policy_is_inside_any(path, policy->hide) && !policy_is_inside_any(path, policy->reveal);
	bool is_tmp = policy->has_private_tmp &&
		(policy_is_inside(path, "/tmp") || policy_is_inside(path, "/var/tmp"));
	bool is_read = policy->reads_everything || policy_is_inside_any(path, policy->read);
	if (is_absence && !is_hidden && !is_tmp)
		return false;
	char shown[FILE_SHOWN_MAX];
	char word[SHELL_WORD_MAX];
	file_shown(path, shown);
	shell_word(path, word);
	explain_begin(context, out);
	if (policy_is_inside_any(path, policy->protect))
		buf_printf(out, "it protects %s, which the host would execute or trust later", shown);
	else if (!word[0])
		buf_printf(out, "it does not allow that for %s", shown);
	else if (is_hidden || is_tmp || !is_read)
		buf_printf(out, "%s--read %s would show it, --write %s allow to change it",
			context->widen_by, word, word);
	else
		buf_printf(out, "%s--write %s would allow it", context->widen_by, word);
	return true;
}

static bool explain_line(const struct explain_context *context, struct str line, struct buf *out)
{
	bool is_denial = HAS(line, denial_words);
	bool is_absence = HAS(line, absence_words);
	if (is_denial && HAS(line, nested_words)) {
		explain_begin(context, out);
		buf_printf(out, "no other sandbox can be made inside it: switch one of the two off%s%s%s",
			context->widen_by[0] ? " (" : "", context->widen_by,
			context->widen_by[0] ? "--sandbox off)" : ", and run it without perch sandbox run");
		return true;
	}
	struct str found = is_denial || is_absence ? explain_find_path(line) : (struct str){ 0 };
	_cleanup_free_ char *path = found.len > 1 ? str_dup(found) : NULL;
	if (path && explain_path(context, path, is_absence && !is_denial, out))
		return true;
	if (context->policy->net == SANDBOX_NET_NONE && HAS(line, net_words)) {
		explain_begin(context, out);
		buf_printf(out, "%s--net%s would give it a network", context->widen_by,
			context->widen_by[0] ? "" : " full");
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
