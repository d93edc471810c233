/* The catalogue of a service: what is in it, what a frontend sees of it, that a change is told; and
 * events as JSON. */
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/glob.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "harness/served.h"
#include "service/expose.h"
#include "service/expose.h"

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

#define KNOWN                                                                  \
	"[[tools]]\nname = \"t.x\"\ndescription = \"says it again\"\nask = true\n" \
	"input_schema = '{\"type\":\"object\"}'\n[[tools]]\nname = \"t.y\"\n"

static perch_catalog *list(struct served *served)
{
	perch_catalog *catalog;
	perch_err err = { 0 };
	if (perch_service_catalog(served->service, &catalog, &err) < 0)
		ck_abort_msg("%s", err.text);
	return catalog;
}

/* "kind name" for each entry, in the order in which they come. */
static char *names(struct served *served)
{
	perch_catalog *catalog = list(served);
	struct buf text = { 0 };
	size_t count;
	const perch_entry *entries = perch_catalog_entries(catalog, &count);
	for (size_t i = 0; i < count; i++)
		buf_printf(&text, "%s %s|", perch_entry_kind_name(entries[i].kind), entries[i].name);
	perch_catalog_free(catalog);
	ck_assert_int_eq(buf_terminate(&text), 0);
	return text.data ? text.data : strdup("");
}

static void names_are(struct served *served, const char *wanted)
{
	char *found = names(served);
	ck_assert_str_eq(found, wanted);
	free(found);
}

static bool has_note(const perch_catalog *catalog, const char *part)
{
	const char *const *note = perch_catalog_notes(catalog);
	while (*note && !strstr(*note, part))
		note++;
	return *note;
}

static void furnish_all(void)
{
	served_bind("echo", "echo", KNOWN);
	served_bind("net", "echo", "[sandbox]\nnet = \"full\"\n[[tools]]\nname = \"t.z\"\n");
	served_profile("bot", "echo");
	served_profile("ann", "echo");
}

START_TEST(everything_that_there_is)
{
	struct served *served = served_open(NULL);
	furnish_all();
	served_bind("empty", "echo", "");
	folder_write("config/perch/tools/broken.toml", "name = \n");
	folder_write("config/perch/agents/broken.yaml", "command: [\n");
	folder_write("config/perch/agents/readme.txt", "no profile\n");
	folder_write("config/perch/agents/clerk.yaml",
		"command: cat\nname: The Clerk\ndescription: keeps books\n");
	names_are(served,
		"tool echo/t.x|tool echo/t.y|tool net/t.z|command harm|command try|"
		"agent ann|agent bot|agent broken|agent clerk|");
	perch_catalog *catalog = list(served);
	const perch_entry *tool = perch_catalog_find(catalog, PERCH_ENTRY_TOOL, "echo/t.x");
	ck_assert_str_eq(tool->owner, "echo");
	ck_assert_str_eq(tool->description, "says it again");
	ck_assert_str_eq(tool->input_schema, "{\"type\":\"object\"}");
	ck_assert(tool->asks && !tool->is_waived && !tool->has_network && !tool->can_write);
	ck_assert_ptr_null(tool->output_schema);
	ck_assert(perch_catalog_find(catalog, PERCH_ENTRY_TOOL, "net/t.z")->has_network);
	const perch_entry *command = perch_catalog_find(catalog, PERCH_ENTRY_COMMAND, "try");
	ck_assert_str_eq(command->description, "tries");
	ck_assert_str_eq(
		command->arguments, "[{\"name\":\"what\",\"type\":\"string\",\"required\":true}]");
	ck_assert(!command->problem && !command->is_dangerous);
	ck_assert(perch_catalog_find(catalog, PERCH_ENTRY_COMMAND, "harm")->is_dangerous);
	ck_assert_ptr_null(perch_catalog_find(catalog, PERCH_ENTRY_AGENT, "bot")->problem);
	ck_assert_ptr_null(perch_catalog_find(catalog, PERCH_ENTRY_AGENT, "bot")->title);
	const perch_entry *clerk = perch_catalog_find(catalog, PERCH_ENTRY_AGENT, "clerk");
	ck_assert_str_eq(clerk->title, "The Clerk");
	ck_assert_str_eq(clerk->description, "keeps books");
	ck_assert_ptr_nonnull(perch_catalog_find(catalog, PERCH_ENTRY_AGENT, "broken")->problem);
	ck_assert_ptr_null(perch_catalog_find(catalog, PERCH_ENTRY_AGENT, "readme"));
	ck_assert(has_note(catalog, "broken.toml:1:"));
	ck_assert(has_note(catalog, "the binding empty lists no tools"));
	perch_catalog_free(catalog);
	served_close();
}
END_TEST

/* ---- exposure --------------------------------------------------------------- */

static struct served *open_frontend(const char *frontend, const char *config)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.frontend = frontend;
	served_open(NULL);
	served_close();
	folder_write("config/perch/config.toml", config);
	furnish_all();
	return served_open(&options);
}

START_TEST(what_a_frontend_sees_by_default)
{
	names_are(open_frontend("mcp", ""), "tool echo/t.x|tool echo/t.y|tool net/t.z|");
	served_close();
	names_are(open_frontend("worker", ""), "");
	served_close();
	names_are(open_frontend("http", "[expose.mcp]\ntools = []\n"),
		"tool echo/t.x|tool echo/t.y|tool net/t.z|");
	served_close();
}
END_TEST

START_TEST(what_a_frontend_is_shown)
{
	struct served *served = open_frontend("mcp",
		"[expose.mcp]\ntools = [\"echo/*y\", \"net\"]\nplugins = [\"t*\"]\nagents = [\"bot\"]\n"
		"approve = [\"echo\"]\n");
	names_are(served, "tool echo/t.y|tool net/t.z|command try|agent bot|");
	perch_catalog *catalog = list(served);
	ck_assert_ptr_null(perch_catalog_find(catalog, PERCH_ENTRY_TOOL, "echo/t.x"));
	ck_assert(has_note(catalog, "1 tool is hidden: `tools` under [expose.mcp]"));
	ck_assert(has_note(catalog, "1 agent is hidden"));
	perch_catalog_free(catalog);
	served_close();
}
END_TEST

START_TEST(what_is_hidden_is_counted)
{
	char words[256];
	perch_err err = { 0 };
	served_open(NULL);
	served_close();
	furnish_all();
	folder_write("config/perch/config.toml", "[expose.acp]\ntools = []\nagents = [\"bot\"]\n");
	ck_assert_int_eq(catalog_exposed(words, sizeof(words), &err), 1);
	ck_assert_str_eq(words, "mcp 3, http 3, acp 1, worker 0 of 7");
	folder_write("config/perch/config.toml", "[expose.acp]\nagent = []\n");
	ck_assert_int_lt(catalog_exposed(words, sizeof(words), &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "config.toml:2:1: "));
}
END_TEST

START_TEST(what_is_hidden_does_not_exist)
{
	struct served_job job = { 0 };
	perch_err hidden = { 0 };
	perch_err missing = { 0 };
	open_frontend("mcp", "[expose.mcp]\ntools = [\"echo/t.y\"]\nplugins = [\"harm\"]\n");
	ck_assert_int_eq(served_try(served_tool("net/t.z", NULL), &job, &hidden), -ENOENT);
	ck_assert_str_eq(hidden.text, "there is no tool 'net/t.z'");
	ck_assert_int_eq(served_try(served_tool("no/t.z", NULL), &job, &missing), -ENOENT);
	ck_assert_str_eq(missing.text, "there is no tool 'no/t.z'");
	ck_assert_int_eq(served_try(served_tool("echo/t.other", NULL), &job, NULL), -ENOENT);
	ck_assert_int_eq(served_try(served_command(NULL), &job, &hidden), -ENOENT);
	ck_assert_str_eq(hidden.text, "there is no command 'try'");
	ck_assert_int_eq(served_try(served_turn("bot", "x", NULL), &job, &hidden), -ENOENT);
	ck_assert_str_eq(hidden.text, "there is no agent 'bot'");
	perch_job_request request = served_turn(NULL, "x", NULL);
	request.profile = folder_path("config/perch/agents/bot.yaml");
	ck_assert_int_eq(served_try(request, &job, NULL), -EINVAL);
	served_submit(served_tool("echo/t.y", NULL), &job);
	served_wait(&job);
	served_free(&job);
	served_close();
}
END_TEST

START_TEST(approvals_of_a_frontend)
{
	struct served_job waived = { 0 };
	struct served_job harm = { .answers = true };
	struct served_job refused = { .answers = true, .is_no = true };
	struct served *served =
		open_frontend("http", "[expose.http]\nplugins = [\"harm\"]\napprove = [\"echo/t.x\"]\n");
	perch_catalog *catalog = list(served);
	ck_assert(perch_catalog_find(catalog, PERCH_ENTRY_TOOL, "echo/t.x")->is_waived);
	ck_assert(perch_catalog_find(catalog, PERCH_ENTRY_COMMAND, "harm")->asks);
	perch_catalog_free(catalog);
	served_submit(served_tool("echo/t.x", NULL), &waived);
	ck_assert_str_eq(served_wait(&waived), "start: result: {} end: ");
	char *audit = folder_read(folder_path("state/perch/audit.jsonl"));
	ck_assert_ptr_nonnull(strstr(audit, "\"approval\":\"config\",\"frontend\":\"http\""));
	free(audit);
	perch_job_request request = served_command(ARGS("hello"));
	request.name = "harm";
	served_submit(request, &harm);
	const char *log = served_wait(&harm);
	ck_assert_msg(strstr(log, "ask: start: ") == log && harm.end.success, "%s", log);
	served_submit(request, &refused);
	ck_assert_str_eq(served_wait(&refused), "ask: error:refusedrather not end: ");
	audit = folder_run("grep -o '\"kind\":\"run\".*code\":[0-9]*\\|\"approval\":\"tester.*' "
					   "state/perch/audit.jsonl");
	ck_assert_str_eq(audit,
		"\"kind\":\"run\",\"name\":\"harm\",\"success\":true,\"exit_code\":0\n"
		"\"approval\":\"tester\",\"frontend\":\"http\"}\n"
		"\"kind\":\"run\",\"name\":\"harm\",\"success\":false,\"exit_code\":125");
	free(audit);
	served_free(&waived);
	served_free(&harm);
	served_free(&refused);
	served_close();
}
END_TEST

START_TEST(turns_of_a_frontend_are_recorded)
{
	struct served_job turn = { 0 };
	struct served_job required = { 0 };
	open_frontend("http", "[expose.http]\nagents = [\"*\"]\n");
	perch_job_request request = served_turn("bot", "x", "mine");
	request.caller.name = "ann";
	served_submit(request, &turn);
	served_wait(&turn);
	ck_assert(turn.end.success);
	char *audit = folder_read(folder_path("state/perch/audit.jsonl"));
	ck_assert_ptr_nonnull(
		strstr(audit, "\"kind\":\"turn\",\"name\":\"bot\",\"session\":\"mine\",\"success\":true"));
	ck_assert_ptr_nonnull(strstr(audit, "\"caller\":\"ann\",\"frontend\":\"http\"}"));
	free(audit);
	served_free(&turn);
	served_close();
	/* What must be recorded does not begin where it cannot be. */
	free(folder_run("rm state/perch/audit.jsonl && mkdir state/perch/audit.jsonl"));
	open_frontend("http", "audit = \"required\"\n[expose.http]\nagents = [\"*\"]\n");
	served_submit(request, &required);
	const char *log = served_wait(&required);
	ck_assert_msg(strstr(log, "error:startthe audit log is required") == log, "%s", log);
	served_free(&required);
	served_close();
}
END_TEST

START_TEST(what_a_frontend_did_is_noted)
{
	perch_service_note note = PERCH_SERVICE_NOTE_INIT;
	perch_err err = { 0 };
	struct served *served = open_frontend("http", "[expose.http]\n");
	note.kind = "refusal";
	note.name = "bot";
	note.text = "a \"reason\"";
	note.caller = (perch_caller){ "ann", "curl" };
	ck_assert_int_eq(perch_service_record(served->service, &note, &err), 0);
	ck_assert(!perch_service_must_record(served->service));
	char *audit = folder_read(folder_path("state/perch/audit.jsonl"));
	ck_assert_ptr_nonnull(strstr(audit,
		"\"kind\":\"refusal\",\"name\":\"bot\",\"text\":\"a \\\"reason\\\"\",\"caller\":\"ann\","
		"\"frontend\":\"http\",\"client\":\"curl\"}"));
	free(audit);
	struct {
		perch_service_note note;
		const char *later;
	} newer = { note, "something" };
	newer.note.size = sizeof(newer);
	ck_assert_int_eq(perch_service_record(served->service, &newer.note, &err), -EINVAL);
	served_close();
	free(folder_run("rm state/perch/audit.jsonl && mkdir state/perch/audit.jsonl"));
	served = open_frontend("http", "audit = \"required\"\n[expose.http]\n");
	ck_assert_int_lt(perch_service_record(served->service, &note, &err), 0);
	ck_assert(perch_service_must_record(served->service));
	served_close();
}
END_TEST

START_TEST(what_is_taken_back_is_gone_at_once)
{
	struct served_job job = { 0 };
	open_frontend("mcp", "[expose.mcp]\ntools = [\"*\"]\n");
	served_submit(served_tool("echo/t.y", NULL), &job);
	served_wait(&job);
	served_free(&job);
	folder_write("config/perch/config.toml", "[expose.mcp]\ntools = []\n");
	ck_assert_int_eq(served_try(served_tool("echo/t.y", NULL), &job, NULL), -ENOENT);
	served_close();
}
END_TEST

START_TEST(a_configuration_that_is_wrong)
{
	static const struct {
		const char *text;
		const char *words;
	} wrong[] = {
		{ "[expose.mcp]\ntool = []\n",
			"config.toml:2:1: there is no key `tool` here; did you mean "
			"`tools`?" },
		{ "[expose.mcp]\ntools = \"*\"\n", "config.toml:2:9: " },
		{ "[expose]\nmcp = 1\n", "config.toml:2:7: " },
		{ "expose = \n", "config.toml:1:" },
	};
	served_open(NULL);
	perch_host *host = proc_host();
	for (size_t i = 0; i < COUNT(wrong); i++) {
		perch_service *service;
		perch_err err = { 0 };
		perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
		options.frontend = "mcp";
		folder_write("config/perch/config.toml", wrong[i].text);
		ck_assert_int_lt(perch_service_new(host, &options, &service, &err), 0);
		ck_assert_msg(strstr(err.text, wrong[i].words), "%s", err.text);
	}
	perch_host_free(host);
	served_close();
}
END_TEST

START_TEST(patterns)
{
	static const struct {
		const char *pattern, *text;
		bool fits;
	} cases[] = {
		{ "*", "", true },
		{ "*", "a/b", true },
		{ "a", "a", true },
		{ "a", "ab", false },
		{ "a*", "a", true },
		{ "a*c", "abbc", true },
		{ "a*c", "abcd", false },
		{ "*a*a*", "banana", true },
		{ "*x*", "banana", false },
		{ "?", "a", false },
		{ "[a]", "a", false },
		{ "", "", true },
		{ "", "a", false },
		{ "a**b", "ab", true },
		{ "*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		ck_assert_msg(glob_match(cases[i].pattern, cases[i].text) == cases[i].fits, "%s %s",
			cases[i].pattern, cases[i].text);
}
END_TEST

/* ---- changes ---------------------------------------------------------------- */

static unsigned changes;
static bool has_changed;

static void changed(perch_service *service, void *data)
{
	(void)service;
	(void)data;
	changes++;
	has_changed = true;
}

static void a_change_is_told(struct served *served)
{
	served_until(&has_changed);
	has_changed = false;
	char *found = names(served); /* from here on it is known */
	free(found);
}

static void watch_changes(void)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.changed = changed;
	struct served *served = served_open(&options);
	served_bind("one", "echo", ""); /* its directories are made, too */
	a_change_is_told(served);
	served_bind("one", "fast", "");
	a_change_is_told(served);
	served_profile("bot", "echo");
	a_change_is_told(served);
	folder_write("config/perch/config.toml", "audit = \"warn\"\n");
	a_change_is_told(served);
	ck_assert_int_eq(remove(folder_path("config/perch/tools/one.toml")), 0);
	a_change_is_told(served);
	folder_write("config/fledge/plugins/hello/plugin.toml", "[plugin]\n"); /* is installed */
	a_change_is_told(served);
	folder_write("config/fledge/plugins/hello/plugin.toml", "[plugin]\nname = \"hello\"\n");
	a_change_is_told(served);
	unsigned before = changes;
	folder_write("config/other/file", "not ours\n");
	served_bind("two", "echo", "");
	served_bind("three", "echo", "");
	served_until(&has_changed);
	ck_assert_uint_eq(changes, before + 1);
	served_close();
}

START_TEST(changes_are_told)
{
	watch_changes();
}
END_TEST

START_TEST(changes_are_told_without_inotify)
{
	setenv("PERCH_TEST_NO_INOTIFY", "1", 1);
	watch_changes();
}
END_TEST

/* ---- given as files ---------------------------------------------------------- */

START_TEST(bindings_that_are_given)
{
	struct served_job job = { 0 };
	served_open(NULL);
	served_bind("given", "echo", KNOWN);
	served_close();
	free(folder_run("mv config/perch/tools/given.toml given.toml"));
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.bindings = ARGS(folder_path("given.toml"));
	struct served *served = served_open(&options);
	names_are(served, "tool t.p/t.x|tool t.p/t.y|command harm|command try|");
	perch_job_request request = served_tool("t.p/t.x", NULL);
	request.approved_by = "test";
	served_submit(request, &job);
	served_wait(&job);
	ck_assert(job.end.success);
	served_free(&job);
	served_close();
}
END_TEST

/* ---- without memory ---------------------------------------------------------- */

static int list_without_memory(void *data)
{
	const struct served *served = data;
	perch_catalog *catalog;
	int r = perch_service_catalog(served->service, &catalog, NULL);
	if (r == 0)
		perch_catalog_free(catalog);
	return r;
}

START_TEST(each_allocation_may_fail)
{
	struct served *served = open_frontend(
		"mcp", "[expose.mcp]\nplugins = [\"*\"]\nagents = [\"*\"]\napprove = [\"x\"]\n");
	ck_assert_uint_ge(oom_every(list_without_memory, served), 30);
	served_close();
}
END_TEST

SUITE_MAIN("service-catalog", everything_that_there_is, what_a_frontend_sees_by_default,
	what_a_frontend_is_shown, what_is_hidden_is_counted, what_is_hidden_does_not_exist,
	approvals_of_a_frontend, turns_of_a_frontend_are_recorded, what_a_frontend_did_is_noted,
	what_is_taken_back_is_gone_at_once, a_configuration_that_is_wrong, patterns, changes_are_told,
	changes_are_told_without_inotify, bindings_that_are_given, each_allocation_may_fail)
