/* Profiles that were read. */
#include "agent/profiles.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/stamp.h"

struct cached_profile {
	struct cached_profile *next;
	char *path; /* as it was asked for */
	struct stat stamp;
	bool is_stale;
	bool is_told; /* its warnings */
	size_t users;
	struct arena arena;
	struct agent_profile profile;
};

static void profiles_kept_profile_free(struct cached_profile *kept)
{
	if (!kept)
		return;
	arena_free(&kept->arena);
	free(kept->path);
	free(kept);
}
DEFINE_POINTER_CLEANUP(cleanup_kept_profile, struct cached_profile, profiles_kept_profile_free)

const struct agent_profile *cached_profile(const struct cached_profile *profile)
{
	return &profile->profile;
}

static bool profiles_are_same(const struct cached_profile *one, const struct cached_profile *other)
{
	return strcmp(one->path, other->path) == 0 &&
		strcmp(one->profile.sha256, other->profile.sha256) == 0;
}

/* A file that has not settled was read for each turn. */
bool profiles_are_news(struct profiles *profiles, const struct cached_profile *profile)
{
	bool is_news = !profile->is_told;
	for (struct cached_profile *kept = profiles->first; kept; kept = kept->next)
		kept->is_told = kept->is_told || profiles_are_same(kept, profile);
	return is_news;
}

/* A file that was changed a moment ago is read again until it has settled. */
static bool profiles_is_unchanged(const struct stat *then, const struct stat *now)
{
	return stamp_is_unchanged(then, now) && stamp_is_settled(now);
}

/* Frees profiles that no turn uses and that are stale, or too many. */
static void profiles_sweep(struct profiles *profiles)
{
	size_t idle = 0;
	for (struct cached_profile **at = &profiles->first; *at;) {
		struct cached_profile *kept = *at;
		if (kept->users || (!kept->is_stale && ++idle <= PROFILES_IDLE_MAX)) {
			at = &kept->next;
			continue;
		}
		*at = kept->next;
		profiles_kept_profile_free(kept);
	}
}

/* The one of that path, first in the list now. */
static struct cached_profile *profiles_find(struct profiles *profiles, const char *path)
{
	for (struct cached_profile **at = &profiles->first; *at; at = &(*at)->next) {
		struct cached_profile *kept = *at;
		if (kept->is_stale || strcmp(kept->path, path) != 0)
			continue;
		*at = kept->next;
		kept->next = profiles->first;
		profiles->first = kept;
		return kept;
	}
	return NULL;
}

static int profiles_read_profile(struct profiles *profiles, const char *path,
	const struct stat *stamp, struct cached_profile **ret_profile, perch_err *err)
{
	_cleanup_(cleanup_kept_profile) struct cached_profile *kept = calloc(1, sizeof(*kept));
	if (!kept || !(kept->path = str_dup(str_from(path))))
		return err_no_memory(err);
	kept->stamp = *stamp;
	int r = agent_profile_read(path, &kept->arena, &kept->profile, err);
	if (r < 0)
		return r;
	kept->next = profiles->first;
	profiles->first = kept;
	*ret_profile = steal(&kept);
	return 0;
}

int profiles_take(struct profiles *profiles, const char *path, struct cached_profile **ret_profile,
	perch_err *err)
{
	/* Its status is taken before it is read: a change in between is noticed next time. */
	struct stat now = { 0 };
	bool is_there = stat(path, &now) == 0;
	struct cached_profile *kept = profiles_find(profiles, path);
	struct cached_profile *old = kept;
	if (kept && !(is_there && profiles_is_unchanged(&kept->stamp, &now)))
		kept = NULL;
	if (!kept) {
		int r = profiles_read_profile(profiles, path, &now, &kept, err);
		if (old)
			old->is_stale = true;
		if (r < 0)
			return r;
		kept->is_told = old && old->is_told && profiles_are_same(old, kept);
	}
	kept->users++;
	profiles_sweep(profiles);
	*ret_profile = kept;
	return 0;
}

void profiles_give(struct profiles *profiles, struct cached_profile *profile)
{
	if (!profile)
		return;
	profile->users--;
	profiles_sweep(profiles);
}

void profiles_free(struct profiles *profiles)
{
	while (profiles->first) {
		struct cached_profile *kept = profiles->first;
		profiles->first = kept->next;
		profiles_kept_profile_free(kept);
	}
}
