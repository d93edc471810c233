/* cli/tool/client_servers and package: what the configurations of clients name, what is a secret in
 * them, how packages are named; below it json_plain, and secrets in arguments. */
#include "harness/suite.h"

#include <errno.h>
#include <string.h>

#include "cli/tool/client_servers.h"
#include "cli/tool/package.h"
#include "data/json_plain.h"
#include "harness/oom.h"
#include "tool/secrets.h"

static const char cursor[] =
	"{\"mcpServers\": {\"a\": {\"command\": \"node\", \"args\": [\"x.js\", \"-v\"],\n"
	" \"env\": {\"K\": \"v\"}}, \"r\": {\"url\": \"https://x\", \"headers\": {\"H\": \"1\"}},\n"
	" \"off\": {\"command\": \"c\", \"disabled\": true}, \"none\": 7}}";

static const char codex[] =
	"model = \"m\"\n[mcp_servers.a]\ncommand = \"node\"\nargs = [\"x.js\", \"-v\"]\n"
	"[mcp_servers.a.env]\nK = \"v\"\n[mcp_servers.r]\nurl = \"https://x\"\n"
	"http_headers = { H = \"1\" }\n[mcp_servers.off]\ncommand = \"c\"\nenabled = false\n";

static void expect_three(const struct client_servers *servers)
{
	ck_assert_uint_eq(servers->count, 3);
	const struct client_server *a = &servers->items[0], *r = &servers->items[1];
	ck_assert_str_eq(a->name, "a");
	ck_assert_str_eq(a->command, "node");
	ck_assert_str_eq(a->args[1], "-v");
	ck_assert_ptr_null(a->args[2]);
	ck_assert_str_eq(a->env[0], "K=v");
	ck_assert_str_eq(a->url, "");
	ck_assert_str_eq(r->url, "https://x");
	ck_assert_str_eq(r->headers[0], "H=1");
	ck_assert_str_eq(r->command, "");
	ck_assert(!a->is_disabled && servers->items[2].is_disabled);
}

START_TEST(json_and_toml_name_the_same)
{
	struct arena arena = { 0 };
	struct client_servers servers = { 0 };
	perch_err err = { 0 };
	ck_assert_msg(
		client_servers_read_json(str_from(cursor), &arena, &servers, &err) == 0, "%s", err.text);
	expect_three(&servers);
	ck_assert_msg(
		client_servers_read_toml(str_from(codex), &arena, &servers, &err) == 0, "%s", err.text);
	expect_three(&servers);
	arena_free(&arena);
}
END_TEST

START_TEST(zed_and_the_settings_of_vs_code)
{
	static const char *const texts[] = {
		"{\"context_servers\":{\"a\":{\"command\":{\"path\":\"p\",\"args\":[\"1\"]}}}}",
		"{\"mcp\":{\"servers\":{\"a\":{\"command\":\"p\",\"args\":[\"1\"]}}}}",
		"{\"servers\":{\"a\":{\"command\":\"p\",\"args\":[\"1\"]}}}",
	};
	for (size_t i = 0; i < 3; i++) {
		struct arena arena = { 0 };
		struct client_servers servers = { 0 };
		ck_assert_int_eq(client_servers_read_json(str_from(texts[i]), &arena, &servers, NULL), 0);
		ck_assert_str_eq(servers.items[0].command, "p");
		ck_assert_str_eq(servers.items[0].args[0], "1");
		arena_free(&arena);
	}
}
END_TEST

START_TEST(what_is_no_configuration_is_told)
{
	struct arena arena = { 0 };
	struct client_servers servers;
	perch_err err = { 0 };
	ck_assert_int_eq(
		client_servers_read_json(STR("{\"mcpServers\":[]}"), &arena, &servers, &err), -EINVAL);
	ck_assert_int_eq(client_servers_read_json(STR("{"), &arena, &servers, &err), PERCH_ESYNTAX);
	ck_assert_int_eq(client_servers_read_toml(STR("a = 1"), &arena, &servers, &err), -EINVAL);
	ck_assert_int_eq(
		client_servers_read_toml(STR("[mcp_servers.a]\ncommand = 7"), &arena, &servers, &err),
		PERCH_ESYNTAX);
	struct buf many = { 0 };
	buf_append_text(&many, "{\"mcpServers\":{\"x\":{}");
	for (int i = 0; i < CLIENT_SERVERS_MAX; i++)
		buf_printf(&many, ",\"%d\":{}", i);
	buf_append_text(&many, "}}");
	ck_assert_int_eq(
		client_servers_read_json((struct str){ many.data, many.len }, &arena, &servers, &err),
		PERCH_ELIMIT);
	buf_free(&many);
	arena_free(&arena);
}
END_TEST

START_TEST(secrets_among_arguments)
{
	size_t value;
	ck_assert(client_secret_option("--api-key", &value) && value == 0);
	ck_assert(client_secret_option("--api-key=x", &value) && value == 10);
	ck_assert(client_secret_option("--GITHUB-TOKEN=x", &value) && value == 15);
	ck_assert(!client_secret_option("-password", &value));
	ck_assert(!client_secret_option("-ctoken=x", &value));
	ck_assert(!client_secret_option("token", &value));
	ck_assert(!client_secret_option("--verbose=token", &value));
}
END_TEST

static const struct {
	const char *value, *variable; /* NULL = it is no placeholder */
} values[] = {
	{ "", "" },
	{ "${env:TOKEN}", "TOKEN" },
	{ "${TOKEN}", "TOKEN" },
	{ "${TOKEN:-none}", "TOKEN" },
	{ "${input:token}", "" },
	{ "<your key>", "" },
	{ "YOUR_API_KEY", "" },
	{ "paste_it_here", "" },
	{ "sk-xxxxxxxx", "" },
	{ "sk-1234", NULL },
	{ "a${b}", NULL },
};

START_TEST(placeholders)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct str variable;
		bool is_one = client_is_placeholder(values[i].value, &variable);
		ck_assert_msg(is_one == (values[i].variable != NULL), "%s", values[i].value);
		if (is_one)
			ck_assert_msg(str_is(variable, values[i].variable), "%s", values[i].value);
	}
}
END_TEST

static const struct {
	const char *word, *name, *version;
	enum package_kind kind;
} packages[] = {
	{ "npm:x", "x", "", PACKAGE_NPM },
	{ "npm:x@1.2.3-b+c", "x", "1.2.3-b+c", PACKAGE_NPM },
	{ "npm:@s/x", "@s/x", "", PACKAGE_NPM },
	{ "npm:@s/x@1", "@s/x", "1", PACKAGE_NPM },
	{ "pip:x-y_z", "x-y_z", "", PACKAGE_PIP },
	{ "pip:x==1.0", "x", "1.0", PACKAGE_PIP },
};

START_TEST(names_of_packages)
{
	static const char *const wrong[] = { "npm:", "npm:@", "npm:@s", "npm:@s/", "npm:a/b",
		"npm:../x", "npm:.x", "npm:-x", "npm:x@", "npm:x@-1", "npm:x y",
		"pip:", "pip:x==", "pip:x=1", "pip:-r", "pip:x[y]", "pip:x==1;y" };
	struct arena arena = { 0 };
	struct package package;
	for (size_t i = 0; i < sizeof(packages) / sizeof(packages[0]); i++) {
		ck_assert_int_eq(package_parse(packages[i].word, &arena, &package, NULL), 1);
		ck_assert_str_eq(package.name, packages[i].name);
		ck_assert_str_eq(package.version, packages[i].version);
		ck_assert_int_eq(package.kind, packages[i].kind);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(package_parse(wrong[i], &arena, &package, NULL) == -EINVAL, "%s", wrong[i]);
	ck_assert_int_eq(package_parse("node", &arena, &package, NULL), 0);
	arena_free(&arena);
}
END_TEST

START_TEST(requirements_have_a_hash_each)
{
	static const char good[] =
		"{\"install\":[{\"metadata\":{\"name\":\"x\",\"version\":\"1.0\"},\"download_info\":"
		"{\"archive_info\":{\"hashes\":{\"sha256\":"
		"\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}}}]}";
	static const char *const bad[] = { "{}", "[", "{\"install\":[{}]}",
		"{\"install\":[{\"metadata\":{\"name\":\"x\",\"version\":\"1.0\"}}]}",
		"{\"install\":[{\"metadata\":{\"name\":\"-r\",\"version\":\"1.0\"}}]}" };
	struct buf text = { 0 };
	ck_assert_int_eq(package_write_requirements(str_from(good), &text, NULL), 0);
	buf_terminate(&text);
	ck_assert_str_eq(text.data,
		"x==1.0 --hash=sha256:"
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		buf_clear(&text);
		ck_assert_msg(package_write_requirements(str_from(bad[i]), &text, NULL) < 0, "%s", bad[i]);
	}
	buf_free(&text);
}
END_TEST

static void expect_plain(const char *given, const char *expected)
{
	struct buf text = { 0 };
	ck_assert_int_eq(json_plain(str_from(given), &text), 0);
	buf_terminate(&text);
	ck_assert_str_eq(text.data, expected);
	ck_assert_uint_eq(strlen(given), strlen(expected)); /* every place stays */
	buf_free(&text);
}

START_TEST(comments_become_blanks)
{
	expect_plain("{}", "{}");
	expect_plain("[1,]", "[1 ]");
	expect_plain("[1, /* x, */ ]", "[1           ]");
	expect_plain("{\"a\":1,//b\n}", "{\"a\":1    \n}");
	expect_plain("[\"//\",\"/*\\\"\",1]", "[\"//\",\"/*\\\"\",1]");
	expect_plain("/*", "  ");
	expect_plain("\"\\", "\"\\");
}
END_TEST

START_TEST(secrets_in_arguments)
{
	static const char *const secrets[] = { "A=1", "B=${A}", NULL };
	struct arena arena = { 0 };
	ck_assert_str_eq(secrets_fill("--k=${A}/${C}/${A}", secrets, &arena), "--k=1/${C}/1");
	ck_assert_str_eq(secrets_fill("${B}", secrets, &arena), "${A}");
	ck_assert_str_eq(secrets_fill("${A", secrets, &arena), "${A");
	ck_assert_str_eq(secrets_fill("${A}", NULL, &arena), "${A}");
	arena_free(&arena);
}
END_TEST

static int read_both(void *data)
{
	(void)data;
	struct arena arena = { 0 };
	struct client_servers servers;
	int r = client_servers_read_json(str_from(cursor), &arena, &servers, NULL);
	if (r == 0)
		r = client_servers_read_toml(str_from(codex), &arena, &servers, NULL);
	arena_free(&arena);
	return r;
}

START_TEST(memory_that_runs_out_is_told)
{
	ck_assert_uint_gt(oom_every(read_both, NULL), 8);
}
END_TEST

SUITE_MAIN("client-servers", json_and_toml_name_the_same, zed_and_the_settings_of_vs_code,
	what_is_no_configuration_is_told, secrets_among_arguments, placeholders, names_of_packages,
	requirements_have_a_hash_each, comments_become_blanks, secrets_in_arguments,
	memory_that_runs_out_is_told)
