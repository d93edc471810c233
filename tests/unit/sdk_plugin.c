/* The plugin kit against a scripted host: what it writes, what it makes of what
 * the host says, and that nothing the host does makes it crash or wait. */
#include <perch/plugin.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/oom.h"
#include "harness/script.h"
#include "harness/suite.h"

#define INIT                                                                                  \
	"{\"type\":\"init\",\"protocol\":\"fledge-v1\",\"command\":\"deploy\",\"args\":[\"a\","   \
	"\"b c\"],\"project\":{\"name\":\"app\",\"root\":\"/app\",\"language\":\"rust\",\"git\":" \
	"{\"branch\":\"main\",\"dirty\":true,\"remote\":\"origin\",\"remote_url\":\"u\"}},"       \
	"\"plugin\":{\"name\":\"p\",\"version\":\"1\",\"dir\":\"/p\"},\"fledge\":{\"version\":"   \
	"\"1.8.0\"},\"capabilities\":{\"exec\":true,\"store\":true,\"metadata\":true},"           \
	"\"host\":{\"name\":\"perch\",\"version\":\"0.1.0\"}}\n"
#define ANSWER(id, value) "{\"type\":\"response\",\"id\":\"" id "\",\"value\":" value "}\n"

static perch_plugin *open_on(struct script *script, const char *text)
{
	perch_plugin *plugin = NULL;
	*script = script_begin(text);
	ck_assert_int_eq(perch_plugin_open_on(script->in, script->out, &plugin), PERCH_PLUGIN_OK);
	return plugin;
}

static void finish(perch_plugin *plugin, struct script *script, const char *expected)
{
	perch_plugin_close(plugin);
	char *said = script_end(script);
	ck_assert_str_eq(said, expected);
	free(said);
}

START_TEST(init_is_typed)
{
	struct script script;
	perch_plugin *plugin = open_on(&script, "\n" INIT);
	const perch_plugin_init *init = perch_plugin_about(plugin);
	ck_assert_str_eq(init->command, "deploy");
	ck_assert_uint_eq(init->arg_count, 2);
	ck_assert_str_eq(init->args[1], "b c");
	ck_assert_ptr_null(init->args[2]);
	ck_assert_str_eq(init->project.root, "/app");
	ck_assert(init->git.is_repository && init->git.is_dirty);
	ck_assert_str_eq(init->git.remote_url, "u");
	ck_assert_str_eq(init->plugin.directory, "/p");
	ck_assert_str_eq(init->host.name, "perch");
	ck_assert_str_eq(init->fledge_version, "1.8.0");
	ck_assert(init->may.exec && init->may.store && init->may.metadata && !init->may.network);
	ck_assert_str_eq(init->may.filesystem, "");
	finish(plugin, &script, "");
}
END_TEST

START_TEST(what_is_missing_in_init_is_empty)
{
	struct script script;
	perch_plugin *plugin = open_on(&script, "{\"protocol\":\"fledge-v1\",\"project\":null}");
	const perch_plugin_init *init = perch_plugin_about(plugin);
	ck_assert_str_eq(init->command, "");
	ck_assert_uint_eq(init->arg_count, 0);
	ck_assert_str_eq(init->project.name, "");
	ck_assert(!init->git.is_repository && !init->may.exec);
	finish(plugin, &script, "");
}
END_TEST

START_TEST(a_host_without_a_proper_beginning)
{
	static const struct {
		const char *text;
		perch_plugin_status status;
	} cases[] = {
		{ "", PERCH_PLUGIN_CLOSED },
		{ "\n\n", PERCH_PLUGIN_CLOSED },
		{ "hello\n", PERCH_PLUGIN_NONSENSE },
		{ "{\"protocol\":\"fledge-v", PERCH_PLUGIN_NONSENSE },
		{ "[]\n", PERCH_PLUGIN_NONSENSE },
		{ "{}\n", PERCH_PLUGIN_NONSENSE },
		{ "{\"protocol\":\"fledge-v2\"}\n", PERCH_PLUGIN_NONSENSE },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		perch_plugin *plugin = NULL;
		struct script script = script_begin(cases[i].text);
		ck_assert_int_eq(perch_plugin_open_on(script.in, script.out, &plugin), cases[i].status);
		ck_assert_ptr_null(plugin);
		free(script_end(&script));
	}
}
END_TEST

START_TEST(telling_writes_one_line_each)
{
	struct script script;
	perch_plugin *plugin = open_on(&script, INIT);
	perch_plugin_output(plugin, "one\n\"two\"");
	perch_plugin_outputf(plugin, "%d%%", 7);
	perch_plugin_log(plugin, PERCH_PLUGIN_WARN, "careful: %s", "ice");
	perch_plugin_progress(plugin, "half", 1, 2);
	perch_plugin_progress(plugin, NULL, 0, 0);
	perch_plugin_progress_done(plugin);
	finish(plugin, &script,
		"{\"type\":\"output\",\"text\":\"one\\n\\\"two\\\"\"}\n"
		"{\"type\":\"output\",\"text\":\"7%\"}\n"
		"{\"type\":\"log\",\"level\":\"warn\",\"message\":\"careful: ice\"}\n"
		"{\"type\":\"progress\",\"message\":\"half\",\"current\":1,\"total\":2}\n"
		"{\"type\":\"progress\"}\n"
		"{\"type\":\"progress\",\"done\":true}\n");
}
END_TEST

START_TEST(questions_and_their_answers)
{
	static const char *const options[] = { "red", "green", "blue" };
	struct script script;
	perch_plugin *plugin = open_on(&script,
		INIT ANSWER("1", "\"me\"") ANSWER("2", "true") ANSWER("3", "\"blue\"")
			ANSWER("4", "[\"blue\",\"red\"]"));
	char *name = NULL;
	bool yes = false;
	size_t index = 9;
	bool chosen[] = { false, true, false };
	ck_assert_int_eq(perch_plugin_prompt(plugin, "Name?", "x", "non_empty", &name), 0);
	ck_assert_str_eq(name, "me");
	free(name);
	ck_assert_int_eq(perch_plugin_confirm(plugin, "Sure?", false, &yes), 0);
	ck_assert(yes);
	ck_assert_int_eq(perch_plugin_select(plugin, "Which?", options, 3, 1, &index), 0);
	ck_assert_uint_eq(index, 2);
	ck_assert_int_eq(perch_plugin_multi_select(plugin, "All?", options, 3, chosen), 0);
	ck_assert(chosen[0] && !chosen[1] && chosen[2]);
	finish(plugin, &script,
		"{\"type\":\"prompt\",\"message\":\"Name?\",\"default\":\"x\",\"validate\":\"non_empty\","
		"\"id\":\"1\"}\n"
		"{\"type\":\"confirm\",\"message\":\"Sure?\",\"default\":false,\"id\":\"2\"}\n"
		"{\"type\":\"select\",\"message\":\"Which?\",\"options\":[\"red\",\"green\",\"blue\"],"
		"\"default\":1,\"id\":\"3\"}\n"
		"{\"type\":\"multi_select\",\"message\":\"All?\",\"options\":[\"red\",\"green\",\"blue\"],"
		"\"defaults\":[1],\"id\":\"4\"}\n");
}
END_TEST

START_TEST(what_is_lent)
{
	static const char *const keys[] = { "env", "git_log" };
	struct script script;
	perch_plugin *plugin = open_on(&script,
		INIT ANSWER("1", "null") ANSWER("2", "\"v\\u0000w\"") ANSWER("3", "null")
			ANSWER("4", "{\"code\":3,\"stderr\":\"e\",\"stdout\":\"o\",\"stdout_truncated\":true}")
				ANSWER("5", "{ \"env\": {} }"));
	char *text = NULL;
	perch_plugin_exec_result result;
	ck_assert_int_eq(perch_plugin_store(plugin, "k", "v"), 0);
	ck_assert_int_eq(perch_plugin_load(plugin, "k", &text), 0);
	ck_assert_int_eq(memcmp(text, "v\0w", 4), 0);
	free(text);
	ck_assert_int_eq(perch_plugin_load(plugin, "none", &text), 0);
	ck_assert_ptr_null(text);
	ck_assert_int_eq(perch_plugin_exec(plugin, "make", "sub", 1.5, &result), 0);
	ck_assert_int_eq(result.code, 3);
	ck_assert_str_eq(result.out, "o");
	ck_assert_uint_eq(result.err_length, 1);
	ck_assert(result.out_truncated && !result.err_truncated);
	perch_plugin_exec_free(&result);
	ck_assert_int_eq(perch_plugin_metadata(plugin, keys, 2, &text), 0);
	ck_assert_str_eq(text, "{ \"env\": {} }");
	free(text);
	finish(plugin, &script,
		"{\"type\":\"store\",\"key\":\"k\",\"value\":\"v\",\"id\":\"1\"}\n"
		"{\"type\":\"load\",\"key\":\"k\",\"id\":\"2\"}\n"
		"{\"type\":\"load\",\"key\":\"none\",\"id\":\"3\"}\n"
		"{\"type\":\"exec\",\"command\":\"make\",\"cwd\":\"sub\",\"timeout\":1.5,\"id\":\"4\"}\n"
		"{\"type\":\"metadata\",\"keys\":[\"env\",\"git_log\"],\"id\":\"5\"}\n");
}
END_TEST

START_TEST(what_was_not_granted_is_denied_without_asking)
{
	struct script script;
	perch_plugin *plugin = open_on(&script, "{\"protocol\":\"fledge-v1\"}\n");
	char *text = NULL;
	perch_plugin_exec_result result;
	ck_assert_int_eq(perch_plugin_store(plugin, "k", "v"), PERCH_PLUGIN_DENIED);
	ck_assert_int_eq(perch_plugin_load(plugin, "k", &text), PERCH_PLUGIN_DENIED);
	ck_assert_int_eq(perch_plugin_exec(plugin, "ls", NULL, 0, &result), PERCH_PLUGIN_DENIED);
	ck_assert_int_eq(perch_plugin_metadata(plugin, NULL, 0, &text), PERCH_PLUGIN_DENIED);
	finish(plugin, &script, "");
}
END_TEST

START_TEST(answers_to_others_are_kept)
{
	struct script script;
	perch_plugin *plugin = open_on(&script,
		INIT ANSWER("2", "2") ANSWER("77", "0") ANSWER("x", "0") ANSWER("1", "[1]") ANSWER("1", "9")
			ANSWER("3", "3"));
	unsigned long ids[3];
	char *value = NULL;
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(perch_plugin_send(plugin, "load", "\"key\":\"k\"", &ids[i]), 0);
	ck_assert_int_eq(perch_plugin_wait(plugin, ids[0], &value), 0);
	ck_assert_str_eq(value, "[1]");
	free(value);
	ck_assert_int_eq(perch_plugin_wait(plugin, ids[1], &value), 0);
	ck_assert_str_eq(value, "2");
	free(value);
	ck_assert_int_eq(perch_plugin_wait(plugin, ids[2], &value), 0);
	free(value);
	/* Taken already, and never sent. */
	ck_assert_int_eq(perch_plugin_wait(plugin, ids[0], &value), PERCH_PLUGIN_NONSENSE);
	ck_assert_int_eq(perch_plugin_wait(plugin, 4711, &value), PERCH_PLUGIN_NONSENSE);
	perch_plugin_close(plugin);
	free(script_end(&script));
}
END_TEST

static int cancels;

static void count_cancel(void *data, const char *reason)
{
	ck_assert_str_eq(reason, data);
	cancels++;
}

START_TEST(a_cancelled_request_is_not_the_end)
{
	struct script script;
	perch_plugin *plugin = open_on(&script,
		INIT "{\"type\":\"cancel\",\"id\":\"1\",\"reason\":\"timeout\"}\n" ANSWER("2", "false"));
	bool yes = true;
	perch_plugin_on_cancel(plugin, count_cancel, (char[]){ "timeout" });
	ck_assert_str_eq(perch_plugin_cancel_reason(plugin), "");
	ck_assert_int_eq(perch_plugin_confirm(plugin, "a", true, &yes), PERCH_PLUGIN_CANCELLED);
	ck_assert_int_eq(cancels, 1);
	ck_assert_str_eq(perch_plugin_cancel_reason(plugin), "timeout");
	ck_assert_int_eq(perch_plugin_confirm(plugin, "b", true, &yes), PERCH_PLUGIN_OK);
	ck_assert(!yes);
	perch_plugin_close(plugin);
	free(script_end(&script));
}
END_TEST

START_TEST(a_cancel_without_an_id_ends_everything)
{
	struct script script;
	perch_plugin *plugin =
		open_on(&script, INIT "{\"type\":\"cancel\",\"reason\":\"user_interrupt\"}\n");
	bool yes;
	ck_assert_int_eq(perch_plugin_poll(plugin), PERCH_PLUGIN_CLOSED);
	ck_assert_str_eq(perch_plugin_cancel_reason(plugin), "user_interrupt");
	ck_assert_int_eq(perch_plugin_confirm(plugin, "a", true, &yes), PERCH_PLUGIN_CANCELLED);
	finish(plugin, &script, "");
}
END_TEST

START_TEST(polling_waits_for_nothing)
{
	int in[2];
	int out[2];
	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	ck_assert_int_gt(write(in[1], INIT, strlen(INIT)), 0);
	perch_plugin *plugin = NULL;
	ck_assert_int_eq(perch_plugin_open_on(in[0], out[1], &plugin), 0);
	ck_assert_int_eq(perch_plugin_poll(plugin), PERCH_PLUGIN_OK);
	static const char cancel[] = "{\"type\":\"cancel\",\"reason\":\"r\"}\n";
	ck_assert_int_gt(write(in[1], cancel, strlen(cancel)), 0);
	ck_assert_int_eq(perch_plugin_poll(plugin), PERCH_PLUGIN_CANCELLED);
	/* Nobody reads: no signal, a result. */
	close(out[0]);
	ck_assert_int_eq(perch_plugin_output(plugin, "x"), PERCH_PLUGIN_CLOSED);
	perch_plugin_close(plugin);
}
END_TEST

/* Each line stands for all the rest of what the host says. */
START_TEST(a_host_that_breaks_off_or_speaks_nonsense)
{
	static const struct {
		const char *text;
		perch_plugin_status status;
	} cases[] = {
		{ "", PERCH_PLUGIN_CLOSED },
		{ "{\"type\":\"resp", PERCH_PLUGIN_NONSENSE },
		{ "nonsense\n", PERCH_PLUGIN_NONSENSE },
		{ "{}\n", PERCH_PLUGIN_NONSENSE },
		{ "{\"type\":7}\n", PERCH_PLUGIN_NONSENSE },
		{ "{\"type\":\"later\",\"id\":\"1\"}\n", PERCH_PLUGIN_CLOSED },
		{ ANSWER("1", "7"), PERCH_PLUGIN_NONSENSE },
		{ ANSWER("1", "\"violet\""), PERCH_PLUGIN_NONSENSE },
		{ "{\"type\":\"response\",\"id\":\"1\"}\n", PERCH_PLUGIN_NONSENSE },
		{ "{\"type\":\"response\",\"id\":1,\"value\":\"red\"}\n", PERCH_PLUGIN_CLOSED },
		{ "{\"type\":\"response\",\"id\":\"00000000000000000001\",\"value\":\"red\"}\n",
			PERCH_PLUGIN_CLOSED },
		{ "{\"type\":\"cancel\"}\n", PERCH_PLUGIN_CANCELLED },
		{ "{\"type\":\"cancel\",\"id\":\"9\"}\n", PERCH_PLUGIN_CLOSED },
		{ ANSWER("1", "\"red\""), PERCH_PLUGIN_OK },
	};
	static const char *const options[] = { "red" };
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[4096];
		strcat(strcpy(text, INIT), cases[i].text);
		struct script script;
		perch_plugin *plugin = open_on(&script, text);
		size_t index = 7;
		ck_assert_msg(perch_plugin_select(plugin, "?", options, 1, 0, &index) == cases[i].status,
			"case %zu", i);
		ck_assert_uint_eq(index, cases[i].status == PERCH_PLUGIN_OK ? 0 : 7);
		perch_plugin_close(plugin);
		free(script_end(&script));
	}
}
END_TEST

static int converse(void *data)
{
	(void)data;
	static const char *const options[] = { "red" };
	struct script script = script_begin(INIT ANSWER("1", "\"v\"")
			ANSWER("2", "{\"code\":0,\"stderr\":\"\",\"stdout\":\"o\"}") ANSWER("3", "\"red\""));
	perch_plugin *plugin = NULL;
	char *text = NULL;
	perch_plugin_exec_result result = { 0 };
	size_t index;
	perch_plugin_status status = perch_plugin_open_on(script.in, script.out, &plugin);
	if (status == PERCH_PLUGIN_OK)
		status = perch_plugin_load(plugin, "k", &text);
	if (status == PERCH_PLUGIN_OK)
		status = perch_plugin_exec(plugin, "make", NULL, 0, &result);
	if (status == PERCH_PLUGIN_OK)
		status = perch_plugin_log(plugin, PERCH_PLUGIN_INFO, "%s", "text");
	if (status == PERCH_PLUGIN_OK)
		status = perch_plugin_select(plugin, "?", options, 1, 0, &index);
	free(text);
	perch_plugin_exec_free(&result);
	perch_plugin_close(plugin);
	close(script.in);
	close(script.out);
	ck_assert(status == PERCH_PLUGIN_OK || status == PERCH_PLUGIN_NO_MEMORY);
	return -(int)status;
}

START_TEST(every_allocation_may_fail)
{
	ck_assert_uint_gt(oom_every(converse, NULL), 10);
}
END_TEST

SUITE_MAIN("sdk-plugin", init_is_typed, what_is_missing_in_init_is_empty,
	a_host_without_a_proper_beginning, telling_writes_one_line_each, questions_and_their_answers,
	what_is_lent, what_was_not_granted_is_denied_without_asking, answers_to_others_are_kept,
	a_cancelled_request_is_not_the_end, a_cancel_without_an_id_ends_everything,
	polling_waits_for_nothing, a_host_that_breaks_off_or_speaks_nonsense, every_allocation_may_fail)
