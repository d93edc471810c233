/* context: the project, and the golden line that tells it to a plugin. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fledge/context.h"
#include "harness/folder.h"
#include "harness/oom.h"

/* ---- the project --------------------------------------------------------- */

static struct arena arena;

static struct project_context read_project(const char *path)
{
	struct project_context project;
	ck_assert_int_eq(project_read(path, &arena, &project), 0);
	if (project.is_known)
		project_look_at_language(&project);
	return project;
}

START_TEST(a_project_is_named_after_its_directory)
{
	const char *folder = folder_new();
	ck_assert_int_eq(mkdir(folder_path("my-app"), 0700), 0);
	struct project_context project = read_project(folder_path("my-app"));
	ck_assert(project.is_known);
	ck_assert_str_eq(project.name, "my-app");
	ck_assert_str_eq(project.root, folder_path("my-app"));
	ck_assert(!project.git.is_repository);
	ck_assert_str_eq(read_project(folder_path("my-app/")).name, "my-app");
	ck_assert_str_eq(read_project(folder).name, strrchr(folder, '/') + 1);
	ck_assert_str_eq(read_project("/").name, "unknown");
	ck_assert_str_eq(read_project("/").root, "/");
	ck_assert(!read_project(folder_path("nowhere")).is_known);
	ck_assert(!read_project(NULL).is_known);
	arena_free(&arena);
}
END_TEST

START_TEST(the_first_marker_decides_the_language)
{
	/* From the last to the first: each one beats those before it. */
	static const char *const markers[][2] = {
		{ "README", "generic" },
		{ "Package.swift", "swift" },
		{ "pom.xml", "java-maven" },
		{ "build.gradle.kts", "java-gradle" },
		{ "build.gradle", "java-gradle" },
		{ "Gemfile", "ruby" },
		{ "setup.py", "python" },
		{ "pyproject.toml", "python" },
		{ "go.mod", "go" },
		{ "package.json", "node" },
		{ "Cargo.toml", "rust" },
	};
	const char *folder = folder_new();
	ck_assert_str_eq(read_project(folder).language, "generic");
	for (size_t i = 0; i < COUNT(markers); i++) {
		folder_write(markers[i][0], "");
		ck_assert_str_eq(read_project(folder).language, markers[i][1]);
	}
	for (size_t i = 1; i < COUNT(markers); i++) {
		ck_assert_int_eq(mkdir(folder_path("only-%zu", i), 0700), 0);
		char name[64];
		snprintf(name, sizeof(name), "only-%zu/%s", i, markers[i][0]);
		folder_write(name, "");
		ck_assert_str_eq(read_project(folder_path("only-%zu", i)).language, markers[i][1]);
	}
	arena_free(&arena);
}
END_TEST

/* ---- the golden line ----------------------------------------------------- */

static const char *const no_args[] = { NULL };

static const struct project_context my_app = {
	.is_known = true,
	.name = "my-app",
	.root = "/home/dev/my-app",
	.language = "rust",
	.git = { true, "/home/dev/my-app", "main", "origin", "https://host/org/my-app", NULL, false },
};

static struct init_context golden(void)
{
	static const char *const args[] = { "staging", "--dry-run", NULL };
	return (struct init_context){
		.command = STR("deploy"),
		.args = args,
		.project = &my_app,
		.plugin_name = STR("fledge-deploy"),
		.plugin_version = STR("0.1.0"),
		.plugin_dir = STR("\xE2\x80\xA6/plugins/fledge-deploy"),
		.granted = { .exec = true, .store = true },
	};
}

/* `line` without the host, whose version changes. */
static void assert_line(const struct init_context *context, const char *line)
{
	struct buf out = { 0 };
	char expected[2048];
	snprintf(expected, sizeof(expected), "%s,\"host\":{\"name\":\"perch\",\"version\":\"%s\"}}\n",
		line, perch_version());
	ck_assert_int_eq(init_line(&out, context), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_uint_eq(out.len, strlen(out.data));
	ck_assert_str_eq(out.data, expected);
	buf_free(&out);
}

#define START_OF_LINE "{\"type\":\"init\",\"protocol\":\"fledge-v1\",\"command\":"

START_TEST(the_golden_line)
{
	struct init_context context = golden();
	assert_line(&context,
		START_OF_LINE
		"\"deploy\",\"args\":[\"staging\",\"--dry-run\"],\"project\":{\"name\":\"my-app\",\"root\":"
		"\"/home/dev/my-app\",\"language\":\"rust\",\"git\":{\"branch\":\"main\",\"dirty\":false,"
		"\"remote\":\"origin\",\"remote_url\":\"https://host/org/my-app\"}},\"plugin\":{\"name\":"
		"\"fledge-deploy\",\"version\":\"0.1.0\",\"dir\":\"\xE2\x80\xA6/plugins/fledge-deploy\"},"
		"\"fledge\":{\"version\":\"1.8.0\"},\"capabilities\":{\"exec\":true,\"store\":true,"
		"\"metadata\":false}");
}
END_TEST

START_TEST(the_line_without_what_is_not_there)
{
	struct project_context project = my_app;
	struct init_context context = golden();
	project.git.is_repository = false;
	context.project = &project;
	context.args = no_args;
	context.granted.exec = false;
	context.granted.network = true;
	context.granted.filesystem = FILESYSTEM_PROJECT;
	static const char end[] =
		"\"plugin\":{\"name\":\"fledge-deploy\",\"version\":\"0.1.0\",\"dir\":\"\xE2\x80\xA6/"
		"plugins/"
		"fledge-deploy\"},\"fledge\":{\"version\":\"1.8.0\"},\"capabilities\":{\"exec\":false,"
		"\"store\":true,\"metadata\":false,\"network\":true,\"filesystem\":"
		"\"project\"}";
	char line[2048];
	snprintf(line, sizeof(line), "%s%s%s", START_OF_LINE,
		"\"deploy\",\"args\":[],\"project\":{\"name\":\"my-app\",\"root\":\"/home/dev/my-app\","
		"\"language\":\"rust\",\"git\":null},",
		end);
	assert_line(&context, line);
	project.is_known = false;
	snprintf(line, sizeof(line), "%s%s%s", START_OF_LINE,
		"\"deploy\",\"args\":[],\"project\":null,", end);
	assert_line(&context, line);
	context.project = NULL;
	context.args = NULL;
	assert_line(&context, line);
}
END_TEST

START_TEST(strange_text_stays_one_line)
{
	static const char *const args[] = { "a\nb", "\"\\/", "\xFF", "\x7f\x01", "", NULL };
	struct init_context context = golden();
	struct buf out = { 0 };
	context.args = args;
	context.is_dirty = true;
	ck_assert_int_eq(init_line(&out, &context), 0);
	ck_assert_int_eq(buf_terminate(&out), 0);
	ck_assert_ptr_eq(strchr(out.data, '\n'), out.data + out.len - 1);
	ck_assert(strstr(out.data, "[\"a\\nb\",\"\\\"\\\\/\",\"\xEF\xBF\xBD\",\"\x7f\\u0001\",\"\"]"));
	ck_assert(strstr(out.data, "\"dirty\":true"));
	buf_free(&out);
}
END_TEST

static int read_and_write(void *data)
{
	struct arena own = { 0 };
	struct buf out = { 0 };
	struct project_context project;
	struct init_context context = golden();
	int r = project_read(data, &own, &project);
	context.project = &project;
	if (r == 0)
		r = init_line(&out, &context);
	buf_free(&out);
	arena_free(&own);
	return r;
}

START_TEST(every_allocation_may_fail)
{
	const char *folder = folder_new();
	ck_assert_uint_ge(oom_every(read_and_write, (void *)(uintptr_t)folder), 3);
}
END_TEST

SUITE_MAIN("context", a_project_is_named_after_its_directory, the_first_marker_decides_the_language,
	the_golden_line, the_line_without_what_is_not_there, strange_text_stays_one_line,
	every_allocation_may_fail)
