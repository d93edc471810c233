/* Profiles that were read, by path: a bridge reads one again only when its file has changed. A turn
 * holds the profile it was started with. `{0}` is none. */
#ifndef AGENT_PROFILES_H
#define AGENT_PROFILES_H

#include "agent/profile.h"

/* How many profiles that no turn uses stay in memory. */
enum { PROFILES_IDLE_MAX = 32 };

struct cached_profile;

struct profiles {
	struct cached_profile *first; /* the last used one */
};

/* Gives the profile of that file as it is now, to be given back. Fails as
 * agent_profile_read does. */
int profiles_take(struct profiles *profiles, const char *path, struct cached_profile **ret_profile,
	perch_err *err);
void profiles_give(struct profiles *profiles, struct cached_profile *profile);

const struct agent_profile *cached_profile(const struct cached_profile *profile);

/* Whether the warnings of a profile are still to be told: once for each text of its file. */
bool profiles_are_news(struct profiles *profiles, const struct cached_profile *profile);

/* All of them must have been given back. */
void profiles_free(struct profiles *profiles);

#endif
