/* Any bytes as the file of the browsers' cookies. No crash; what is taken has an owner, whose token
 * is the same, and a time that is neither over nor too far off; what is written is read again. An @
 * stands for a time that is good: no input could keep up with the clock. */
#include "fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "harness/home.h"
#include "serve/serve_parts.h"

#define TEN "0123456789"
#define ANN_HASH TEN TEN TEN TEN TEN TEN "aaaa"

static char file_path[96];

static void open_directory(void)
{
	check(home_open() == 0);
	snprintf(file_path, sizeof(file_path), "%s/perch/cookies", getenv("HOME"));
}

static void put(const uint8_t *data, size_t size, int64_t soon)
{
	FILE *file = fopen(file_path, "w");
	check(file);
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '@')
			fprintf(file, "%" PRId64, soon);
		else
			fputc(data[i], file);
	}
	check(fclose(file) == 0);
}

/* How many cookies were taken, each of them good. */
static size_t load(struct serve *serve, int64_t now)
{
	cookies_free(&serve->cookies);
	cookies_load(serve);
	for (const struct cookie *item = list_first(&serve->cookies.list); item;
		 item = list_next(item)) {
		check(item->who && !item->who->is_revoked && item->is_by_link == item->who->is_own);
		check(strlen(item->hash) == SHA256_HEX_SIZE - 1);
		check(item->until > now && item->until <= now + 2 * COOKIE_SECONDS);
	}
	check(serve->cookies.list.count <= COOKIES_MAX);
	return serve->cookies.list.count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct token ann = { .name = "ann", .hash = ANN_HASH };
	const struct token local = { .name = TOKEN_LOCAL_USER, .hash = "", .is_admin = true };
	struct serve serve = { 0 };
	int64_t now = (int64_t)time(NULL);
	if (!file_path[0])
		open_directory();
	serve.local = identity_add(&serve.identities, &local, true);
	check(serve.local && identity_add(&serve.identities, &ann, false));
	put(data, size, now + COOKIE_SECONDS / 2);
	size_t count = load(&serve, now);
	cookies_save(&serve.cookies);
	check(load(&serve, now) == count);
	cookies_free(&serve.cookies);
	identities_free(&serve.identities);
	return 0;
}
