/* What a job asks of an MCP server beyond a call of a tool, and what the server asks in turn. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"
#include "service/service_parts.h"
#include "tool/server.h"

/* ---- taking ---------------------------------------------------------------- */

#define UNSUBSCRIBE "resources/unsubscribe"

/* The methods that are passed on; which member of the params, or of its `ref`, is looked up in
 * [expose] as what kind. */
static const struct passage {
	const char *method;
	const char *subject; /* NULL = a list: the frontend leaves out what is not shown */
	perch_entry_kind kind;
	bool is_noted; /* in the audit log */
} passages[] = {
	{ "resources/list", NULL, PERCH_ENTRY_RESOURCE, false },
	{ "resources/templates/list", NULL, PERCH_ENTRY_RESOURCE, false },
	{ "resources/read", "uri", PERCH_ENTRY_RESOURCE, true },
	{ "resources/subscribe", "uri", PERCH_ENTRY_RESOURCE, false },
	{ UNSUBSCRIBE, "uri", PERCH_ENTRY_RESOURCE, false },
	{ "prompts/list", NULL, PERCH_ENTRY_PROMPT, false },
	{ "prompts/get", "name", PERCH_ENTRY_PROMPT, true },
	{ "completion/complete", "ref", PERCH_ENTRY_PROMPT, false },
};

static const struct passage *passage_find(const char *method)
{
	for (size_t i = 0; i < COUNT(passages); i++) {
		if (strcmp(passages[i].method, method) == 0)
			return &passages[i];
	}
	return NULL;
}

/* A completion is about a prompt, or about a template of URIs. */
static const perch_json_value *passage_subject(
	const struct passage *passage, const perch_json_value *params, perch_entry_kind *kind)
{
	const perch_json_value *subject = perch_json_get(params, passage->subject);
	*kind = passage->kind;
	if (perch_json_type_of(subject) != PERCH_JSON_OBJECT)
		return subject;
	bool is_prompt = perch_json_is(perch_json_get(subject, "type"), "ref/prompt");
	*kind = is_prompt ? PERCH_ENTRY_PROMPT : PERCH_ENTRY_RESOURCE;
	return perch_json_get(subject, is_prompt ? "name" : "uri");
}

static int passage_check_shown(const perch_job *job, const struct passage *passage, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	perch_entry_kind kind;
	if (!passage->subject)
		return 0;
	int r = perch_json_new(NULL, &json);
	if (r == 0 && job->request.input)
		r = perch_json_parse(json, job->request.input, job->request.input_len, &root, NULL);
	if (r == -ENOMEM)
		return err_no_memory(err);
	const perch_json_value *subject = passage_subject(passage, root, &kind);
	if (perch_json_type_of(subject) != PERCH_JSON_STRING)
		return err_set(err, -EINVAL, "%s must be a text", passage->subject);
	_cleanup_free_ char *name = str_dup(json_str(subject));
	if (!name)
		return err_no_memory(err);
	bool is_shown = strlen(name) == json_str(subject).len &&
		exposure_shows_of(&job->service->exposure, kind, job->tool.binding, name);
	return is_shown ? 0 : err_set(err, -ENOENT, "there is no such thing");
}

static enum mcp_level passage_level(const char *name)
{
	for (int level = MCP_LEVEL_DEBUG; name && level < MCP_LEVEL_NONE; level++) {
		if (strcmp(mcp_level_name((enum mcp_level)level), name) == 0)
			return (enum mcp_level)level;
	}
	return MCP_LEVEL_INFO;
}

static int passage_quizzed(void *data, struct server_quiz *quiz, const struct mcp_quizzed *quizzed);
static void passage_withdrawn(void *data, struct server_quiz *quiz);

int job_passage_take(perch_job *job, const perch_job_request *given, perch_err *err)
{
	const struct passage *passage = given->method ? passage_find(given->method) : NULL;
	if (given->method && !passage)
		return err_set(err, -EINVAL, "no server is asked for '%.100s'", given->method);
	job->tool.passage = (struct tool_passage){
		.method = passage ? passage->method : NULL,
		.is_legacy = given->is_legacy,
		.log_level = passage_level(given->log_level),
		.abilities = (given->answers_forms ? MCP_CAN_ELICIT : 0u) |
			(given->answers_sampling ? MCP_CAN_SAMPLE : 0u) |
			(given->answers_roots ? MCP_HAS_ROOTS : 0u),
		.quizzed = passage_quizzed,
		.withdrawn = passage_withdrawn,
	};
	return passage ? passage_check_shown(job, passage, err) : 0;
}

bool job_passage_is_noted(const perch_job *job)
{
	const char *method = job->tool.passage.method;
	return !method || passage_find(method)->is_noted;
}

/* ---- the end of a subscription ------------------------------------------------- */

bool job_passage_is_unwatch(const perch_job *job)
{
	const char *method = job->tool.passage.method;
	return method && strcmp(method, UNSUBSCRIBE) == 0;
}

/* No process is started for that. */
void job_passage_unwatch(perch_job *job)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	const struct tool_call_options options = {
		.binding = &job->tool.bound->binding,
		.session = job->tool.session,
		.passage = job->tool.passage,
	};
	job->tool.result = tool_result_empty();
	job->tool.result.stage = "response";
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, job->request.input, job->request.input_len, &root, NULL) < 0)
		return;
	servers_unwatch(tool_pool_servers(job->service->tools.pool), &options,
		json_str(perch_json_get(root, "uri")));
}

/* ---- what the server asks -------------------------------------------------------- */

/* A form says whose it is: its user must not take it for a question of the client. */
static void passage_mark_form(struct buf *out, const perch_json_value *params, const char *binding)
{
	perch_json_writer writer = json_writer_on(out);
	perch_json_iter iter = perch_json_iterate(params);
	perch_json_begin_object(&writer);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		struct str name = json_str(iter.name);
		perch_json_write_name_n(&writer, name.data, name.len);
		if (!str_is(name, "message") || perch_json_type_of(value) != PERCH_JSON_STRING) {
			perch_json_write_value(&writer, value);
			continue;
		}
		struct buf text = { 0 };
		struct str message = json_str(value);
		buf_printf(&text, "[%s] ", binding);
		buf_append(&text, message.data, message.len);
		perch_json_write_string_n(&writer, text.data ? text.data : "", text.len);
		out->failed |= text.failed;
		buf_free(&text);
	}
	perch_json_end_object(&writer);
}

static perch_text passage_text(struct str text)
{
	return (perch_text){ text.len ? text.data : "", text.len };
}

static int passage_ask(perch_job *job, struct server_quiz *quiz, const struct mcp_quizzed *quizzed,
	perch_ask_kind kind)
{
	_cleanup_(buf_free) struct buf form = { 0 };
	struct str detail = { 0 };
	if (kind == PERCH_ASK_FORM) {
		passage_mark_form(&form, quizzed->params, job->tool.binding);
		detail = (struct str){ form.data, form.len };
	} else if (quizzed->params) {
		detail.data = perch_json_raw(quizzed->params, &detail.len);
	}
	if (form.failed)
		return -ENOMEM;
	const perch_ask ask = {
		.kind = kind,
		.message = passage_text(mcp_text_of(perch_json_get(quizzed->params, "message"))),
		.id = passage_text(quizzed->key),
		.subject = text_from(job->tool.binding),
		.description = { "", 0 },
		.detail = passage_text(detail),
	};
	return job_ask(job, &ask, (uint64_t)(uintptr_t)quiz);
}

/* Who waits for the call answers, if it can. */
static int passage_quizzed(void *data, struct server_quiz *quiz, const struct mcp_quizzed *quizzed)
{
	static const struct {
		perch_ask_kind kind;
		enum mcp_ability ability;
	} kinds[] = {
		[MCP_QUIZ_ELICITATION] = { PERCH_ASK_FORM, MCP_CAN_ELICIT },
		[MCP_QUIZ_SAMPLING] = { PERCH_ASK_SAMPLING, MCP_CAN_SAMPLE },
		[MCP_QUIZ_ROOTS] = { PERCH_ASK_ROOTS, MCP_HAS_ROOTS },
	};
	perch_job *job = data;
	const struct tool_server *server = &job->tool.bound->binding.server;
	if (quizzed->kind == MCP_QUIZ_SAMPLING && server->sampling == TOOL_ANSWER_AGENT) {
		job_sampling_ask(job, quiz, quizzed, server->sampler);
		return 0;
	}
	if (!(job->tool.passage.abilities & kinds[quizzed->kind].ability))
		return -ENOTSUP;
	return passage_ask(job, quiz, quizzed, kinds[quizzed->kind].kind);
}

static void passage_withdrawn(void *data, struct server_quiz *quiz)
{
	perch_job *job = data;
	struct job_ask *open = list_first(&job->asks);
	if (job_sampling_withdraw(job, quiz))
		return;
	while (open && open->inner != (uint64_t)(uintptr_t)quiz)
		open = list_next(open);
	if (open)
		job_ask_withdraw(job, open);
}

int job_passage_answer(
	perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err)
{
	struct server_quiz *quiz = (struct server_quiz *)(uintptr_t)ask->inner;
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	if (answer->cancel || !answer->content) {
		job_ask_close(job, ask);
		server_quiz_refuse(
			quiz, answer->message ? str_from(answer->message) : STR("nobody answered"));
		return 0;
	}
	struct str content = str_from(answer->content);
	int r = perch_json_new(NULL, &json);
	if (r == 0)
		r = perch_json_parse(json, content.data, content.len, &root, NULL);
	if (r == -ENOMEM)
		return err_no_memory(err);
	if (r < 0 || perch_json_type_of(root) != PERCH_JSON_OBJECT)
		return err_set(err, -EINVAL, "the answer must be a JSON object");
	job_ask_close(job, ask);
	server_quiz_answer(quiz, content);
	return 0;
}
