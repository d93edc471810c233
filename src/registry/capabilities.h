/* What a plugin may do beyond computing. A capability is a member of `struct capabilities` and
 * a row of the table in capabilities.c; everything that reads, writes, shows or compares
 * capabilities walks that table. */
#ifndef REGISTRY_CAPABILITIES_H
#define REGISTRY_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum filesystem_wish { FILESYSTEM_UNSET, FILESYSTEM_NONE, FILESYSTEM_PROJECT, FILESYSTEM_PLUGIN };

/* The capabilities that a manifest asks for, that a user has granted, or that are in force. */
struct capabilities {
	bool exec;
	bool store;
	bool metadata;
	bool network;
	bool says_network; /* a manifest without the key `network` leaves the network open */
	bool plugins;      /* wants to call other plugins; which of them it may is in its grant */
	enum filesystem_wish filesystem;
};

/* Their names, for help and messages. */
#define CAPABILITY_NAMES "exec, store, metadata, network"

/* Not one of them, as it is granted by perch alone: see grants.h. */
#define WISH_PLUGINS "plugins"
#define WISH_PLUGINS_RISK "call other plugins"
#define WISH_PLUGINS_MEANING "run the commands of other plugins, with the rights of those"

struct capability {
	const char *name;    /* in plugin.toml, plugins.toml, --grant and the init line */
	size_t member;       /* where its flag is in struct capabilities */
	unsigned grant;      /* PERCH_GRANT_… */
	bool is_always_told; /* the init line has it also where it is not granted */
	const char *risk;    /* why an unverified source needs --trust for it; NULL = it does not */
	const char *meaning; /* what the plugin may do with it, behind "may" */
};

enum { CAPABILITIES_MAX = 16 };

/* At most CAPABILITIES_MAX, and one without a name. */
extern const struct capability capability_table[];

/* NULL when there is none of that name. */
const struct capability *capability_find(struct str name);

bool capabilities_have(const struct capabilities *set, const struct capability *capability);
void capabilities_put(struct capabilities *set, const struct capability *capability, bool is_in);

/* All of them. */
struct capabilities capabilities_all(void);

/* What is in force: what was granted, narrowed by what the manifest says about files, and
 * whether it says anything about the network. */
struct capabilities capabilities_in_force(
	const struct capabilities *granted, const struct capabilities *wishes);

/* Whether a plugin with these capabilities in force reaches the network. It does not if it asked
 * for the network and was not granted it, or says `network = false`. */
bool capabilities_reach_network(const struct capabilities *force);

/* How a plugin stands to the network. */
enum network_state {
	NETWORK_OPEN, /* its manifest does not say, so no user was asked */
	NETWORK_GRANTED,
	NETWORK_NOT_GRANTED,
	NETWORK_NONE, /* its manifest says that it needs none */
};
enum network_state capabilities_network(
	const struct capabilities *granted, const struct capabilities *wishes);

/* In words. */
const char *network_state_words(enum network_state state);

/* The words for wishes, as they stand in an approval: at most WISHES_MAX and a NULL; constants. */
#define WISH_NO_NETWORK "no network"
enum { WISHES_MAX = CAPABILITIES_MAX + 3 };
void wishes_words(const struct capabilities *wishes, const char *ret_words[WISHES_MAX + 1]);

/* "none", "project", "plugin"; NULL for unset. */
const char *filesystem_name(enum filesystem_wish wish);
bool filesystem_from_name(const char *name, enum filesystem_wish *ret_wish);

/* The same as a wish: "filesystem none" … */
const char *filesystem_wish_word(enum filesystem_wish wish);

/* Whether the first lets a plugin write to more places than the second. */
bool filesystem_is_wider(enum filesystem_wish wish, enum filesystem_wish than);

#endif
