/* The HMAC of a job. It shows a worker that the job comes from a gateway with the same key
 * (--key-file), and covers every part of the job that decides what runs. */
#ifndef QUEUE_MAC_H
#define QUEUE_MAC_H

#include "base/buf.h"
#include "base/sha256.h"
#include "queue/queue.h"

enum { MAC_KEY_MIN = 32, MAC_KEY_MAX = 4096 };

/* Reads the key from a file that no other user may read. Fails with words. */
int mac_read_key(const char *path, struct buf *ret_key, perch_err *err);

void mac_make(const struct buf *key, const struct queue_job *job, char ret_mac[SHA256_HEX_SIZE]);

bool mac_is_right(const struct buf *key, const struct queue_job *job);

#endif
