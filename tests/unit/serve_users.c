/* Users of the gateway: tokens in their file, identities, addresses, settings; without memory too.
 */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "serve/address.h"
#include "serve/routes.h"
#include "serve/identity.h"
#include "serve/serve_settings.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void open_folder(void)
{
	folder_new();
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
}

/* ---- addresses ---------------------------------------------------------------- */

START_TEST(addresses)
{
	static const struct {
		const char *text, *written;
		bool is_local;
	} cases[] = {
		{ "127.0.0.1", "127.0.0.1", true },
		{ "127.9.9.9", "127.9.9.9", true },
		{ "::1", "::1", true },
		{ "0.0.0.0", "0.0.0.0", false },
		{ "192.0.2.7", "192.0.2.7", false },
		{ "2001:db8::1", "2001:db8::1", false },
	};
	static const char *const wrong[] = { "", "localhost", "127.0.0.1:80", "1.2.3", "::1%lo",
		"[::1]", "127.0.0.1 ", "999.0.0.1" };
	char text[ADDRESS_TEXT_SIZE];
	struct address address;
	for (size_t i = 0; i < COUNT(cases); i++) {
		ck_assert_msg(address_parse(str_from(cases[i].text), &address), "%s", cases[i].text);
		ck_assert_int_eq(address_is_local(&address), cases[i].is_local);
		address_write(&address, text);
		ck_assert_str_eq(text, cases[i].written);
	}
	for (size_t i = 0; i < COUNT(wrong); i++)
		ck_assert_msg(!address_parse(str_from(wrong[i]), &address), "%s", wrong[i]);
}
END_TEST

START_TEST(strangers_are_counted)
{
	struct strangers strangers = { 0 };
	struct address one, other;
	address_parse(STR("192.0.2.1"), &one);
	address_parse(STR("192.0.2.2"), &other);
	ck_assert_uint_eq(strangers_enter(&strangers, &one), 1);
	ck_assert_uint_eq(strangers_enter(&strangers, &one), 2);
	ck_assert_uint_eq(strangers_enter(&strangers, &other), 1);
	strangers_leave(&strangers, &one);
	ck_assert_uint_eq(strangers_enter(&strangers, &one), 2);
	for (int i = 0; i < STRANGERS_WRONG_MAX; i++) {
		ck_assert(!strangers_are_blocked(&strangers, &one, 1));
		strangers_blame(&strangers, &one, 1);
	}
	ck_assert(strangers_are_blocked(&strangers, &one, 1));
	ck_assert(!strangers_are_blocked(&strangers, &other, 1));
	ck_assert(!strangers_are_blocked(&strangers, &one, 61 * NSEC_PER_SEC));
	strangers_free(&strangers);
}
END_TEST

START_TEST(strangers_of_one_network_are_one)
{
	struct strangers strangers = { 0 };
	struct address one, other, elsewhere;
	address_parse(STR("2001:db8::1"), &one);
	address_parse(STR("2001:db8::ffff:1"), &other);
	address_parse(STR("2001:db8:0:1::1"), &elsewhere);
	ck_assert_uint_eq(strangers_enter(&strangers, &one), 1);
	ck_assert_uint_eq(strangers_enter(&strangers, &other), 2);
	ck_assert_uint_eq(strangers_enter(&strangers, &elsewhere), 1);
	strangers_leave(&strangers, &one);
	strangers_leave(&strangers, &other);
	ck_assert_uint_eq(strangers_enter(&strangers, &one), 1);
	strangers_free(&strangers);
}
END_TEST

/* Addresses of one bucket: the hash adds 31 times a byte to the next one. */
static struct address stranger_of_one_bucket(unsigned number)
{
	struct address address;
	address_parse(STR("10.0.0.0"), &address);
	address.bytes[13] = (uint8_t)(number & 255);
	address.bytes[14] = (uint8_t)(number >> 8 & 255);
	address.bytes[15] = (uint8_t)(0u - 31u * 31u * address.bytes[13] - 31u * address.bytes[14]);
	return address;
}

START_TEST(strangers_that_left_make_room_for_any_other)
{
	struct strangers strangers = { 0 };
	struct address other;
	for (unsigned i = 0; i < STRANGERS_MAX; i++) {
		const struct address address = stranger_of_one_bucket(i);
		strangers_blame(&strangers, &address, 1);
	}
	ck_assert_uint_eq(strangers.count, STRANGERS_MAX);
	address_parse(STR("192.0.2.1"), &other);
	ck_assert_uint_eq(strangers_enter(&strangers, &other), 1);
	ck_assert_uint_eq(strangers.count, STRANGERS_MAX);
	strangers_free(&strangers);
}
END_TEST

/* ---- tokens ------------------------------------------------------------------- */

START_TEST(what_a_token_allows)
{
	static const char *const some[] = { "agent:bot", "tool:acme/*", "plugin:dep*", NULL };
	const struct token token = { .name = "a", .allows = some };
	const struct token all = { .name = "b" };
	ck_assert(token_allows(&token, PERCH_ENTRY_AGENT, "bot"));
	ck_assert(!token_allows(&token, PERCH_ENTRY_AGENT, "bots"));
	ck_assert(token_allows(&token, PERCH_ENTRY_TOOL, "acme/x.y"));
	ck_assert(!token_allows(&token, PERCH_ENTRY_TOOL, "bot"));
	ck_assert(token_allows(&token, PERCH_ENTRY_COMMAND, "deploy"));
	ck_assert(!token_allows(&token, PERCH_ENTRY_TEMPLATE, "perch://sessions/{session}"));
	ck_assert(token_allows(&all, PERCH_ENTRY_TOOL, "anything"));
}
END_TEST

static int tokens_play(void *data)
{
	static const char *const some[] = { "agent:bot", NULL };
	const struct token token = { .name = "ann", .hash = HASH, .allows = some, .created = 5 };
	(void)data;
	struct tokens tokens = { 0 };
	int r = tokens_add(&token, NULL);
	if (r == -EEXIST) /* the run before got so far */
		r = tokens_remove("ann", NULL);
	if (r == 0)
		r = tokens_read(&tokens, NULL);
	tokens_free(&tokens);
	return r;
}

START_TEST(tokens_are_kept)
{
	const struct token local = { .name = TOKEN_LOCAL_USER, .hash = HASH };
	struct tokens tokens = { 0 };
	perch_err err = { 0 };
	open_folder();
	ck_assert_int_eq(tokens_play(NULL), 0);
	ck_assert_int_eq(tokens_read(&tokens, &err), 0);
	ck_assert_uint_eq(tokens.count, 1);
	ck_assert_str_eq(tokens_named(&tokens, "ann")->allows[0], "agent:bot");
	ck_assert(!tokens_named(&tokens, "ann")->is_admin);
	tokens_free(&tokens);
	ck_assert_int_eq(tokens_add(&local, &err), -EEXIST);
	ck_assert_int_eq(tokens_remove("nobody", &err), -ENOENT);
	oom_every(tokens_play, NULL);
}
END_TEST

START_TEST(a_file_that_is_none)
{
	static const char *const texts[] = { "", "{", "[]", "{\"tokens\":{}}", "{\"tokens\":[1]}",
		"{\"tokens\":[{\"name\":\"a\"}]}",
		"{\"tokens\":[{\"name\":\"a b\",\"hash\":\"" HASH "\"}]}",
		"{\"tokens\":[{\"name\":\"a\",\"hash\":\"" HASH "\",\"allow\":[1]}]}" };
	struct tokens tokens = { 0 };
	open_folder();
	for (size_t i = 0; i < COUNT(texts); i++) {
		perch_err err = { 0 };
		folder_write("state/perch/tokens.json", texts[i]);
		ck_assert_msg(tokens_read(&tokens, &err) < 0 && err.text[0], "%s", texts[i]);
	}
}
END_TEST

/* ---- identities ---------------------------------------------------------------- */

static void count_revoked(void *data)
{
	++*(int *)data;
}

static int identities_play(void *data)
{
	int revoked = 0;
	struct token items[] = { { .name = "ann", .hash = HASH }, { .name = "local", .hash = HASH } };
	const struct tokens before = { .items = items, .count = 2 }, after = { 0 };
	struct identities identities = { .revoked = count_revoked, .data = &revoked };
	(void)data;
	int r = identities_update(&identities, &before);
	struct identity *ann = identity_keep(identities_named(&identities, "ann"));
	if (r == 0) {
		ck_assert_ptr_null(identities_named(&identities, "local"));
		r = identities_update(&identities, &before);
		ck_assert_int_eq(revoked, 0);
		ck_assert_ptr_eq(identities_named(&identities, "ann"), ann);
		identities_update(&identities, &after);
		ck_assert(ann->is_revoked && revoked == 1);
	}
	identity_drop(ann);
	identities_free(&identities);
	return r;
}

START_TEST(who_is_known)
{
	ck_assert_int_eq(identities_play(NULL), 0);
	oom_every(identities_play, NULL);
}
END_TEST

/* ---- settings ------------------------------------------------------------------ */

static int settings_play(void *data)
{
	struct settings settings = { 0 };
	(void)data;
	int r = serve_settings_read(&settings, NULL);
	if (r == 0)
		serve_settings_free(&settings);
	return r;
}

START_TEST(settings_of_the_file)
{
	static const struct {
		const char *text, *word;
	} wrong[] = {
		{ "[serve]\nlistn = \"x\"\n", "listen" },
		{ "[serve]\nmax_jobs = 0\n", "max_jobs" },
		{ "[serve]\nkeep = \"soon\"\n", "keep" },
		{ "[serve]\nhead_timeout = \"0s\"\n", "head_timeout" },
		{ "[serve]\nallowed_hosts = \"x\"\n", "allowed_hosts" },
		{ "serve = 1\n", "serve" },
	};
	struct settings settings = { 0 };
	perch_err err = { 0 };
	open_folder();
	ck_assert_int_eq(serve_settings_read(&settings, &err), 0);
	ck_assert_str_eq(settings.listen, "127.0.0.1:4747");
	ck_assert(settings.head_seconds == 10 && settings.body_seconds == 60);
	ck_assert(settings.idle_seconds == 75 && settings.write_seconds == 30);
	ck_assert(settings.body_floor == 1024 && settings.body_max == 8 * 1024 * 1024);
	ck_assert(settings.connections == 20000 && settings.connections_unknown == 256);
	ck_assert(settings.keep_seconds == 3600 && settings.keep_bytes == 64 * 1024 * 1024);
	ck_assert(settings.heartbeat_seconds == 15 && settings.drain_seconds == 30);
	serve_settings_free(&settings);
	folder_write("config/perch/config.toml",
		"[serve]\nlisten = \"[::1]:1\"\nkeep = \"2h\"\nallowed_hosts = [\"a\", \"b\"]\ndurable = "
		"true\n"
		"body_timeout = \"3m\"\nmcp_sessions = 5\n");
	ck_assert_int_eq(serve_settings_read(&settings, &err), 0);
	ck_assert_str_eq(settings.listen, "[::1]:1");
	ck_assert_str_eq(settings.allowed_hosts[1], "b");
	ck_assert(settings.is_durable && settings.keep_seconds == 7200);
	ck_assert(settings.body_seconds == 180 && settings.mcp_sessions == 5);
	serve_settings_free(&settings);
	oom_every(settings_play, NULL);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		folder_write("config/perch/config.toml", wrong[i].text);
		ck_assert_int_lt(serve_settings_read(&settings, &err), 0);
		ck_assert_msg(strstr(err.text, wrong[i].word), "%s: %s", wrong[i].text, err.text);
	}
}
END_TEST

START_TEST(every_address_can_be_reached)
{
	ck_assert(http_routes_are_valid(&routes));
}
END_TEST

SUITE_MAIN("serve-users", every_address_can_be_reached, addresses, strangers_are_counted,
	strangers_of_one_network_are_one, strangers_that_left_make_room_for_any_other,
	what_a_token_allows, tokens_are_kept, a_file_that_is_none, who_is_known, settings_of_the_file)
