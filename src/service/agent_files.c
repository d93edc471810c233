/* Profiles by name. */
#include "service/agent_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/listing.h"
#include "base/paths.h"
#include "base/vec.h"

#define AGENT_FILE_SUFFIX ".yaml"

int agent_file_path(const char *name, char **ret_path, perch_err *err)
{
	if (!name[0] || name[0] == '.' || strchr(name, '/'))
		return err_set(err, -EINVAL, "that can be no name of an agent: '%.100s'", name);
	_cleanup_free_ char *below = str_join("perch/agents/", name, AGENT_FILE_SUFFIX, NULL);
	if (!below)
		return err_no_memory(err);
	return paths_user(PATH_CONFIG, below, ret_path, err);
}

static struct str agent_file_stem(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str stem = str_from(slash ? slash + 1 : path);
	if (str_has_suffix(stem, STR(AGENT_FILE_SUFFIX)))
		stem.len -= strlen(AGENT_FILE_SUFFIX);
	return stem;
}

const char *agent_file_name(struct arena *arena, const char *path)
{
	return arena_dup(arena, agent_file_stem(path));
}

const char *agent_file_given(const char *const *files, const char *name)
{
	for (; files && *files; files++) {
		if (str_is(agent_file_stem(*files), name))
			return *files;
	}
	return NULL;
}

static int agent_file_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int agent_file_collect(DIR *listing, struct arena *arena, const char ***names)
{
	size_t count = 0;
	size_t cap = 0;
	const char *file;
	while ((file = listing_next(listing))) {
		struct str stem = str_from(file);
		if (file[0] == '.' || !str_has_suffix(stem, STR(AGENT_FILE_SUFFIX)))
			continue;
		stem.len -= strlen(AGENT_FILE_SUFFIX);
		const char **grown = vec_grow(*names, &cap, count + 2, sizeof(**names));
		if (!grown)
			return -ENOMEM;
		*names = grown;
		grown[count] = arena_dup(arena, stem);
		if (!grown[count++])
			return -ENOMEM;
		grown[count] = NULL;
	}
	if (count)
		qsort(*names, count, sizeof(**names), agent_file_compare);
	return 0;
}

int agent_file_names(struct arena *arena, const char *const **ret_names, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ const char **names = NULL;
	int r = paths_user(PATH_CONFIG, "perch/agents", &path, err);
	if (r < 0)
		return r;
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, path, 0);
	if (!listing && errno != ENOENT)
		return err_set(err, -errno, "cannot read %.200s: %s", path, perch_strerror(-errno));
	r = agent_file_collect(listing, arena, &names);
	const char *const *kept = r == 0 ? arena_dup_list(arena, names) : NULL;
	if (!kept)
		return err_no_memory(err);
	*ret_names = kept;
	return 0;
}
