/* Removing a directory that somebody else has filled: links are removed and not
 * followed, any depth takes the same few descriptors, and whoever took his own
 * permissions away has not protected anything. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

/* Removes the directory and what is in it (or what is no directory), in at most `most` steps (about
 * one for each name). Returns 1 when it is gone (or was not there), 0 when there is more to do, or
 * a negative errno when something in it cannot be removed. */
int tree_remove_some(const char *path, unsigned most);

/* The same to its end, however long that takes. Returns 0 or a negative errno. */
int tree_remove(const char *path);

#endif
