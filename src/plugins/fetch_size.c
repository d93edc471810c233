/* How much a fetch has written. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/listing.h"
#include "plugins/fetch.h"

enum { FETCH_DEPTH_MAX = 128 };

/* Adds up blocks, since a file may have holes. What cannot be looked at is passed over: git has
 * made it, or it is gone again. */
static void fetch_size_add(
	int above, const char *name, unsigned depth, uint64_t most, uint64_t *sum)
{
	struct stat info;
	if (*sum > most || fstatat(above, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	*sum += (uint64_t)info.st_blocks * 512;
	if (!S_ISDIR(info.st_mode) || depth == FETCH_DEPTH_MAX)
		return;
	_cleanup_listing_ DIR *listing = listing_open(above, name, O_NOFOLLOW);
	const char *below;
	while (listing && *sum <= most && (below = listing_next(listing)))
		fetch_size_add(dirfd(listing), below, depth + 1, most, sum);
}

bool fetch_is_too_large(const char *path, uint64_t most)
{
	uint64_t sum = 0;
	fetch_size_add(AT_FDCWD, path, 0, most, &sum);
	return sum > most;
}
