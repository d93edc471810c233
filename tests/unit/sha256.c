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

SUITE_MAIN("sha256", published_values, a_million_letters_in_pieces_of_every_size,
	a_descriptor_keeps_its_position)
