/* perch tool call: one call of a tool. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "cli/tool/tool_commands.h"
#include "data/json.h"
#include "proc/host.h"

/* A longer input cannot be sent in any case. */
enum { INPUT_MAX = 4 * 1024 * 1024 };

struct call_words {
	const char *binding; /* a file */
	const char *input;
	struct option_list context;
	const char *timeout;
	const char *handshake_timeout;
	const char *teardown_timeout;
	bool strict;
	bool shows_stderr;
	bool yes;
	const char *name; /* NULL with a file */
	const char *tool;
	perch_tool_request details; /* the context and the clocks */
};

static const char call_usage[] = "write: perch tool call NAME TOOL, or --binding FILE TOOL";

/* ---- the input ----------------------------------------------------------- */

static int tool_call_read_stdin(struct buf *out, perch_err *err)
{
	int r = fd_read_all(STDIN_FILENO, 0, INPUT_MAX, out);
	if (r == -EFBIG)
		return err_set(err, r, "the input has more than %d bytes", INPUT_MAX);
	return r < 0 ? err_set(err, r, "cannot read the input: %s", perch_strerror(r)) : 0;
}

/* JSON, @file or - for stdin. */
static int tool_call_read_input(const char *word, struct buf *out, perch_err *err)
{
	if (!word)
		return 0;
	if (strcmp(word, "-") == 0)
		return tool_call_read_stdin(out, err);
	if (word[0] == '@')
		return file_read(word + 1, INPUT_MAX, out, err);
	return buf_append_text(out, word) < 0 ? err_no_memory(err) : 0;
}

/* An empty file is no JSON; an input that was not given is {}. */
static struct str tool_call_input_of(const struct call_words *words, const struct buf *input)
{
	if (!words->input)
		return (struct str){ 0 };
	return input->len ? (struct str){ input->data, input->len } : STR(" ");
}

/* ---- the context --------------------------------------------------------- */

static const char *const context_names[] = { "workspace_id", "widget_id", "repo_root", "role_id",
	"mode_id", NULL };

static int tool_call_set_context(perch_tool_request *context, const char *pair)
{
	const char **members[] = { &context->workspace_id, &context->widget_id, &context->repo_root,
		&context->role_id, &context->mode_id };
	struct str value = str_from(pair);
	struct str name = str_cut(&value, '=');
	if (!pair[name.len])
		return cli_usage_error("write: --context workspace_id=ws-1",
			"--context needs a name and a value, not '%s'", pair);
	for (size_t i = 0; context_names[i]; i++) {
		if (str_is(name, context_names[i])) {
			*members[i] = pair + name.len + 1;
			return 0;
		}
	}
	_cleanup_free_ char *word = str_dup(name);
	const char *near = word
		? str_nearest(word, context_names, list_count(context_names), sizeof(context_names[0]))
		: NULL;
	char hint[128];
	snprintf(hint, sizeof(hint), "did you mean: %s", near ? near : "");
	return cli_usage_error(
		near ? hint : "there are: workspace_id, widget_id, repo_root, role_id, mode_id",
		"a context has no '%s'", word ? word : "");
}

static int tool_call_read_context(const struct call_words *words, perch_tool_request *context)
{
	int r = 0;
	for (size_t i = 0; i < words->context.count && r == 0; i++)
		r = tool_call_set_context(context, words->context.items[i]);
	return r;
}

/* ---- a missing tool ------------------------------------------------------ */

static const char *tool_call_known_name(const void *data, size_t i)
{
	const struct tool_binding *binding = data;
	return i < binding->tool_count ? binding->tools[i].name : NULL;
}

/* On stderr, below the error. */
static void tool_call_suggest(const char *words, const char *names)
{
	fputs(words, stderr);
	cli_put_text(stderr, str_from(names));
	fputc('\n', stderr);
}

static void tool_call_suggest_of(
	const struct tool_binding *binding, const char *tool, struct arena *arena)
{
	const char *near = cli_nearest(tool, tool_call_known_name, binding);
	const char *names = tool_known_names(binding, arena);
	if (near)
		tool_call_suggest("  did you mean: ", near);
	if (names[0] && (!near || binding->tool_count > 1))
		tool_call_suggest("  there are: ", names);
}

static void tool_call_suggest_tools(const struct call_words *words)
{
	struct arena arena = { 0 };
	struct tool_binding binding;
	int r = words->binding ? tool_binding_read(words->binding, &arena, &binding, NULL)
						   : tool_binding_find(words->name, &arena, &binding, NULL);
	if (r == 0)
		tool_call_suggest_of(&binding, words->tool, &arena);
	arena_free(&arena);
}

/* The name of a binding alone. */
static int tool_call_ask_which_tool(const char *name)
{
	struct arena arena = { 0 };
	struct tool_binding binding;
	perch_err err = { 0 };
	int r = tool_binding_find(name, &arena, &binding, &err);
	const char *names = r == 0 ? tool_known_names(&binding, &arena) : "";
	const char *hint = names[0] ? arena_join(&arena, "there are: ", names, NULL) : NULL;
	r = r == -ENOENT ? cli_usage_error("see: perch tool list", "%s", err.text)
					 : cli_usage_error(hint ? hint : call_usage, "call which tool of %s?", name);
	arena_free(&arena);
	return r;
}

/* ---- the call ------------------------------------------------------------ */

static int tool_call_read_options(struct call_words *words)
{
	perch_tool_request *details = &words->details;
	*details = (perch_tool_request)PERCH_TOOL_REQUEST_INIT;
	details->strict = words->strict;
	int r = options_seconds("--timeout", words->timeout, &details->invocation_ns);
	if (r == 0)
		r = options_seconds(
			"--handshake-timeout", words->handshake_timeout, &details->handshake_ns);
	if (r == 0)
		r = options_seconds("--teardown-timeout", words->teardown_timeout, &details->teardown_ns);
	return r ? r : tool_call_read_context(words, details);
}

/* A call while it is made. */
struct calling {
	struct tool_session *session;
	const struct call_words *words;
	perch_job *job;
	uint64_t asked; /* the open question; 0 = none */
	bool is_over;
	int code;
};

static void tool_call_tell(struct calling *calling, const perch_tool_result *result)
{
	const struct tool_session *session = calling->session;
	if (result->code == PERCH_TOOL_OK && !session->cli->json)
		tool_print_json(result->output.len ? str_of(result->output) : STR("null"));
	calling->code = tool_tell(session, result);
	fflush(stdout); /* the process may still have to leave */
	if (result->code == PERCH_TOOL_NOT_EXPOSED && !session->cli->json)
		tool_call_suggest_tools(calling->words);
}

static void tool_call_event(perch_job *job, void *data, const perch_event *event)
{
	(void)job;
	struct calling *calling = data;
	if (event->kind == PERCH_EVENT_STDERR)
		cli_pass(stderr, str_of(event->text));
	else if (event->kind == PERCH_EVENT_ASK)
		calling->asked = event->number;
	else if (event->kind == PERCH_EVENT_RESULT)
		tool_call_tell(calling, event->tool);
	else if (event->kind == PERCH_EVENT_END)
		calling->is_over = true;
}

/* Nothing else happens meanwhile: the terminal is the question's. */
static void tool_call_answer(struct calling *calling)
{
	const struct call_words *words = calling->words;
	char question[256], why_not[256];
	perch_answer answer = PERCH_ANSWER_INIT;
	perch_err err = { 0 };
	uint64_t number = calling->asked;
	calling->asked = 0;
	snprintf(question, sizeof(question), "Call %.100s of %.100s?", words->tool,
		words->name ? words->name : words->binding);
	snprintf(why_not, sizeof(why_not),
		"the binding asks before each call of %.100s, and nobody said yes: --yes", words->tool);
	int r = tool_ask(calling->session->cli, question, &err);
	answer.yes = r > 0;
	answer.by = "terminal";
	answer.message = why_not;
	if (r == -ECANCELED)
		perch_job_cancel(calling->job, SIGINT);
	else
		perch_job_answer(calling->job, number, &answer, NULL);
}

static perch_job_request tool_call_request(struct calling *calling, const struct buf *input)
{
	const struct call_words *words = calling->words;
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_TOOL;
	request.binding = words->binding;
	request.name = words->binding ? words->tool : words->name;
	request.tool = &words->details;
	const struct str text = tool_call_input_of(words, input);
	request.input = text.data;
	request.input_len = text.len;
	request.approved_by = words->yes ? "--yes" : NULL;
	request.shows_stderr = words->shows_stderr;
	request.sink = tool_call_event;
	request.data = calling;
	return request;
}

static void tool_call_on_signal(void *data, int signal)
{
	struct calling *calling = data;
	perch_job_cancel(calling->job, signal);
}

/* Also where its answer was enough, the process is waited for: its exit is recorded. */
static int tool_call_to_the_end(struct calling *calling, perch_service *service, perch_err *err)
{
	struct tool_session *session = calling->session;
	int r = tool_session_watch(session, tool_call_on_signal, calling, err);
	while (r >= 0 && (!calling->is_over || perch_service_jobs(service))) {
		r = perch_host_wait(session->host, -1);
		if (r < 0)
			return err_set(err, r, "waiting failed: %s", perch_strerror(r));
		if (calling->asked)
			tool_call_answer(calling);
	}
	return r < 0 ? r : calling->code;
}

static int tool_call_refuse(struct calling *calling, const perch_err *err)
{
	const perch_tool_result result =
		tool_refusal(PERCH_TOOL_INVALID_REQUEST, "request", calling->words->tool, err);
	tool_call_tell(calling, &result);
	return calling->code;
}

static int tool_call_make_call(struct tool_session *session, void *data, perch_err *err)
{
	struct calling calling = { .session = session, .words = data };
	_cleanup_(buf_free) struct buf input = { 0 };
	_cleanup_(tool_service_free) perch_service *service = NULL;
	if (tool_call_read_input(calling.words->input, &input, err) < 0)
		return tool_call_refuse(&calling, err);
	perch_service_options options = tool_service_options(session);
	options.no_spares = true;
	options.queue_bytes = SIZE_MAX / 2;
	session->host->runs_once = true;
	int r = perch_service_new(session->host, &options, &service, err);
	if (r < 0)
		return r;
	const perch_job_request request = tool_call_request(&calling, &input);
	r = perch_job_submit(service, &request, &calling.job, err);
	return r < 0 ? r : tool_call_to_the_end(&calling, service, err);
}

static int tool_call_run_call(struct cli *cli, int argc, char **argv)
{
	struct call_words words = { 0 };
	const struct option_spec specs[] = {
		{ "binding", 0, OPTION_TEXT, &words.binding },
		{ "input", 0, OPTION_TEXT, &words.input },
		{ "context", 0, OPTION_LIST, &words.context },
		{ "timeout", 0, OPTION_TEXT, &words.timeout },
		{ "handshake-timeout", 0, OPTION_TEXT, &words.handshake_timeout },
		{ "teardown-timeout", 0, OPTION_TEXT, &words.teardown_timeout },
		{ "strict", 0, OPTION_FLAG, &words.strict },
		{ "stderr", 0, OPTION_FLAG, &words.shows_stderr },
		{ "yes", 'y', OPTION_FLAG, &words.yes },
		TOOL_GLOBALS(cli),
	};
	const char *found[2];
	int r = tool_words(specs, argc, argv, call_usage, 1, 2, found);
	if (r == 0 && words.binding && found[1])
		r = cli_usage_error(call_usage, "'%s' is one word too many", found[1]);
	else if (r == 0 && !words.binding && !found[1])
		r = tool_call_ask_which_tool(found[0]);
	words.name = words.binding ? NULL : found[0];
	words.tool = words.binding ? found[0] : found[1];
	if (r == 0)
		r = tool_call_read_options(&words);
	words.details.tool = words.tool;
	if (r == 0)
		r = tool_in_session(cli, tool_call_make_call, &words);
	free(words.context.items);
	return r;
}

const struct command tool_verb_call = {
	.name = "call",
	.summary = "call a tool; its output is printed as JSON",
	.words = WORDS_TOOLS,
	.help = "usage: perch tool call NAME TOOL [OPTIONS]\n"
			"       perch tool call --binding FILE TOOL [OPTIONS]\n"
			"\n"
			"Starts the plugin, shakes hands, sends one request and prints the output as\n"
			"JSON.\n"
			"\n"
			"  --input JSON|@FILE|-     the input ({}); - is stdin\n"
			"  --context NAME=VALUE     workspace_id, widget_id, repo_root, role_id, mode_id\n"
			"  --timeout SECS           of the whole call; of its parts:\n"
			"  --handshake-timeout SECS, --teardown-timeout SECS\n"
			"  --strict                 output behind the response is malformed_response\n"
			"  --stderr                 show what the plugin says on stderr as it comes\n"
			"  -y, --yes                for a tool whose binding asks before each call\n"
			"  --json                   the whole result as one object, however it went\n"
			"  --trace FILE             record every line\n"
			"\n",
	.print_more = tool_commands_print_codes,
	.example = "perch tool call acme.echo acme.say --input @question.json --timeout 2.5",
	.run = tool_call_run_call,
};
