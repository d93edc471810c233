/* metadata: what looks like a secret, the environment, fledge.toml, lines. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fledge/context.h"
#include "sandbox/policy/secret_variables.h"
#include "harness/folder.h"
#include "harness/oom.h"

START_TEST(what_looks_like_a_secret)
{
	static const struct {
		const char *name;
		const char *value;
		bool is_secret;
	} cases[] = {
		{ "MY_SECRET_THING", "", true },
		{ "secrets", "", true },
		{ "GITHUB_TOKEN", "", true },
		{ "TOKENIZER", "", true },
		{ "DB_PASSWORD", "", true },
		{ "PASSWD_FILE", "", true },
		{ "API_KEY", "", true },
		{ "monkey", "", true },
		{ "KEY", "", true },
		{ "aws_credentials", "", true },
		{ "SSH_AUTH_SOCK", "", true },
		{ "AUTHOR", "", true },
		{ "Private_Dir", "", true },
		{ "XDG_SESSION_ID", "", true },
		{ "COOKIEJAR", "", true },
		{ "LD_PRELOAD", "", true },
		{ "ld_x", "", true },
		{ "BUILD_LD_FLAGS", "", false },
		{ "LD", "", false },
		{ "DYLD_INSERT", "", true },
		{ "XDYLD_", "", false },
		{ "KUBECONFIG", "", true },
		{ "kubeconfig2", "", true },
		{ "MY_KUBECONFIG", "", false },
		{ "GIT_CONFIG_COUNT", "1", true },
		{ "GIT_CONFIG_KEY_0", "http.extraHeader", true },
		{ "GIT_CONFIG_VALUE_0", "x", true },
		{ "GIT_CONFIG_PARAMETERS", "'a.b=c'", true },
		{ "GIT_CONFIG_GLOBAL", "/x", false },
		{ "DATABASE_URL", "", true },
		{ "_url", "", true },
		{ "URL", "", false },
		{ "URL_BASE", "", false },
		{ "BASE_uri", "", true },
		{ "SENTRY_DSN", "", true },
		{ "DSN", "", true },
		{ "PASS", "", true },
		{ "COMPASS", "", false },
		{ "BYPASS_CACHE", "", false },
		{ "DB_PASS", "", true },
		{ "MYSQL_PWD", "", true },
		{ "db_pw", "", true },
		{ "PWD", "/", false },
		{ "OLDPWD", "/", false },
		{ "SSHPASS", "", true },
		{ "GPG_PASSPHRASE", "", true },
		{ "RESTIC_PASSPHRASE_2", "", true },
		{ "GITHUB_PAT", "", true },
		{ "AZURE_DEVOPS_EXT_PAT", "", true },
		{ "PAT", "", true },
		{ "PATH_INFO", "/", false },
		{ "PATTERN", "", false },
		{ "XPAT", "", false },
		{ "SLACK_WEBHOOK", "", true },
		{ "WEBHOOK_ADDRESS", "", true },
		{ "CREDS", "", true },
		{ "AWS_CREDS_JSON", "", true },
		{ "AZURE_STORAGE_CONNECTION_STRING", "", true },
		{ "PATH", "/bin:/usr/bin", false },
		{ "EMAIL", "me@example.org", false },
		{ "REMOTE", "git@host:x", true },
		{ "PLAIN", ":@", true },
		{ "HOME", "/home/me", false },
		{ "", "", false },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_msg(
			secret_looking(str_from(cases[i].name), str_from(cases[i].value)) == cases[i].is_secret,
			"%s=%s", cases[i].name, cases[i].value);
}
END_TEST

START_TEST(the_environment_sorted_and_without_secrets)
{
	static const char *const env[] = { "b=2", "TOKEN=x", "a=1=1", "B=\xFF\n", "b=again", "none",
		"=x", "ab=", "X=u:p@h", NULL };
	struct buf out = { 0 };
	ck_assert_int_eq(metadata_env_json(&out, env), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq(out.data, "{\"B\":\"\xEF\xBF\xBD\\n\",\"a\":\"1=1\",\"ab\":\"\",\"b\":\"2\"}");
	buf_clear(&out);
	ck_assert_int_eq(metadata_env_json(&out, env + COUNT(env) - 1), 0);
	ck_assert_int_eq(metadata_env_json(&out, NULL), 0);
	ck_assert_uint_eq(out.len, 4);
	buf_free(&out);
}
END_TEST

static struct arena arena;

static const char *assert_config(const char *directory, const char *json)
{
	struct buf out = { 0 };
	const char *warning = "not written";
	ck_assert_int_eq(metadata_config_json(&out, directory, &arena, &warning), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_str_eq(out.data, json);
	buf_free(&out);
	return warning;
}

static const char every_type[] =
	"z = 'text \"quoted\"'\n"
	"integer = -9223372036854775808\n"
	"float = [1.0, 0.5, 1e300, -0.0, nan, inf, -inf, 100000000000000000000.0]\n"
	"yes = true\n"
	"odt = [1979-05-27T07:32:00Z, 1979-05-27 00:32:00.5-07:30, 1979-05-27T00:32:00.000001+01:00]\n"
	"local = [1979-05-27T07:32:60, 0001-01-02, 07:32:00.120]\n"
	"[lanes.b]\nx = []\ny = {}\n"
	"[lanes.a]\nkey.\"dotted.name\" = 1\n"
	"[[list]]\na = 1\n[[list]]\n";

START_TEST(the_config_as_json)
{
	const char *folder = folder_new();
	folder_write("fledge.toml", every_type);
	const char *warning = assert_config(folder,
		"{\"float\":[1.0,0.5,1e+300,-0.0,null,null,null,100000000000000000000.0],"
		"\"integer\":-9223372036854775808,"
		"\"lanes\":{\"a\":{\"key\":{\"dotted.name\":1}},\"b\":{\"x\":[],\"y\":{}}},"
		"\"list\":[{\"a\":1},{}],"
		"\"local\":[\"1979-05-27T07:32:60\",\"0001-01-02\",\"07:32:00.12\"],"
		"\"odt\":[\"1979-05-27T07:32:00Z\",\"1979-05-27T00:32:00.5-07:30\","
		"\"1979-05-27T00:32:00.000001+01:00\"],"
		"\"yes\":true,\"z\":\"text \\\"quoted\\\"\"}");
	ck_assert_ptr_null(warning);
	folder_write("fledge.toml", "");
	ck_assert_ptr_null(assert_config(folder, "{}"));
	arena_free(&arena);
}
END_TEST

START_TEST(a_config_that_is_none)
{
	const char *folder = folder_new();
	ck_assert_ptr_null(assert_config(folder, "null"));
	ck_assert_ptr_null(assert_config(folder_path("nowhere"), "null"));
	folder_write("fledge.toml", "a = 1\nb = ?\n");
	const char *warning = assert_config(folder, "null");
	ck_assert_msg(strncmp(warning, "fledge.toml:2:5: ", 17) == 0, "%s", warning);
	ck_assert_int_eq(truncate(folder_path("fledge.toml"), 1L << 30), 0);
	ck_assert_str_eq(assert_config(folder, "null"), "fledge.toml: larger than 1 MiB");
	unlink(folder_path("fledge.toml"));
	ck_assert_int_eq(mkfifo(folder_path("fledge.toml"), 0600), 0);
	ck_assert_str_eq(assert_config(folder, "null"), "fledge.toml: not a regular file");
	arena_free(&arena);
}
END_TEST

START_TEST(lines_as_json)
{
	static const struct {
		const char *text;
		size_t most;
		const char *json;
	} cases[] = {
		{ "", 5, "[]" },
		{ "a\nb\n", 5, "[\"a\",\"b\"]" },
		{ "a\nb", 5, "[\"a\",\"b\"]" },
		{ "\n\na\n", 5, "[\"\",\"\",\"a\"]" },
		{ "a\nb\nc\n", 2, "[\"a\",\"b\"]" },
		{ "a\n", 0, "[]" },
		{ " M x\n?? \"\xFF\"\n", 5, "[\" M x\",\"?? \\\"\xEF\xBF\xBD\\\"\"]" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf out = { 0 };
		ck_assert_int_eq(metadata_lines_json(&out, str_from(cases[i].text), cases[i].most), 0);
		ck_assert_int_eq(buf_terminate(&out), 0);
		ck_assert_str_eq(out.data, cases[i].json);
		buf_free(&out);
	}
}
END_TEST

static int write_all(void *data)
{
	static const char *const env[] = { "a=1", "b=2", NULL };
	struct arena own = { 0 };
	struct buf out = { 0 };
	const char *warning;
	int r = metadata_env_json(&out, env);
	if (r == 0)
		r = metadata_config_json(&out, data, &own, &warning);
	if (r == 0)
		r = metadata_lines_json(&out, STR("a\nb\n"), 10);
	buf_free(&out);
	arena_free(&own);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	const char *folder = folder_new();
	folder_write("fledge.toml", every_type);
	ck_assert_uint_ge(oom_every(write_all, (void *)(uintptr_t)folder), 10);
	folder_write("fledge.toml", "broken");
	ck_assert_uint_ge(oom_every(write_all, (void *)(uintptr_t)folder), 3);
}
END_TEST

SUITE_MAIN("metadata", what_looks_like_a_secret, the_environment_sorted_and_without_secrets,
	the_config_as_json, a_config_that_is_none, lines_as_json, every_allocation_may_fail)
