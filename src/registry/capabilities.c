/* The table of capabilities, and what can be done with sets of them. */
#include "registry/capabilities.h"

#include <assert.h>
#include <string.h>

#include "base/macros.h"
#include "perch/fledge.h"

#define MEMBER(name) #name, offsetof(struct capabilities, name)

/* `network` is newer than the protocol: plugins know an init line without it. */
const struct capability capability_table[] = {
	{ MEMBER(exec), PERCH_GRANT_EXEC, true, "run commands", "have commands run in its sandbox" },
	{ MEMBER(store), PERCH_GRANT_STORE, true, NULL, "store values, and load them again" },
	{ MEMBER(metadata), PERCH_GRANT_METADATA, true, NULL,
		"be told about the project: configuration, tags, status, log, environment" },
	{ MEMBER(network), PERCH_GRANT_NETWORK, false, "use the network", "use the network" },
	{ 0 },
};
static_assert(COUNT(capability_table) <= CAPABILITIES_MAX + 1, "more than CAPABILITIES_MAX");

const struct capability *capability_find(struct str name)
{
	for (const struct capability *one = capability_table; one->name; one++) {
		if (str_is(name, one->name))
			return one;
	}
	return NULL;
}

/* ---- sets -------------------------------------------------------------------- */

bool capabilities_have(const struct capabilities *set, const struct capability *capability)
{
	return *(const bool *)((const char *)set + capability->member);
}

void capabilities_put(struct capabilities *set, const struct capability *capability, bool is_in)
{
	*(bool *)((char *)set + capability->member) = is_in;
}

struct capabilities capabilities_all(void)
{
	struct capabilities all = { 0 };
	for (const struct capability *one = capability_table; one->name; one++)
		capabilities_put(&all, one, true);
	return all;
}

struct capabilities capabilities_in_force(
	const struct capabilities *granted, const struct capabilities *wishes)
{
	struct capabilities both = *granted;
	both.says_network = wishes->says_network;
	if (filesystem_is_wider(granted->filesystem, wishes->filesystem))
		both.filesystem = wishes->filesystem;
	return both;
}

bool capabilities_reach_network(const struct capabilities *force)
{
	return force->network || !force->says_network;
}

enum network_state capabilities_network(
	const struct capabilities *granted, const struct capabilities *wishes)
{
	if (!wishes->says_network)
		return NETWORK_OPEN;
	if (!wishes->network)
		return NETWORK_NONE;
	return granted->network ? NETWORK_GRANTED : NETWORK_NOT_GRANTED;
}

const char *network_state_words(enum network_state state)
{
	static const char *const words[] = {
		[NETWORK_OPEN] = "open: its manifest does not say",
		[NETWORK_GRANTED] = "granted",
		[NETWORK_NOT_GRANTED] = "not granted",
		[NETWORK_NONE] = "none: it says so itself",
	};
	return words[state];
}

void wishes_words(const struct capabilities *wishes, const char *ret_words[WISHES_MAX + 1])
{
	size_t count = 0;
	for (const struct capability *one = capability_table; one->name; one++) {
		if (capabilities_have(wishes, one))
			ret_words[count++] = one->name;
	}
	if (wishes->plugins)
		ret_words[count++] = WISH_PLUGINS;
	if (!capabilities_reach_network(wishes))
		ret_words[count++] = WISH_NO_NETWORK;
	if (wishes->filesystem != FILESYSTEM_UNSET)
		ret_words[count++] = filesystem_wish_word(wishes->filesystem);
	ret_words[count] = NULL;
}

/* ---- files ------------------------------------------------------------------- */

/* A manifest that says nothing about files asks for the widest. */
static const struct {
	const char *name, *wish;
	unsigned width;
} filesystems[] = {
	[FILESYSTEM_UNSET] = { NULL, NULL, 2 },
	[FILESYSTEM_NONE] = { "none", "filesystem none", 0 },
	[FILESYSTEM_PROJECT] = { "project", "filesystem project", 2 },
	[FILESYSTEM_PLUGIN] = { "plugin", "filesystem plugin", 1 },
};

const char *filesystem_name(enum filesystem_wish wish)
{
	return filesystems[wish].name;
}

const char *filesystem_wish_word(enum filesystem_wish wish)
{
	return filesystems[wish].wish;
}

bool filesystem_from_name(const char *name, enum filesystem_wish *ret_wish)
{
	for (size_t i = FILESYSTEM_NONE; i < COUNT(filesystems); i++) {
		if (strcmp(name, filesystems[i].name) == 0) {
			*ret_wish = (enum filesystem_wish)i;
			return true;
		}
	}
	return false;
}

bool filesystem_is_wider(enum filesystem_wish wish, enum filesystem_wish than)
{
	return filesystems[wish].width > filesystems[than].width;
}
