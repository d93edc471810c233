/* The names in a directory, without "." and "..". */
#ifndef BASE_LISTING_H
#define BASE_LISTING_H

#include <dirent.h>

#include "base/cleanup.h"

/* Opens a directory as fd_directory does, for reading. NULL, and errno says why. */
DIR *listing_open(int above, const char *path, int flags);

/* The same of one that is open; takes the descriptor, also when it fails. */
DIR *listing_take(int fd);

/* The next name, valid until the next call; NULL behind the last, and for NULL. */
const char *listing_next(DIR *listing);

static inline void cleanup_listing(DIR **listing)
{
	if (*listing)
		closedir(*listing);
}
#define _cleanup_listing_ _cleanup_(cleanup_listing)

#endif
