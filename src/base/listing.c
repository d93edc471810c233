/* The names in a directory, without "." and "..". */
#include "base/listing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"

DIR *listing_take(int fd)
{
	DIR *listing = fdopendir(fd);
	if (!listing)
		fd_close(fd);
	return listing;
}

DIR *listing_open(int above, const char *path, int flags)
{
	int fd = fd_directory(above, path, O_RDONLY | flags);
	if (fd >= 0)
		return listing_take(fd);
	errno = -fd;
	return NULL;
}

const char *listing_next(DIR *listing)
{
	const struct dirent *entry;
	do
		entry = listing ? readdir(listing) : NULL;
	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry ? entry->d_name : NULL;
}
