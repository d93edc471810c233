/* SHA-256 (FIPS 180-4). */
#include "base/sha256.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64
 * primes. */
static const uint32_t constants[64] = { 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
	0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74,
	0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3,
	0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354,
	0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
	0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3,
	0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa,
	0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };

static uint32_t sha256_rotate(uint32_t x, unsigned by)
{
	return x >> by | x << (32 - by);
}

static void sha256_expand(uint32_t words[64], const uint8_t *block)
{
	for (size_t i = 0; i < 16; i++, block += 4)
		words[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
			block[3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = words[i - 15];
		uint32_t b = words[i - 2];
		words[i] = words[i - 16] + (sha256_rotate(a, 7) ^ sha256_rotate(a, 18) ^ a >> 3) +
			words[i - 7] + (sha256_rotate(b, 17) ^ sha256_rotate(b, 19) ^ b >> 10);
	}
}

static void sha256_mix_block(struct sha256 *sha, const uint8_t *block)
{
	uint32_t words[64];
	uint32_t s[8];
	sha256_expand(words, block);
	memcpy(s, sha->state, sizeof(s));
	for (size_t i = 0; i < 64; i++) {
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		uint32_t first = s[7] +
			(sha256_rotate(s[4], 6) ^ sha256_rotate(s[4], 11) ^ sha256_rotate(s[4], 25)) + choice +
			constants[i] + words[i];
		uint32_t second =
			(sha256_rotate(s[0], 2) ^ sha256_rotate(s[0], 13) ^ sha256_rotate(s[0], 22)) + majority;
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += first;
		s[0] = first + second;
	}
	for (size_t i = 0; i < 8; i++)
		sha->state[i] += s[i];
}

void sha256_begin(struct sha256 *sha)
{
	*sha = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
								0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *sha, const void *data, size_t len)
{
	const uint8_t *bytes = data;
	while (len) {
		size_t filled = sha->len % SHA256_BLOCK;
		size_t n = SHA256_BLOCK - filled < len ? SHA256_BLOCK - filled : len;
		memcpy(sha->pending + filled, bytes, n);
		sha->len += n;
		bytes += n;
		len -= n;
		if (filled + n == SHA256_BLOCK)
			sha256_mix_block(sha, sha->pending);
	}
}

/* The last block: the state is the result then. */
static void sha256_finish(struct sha256 *sha)
{
	static const uint8_t padding[SHA256_BLOCK] = { 0x80 };
	uint64_t bits = sha->len * 8;
	uint8_t tail[8];
	for (size_t i = 0; i < sizeof(tail); i++)
		tail[i] = (uint8_t)(bits >> (56 - 8 * i));
	/* The length stands in the last eight bytes of a block. */
	sha256_add(sha, padding, 1 + (119 - sha->len % SHA256_BLOCK) % SHA256_BLOCK);
	sha256_add(sha, tail, sizeof(tail));
}

void sha256_end(struct sha256 *sha, char ret_hex[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	sha256_finish(sha);
	for (size_t i = 0; i < SHA256_HEX_SIZE - 1; i++)
		ret_hex[i] = digits[sha->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	ret_hex[SHA256_HEX_SIZE - 1] = '\0';
}

void sha256_of(const void *data, size_t len, char ret_hex[SHA256_HEX_SIZE])
{
	struct sha256 sha;
	sha256_begin(&sha);
	sha256_add(&sha, data, len);
	sha256_end(&sha, ret_hex);
}

static void sha256_end_bytes(struct sha256 *sha, uint8_t ret_bytes[SHA256_SIZE])
{
	sha256_finish(sha);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		ret_bytes[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- with a key ------------------------------------------------------------ */

void hmac_begin(struct hmac *hmac, const void *key, size_t len)
{
	enum { INNER = 0x36, OUTER = 0x5c };
	uint8_t block[SHA256_BLOCK] = { 0 };
	struct sha256 sha;
	if (len > sizeof(block)) {
		sha256_begin(&sha);
		sha256_add(&sha, key, len);
		sha256_end_bytes(&sha, block);
	} else if (len) {
		memcpy(block, key, len);
	}
	for (size_t i = 0; i < sizeof(block); i++) {
		hmac->outer_key[i] = block[i] ^ OUTER;
		block[i] ^= INNER;
	}
	sha256_begin(&hmac->inner);
	sha256_add(&hmac->inner, block, sizeof(block));
}

void hmac_add(struct hmac *hmac, const void *data, size_t len)
{
	sha256_add(&hmac->inner, data, len);
}

void hmac_add_field(struct hmac *hmac, const void *data, size_t len)
{
	uint8_t length[8];
	for (size_t i = 0; i < sizeof(length); i++)
		length[i] = (uint8_t)((uint64_t)len >> (56 - 8 * i));
	hmac_add(hmac, length, sizeof(length));
	hmac_add(hmac, data, len);
}

void hmac_end(struct hmac *hmac, char ret_hex[SHA256_HEX_SIZE])
{
	uint8_t inner[SHA256_SIZE];
	struct sha256 sha;
	sha256_end_bytes(&hmac->inner, inner);
	sha256_begin(&sha);
	sha256_add(&sha, hmac->outer_key, sizeof(hmac->outer_key));
	sha256_add(&sha, inner, sizeof(inner));
	sha256_end(&sha, ret_hex);
}

bool hmac_is(const char a[SHA256_HEX_SIZE], const char b[SHA256_HEX_SIZE])
{
	unsigned char difference = 0;
	for (size_t i = 0; i < SHA256_HEX_SIZE; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return difference == 0;
}

int sha256_of_fd(int fd, char ret_hex[SHA256_HEX_SIZE])
{
	struct sha256 sha;
	char chunk[16384];
	off_t at = 0;
	sha256_begin(&sha);
	for (;;) {
		ssize_t n = pread(fd, chunk, sizeof(chunk), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		sha256_add(&sha, chunk, (size_t)n);
		at += n;
	}
	sha256_end(&sha, ret_hex);
	return 0;
}
