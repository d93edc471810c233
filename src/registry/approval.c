/* Compares what was approved with what a manifest asks for now. */
#include "registry/approval.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/policy/path_list.h"

/* A hook that was approved is one with this text: "build: make". */
static const char *approval_hook(struct arena *arena, const char *name, const char *text)
{
	return arena_join(arena, name, ": ", text, NULL);
}

static const char *const *approval_hooks(struct arena *arena, const struct manifest *manifest)
{
	struct path_list hooks;
	path_list_begin(&hooks, arena, NULL);
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const char *text;
		const char *name = manifest_hook(manifest, i, &text);
		const char *hook = text[0] ? approval_hook(arena, name, text) : "";
		hooks.failed |= !hook;
		path_list_add(&hooks, hook ? hook : "");
	}
	return hooks.failed ? NULL : hooks.items;
}

static const char *const *approval_dangerous(struct arena *arena, const struct manifest *manifest)
{
	struct path_list dangerous;
	path_list_begin(&dangerous, arena, NULL);
	for (size_t i = 0; i < manifest->command_count; i++) {
		if (manifest->commands[i].is_dangerous)
			path_list_add(&dangerous, manifest->commands[i].name);
	}
	return dangerous.failed ? NULL : dangerous.items;
}

int approval_of(
	const struct manifest *manifest, struct arena *arena, struct grant_approval *ret_approval)
{
	const char *wishes[WISHES_MAX + 1];
	wishes_words(&manifest->wishes, wishes);
	const struct grant_approval approval = {
		.protocol = manifest->protocol,
		.manifest = manifest->hash,
		.hooks = approval_hooks(arena, manifest),
		.dangerous = approval_dangerous(arena, manifest),
		.wishes = arena_dup_list(arena, wishes),
	};
	if (!approval.hooks || !approval.dangerous || !approval.wishes)
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

/* Whether a hook of this name was approved, and whether with this text. */
static void approval_find_hook(const struct grant_approval *approval, const char *name,
	const char *text, bool *ret_is_known, bool *ret_is_same)
{
	size_t len = strlen(name);
	*ret_is_known = *ret_is_same = false;
	for (const char *const *hook = approval->hooks; hook && *hook; hook++) {
		if (strncmp(*hook, name, len) != 0 || strncmp(*hook + len, ": ", 2) != 0)
			continue;
		*ret_is_known = true;
		*ret_is_same |= strcmp(*hook + len + 2, text) == 0;
	}
}

static void approval_say_hooks(
	struct words *words, const struct grant_approval *approval, const struct manifest *manifest)
{
	for (size_t i = 0; i < HOOK_COUNT; i++) {
		const char *text;
		bool is_known;
		bool is_same;
		const char *name = manifest_hook(manifest, i, &text);
		approval_find_hook(approval, name, text, &is_known, &is_same);
		if (text[0] && !is_same)
			approval_say(words, "%s%s %s", words->len ? "; " : "",
				is_known ? "it has another hook" : "it has the hook", name);
	}
}

static void approval_say_dangerous(
	struct words *words, const struct grant_approval *approval, const struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->command_count; i++) {
		const struct manifest_command *command = &manifest->commands[i];
		if (!command->is_dangerous && list_has(approval->dangerous, command->name))
			approval_say(words, "%sit no longer says that %s is dangerous", words->len ? "; " : "",
				command->name);
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
	approval_say_dangerous(&words, approval, manifest);
}
