/* base: commands that a message advises. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/shell_word.h"
#include "harness/oom.h"

static const struct {
	const char *text;
	const char *word; /* "" = is not advised */
} cases[] = {
	{ "/srv/data", "/srv/data" },
	{ "acme.echo", "acme.echo" },
	{ "/srv/a b", "'/srv/a b'" },
	{ "/srv/data|touch${IFS}PWNED&", "'/srv/data|touch${IFS}PWNED&'" },
	{ "/srv/$(id)", "'/srv/$(id)'" },
	{ "/it's", "'/it'\\''s'" },
	{ "''", "''\\'''\\'''" },
	{ "~/x", "'~/x'" },
	{ "=ls", "'=ls'" },
	{ "a!b", "'a!b'" },
	{ "a\\b", "'a\\b'" },
	{ "/srv/äö", "'/srv/äö'" },
	{ "", "" },
	{ "-rf", "" },
	{ "/srv/a\nb", "" },
	{ "/srv/\tb", "" },
	{ "/srv/\033[31m", "" },
	{ "/srv/\x7f", "" },
	{ "/srv/\xc2\x9b", "" }, /* CSI as one character */
	{ "/srv/\xe2\x80\xae"
	  "x",
		"" }, /* U+202E, right to left */
	{ "/srv/\xe2\x80\x8b"
	  "x",
		"" }, /* U+200B, no room */
	{ "/srv/\xef\xbb\xbf"
	  "x",
		"" }, /* U+FEFF */
	{ "/srv/\xff", "" },
	{ "/srv/\xc3", "" },
};

START_TEST(a_word_is_what_the_shell_gets_or_is_not_there)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		char word[SHELL_WORD_MAX];
		ck_assert_str_eq(shell_word(cases[i].text, word), cases[i].word);
	}
}
END_TEST

/* Every byte that may stand in a path, alone and between letters: a real shell is asked. */
START_TEST(a_shell_reads_every_word_as_it_was)
{
	for (int byte = 1; byte < 128; byte++) {
		char text[] = { '/', 'a', (char)byte, 'b', '\0' };
		char word[SHELL_WORD_MAX];
		char command[SHELL_WORD_MAX + 32];
		char got[64] = "";
		if (!shell_word(text, word)[0])
			continue;
		snprintf(command, sizeof(command), "printf %%s %s", word);
		FILE *shell = popen(command, "r");
		ck_assert_ptr_nonnull(shell);
		size_t len = fread(got, 1, sizeof(got) - 1, shell);
		got[len] = '\0';
		ck_assert_int_eq(pclose(shell), 0);
		ck_assert_str_eq(got, text);
	}
}
END_TEST

START_TEST(what_is_too_long_is_not_advised)
{
	char text[2 * SHELL_WORD_MAX];
	char word[SHELL_WORD_MAX];
	char advice[SHELL_ADVICE_MAX];
	for (size_t len = 1; len < sizeof(text); len++) {
		memset(text, 'x', len);
		text[len] = '\0';
		ck_assert_int_eq(shell_word(text, word)[0] != '\0', len + 3 <= SHELL_WORD_MAX);
		text[0] = '\'';
		shell_word(text, word);
		ck_assert_int_eq(word[0] != '\0', len + 6 <= SHELL_WORD_MAX);
		ck_assert(!word[0] || word[strlen(word) - 1] == '\'');
	}
	ck_assert_str_eq(shell_advice(advice, "w", "; do %s", "w"), "; do w");
	ck_assert_str_eq(shell_advice(advice, "", "; do %s", "w"), "");
	ck_assert_str_eq(shell_advice(advice, "w", "%s", text), "");
}
END_TEST

START_TEST(an_error_keeps_its_advice_whole)
{
	char words[2 * PERCH_ERR_TEXT_MAX];
	char advice[SHELL_ADVICE_MAX];
	perch_err err;
	memset(words, 'x', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	ck_assert_int_eq(err_set_advised(&err, -1, "; do a", "it is %s", "wrong"), -1);
	ck_assert_str_eq(err.text, "it is wrong; do a");
	err_set_advised(&err, -1, "; do a", "%s", words);
	ck_assert_uint_eq(strlen(err.text), PERCH_ERR_TEXT_MAX - 1);
	ck_assert_str_eq(err.text + PERCH_ERR_TEXT_MAX - 7, "; do a");
	memset(advice, 'y', sizeof(advice) - 1);
	advice[sizeof(advice) - 1] = '\0';
	err_set_advised(&err, -1, advice, "it is wrong");
	ck_assert_str_eq(err.text, "it is wrong");
	ck_assert_int_eq(err_set_advised(NULL, -2, advice, "it is wrong"), -2);
}
END_TEST

static int make_command(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	const char *command = shell_command(&arena, "perch tool allow ", "a b", " --binding");
	const char *none = shell_command(&arena, "perch tool allow ", "a\nb", " --binding");
	ck_assert(!command || strcmp(command, "perch tool allow 'a b' --binding") == 0);
	ck_assert_str_eq(none, "");
	arena_free(&arena);
	return command ? 0 : -ENOMEM;
}

START_TEST(a_command_in_an_arena)
{
	ck_assert_uint_ge(oom_every(make_command, NULL), 1);
}
END_TEST

SUITE_MAIN("shell-word", a_word_is_what_the_shell_gets_or_is_not_there,
	a_shell_reads_every_word_as_it_was, what_is_too_long_is_not_advised,
	an_error_keeps_its_advice_whole, a_command_in_an_arena)
