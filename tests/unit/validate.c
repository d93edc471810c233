/* Whether a text is what was asked for. */
#include "harness/suite.h"

#include "validate.h"

static const struct {
	perch_validator validator;
	const char *text;
	size_t len;
	bool is_fine;
} cases[] = {
#define TEXT(literal) literal, sizeof(literal) - 1
	{ PERCH_VALIDATE_NOTHING, TEXT(""), true },
	{ PERCH_VALIDATE_NON_EMPTY, TEXT(""), false },
	{ PERCH_VALIDATE_NON_EMPTY, TEXT(" \t\n"), false },
	{ PERCH_VALIDATE_NON_EMPTY, TEXT(" x "), true },
	{ PERCH_VALIDATE_INTEGER, TEXT(""), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("-"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("0"), true },
	{ PERCH_VALIDATE_INTEGER, TEXT("-0"), true },
	{ PERCH_VALIDATE_INTEGER, TEXT("+12"), true },
	{ PERCH_VALIDATE_INTEGER, TEXT(" 12"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("1.0"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("1e3"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("0x10"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("--1"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("1\0"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("9223372036854775807"), true },
	{ PERCH_VALIDATE_INTEGER, TEXT("9223372036854775808"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("-9223372036854775808"), true },
	{ PERCH_VALIDATE_INTEGER, TEXT("-9223372036854775809"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("18446744073709551616"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("100000000000000000000000000000"), false },
	{ PERCH_VALIDATE_INTEGER, TEXT("00000000000000000000000000001"), true },
	{ PERCH_VALIDATE_PATH_EXISTS, TEXT(""), false },
	{ PERCH_VALIDATE_PATH_EXISTS, TEXT("/"), true },
	{ PERCH_VALIDATE_PATH_EXISTS, TEXT("/\0x"), false },
	{ PERCH_VALIDATE_PATH_EXISTS, TEXT("/no/such/file"), false },
	{ PERCH_VALIDATE_PATH_EXISTS, TEXT("/dev/null"), true },
	{ PERCH_VALIDATE_URL, TEXT("http://a"), true },
	{ PERCH_VALIDATE_URL, TEXT("HTTPS://example.org:8080/x?y#z"), true },
	{ PERCH_VALIDATE_URL, TEXT("https://user:secret@host/"), true },
	{ PERCH_VALIDATE_URL, TEXT("https://[::1]:80/"), true },
	{ PERCH_VALIDATE_URL, TEXT("https://bücher.example/"), true },
	{ PERCH_VALIDATE_URL, TEXT(""), false },
	{ PERCH_VALIDATE_URL, TEXT("http://"), false },
	{ PERCH_VALIDATE_URL, TEXT("https:///path"), false },
	{ PERCH_VALIDATE_URL, TEXT("https://:80/"), false },
	{ PERCH_VALIDATE_URL, TEXT("https://user@/"), false },
	{ PERCH_VALIDATE_URL, TEXT("https://?x"), false },
	{ PERCH_VALIDATE_URL, TEXT("ftp://host/"), false },
	{ PERCH_VALIDATE_URL, TEXT("example.org"), false },
	{ PERCH_VALIDATE_URL, TEXT("https://a b/"), false },
	{ PERCH_VALIDATE_URL, TEXT("https://a/\n"), false },
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
	ck_assert_ptr_nonnull(validate(PERCH_VALIDATE_PATH_EXISTS, (struct str){ path, sizeof(path) }));
}
END_TEST

SUITE_MAIN("validate", texts_are_judged, a_path_may_be_endless)
