/* Compares what was approved with what a manifest asks for now. */
#include "registry/approval.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
		if (list_has(approval->wishes, filesystem_wish_word((enum filesystem_wish)i)))
			return (enum filesystem_wish)i;
	}
	return FILESYSTEM_UNSET;
}

/* The user has approved `network = false`; without it the network is open. */
static bool approval_is_wished(const struct grant_approval *approval,
	const struct capabilities *wishes, const struct capability *capability)
{
	bool opens_network = capability->member == offsetof(struct capabilities, network) &&
		!wishes->says_network && list_has(approval->wishes, WISH_NO_NETWORK);
	return opens_network || capabilities_have(wishes, capability);
}

static void approval_say_wishes(
	struct words *words, const struct grant_approval *approval, const struct capabilities *wishes)
{
	const char *separator = "it wants ";
	for (const struct capability *one = capability_table; one->name; one++) {
		if (!approval_is_wished(approval, wishes, one) || list_has(approval->wishes, one->name))
			continue;
		approval_say(words, "%s%s", separator, one->name);
		separator = ", ";
	}
	if (wishes->plugins && !list_has(approval->wishes, WISH_PLUGINS)) {
		approval_say(words, "%s" WISH_PLUGINS, separator);
		separator = ", ";
	}
	if (filesystem_is_wider(wishes->filesystem, approval_approved_filesystem(approval)))
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
