/* queue: the address of a Redis, what a job needs, its signature, and the forms of ids and events.
 */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "harness/folder.h"
#include "queue/mac.h"
#include "queue/need.h"
#include "queue/redis_library.h"
#include "queue/redis_url.h"
#include "queue/uploads.h"

static struct redis_url parse(const char *text)
{
	struct redis_url url = { 0 };
	perch_err err = { 0 };
	ck_assert_msg(redis_url_parse(str_from(text), &url, &err) == 0, "%s: %s", text, err.text);
	return url;
}

START_TEST(addresses)
{
	static const struct {
		const char *text, *host, *user, *path, *written;
		unsigned port, database;
		bool is_local;
	} rows[] = {
		{ "redis://h", "h", "", "", "redis://h:6379/0", 6379, 0, false },
		{ "redis://ada@h:1/7", "h", "ada", "", "redis://h:1/7", 1, 7, false },
		{ "redis://127.0.0.1:70", "127.0.0.1", "", "", "redis://127.0.0.1:70/0", 70, 0, true },
		{ "redis://[::1]:70/", "::1", "", "", "redis://[::1]:70/0", 70, 0, true },
		{ "redis://localhost", "localhost", "", "", "redis://localhost:6379/0", 6379, 0, true },
		{ "redis://localhost.example.org", "localhost.example.org", "", "",
			"redis://localhost.example.org:6379/0", 6379, 0, false },
		{ "unix:/run/r", "", "", "/run/r", "unix:/run/r", 0, 0, true },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char written[400];
		struct redis_url url = parse(rows[i].text);
		ck_assert_str_eq(url.host, rows[i].host);
		ck_assert_str_eq(url.user, rows[i].user);
		ck_assert_str_eq(url.path, rows[i].path);
		ck_assert_uint_eq(url.port, rows[i].port);
		ck_assert_uint_eq(url.database, rows[i].database);
		ck_assert_int_eq(redis_url_is_local(&url), rows[i].is_local);
		redis_url_write(&url, written, sizeof(written));
		ck_assert_str_eq(written, rows[i].written);
	}
}
END_TEST

START_TEST(addresses_that_are_none)
{
	static const char *const texts[] = { "", "redis", "redis://", "redis://:1",
		"redis://h:", "redis://h:x", "redis://h:65536", "redis://h:99999999999", "redis://h/x",
		"redis://[::1", "redis://[::1]x", "redis://a b", "redis://h\x01", "rediss://h", "http://h",
		"unix:", "redis://u:p@h", "redis://a@b@c", "redis://[[x]", "redis://a%20" };
	struct redis_url url;
	char text[REDIS_URL_MAX + 2];
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		perch_err err = { 0 };
		ck_assert_msg(redis_url_parse(str_from(texts[i]), &url, &err) == -EINVAL, "%s", texts[i]);
		ck_assert_uint_gt(strlen(err.text), 10);
	}
	memset(text, 'h', sizeof(text));
	memcpy(text, "redis://", 8);
	ck_assert_int_eq(redis_url_parse((struct str){ text, 300 }, &url, NULL), -EINVAL);
	ck_assert_int_eq(redis_url_parse((struct str){ text, sizeof(text) }, &url, NULL), -EINVAL);
}
END_TEST

START_TEST(needs)
{
	char *need = need_write(PERCH_ENTRY_AGENT, "bot", "00ff", "gpu");
	ck_assert_str_eq(need, "agent:bot#00ff@gpu");
	free(need);
	need = need_write(PERCH_ENTRY_TOOL, "a/b", "*", "");
	ck_assert_str_eq(need, "tool:a/b#*");
	free(need);
	ck_assert(need_is_label(STR("gpu-1_A")));
	ck_assert(!need_is_label(STR("")));
	ck_assert(!need_is_label(STR("a@b")));
	ck_assert(need_is_of(STR("tool:a/b#00@gpu"), PERCH_ENTRY_TOOL, STR("a/b")));
	ck_assert(!need_is_of(STR("tool:a/b#00"), PERCH_ENTRY_AGENT, STR("a/b")));
	ck_assert(!need_is_of(STR("tool:a/b#00"), PERCH_ENTRY_TOOL, STR("a")));
	ck_assert(!need_is_of(STR("tool:a/b"), PERCH_ENTRY_TOOL, STR("a/b")));
	ck_assert(!need_is_of((struct str){ 0 }, PERCH_ENTRY_TOOL, STR("a/b")));
	static const struct {
		const char *need, *offer;
		bool is_met;
	} pairs[] = {
		{ "agent:bot#00ff", "agent:bot#00ff", true },
		{ "agent:bot#00ff", "agent:bot#00fe", false },
		{ "agent:bot#00ff", "agent:bot#*", true },
		{ "agent:bot#00ff@gpu", "agent:bot#*@gpu", true },
		{ "agent:bot#00ff@gpu", "agent:bot#*", false },
		{ "agent:bot#00ff", "agent:bot#*@gpu", false },
		{ "agent:b#t#00ff", "agent:b#t#*", true },
		{ "agent:bots#00ff", "agent:bot#*", false },
		{ "agent:bot", "agent:bot", true },
		{ "agent:bot", "agent:bot#*", false },
		{ "", "agent:bot#*", false },
	};
	for (size_t i = 0; i < COUNT(pairs); i++)
		ck_assert_msg(
			need_is_met(str_from(pairs[i].need), str_from(pairs[i].offer)) == pairs[i].is_met,
			"%s by %s", pairs[i].need, pairs[i].offer);
	perch_entry entry = { .kind = PERCH_ENTRY_TOOL, .name = "a/b", .description = "x" };
	char first[NEED_HASH_SIZE], second[NEED_HASH_SIZE];
	ck_assert_int_eq(need_hash(&entry, first, NULL), 0);
	ck_assert_uint_eq(strlen(first), NEED_HASH_SIZE - 1);
	entry.description = NULL;
	entry.input_schema = "x";
	ck_assert_int_eq(need_hash(&entry, second, NULL), 0);
	ck_assert_str_ne(first, second);
}
END_TEST

START_TEST(signatures)
{
	struct buf key = { 0 };
	char mac[SHA256_HEX_SIZE];
	buf_append_text(&key, "0123456789abcdef0123456789abcdef");
	struct queue_job job = { .id = STR("j1"),
		.kind = STR("turn"),
		.name = STR("bot"),
		.owner = STR("me"),
		.session = STR("s"),
		.need = STR("agent:bot#00"),
		.request = STR("{}") };
	mac_make(&key, &job, mac);
	job.mac = str_from(mac);
	ck_assert(mac_is_right(&key, &job));
	struct str *parts[] = { &job.id, &job.kind, &job.name, &job.owner, &job.session, &job.need,
		&job.request };
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct str was = *parts[i];
		*parts[i] = STR("other");
		ck_assert(!mac_is_right(&key, &job));
		*parts[i] = was;
	}
	job.retries = 1;
	ck_assert(!mac_is_right(&key, &job));
	job.retries = 0;
	job.mac.len--;
	ck_assert(!mac_is_right(&key, &job));
	job.mac = (struct str){ 0 };
	ck_assert(!mac_is_right(&key, &job));
	buf_free(&key);
}
END_TEST

START_TEST(what_the_library_says_of_itself)
{
	ck_assert_int_ge(redis_library_revision(), 1);
	ck_assert(str_has_prefix(redis_library_functions(), STR("#!lua name=" REDIS_LIBRARY "\n")));
	ck_assert(str_has_prefix(redis_library_script(false), STR("#!lua\n")));
	ck_assert(str_has_prefix(redis_library_script(true), STR("#!lua flags=allow-oom\n")));
	ck_assert_uint_gt(redis_library_script(true).len, redis_library_functions().len);
	ck_assert(redis_library_is_spare("finish"));
	ck_assert(redis_library_is_spare("renew"));
	ck_assert(!redis_library_is_spare("publish"));
	ck_assert(!redis_library_is_spare("fin"));
}
END_TEST

START_TEST(ids)
{
	static const char *const none[] = { "", "j", "j0123456789abcdef012", "j0123456789abcdef01234",
		"J0123456789abcdef0123", "j0123456789ABCDEF0123", "j0123456789abcdef012/",
		"j../../../../../.ssh/", "../../../../.ssh" };
	ck_assert(queue_is_id(STR("j0123456789abcdef0123")));
	ck_assert(!queue_is_id(STR("j0123456789abcdef\0123")));
	ck_assert(!queue_is_id((struct str){ 0 }));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(!queue_is_id(str_from(none[i])), "%s", none[i]);
}
END_TEST

START_TEST(attachments_are_removed_by_ids_alone)
{
	struct uploads wrong = { .id = "../../victim", .has_files = true };
	struct uploads right = { .id = "j0123456789abcdef0123", .has_files = true };
	folder_new();
	folder_write("victim/file", "precious");
	folder_write("perch/attachments/j0123456789abcdef0123/1", "text");
	setenv("XDG_STATE_HOME", folder_path("."), 1);
	uploads_remove(&wrong);
	ck_assert_int_eq(access(folder_path("victim/file"), F_OK), 0);
	uploads_remove(&right);
	ck_assert_int_lt(access(folder_path("perch/attachments/j0123456789abcdef0123"), F_OK), 0);
}
END_TEST

START_TEST(events)
{
	static const struct {
		uint64_t number;
		const char *text;
		bool is_whole;
	} rows[] = {
		{ 1, "{}", true },
		{ QUEUE_NUMBER_MAX, "{\"a\":1}", true },
		{ QUEUE_NUMBER_MAX + 1, "{}", false },
		{ UINT64_MAX, "{}", false },
		{ 0, "{}", false },
		{ 1, "", false },
		{ 1, "{", false },
		{ 1, "}", false },
		{ 1, "[]", false },
		{ 1, "{}x", false },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct queue_event event = { .number = rows[i].number,
			.text = str_from(rows[i].text) };
		ck_assert_msg(queue_event_is_whole(&event) == rows[i].is_whole, "%s", rows[i].text);
	}
}
END_TEST

SUITE_MAIN("queue-redis-url", addresses, addresses_that_are_none, needs, signatures, ids,
	attachments_are_removed_by_ids_alone, events, what_the_library_says_of_itself)
