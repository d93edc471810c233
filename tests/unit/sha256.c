/* SHA-256 against published values and against sha256sum's way of being fed. */
#include "base/sha256.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/suite.h"

static const struct {
	const char *text;
	const char *hex;
} known[] = {
	{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	{ "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmno"
	  "pqrsmnopqrstnopqrstu",
		"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
};

START_TEST(published_values)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char hex[SHA256_HEX_SIZE];
		sha256_of(known[i].text, strlen(known[i].text), hex);
		ck_assert_str_eq(hex, known[i].hex);
	}
}
END_TEST

START_TEST(a_million_letters_in_pieces_of_every_size)
{
	struct sha256 sha;
	char hex[SHA256_HEX_SIZE];
	char piece[200];
	memset(piece, 'a', sizeof(piece));
	sha256_begin(&sha);
	size_t left = 1000000;
	for (size_t n = 1; left; n = n % sizeof(piece) + 1) {
		size_t take = n < left ? n : left;
		sha256_add(&sha, piece, take);
		left -= take;
	}
	sha256_end(&sha, hex);
	ck_assert_str_eq(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
END_TEST

START_TEST(a_descriptor_keeps_its_position)
{
	char path[] = "/tmp/perch-sha256-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	unlink(path);
	ck_assert_int_eq(write(fd, "abc", 3), 3);
	char hex[SHA256_HEX_SIZE];
	ck_assert_int_eq(sha256_of_fd(fd, hex), 0);
	ck_assert_str_eq(hex, known[1].hex);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 3);
	close(fd);
	ck_assert_int_lt(sha256_of_fd(-1, hex), 0);
}
END_TEST

/* RFC 4231, cases 1, 2, 6 and 7. */
static const struct {
	const char *key;
	size_t key_len;
	const char *text;
	const char *hex;
} keyed[] = {
	{ "\x0b", 20, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
	{ "Jefe", 4, "what do ya want for nothing?",
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
	{ "\xaa", 131, "Test Using Larger Than Block-Size Key - Hash Key First",
		"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
	{ "\xaa", 131,
		"This is a test using a larger than block-size key and a larger than block-size data. "
		"The key needs to be hashed before being used by the HMAC algorithm.",
		"9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
};

START_TEST(published_values_with_a_key)
{
	for (size_t i = 0; i < COUNT(keyed); i++) {
		char key[131];
		memset(key, keyed[i].key[0], sizeof(key));
		if (keyed[i].key[1])
			memcpy(key, keyed[i].key, keyed[i].key_len);
		struct hmac hmac;
		char hex[SHA256_HEX_SIZE];
		hmac_begin(&hmac, key, keyed[i].key_len);
		hmac_add(&hmac, keyed[i].text, strlen(keyed[i].text));
		hmac_end(&hmac, hex);
		ck_assert_str_eq(hex, keyed[i].hex);
		ck_assert(hmac_is(hex, keyed[i].hex));
		hex[63] ^= 1;
		ck_assert(!hmac_is(hex, keyed[i].hex));
	}
}
END_TEST

static void fields(const char *first, const char *second, char hex[SHA256_HEX_SIZE])
{
	struct hmac hmac;
	hmac_begin(&hmac, "k", 1);
	hmac_add_field(&hmac, first, strlen(first));
	hmac_add_field(&hmac, second, strlen(second));
	hmac_end(&hmac, hex);
}

START_TEST(fields_do_not_run_into_each_other)
{
	char one[SHA256_HEX_SIZE], other[SHA256_HEX_SIZE];
	fields("ab", "c", one);
	fields("a", "bc", other);
	ck_assert_str_ne(one, other);
}
END_TEST

SUITE_MAIN("sha256", published_values, published_values_with_a_key,
	fields_do_not_run_into_each_other, a_million_letters_in_pieces_of_every_size,
	a_descriptor_keeps_its_position)
