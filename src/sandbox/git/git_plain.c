/* A configuration of git's, if it is as plain as git itself writes it. */
#include "sandbox/git/git_plain.h"

#include "base/macros.h"

#include <errno.h>
#include <strings.h>

/* Variables that say where and how things are stored. Any other variable may name a program, or
 * another file to be read. */
static const struct {
	const char *section;
	bool has_subsection;
	const char *keys[10];
} harmless[] = {
	{ "core", false,
		{ "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase",
			"precomposeunicode", "symlinks", "worktree", "autocrlf" } },
	{ "extensions", false, { "objectformat", "refstorage", "compatobjectformat" } },
	{ "user", false, { "name", "email" } },
	{ "init", false, { "defaultbranch" } },
	{ "submodule", false, { "active" } },
	{ "submodule", true, { "url", "active", "branch" } },
	{ "remote", true, { "url", "pushurl", "fetch", "push", "mirror", "tagopt", "prune" } },
	{ "branch", true, { "remote", "merge", "rebase", "description" } },
};

enum { HARMLESS = COUNT(harmless) };

static bool git_plain_is_word(struct str text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	for (size_t i = 0; i < text.len; i++) {
		if (!text.data[i] || !strchr(letters, text.data[i]))
			return false;
	}
	return text.len > 0;
}

/* No byte that has a special meaning to git. */
static bool git_plain_is_text(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if (byte < 0x20 || byte == 0x7f || strchr("\"\\#;", byte))
			return false;
	}
	return true;
}

static bool git_plain_same(struct str text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.data, word, text.len) == 0;
}

/* [section] or [section "subsection"], and nothing else on the line. */
static int git_plain_section(struct git_plain *plain, struct str line)
{
	if (line.len < 3 || line.data[line.len - 1] != ']')
		return -EINVAL;
	struct str inner = { line.data + 1, line.len - 2 };
	struct str name = str_cut(&inner, ' ');
	bool has_subsection = name.len < line.len - 2;
	plain->section = name;
	plain->subsection = (struct str){ 0 };
	if (!git_plain_is_word(name))
		return -EINVAL;
	if (!has_subsection)
		return 0;
	if (inner.len < 2 || inner.data[0] != '"' || inner.data[inner.len - 1] != '"')
		return -EINVAL;
	plain->subsection = (struct str){ inner.data + 1, inner.len - 2 };
	bool is_plain = git_plain_is_text(plain->subsection) &&
		!memchr(plain->subsection.data, ']', plain->subsection.len);
	return is_plain ? 0 : -EINVAL;
}

static int git_plain_variable(struct git_plain *plain, struct str line)
{
	const char *sign = memchr(line.data, '=', line.len);
	struct str key = line;
	plain->value = (struct str){ 0 };
	if (sign) {
		key.len = (size_t)(sign - line.data);
		plain->value = str_trim((struct str){ sign + 1, line.len - key.len - 1 });
	}
	plain->key = str_trim(key);
	bool is_plain =
		plain->section.len && git_plain_is_word(plain->key) && git_plain_is_text(plain->value);
	return is_plain ? 1 : -EINVAL;
}

int git_plain_next(struct git_plain *plain)
{
	int r = 0;
	while (r == 0 && plain->rest.len) {
		struct str line = str_cut(&plain->rest, '\n');
		if (memchr(line.data, '\r', line.len) || memchr(line.data, 0, line.len))
			return -EINVAL;
		line = str_trim(line);
		if (!line.len || line.data[0] == '#' || line.data[0] == ';')
			continue;
		r = line.data[0] == '[' ? git_plain_section(plain, line) : git_plain_variable(plain, line);
	}
	return r;
}

bool git_plain_is(const struct git_plain *plain, const char *section, const char *key)
{
	return git_plain_same(plain->section, section) && !plain->subsection.data &&
		git_plain_same(plain->key, key);
}

/* NAME::ADDRESS is for a program git-remote-NAME. */
static bool git_plain_has_helper(struct str value)
{
	for (size_t i = 0; i + 1 < value.len; i++) {
		if (value.data[i] == ':' && value.data[i + 1] == ':')
			return true;
	}
	return false;
}

static bool git_plain_is_listed(const struct git_plain *plain)
{
	for (size_t i = 0; i < HARMLESS; i++) {
		if (!git_plain_same(plain->section, harmless[i].section) ||
			!plain->subsection.data == harmless[i].has_subsection)
			continue;
		for (const char *const *key = harmless[i].keys; *key; key++) {
			if (git_plain_same(plain->key, *key))
				return true;
		}
	}
	return false;
}

bool git_plain_is_harmless(struct str text)
{
	struct git_plain plain = { .rest = text };
	int r;
	while ((r = git_plain_next(&plain)) > 0) {
		if (!git_plain_is_listed(&plain) || git_plain_has_helper(plain.value))
			return false;
	}
	return r == 0;
}
