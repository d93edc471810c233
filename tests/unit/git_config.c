/* git_config: the syntax of git's config files, against git itself. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fledge/git_parts.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/repository.h"

static bool is_doubtful;

/* As `git config --list -z` prints them. */
static int list_variable(void *data, const struct git_variable *variable)
{
	struct buf *out = data;
	is_doubtful |= variable->is_doubtful;
	buf_append(out, variable->name.data, variable->name.len);
	if (variable->has_value) {
		buf_append_char(out, '\n');
		buf_append(out, variable->value.data, variable->value.len);
	}
	return buf_append_char(out, '\0');
}

/* A git of 2024 and later keeps the blank that is written. */
static void fold_blanks(struct buf *text)
{
	for (size_t i = 0; is_doubtful && i < text->len; i++) {
		if (text->data[i] == '\t' || text->data[i] == '\r')
			text->data[i] = ' ';
	}
}

static void assert_like_git(struct str text)
{
	static const char *const argv[] = { "git", "config", "-f", "config", "--list", "-z", NULL };
	struct buf ours = { 0 };
	struct buf theirs = { 0 };
	folder_write_n("config", text);
	int status = repository_ask(folder_path("."), argv, NULL, &theirs);
	is_doubtful = false;
	int r = git_config_read(text, list_variable, &ours);
	fold_blanks(&ours);
	fold_blanks(&theirs);
	ck_assert_msg(
		(r == 0) == (status == 0), "ours %d, git's %d:\n%.*s", r, status, (int)text.len, text.data);
	struct str read = { ours.data, ours.len };
	struct str expected = { theirs.data, theirs.len };
	ck_assert_msg(r < 0 || str_eq(read, expected), "of\n%.*s\ngit reads\n%.*s\nand we\n%.*s",
		(int)text.len, text.data, (int)theirs.len, theirs.data, (int)ours.len, ours.data);
	ck_assert(r == 0 || r == PERCH_ESYNTAX);
	buf_free(&ours);
	buf_free(&theirs);
}

START_TEST(reads_what_git_reads)
{
	static const char *const texts[] = {
		"[a]\nb = c\n",
		"[a]b=c",
		"[A]\n\tB-2 = C\n[A.Sub.X]\nd\n",
		"[a \"Sub \\\"q\\\" \\\\ \\x ]\"] b = c",
		"[a   \"s\"]b",
		"[a \"s\" ]b",
		"[a \"s]b",
		"[a\"s\"]b",
		"[a \"\"]b=1",
		"[]\nb=1",
		"[a]\nb = \" c \" d ; e\n# f\n; g\nh = i#j",
		"[a]\nb = \"x;y#z\" w",
		"[a]\nb = one\\\n  two \\\n\n c = \\n\\t\\b\\\\\\\"|",
		"[a]\nb = \\x",
		"[a]\nb = \"open\nc = d",
		"[a]\nb = \"open\\\nand closed\"",
		"[a]\r\nb = c\r\nd = \"e\\\r\nf\"\r\n",
		"\xEF\xBB\xBF[a]\nb = c",
		"[a]\n1b = c",
		"[a]\n-b = c",
		"[a]\nb_c = d",
		"[a]\nb c",
		"[a]\nb : c",
		"[a]\nb = \n c =   \nd =\"\"\n",
		"[a]\nb=c ] [ = d",
		"lonely = 1\n",
		"[a] [b] c = d\n",
		"[a",
		"[a]\nb = c\\",
		"[a]\nb = \"c",
		"",
		"\n\n# only\n ; comments",
		"x",
		"=",
		"[a]\n\xC3\xA4 = b",
		"[a \"\xC3\xA4\xFF\"]\nb = \xFF",
	};
	repository_folder();
	for (size_t i = 0; i < COUNT(texts); i++)
		assert_like_git(str_from(texts[i]));
}
END_TEST

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Pieces that are likely to make something. */
START_TEST(reads_random_texts_as_git_does)
{
	static const char *const pieces[] = { "[a]\n", "[b \"c\"]\n", "d = ", "e", " ", "\"", "\\",
		"\n", "=", "#", ";", "[", "]", "\r\n", "n", "\\\n", "x = y\n", ".", "z", "\t", "\r" };
	uint64_t seed = 7;
	repository_folder();
	for (int i = 0; i < 500; i++) {
		struct buf text = { 0 };
		buf_append_text(&text, i % 4 ? "[s]\n" : "");
		for (uint32_t n = next_random(&seed) % 12; n > 0; n--)
			buf_append_text(&text, pieces[next_random(&seed) % COUNT(pieces)]);
		assert_like_git((struct str){ text.data, text.len });
		buf_free(&text);
	}
}
END_TEST

START_TEST(refuses_a_nul_anywhere)
{
	static const struct str texts[] = {
		{ "[a]\nb = c\0d", 11 },
		{ "[a]\n\0", 5 },
		{ "[a \"\0\"]", 7 },
		{ "[a\0]", 4 },
		{ "[a]\nb\0=c", 8 },
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct buf out = { 0 };
		ck_assert_int_eq(git_config_read(texts[i], list_variable, &out), PERCH_ESYNTAX);
		buf_free(&out);
	}
}
END_TEST

/* And says where another git would read another. */
START_TEST(keeps_blanks_inside_a_value)
{
	struct buf out = { 0 };
	is_doubtful = false;
	ck_assert_int_eq(git_config_read(STR("[a]\nb = \tc  \"\td\"\t \n"), list_variable, &out), 0);
	ck_assert_str_eq(out.data, "a.b\nc  \td");
	ck_assert(!is_doubtful);
	buf_clear(&out);
	ck_assert_int_eq(git_config_read(STR("[a]\nb = \tc \t d\t \n"), list_variable, &out), 0);
	ck_assert_str_eq(out.data, "a.b\nc   d");
	ck_assert(is_doubtful);
	is_doubtful = false;
	ck_assert_int_eq(git_config_read(STR("[a]\nb = c\rd\n"), list_variable, &out), 0);
	ck_assert(is_doubtful);
	buf_free(&out);
}
END_TEST

static int stop(void *data, const struct git_variable *variable)
{
	(void)variable;
	return ++*(int *)data == 2 ? -ECANCELED : 0;
}

START_TEST(stops_when_it_is_told)
{
	int seen = 0;
	ck_assert_int_eq(git_config_read(STR("[a]\nb\nc\nd\n"), stop, &seen), -ECANCELED);
	ck_assert_int_eq(seen, 2);
}
END_TEST

static int read_once(void *data)
{
	struct buf out = { 0 };
	struct str text = STR("[section \"with a rather long name, so that it has to grow\"]\n"
						  "variable = \"and a value, that is long too, to make it grow again\"\n");
	int r = git_config_read(text, list_variable, &out);
	(void)data;
	buf_free(&out);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_ge(oom_every(read_once, NULL), 3);
}
END_TEST

SUITE_MAIN("git_config", reads_what_git_reads, reads_random_texts_as_git_does,
	refuses_a_nul_anywhere, keeps_blanks_inside_a_value, stops_when_it_is_told,
	every_allocation_may_fail)
