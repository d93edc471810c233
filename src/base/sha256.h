/* SHA-256 (FIPS 180-4), to recognize a file; and with a key (HMAC, RFC 2104), to recognize what we
 * have issued ourselves. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stdbool.h>
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

/* The same with a key, of any length: begin, add, end. */
struct hmac {
	struct sha256 inner;
	uint8_t outer_key[SHA256_BLOCK];
};

void hmac_begin(struct hmac *hmac, const void *key, size_t len);

void hmac_add(struct hmac *hmac, const void *data, size_t len);

/* A field: its length goes before it, so that no two lists of fields are alike. */
void hmac_add_field(struct hmac *hmac, const void *data, size_t len);
void hmac_end(struct hmac *hmac, char ret_hex[SHA256_HEX_SIZE]);

/* Whether two results are equal, in a time that does not tell where they differ. */
bool hmac_is(const char a[SHA256_HEX_SIZE], const char b[SHA256_HEX_SIZE]);

/* Of all that can be read from a descriptor from its start, by pread: its
 * position stays. 0 or a negative errno. */
int sha256_of_fd(int fd, char ret_hex[SHA256_HEX_SIZE]);

#endif
