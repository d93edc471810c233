/* What the tests of the store share: a store whose warnings are kept, and the
 * questions they ask it. All fail the test. */
#ifndef HARNESS_STORE_H
#define HARNESS_STORE_H

#include "fledge/store.h"

/* What the stores of store_open warned about last, and how often. */
extern char last_warning[2048];
extern unsigned warnings;

/* What keeps them. */
void keep_warning(void *data, const char *text);

struct store *store_open(const char *directory);

/* There was one warning, this one. Forgets it. */
void assert_warned(const char *text);

int set(struct store *store, const char *key, const char *value);

/* Like a host: again and again until the lock is free. */
/* All three parts of a flush. */
int store_flush(struct store *store);

/* The same until no other process holds the lock. */
int flush(struct store *store);

void assert_get(struct store *store, const char *key, const char *json);
void assert_file(const char *path, const char *text);

/* A regular file that only its owner may touch. */
void assert_private(const char *path);

/* Storing works. */
void assert_stores(struct store *store);

/* len times the same character, in memory of the caller. */
struct str filled(char *memory, size_t len, char with);

#endif
