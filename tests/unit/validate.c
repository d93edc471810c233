/* Whether a text is what was asked for. */
#include "harness/suite.h"

#include "validate.h"

static const struct {
	enum validator validator;
	const char *text;
	size_t len;
	bool is_fine;
} cases[] = {
#define TEXT(literal) literal, sizeof(literal) - 1
	{ VALIDATE_NOTHING, TEXT(""), true },
	{ VALIDATE_NON_EMPTY, TEXT(""), false },
	{ VALIDATE_NON_EMPTY, TEXT(" \t\n"), false },
	{ VALIDATE_NON_EMPTY, TEXT(" x "), true },
	{ VALIDATE_INTEGER, TEXT(""), false },
	{ VALIDATE_INTEGER, TEXT("-"), false },
	{ VALIDATE_INTEGER, TEXT("0"), true },
	{ VALIDATE_INTEGER, TEXT("-0"), true },
	{ VALIDATE_INTEGER, TEXT("+12"), true },
	{ VALIDATE_INTEGER, TEXT(" 12"), false },
	{ VALIDATE_INTEGER, TEXT("1.0"), false },
	{ VALIDATE_INTEGER, TEXT("1e3"), false },
	{ VALIDATE_INTEGER, TEXT("0x10"), false },
	{ VALIDATE_INTEGER, TEXT("--1"), false },
	{ VALIDATE_INTEGER, TEXT("1\0"), false },
	{ VALIDATE_INTEGER, TEXT("9223372036854775807"), true },
	{ VALIDATE_INTEGER, TEXT("9223372036854775808"), false },
	{ VALIDATE_INTEGER, TEXT("-9223372036854775808"), true },
	{ VALIDATE_INTEGER, TEXT("-9223372036854775809"), false },
	{ VALIDATE_INTEGER, TEXT("18446744073709551616"), false },
	{ VALIDATE_INTEGER, TEXT("100000000000000000000000000000"), false },
	{ VALIDATE_INTEGER, TEXT("00000000000000000000000000001"), true },
	{ VALIDATE_PATH_EXISTS, TEXT(""), false },
	{ VALIDATE_PATH_EXISTS, TEXT("/"), true },
	{ VALIDATE_PATH_EXISTS, TEXT("/\0x"), false },
	{ VALIDATE_PATH_EXISTS, TEXT("/no/such/file"), false },
	{ VALIDATE_PATH_EXISTS, TEXT("/dev/null"), true },
	{ VALIDATE_URL, TEXT("http://a"), true },
	{ VALIDATE_URL, TEXT("HTTPS://example.org:8080/x?y#z"), true },
	{ VALIDATE_URL, TEXT("https://user:secret@host/"), true },
	{ VALIDATE_URL, TEXT("https://[::1]:80/"), true },
	{ VALIDATE_URL, TEXT("https://bücher.example/"), true },
	{ VALIDATE_URL, TEXT(""), false },
	{ VALIDATE_URL, TEXT("http://"), false },
	{ VALIDATE_URL, TEXT("https:///path"), false },
	{ VALIDATE_URL, TEXT("https://:80/"), false },
	{ VALIDATE_URL, TEXT("https://user@/"), false },
	{ VALIDATE_URL, TEXT("https://?x"), false },
	{ VALIDATE_URL, TEXT("ftp://host/"), false },
	{ VALIDATE_URL, TEXT("example.org"), false },
	{ VALIDATE_URL, TEXT("https://a b/"), false },
	{ VALIDATE_URL, TEXT("https://a/\n"), false },
};

START_TEST(texts_are_judged)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *message =
			validate(cases[i].validator, (struct str){ cases[i].text, cases[i].len });
		ck_assert_msg(!message == cases[i].is_fine, "%s: %s", cases[i].text, message);
	}
}
END_TEST

START_TEST(a_path_may_be_endless)
{
	static char path[100000];
	memset(path, '/', sizeof(path));
	ck_assert_ptr_nonnull(validate(VALIDATE_PATH_EXISTS, (struct str){ path, sizeof(path) }));
}
END_TEST

SUITE_MAIN("validate", texts_are_judged, a_path_may_be_endless)
