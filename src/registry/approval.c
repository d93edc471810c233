/* What was approved against what a manifest says now. */
#include "registry/approval.h"

#include "base/macros.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* From the narrowest to the widest; none said is the widest. */
static unsigned approval_filesystem_rank(enum filesystem_wish wish)
{
	static const unsigned ranks[] = {
		[FILESYSTEM_NONE] = 0,
		[FILESYSTEM_PLUGIN] = 1,
		[FILESYSTEM_PROJECT] = 2,
		[FILESYSTEM_UNSET] = 2,
	};
	return ranks[wish];
}

static const char *const filesystem_words[] = {
	[FILESYSTEM_NONE] = "filesystem none",
	[FILESYSTEM_PLUGIN] = "filesystem plugin",
	[FILESYSTEM_PROJECT] = "filesystem project",
};

void wishes_words(const struct capabilities *wishes, const char *ret_words[WISHES_MAX + 1])
{
	size_t count = 0;
	if (wishes->exec)
		ret_words[count++] = "exec";
	if (wishes->store)
		ret_words[count++] = "store";
	if (wishes->metadata)
		ret_words[count++] = "metadata";
	if (wishes->network)
		ret_words[count++] = "network";
	else if (wishes->has_network)
		ret_words[count++] = "no network";
	if (wishes->filesystem != FILESYSTEM_UNSET)
		ret_words[count++] = filesystem_words[wishes->filesystem];
	ret_words[count] = NULL;
}

static const char *const *approval_copy_list(
	struct arena *arena, const char *const *list, size_t count)
{
	const char **copy = arena_alloc(arena, (count + 1) * sizeof(*copy));
	if (!copy)
		return NULL;
	memcpy(copy, list, count * sizeof(*copy));
	copy[count] = NULL;
	return copy;
}

int approval_of(
	const struct manifest *manifest, struct arena *arena, struct grant_approval *ret_approval)
{
	const char *hooks[HOOK_COUNT];
	const char *wishes[WISHES_MAX + 1];
	size_t hook_count = 0;
	size_t wish_count = 0;
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const char *text;
		const char *name = manifest_hook(manifest, i, &text);
		if (text[0])
			hooks[hook_count++] = name;
	}
	wishes_words(&manifest->wishes, wishes);
	while (wishes[wish_count])
		wish_count++;
	const struct grant_approval approval = {
		.protocol = manifest->protocol,
		.manifest = manifest->hash,
		.hooks = approval_copy_list(arena, hooks, hook_count),
		.wishes = approval_copy_list(arena, wishes, wish_count),
	};
	if (!approval.hooks || !approval.wishes)
		return -ENOMEM;
	*ret_approval = approval;
	return 0;
}

bool approval_is_same(const struct grant_approval *approval, const struct manifest *manifest)
{
	return strcmp(approval->manifest, manifest->hash) == 0;
}

/* ---- in words ------------------------------------------------------------ */

struct words {
	char *text;
	size_t len;
};

static void PERCH_PRINTF(2, 3) approval_say(struct words *words, const char *format, ...)
{
	if (words->len >= APPROVAL_EXCESS_MAX - 1)
		return;
	va_list args;
	va_start(args, format);
	int len = vsnprintf(words->text + words->len, APPROVAL_EXCESS_MAX - words->len, format, args);
	va_end(args);
	words->len += len > 0 ? (size_t)len : 0;
}

static enum filesystem_wish approval_approved_filesystem(const struct grant_approval *approval)
{
	for (size_t i = FILESYSTEM_NONE; i <= FILESYSTEM_PLUGIN; i++) {
		if (list_has(approval->wishes, filesystem_words[i]))
			return (enum filesystem_wish)i;
	}
	return FILESYSTEM_UNSET;
}

static void approval_say_wishes(
	struct words *words, const struct grant_approval *approval, const struct capabilities *wishes)
{
	const struct {
		const char *name;
		bool is_wished;
	} flags[] = {
		{ "exec", wishes->exec },
		{ "store", wishes->store },
		{ "metadata", wishes->metadata },
		{ "network",
			wishes->network || (!wishes->has_network && list_has(approval->wishes, "no network")) },
	};
	const char *separator = "it wants ";
	for (size_t i = 0; i < COUNT(flags); i++) {
		if (!flags[i].is_wished || list_has(approval->wishes, flags[i].name))
			continue;
		approval_say(words, "%s%s", separator, flags[i].name);
		separator = ", ";
	}
	if (approval_filesystem_rank(wishes->filesystem) >
		approval_filesystem_rank(approval_approved_filesystem(approval)))
		approval_say(words, "%sfilesystem %s", separator,
			wishes->filesystem == FILESYSTEM_PLUGIN ? "plugin" : "project");
}

static void approval_say_hooks(
	struct words *words, const struct grant_approval *approval, const struct manifest *manifest)
{
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const char *text;
		const char *name = manifest_hook(manifest, i, &text);
		if (text[0] && !list_has(approval->hooks, name))
			approval_say(words, "%sit has the hook %s", words->len ? "; " : "", name);
	}
}

void approval_excess(const struct grant_approval *approval, const struct manifest *manifest,
	char ret_words[APPROVAL_EXCESS_MAX])
{
	struct words words = { .text = ret_words };
	const char *protocol = manifest ? manifest->protocol : "";
	ret_words[0] = '\0';
	if (manifest && approval_is_same(approval, manifest))
		return;
	if (strcmp(approval->protocol, protocol) != 0) {
		approval_say(&words,
			protocol[0] ? "it speaks another protocol now"
						: "it no longer speaks a protocol and would run with all your rights");
		return;
	}
	if (!manifest)
		return;
	if (protocol[0])
		approval_say_wishes(&words, approval, &manifest->wishes);
	approval_say_hooks(&words, approval, manifest);
}

struct capabilities capabilities_in_force(
	const struct capabilities *granted, const struct capabilities *wishes)
{
	struct capabilities both = *granted;
	both.has_network = wishes->has_network;
	if (approval_filesystem_rank(wishes->filesystem) <
		approval_filesystem_rank(granted->filesystem))
		both.filesystem = wishes->filesystem;
	return both;
}
