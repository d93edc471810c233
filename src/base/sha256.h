/* SHA-256 (FIPS 180-4): to know a file again, not to keep a secret. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 2 * SHA256_SIZE + 1, SHA256_BLOCK = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t len;
	uint8_t pending[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t len);

/* Lower-case hex digits and a NUL. */
void sha256_end(struct sha256 *sha, char ret_hex[SHA256_HEX_SIZE]);

/* Of bytes in memory. */
void sha256_of(const void *data, size_t len, char ret_hex[SHA256_HEX_SIZE]);

/* Of all that can be read from a descriptor from its start, by pread: its
 * position stays. 0 or a negative errno. */
int sha256_of_fd(int fd, char ret_hex[SHA256_HEX_SIZE]);

#endif
