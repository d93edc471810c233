/* What a job needs of a worker, and what a worker offers: KIND:NAME#HASH, and @LABEL where the job
 * has one. The hash is of the profile, or of what the catalogue says of a tool or a command: a
 * worker with different files does not claim the job. */
#ifndef QUEUE_NEED_H
#define QUEUE_NEED_H

#include "base/str.h"
#include "perch/catalog.h"

enum { NEED_HASH_SIZE = 17, NEED_LABEL_MAX = 64 };

/* 16 hex digits. Fails as reading the profile does. */
int need_hash(const perch_entry *entry, char ret_hash[NEED_HASH_SIZE], perch_err *err);

/* "agent:bot#0123456789abcdef@gpu", to be freed; hash "*" = any, label NULL or "" = none. NULL
 * without memory. */
char *need_write(perch_entry_kind kind, const char *name, const char *hash, const char *label);

/* Whether this is what a job of this kind and name needs. */
bool need_is_of(struct str need, perch_entry_kind kind, struct str name);

/* Whether what a worker offers is what a job needs: the same, or with any hash. */
bool need_is_met(struct str need, struct str offer);

/* A label: letters, digits, - and _. */
bool need_is_label(struct str text);

#endif
