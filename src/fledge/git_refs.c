/* HEAD and the refs it names, from files: loose refs and packed-refs. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/regular.h"
#include "fledge/git_parts.h"

enum {
	REF_FILE_MAX = 4096,
	SYMREF_DEPTH_MAX = 5, /* as in git */
	SYMREF_START_MAX = 255,
	PACKED_PIECE = 64 * 1024,
	PACKED_PIECES_MAX = 2048, /* 128 MiB, some two million refs */
};

int git_file_read(int directory, const char *path, size_t max, struct buf *out)
{
	int r = regular_read(directory, path, 0, max, out);
	if (r == 0)
		return 1;
	return r == -ENOMEM ? r : 0;
}

char *git_path_resolve(const char *base, struct str path, struct arena *arena)
{
	if (path.len && path.data[0] == '/')
		return arena_dup(arena, path);
	size_t base_len = strlen(base);
	char *joined = arena_alloc(arena, base_len + 1 + path.len + 1);
	if (!joined)
		return NULL;
	memcpy(joined, base, base_len);
	joined[base_len] = '/';
	memcpy(joined + base_len + 1, path.data, path.len);
	joined[base_len + 1 + path.len] = '\0';
	return joined;
}

/* The name of an object: 40 or 64 hex digits, and blanks behind them. */
static bool git_refs_is_object_name(struct str text)
{
	struct str name = str_trim(text);
	if (name.data != text.data || (name.len != 40 && name.len != 64))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!memchr("0123456789abcdefABCDEF", name.data[i], 22))
			return false;
	return true;
}

static bool git_refs_is_ref_part(struct str part)
{
	if (part.len == 0 || part.data[0] == '.' || str_has_suffix(part, STR(".lock")))
		return false;
	for (size_t i = 0; i < part.len; i++) {
		char c = part.data[i];
		if ((unsigned char)c <= ' ' || memchr("\x7f~^:?*[\\", c, 8))
			return false;
		if (c == '.' && i > 0 && part.data[i - 1] == '.')
			return false;
	}
	return true;
}

/* git's rules for names, as far as a name becomes a path and a text for people. */
static bool git_refs_is_ref_name(struct str name)
{
	if (!str_has_prefix(name, STR("refs/")) || name.data[name.len - 1] == '/')
		return false;
	for (struct str rest = name; rest.len;)
		if (!git_refs_is_ref_part(str_cut(&rest, '/')))
			return false;
	return true;
}

/* What "ref: refs/heads/x" names; nothing when it is something else. As in git
 * the name begins within the first 255 bytes, and not behind just any blank. */
static struct str git_refs_symref_target(struct str text)
{
	size_t start = 4;
	if (!str_has_prefix(text, STR("ref:")))
		return (struct str){ 0 };
	while (start < text.len && strchr(" \t\r\n", text.data[start]) && text.data[start])
		start++;
	struct str target = { text.data + start, text.len - start };
	bool is_target = str_has_prefix(target, STR("refs/")) && start + 5 <= SYMREF_START_MAX;
	return is_target ? str_trim(target) : (struct str){ 0 };
}

static int git_refs_keep_ref(struct str name, struct arena *arena, const char **ret_ref)
{
	const char *kept = arena_dup(arena, name);
	if (!kept)
		return -ENOMEM;
	*ret_ref = kept;
	return 1;
}

/* Before there were symbolic refs HEAD was a link to refs/heads/x; a link to
 * anything else is none for git either. */
int git_head_read(int git_directory, struct arena *arena, const char **ret_ref)
{
	char link[REF_FILE_MAX];
	ssize_t link_length = readlinkat(git_directory, "HEAD", link, sizeof(link));
	if (link_length >= 0) {
		struct str target = { link, (size_t)link_length };
		return git_refs_is_ref_name(target) ? git_refs_keep_ref(target, arena, ret_ref) : 0;
	}
	_cleanup_(buf_free) struct buf content = { 0 };
	int r = git_file_read(git_directory, "HEAD", REF_FILE_MAX, &content);
	if (r <= 0)
		return r;
	struct str text = { content.data, content.len };
	struct str target = git_refs_symref_target(text);
	if (target.len)
		return git_refs_keep_ref(target, arena, ret_ref);
	if (!git_refs_is_object_name(text))
		return 0;
	*ret_ref = NULL;
	return 1;
}

/* Looks for " refs/heads/x\n", which can only be the end of that ref's line:
 * names have no blanks. Pieces overlap by its length. */
static int git_refs_search_packed(int fd, struct str needle, char *piece)
{
	size_t kept = 0;
	for (int pieces = 0; pieces < PACKED_PIECES_MAX; pieces++) {
		ssize_t n = read(fd, piece + kept, PACKED_PIECE);
		if (n <= 0)
			return 0;
		size_t length = kept + (size_t)n;
		if (memmem(piece, length, needle.data, needle.len))
			return 1;
		kept = length < needle.len - 1 ? length : needle.len - 1;
		memmove(piece, piece + length - kept, kept);
	}
	return 0;
}

static int git_refs_is_packed(int common_directory, const char *ref)
{
	_cleanup_(buf_free) struct buf needle = { 0 };
	_cleanup_free_ char *piece = NULL;
	_cleanup_fd_ int fd = regular_open(common_directory, "packed-refs", O_RDONLY);
	if (fd < 0)
		return 0;
	if (buf_printf(&needle, " %s\n", ref) < 0)
		return -ENOMEM;
	piece = malloc(PACKED_PIECE + needle.len);
	if (!piece)
		return -ENOMEM;
	return git_refs_search_packed(fd, (struct str){ needle.data, needle.len }, piece);
}

int git_ref_exists(int common_directory, const char *ref)
{
	_cleanup_(buf_free) struct buf content = { 0 };
	_cleanup_(buf_free) struct buf name = { 0 };
	buf_append_text(&name, ref);
	for (int depth = 0; depth < SYMREF_DEPTH_MAX; depth++) {
		if (buf_terminate(&name) < 0)
			return -ENOMEM;
		if (!git_refs_is_ref_name((struct str){ name.data, name.len }))
			return 0;
		buf_clear(&content);
		int r = git_file_read(common_directory, name.data, REF_FILE_MAX, &content);
		if (r < 0)
			return r;
		struct str text = { content.data, content.len };
		if (r == 0)
			return git_refs_is_packed(common_directory, name.data);
		if (git_refs_is_object_name(text))
			return 1;
		struct str target = git_refs_symref_target(text);
		buf_clear(&name);
		buf_append(&name, target.data, target.len);
	}
	return 0;
}
