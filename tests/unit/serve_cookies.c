/* Cookies of browsers over a restart: what is written, what is taken again of a file that anybody
 * may have bent, and both without memory. */
#include "harness/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "serve/serve_parts.h"

#define TEN "0123456789"
#define TOKEN_HASH TEN TEN TEN TEN TEN TEN "aaaa"
#define OTHER_HASH TEN TEN TEN TEN TEN TEN "bbbb"
#define COOKIE_HASH TEN TEN TEN TEN TEN TEN "cccc"
#define LINK_HASH TEN TEN TEN TEN TEN TEN "dddd"
#define LIFE_HASH TEN TEN TEN TEN TEN TEN "eeee"
#define FILE_NAME "state/perch/cookies"

static struct serve serve;
static int64_t soon;

/* A server with the user ann of a token with this hash, and that of the link. -1 without memory. */
static int open_server(const char *hash)
{
	const struct token ann = { .name = "ann", .hash = hash };
	const struct token local = { .name = TOKEN_LOCAL_USER, .hash = "", .is_admin = true };
	serve = (struct serve){ 0 };
	serve.local = identity_add(&serve.identities, &local, true);
	return serve.local && identity_add(&serve.identities, &ann, false) ? 0 : -1;
}

static void close_server(void)
{
	cookies_free(&serve.cookies);
	identities_free(&serve.identities);
}

static void open_folder(void)
{
	folder_new();
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	folder_write(FILE_NAME, "");
	soon = (int64_t)time(NULL) + COOKIE_SECONDS - 60;
}

/* How many cookies of the file are good for a server like that. */
static size_t count_of(const char *text, const char *hash)
{
	folder_write(FILE_NAME, text);
	ck_assert_int_eq(open_server(hash), 0);
	cookies_load(&serve);
	size_t count = serve.cookies.list.count;
	close_server();
	return count;
}

static const char *line_of(const char *hash, int64_t until, const char *rest)
{
	static char line[512];
	snprintf(line, sizeof(line), "%s %" PRId64 " %s", hash, until, rest);
	return line;
}

START_TEST(they_outlive_the_server)
{
	struct stat info;
	open_folder();
	ck_assert_int_eq(open_server(TOKEN_HASH), 0);
	struct identity *ann = identities_named(&serve.identities, "ann");
	ck_assert_ptr_nonnull(cookies_add(&serve.cookies, COOKIE_HASH, soon, ann, false));
	ck_assert_ptr_nonnull(cookies_add(&serve.cookies, LINK_HASH, soon + 1, serve.local, true));
	ck_assert_ptr_nonnull(cookies_add(&serve.cookies, LIFE_HASH, soon, serve.local, false));
	ck_assert_int_eq(symlink("/nowhere/at/all", folder_path(FILE_NAME ".new")), 0);
	cookies_save(&serve.cookies);
	close_server();
	ck_assert_int_eq(lstat(folder_path(FILE_NAME), &info), 0);
	ck_assert(S_ISREG(info.st_mode) && (info.st_mode & 0777) == 0600);
	char *text = folder_read(folder_path(FILE_NAME));
	ck_assert_msg(!strstr(text, LIFE_HASH), "what ends with the server is not kept: %s", text);

	ck_assert_int_eq(open_server(TOKEN_HASH), 0);
	cookies_load(&serve);
	const struct cookie *first = list_first(&serve.cookies.list);
	const struct cookie *second = list_next(first);
	ck_assert_uint_eq(serve.cookies.list.count, 2);
	ck_assert(strcmp(first->hash, COOKIE_HASH) == 0 && first->until == soon && !first->is_by_link);
	ck_assert_str_eq(first->who->token.name, "ann");
	ck_assert(second->is_by_link && second->who == serve.local && second->until == soon + 1);
	close_server();
	ck_assert_msg(count_of(text, OTHER_HASH) == 1, "a new token of the same name is another user");
	free(text);
}
END_TEST

START_TEST(bent_lines_are_nobody_s)
{
	static const char *const wrong[] = { "", "\n\n", " ", "   \n", COOKIE_HASH, COOKIE_HASH " ",
		COOKIE_HASH " 1 " TOKEN_HASH " ann", COOKIE_HASH " -1 " TOKEN_HASH " ann",
		COOKIE_HASH " 99999999999999999999999 " TOKEN_HASH " ann",
		COOKIE_HASH " 9223372036854775807 " TOKEN_HASH " ann", "\xff\xfe x y z" };
	open_folder();
	const struct {
		const char *line;
		size_t count;
	} cases[] = {
		{ strdup(line_of(COOKIE_HASH, soon, TOKEN_HASH " ann")), 1 },
		{ strdup(line_of("short", soon, TOKEN_HASH " ann")), 0 },
		{ strdup(line_of(TEN TEN TEN TEN TEN TEN "ccc\x01", soon, TOKEN_HASH " ann")), 0 },
		{ strdup(line_of(COOKIE_HASH "0", soon, TOKEN_HASH " ann")), 0 },
		{ strdup(line_of(COOKIE_HASH, soon, TOKEN_HASH " bob")), 0 },
		{ strdup(line_of(COOKIE_HASH, soon, TOKEN_HASH " ann ")), 0 },
		{ strdup(line_of(COOKIE_HASH, soon, "- ann")), 0 },
		{ strdup(line_of(COOKIE_HASH, soon, "- local")), 1 },
		{ strdup(line_of(COOKIE_HASH, soon, " local")), 0 },
		{ strdup(line_of(COOKIE_HASH, soon + 3600, TOKEN_HASH " ann")), 0 },
		{ strdup(line_of(COOKIE_HASH, soon - 2 * (int64_t)COOKIE_SECONDS, TOKEN_HASH " ann")), 0 },
	};
	for (size_t i = 0; i < COUNT(wrong); i++)
		ck_assert_msg(count_of(wrong[i], TOKEN_HASH) == 0, "%s", wrong[i]);
	for (size_t i = 0; i < COUNT(cases); i++) {
		ck_assert_msg(count_of(cases[i].line, TOKEN_HASH) == cases[i].count, "%s", cases[i].line);
		free((char *)cases[i].line);
	}
}
END_TEST

/* Whatever one byte becomes: the line is good or nobody's, and its neighbour stays. */
START_TEST(every_byte_may_be_wrong)
{
	static const char bytes[] = { '\0', '\n', ' ', '-', '0', 'z', '\x80', '\xff' };
	char text[1024];
	open_folder();
	int len = snprintf(text, sizeof(text), "%s\n", line_of(COOKIE_HASH, soon, TOKEN_HASH " ann"));
	size_t first = (size_t)len;
	snprintf(text + len, sizeof(text) - first, "%s\n", line_of(LINK_HASH, soon, "- local"));
	for (size_t i = 0; i < first; i++) {
		char kept = text[i];
		text[i] = bytes[i % COUNT(bytes)];
		folder_write_n(FILE_NAME, (struct str){ text, strlen(text + i + 1) + i + 1 });
		ck_assert_int_eq(open_server(TOKEN_HASH), 0);
		cookies_load(&serve);
		size_t count = serve.cookies.list.count;
		ck_assert_msg(count <= 2 && (count >= 1 || i == first - 1), "%zu of byte %zu", count, i);
		close_server();
		text[i] = kept;
	}
}
END_TEST

START_TEST(they_are_bounded)
{
	open_folder();
	FILE *file = fopen(folder_path(FILE_NAME), "w");
	for (int i = 0; i < COOKIES_MAX + 100; i++)
		fprintf(file, "%s\n", line_of(COOKIE_HASH, soon, "- local"));
	fclose(file);
	ck_assert_int_eq(open_server(TOKEN_HASH), 0);
	cookies_load(&serve);
	ck_assert_uint_eq(serve.cookies.list.count, COOKIES_MAX);
	close_server();
	ck_assert_int_eq(truncate(folder_path(FILE_NAME), 1 << 20), 0); /* over all that there can be */
	ck_assert_int_eq(open_server(TOKEN_HASH), 0);
	cookies_load(&serve);
	ck_assert_uint_eq(serve.cookies.list.count, 0);
	close_server();
}
END_TEST

static int keep_and_read(void *data)
{
	(void)data;
	int r = open_server(TOKEN_HASH);
	if (r == 0 && !cookies_add(&serve.cookies, LINK_HASH, soon, serve.local, true))
		r = -1;
	cookies_save(&serve.cookies);
	cookies_load(&serve);
	close_server();
	return r;
}

START_TEST(without_memory)
{
	open_folder();
	oom_every(keep_and_read, NULL);
}
END_TEST

SUITE_MAIN("serve-cookies", they_outlive_the_server, bent_lines_are_nobody_s,
	every_byte_may_be_wrong, they_are_bounded, without_memory)
