/* validate: every rule of plugin.toml has its finding, in its place; and what has
 * none is what the reader of manifests accepts. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <string.h>

#include "plugins/validation.h"
#include "registry/manifest.h"

#define HEAD                                                                           \
	"[plugin]\nname = \"tidy\"\nversion = \"1.0.0\"\ndescription = \"d\"\nprotocol = " \
	"\"fledge-v1\"\n"
#define COMMAND "[[commands]]\nname = \"tidy\"\nbinary = \"bin/tidy\"\ndescription = \"d\"\n"

static const struct {
	const char *text;
	unsigned line;
	enum finding_level level;
	const char *words; /* NULL = nothing is found */
} cases[] = {
	{ HEAD COMMAND, 0, 0, NULL },
	{ "x", 1, FINDING_ERROR, "" },
	{ "", 1, FINDING_ERROR, "[plugin] is missing" },
	{ "plugin = 1\n", 1, FINDING_ERROR, "`plugin` must be a table" },
	{ "[plugin]\nversion = \"1.0.0\"\n" COMMAND, 1, FINDING_ERROR, "`name` is missing" },
	{ "[plugin]\nname = \"a\"\n" COMMAND, 1, FINDING_ERROR, "`version` is missing" },
	{ "[plugin]\nname = 1\nversion = \"1.0.0\"\n", 2, FINDING_ERROR, "`name` must be a string" },
	{ "[plugin]\nname = \"bin\"\nversion = \"1.0.0\"\n", 2, FINDING_ERROR, "is taken" },
	{ "[plugin]\nname = \"../x\"\nversion = \"1.0.0\"\n", 2, FINDING_ERROR, "slash" },
	{ "[plugin]\nname = \"a\\u0000\"\nversion = \"1.0.0\"\n", 2, FINDING_ERROR, "NUL" },
	{ "[plugin]\nname = \"a\"\nversion = \"\"\n", 3, FINDING_ERROR, "must not be empty" },
	{ "[plugin]\nname = \"a\"\nversion = \"new\"\n", 3, FINDING_WARNING, "not of the form" },
	{ "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\n", 1, FINDING_WARNING, "no `description`" },
	{ "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\nauthor = 1\n", 4, FINDING_ERROR, "`author`" },
	{ "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\nprotocol = \"fledge-v2\"\n", 4, FINDING_ERROR,
		"speaks fledge-v1" },
	{ "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\nprotocol = \"\"\n", 4, FINDING_WARNING,
		"legacy" },
	{ "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\nruntime = \"wasm\"\n", 4, FINDING_ERROR,
		"not supported by this build" },
	{ "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\nprotocl = \"fledge-v1\"\n", 4, FINDING_WARNING,
		"did you mean `protocol`" },
	{ HEAD "[hooks]\nbild = \"make\"\n", 7, FINDING_WARNING, "did you mean `build`" },
	{ HEAD "[capability]\nexec = true\n", 6, FINDING_WARNING, "did you mean `capabilities`" },
	{ HEAD "homepage = \"x\"\ntags = [1]\n" COMMAND, 0, 0, NULL },
	{ HEAD, 0, FINDING_WARNING, "nothing of it ever runs" },
	{ HEAD "[commands]\nname = 1\n", 6, FINDING_ERROR, "`commands` must be an array" },
	{ "commands = [1]\n" HEAD, 1, FINDING_ERROR, "must be a table" },
	{ HEAD "[[commands]]\nbinary = \"x\"\n", 6, FINDING_ERROR,
		"`name` is missing in this command" },
	{ HEAD "[[commands]]\nname = \"x\"\n", 6, FINDING_ERROR, "`binary` is missing" },
	{ HEAD "[[commands]]\nname = \"-x\"\nbinary = \"x\"\n", 7, FINDING_ERROR, "begin with" },
	{ HEAD "[[commands]]\nname = \"x\"\nbinary = \"../x\"\n", 8, FINDING_ERROR, "stay inside" },
	{ HEAD "[[commands]]\nname = \"x\"\nbinary = \"/x\"\n", 8, FINDING_ERROR, "relative" },
	{ HEAD COMMAND COMMAND, 11, FINDING_ERROR, "stands in line 7 already" },
	{ HEAD COMMAND "dangerous = 1\n", 10, FINDING_WARNING, "`dangerous`" },
	{ HEAD COMMAND "args = [1]\n", 10, FINDING_WARNING, "must be a table" },
	{ HEAD COMMAND "args = [{ name = \"a\", required = 1 }]\n", 10, FINDING_WARNING, "`required`" },
	{ HEAD "[[commands]]\nname = \"help\"\nbinary = \"x\"\n", 7, FINDING_WARNING, "perch run" },
	{ HEAD COMMAND "[hooks]\nbuild = []\n", 11, FINDING_ERROR, "`build` must be a string" },
	{ HEAD COMMAND "[hooks]\nbuild = \" \"\n", 11, FINDING_WARNING, "is empty" },
	{ HEAD COMMAND "[hooks]\npre_push = \"x\"\n", 11, FINDING_WARNING, "never runs" },
	{ HEAD COMMAND "[hooks]\npre_push = \"x\"\n[capabilities]\nexec = true\n", 0, 0, NULL },
	{ HEAD COMMAND "[capabilities]\nstore = \"yes\"\n", 11, FINDING_ERROR, "`store` must be" },
	{ HEAD COMMAND "[capabilities]\nfilesystem = true\n", 11, FINDING_ERROR, "`filesystem` must" },
	{ HEAD COMMAND "[capabilities]\nfilesystem = \"all\"\n", 11, FINDING_ERROR, "\"project\"" },
	{ "[plugin]\nname = \"a\"\nversion = \"1.0.0\"\n[capabilities]\nexec = true\n", 4,
		FINDING_WARNING, "means nothing without" },
};

static bool is_found(const struct findings *findings, size_t i)
{
	if (!cases[i].words)
		return findings->count == 0;
	for (size_t n = 0; n < findings->count; n++) {
		const struct finding *finding = &findings->items[n];
		if (finding->level == cases[i].level && finding->at.line == cases[i].line &&
			strstr(finding->text, cases[i].words))
			return true;
	}
	return false;
}

static void show(const struct findings *findings, struct buf *out)
{
	for (size_t n = 0; n < findings->count; n++) {
		finding_put(out, "plugin.toml", &findings->items[n]);
		buf_append_char(out, '\n');
	}
	buf_terminate(out);
}

START_TEST(every_mistake_is_found)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena arena = { 0 };
		struct findings findings = { .arena = &arena };
		struct buf all = { 0 };
		validate_manifest(str_from(cases[i].text), &findings);
		show(&findings, &all);
		ck_assert_msg(is_found(&findings, i), "case %zu: %s: %s\nfound:\n%s", i, cases[i].text,
			cases[i].words ? cases[i].words : "nothing", all.data ? all.data : "");
		buf_free(&all);
		findings_free(&findings);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(an_error_is_what_the_reader_refuses)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arena arena = { 0 };
		struct findings findings = { .arena = &arena };
		struct manifest manifest;
		validate_manifest(str_from(cases[i].text), &findings);
		int r = manifest_parse("x", cases[i].text, strlen(cases[i].text), &arena, &manifest, NULL);
		if (r == 0)
			r = manifest_check_protocol(&manifest, NULL);
		ck_assert_msg((findings.errors > 0) == (r < 0), "%s", cases[i].text);
		findings_free(&findings);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(all_of_them_are_told_up_to_a_limit)
{
	struct arena arena = { 0 };
	struct findings findings = { .arena = &arena };
	validate_manifest(
		STR("[plugin]\nname = 1\nversion = 2\ndescription = 3\n[capabilities]\nexec = 4\n"),
		&findings);
	ck_assert_uint_eq(findings.errors, 4);
	findings_free(&findings);
	struct buf many = { 0 };
	buf_append_text(&many, HEAD);
	for (int i = 0; i < 300; i++)
		buf_append_text(&many, "[[commands]]\nname = 1\nbinary = 2\ndescription = 3\n");
	findings.arena = &arena;
	validate_manifest((struct str){ many.data, many.len }, &findings);
	ck_assert_uint_eq(findings.errors, 900);
	ck_assert_uint_eq(findings.count, FINDINGS_MAX + 1);
	ck_assert_uint_eq(findings_total(&findings), 900);
	ck_assert_ptr_nonnull(strstr(findings.items[FINDINGS_MAX].text, "there is more"));
	buf_free(&many);
	findings_free(&findings);
	arena_free(&arena);
}
END_TEST

static int validate_without_memory(void *data)
{
	struct arena arena = { 0 };
	struct validation validation;
	perch_err err = { 0 };
	int r = plugin_validate(data, &arena, &validation, &err);
	if (r == 0)
		validation_free(&validation);
	arena_free(&arena);
	return r;
}

START_TEST(memory_may_run_out)
{
	char *folder = (char *)folder_new();
	folder_write("plugin.toml", HEAD COMMAND "[capabilities]\nexce = 1\nexec = 3\n");
	folder_write("perch-test.toml", "[[case]]\nname = 'a'\nargs = ['b']\n");
	ck_assert_uint_gt(oom_every(validate_without_memory, folder), 10);
}
END_TEST

SUITE_MAIN("plugin-validate", every_mistake_is_found, an_error_is_what_the_reader_refuses,
	all_of_them_are_told_up_to_a_limit, memory_may_run_out)
