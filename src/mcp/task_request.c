/* The arguments of a call, as what a job of the service takes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/utf8.h"
#include "data/json.h"
#include "mcp/front_parts.h"
#include "perch/sessions.h"
#include "wire/mcp_params.h"

enum { MCP_ARGUMENTS_MAX = 1000 }; /* of a command, with its answers */

/* Where the words of a command line are gathered. */
struct mcp_words {
	struct arena *arena;
	const char **items; /* room for MCP_ARGUMENTS_MAX and a NULL */
	size_t count;
};

static int mcp_words_open(struct mcp_words *words, struct arena *arena, perch_err *err)
{
	const size_t size = (MCP_ARGUMENTS_MAX + 1) * sizeof(*words->items);
	*words = (struct mcp_words){ .arena = arena, .items = arena_alloc(arena, size) };
	if (!words->items)
		return err_no_memory(err);
	words->items[0] = NULL;
	return 0;
}

static int mcp_words_add(struct mcp_words *words, struct str word, perch_err *err)
{
	if (memchr(word.data, '\0', word.len))
		return err_set(err, -EINVAL, "an argument has a NUL in it");
	if (words->count >= MCP_ARGUMENTS_MAX)
		return err_set(err, -EINVAL, "there are more than %d arguments", (int)MCP_ARGUMENTS_MAX);
	const char *copy = arena_dup(words->arena, word);
	if (!copy)
		return err_no_memory(err);
	words->items[words->count++] = copy;
	words->items[words->count] = NULL;
	return 0;
}

/* A text as it reads, anything else as it is written. */
static struct str mcp_request_text(const perch_json_value *value)
{
	struct str text = { 0 };
	if (perch_json_type_of(value) == PERCH_JSON_STRING)
		return json_str(value);
	text.data = perch_json_raw(value, &text.len);
	return text;
}

/* ---- commands -------------------------------------------------------------- */

/* What is chosen of several is written with commas between. */
static int mcp_request_answer_text(const perch_json_value *value, struct buf *text, perch_err *err)
{
	if (perch_json_type_of(value) != PERCH_JSON_ARRAY) {
		struct str one = mcp_request_text(value);
		return buf_append(text, one.data, one.len) < 0 ? err_no_memory(err) : 0;
	}
	perch_json_iter iter = perch_json_iterate(value);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		struct str one = mcp_request_text(item);
		if (text->data[text->len - 1] != '=')
			buf_append_char(text, ',');
		buf_append(text, one.data, one.len);
	}
	return text->failed ? err_no_memory(err) : 0;
}

static int mcp_request_answers(
	struct mcp_words *words, const perch_json_value *answers, perch_err *err)
{
	if (answers && perch_json_type_of(answers) != PERCH_JSON_OBJECT)
		return err_set(err, -EINVAL, "$.answers must be an object");
	perch_json_iter iter = perch_json_iterate(answers);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		_cleanup_(buf_free) struct buf text = { 0 };
		struct str message = json_str(iter.name);
		buf_append(&text, message.data, message.len);
		buf_append_char(&text, '=');
		int r = text.failed ? err_no_memory(err) : mcp_request_answer_text(value, &text, err);
		if (r == 0)
			r = mcp_words_add(words, (struct str){ text.data, text.len }, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Without a list in the manifest: words, as on a command line. */
static int mcp_request_plain(
	struct mcp_words *words, const perch_json_value *arguments, perch_err *err)
{
	const perch_json_value *list = perch_json_get(arguments, "args");
	if (list && perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return err_set(err, -EINVAL, "$.args must be a list of texts");
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		if (perch_json_type_of(value) != PERCH_JSON_STRING)
			return err_set(err, -EINVAL, "$.args must be a list of texts");
		int r = mcp_words_add(words, json_str(value), err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* One argument of the manifest; *missing is the first that was left out. */
static int mcp_request_named(struct mcp_words *words, const perch_json_value *argument,
	const perch_json_value *value, const perch_json_value **missing, perch_err *err)
{
	struct str name = mcp_request_text(perch_json_get(argument, "name"));
	bool flag;
	if (!value || perch_json_type_of(value) == PERCH_JSON_NULL) {
		if (json_flag(argument, "required"))
			return err_set(err, -EINVAL, "$.%.*s is required", (int)name.len, name.data);
		*missing = *missing ? *missing : perch_json_get(argument, "name");
		return 0;
	}
	if (perch_json_bool(value, &flag) == 0) {
		const char *own = arena_dup(words->arena, name);
		const char *word = own ? arena_join(words->arena, "--", own, NULL) : NULL;
		if (!word)
			return err_no_memory(err);
		return flag ? mcp_words_add(words, str_from(word), err) : 0;
	}
	if (perch_json_type_of(value) >= PERCH_JSON_ARRAY)
		return err_set(err, -EINVAL, "$.%.*s must be a text", (int)name.len, name.data);
	if (*missing)
		return err_set(err, -EINVAL, "$.%.*s is needed where $.%.*s is given",
			(int)json_str(*missing).len, json_str(*missing).data, (int)name.len, name.data);
	return mcp_words_add(words, mcp_request_text(value), err);
}

static bool mcp_request_has(const perch_json_value *list, struct str name)
{
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *argument; (argument = perch_json_next(&iter));) {
		const perch_json_value *own = perch_json_get(argument, "name");
		if (perch_json_type_of(own) == PERCH_JSON_STRING && str_eq(json_str(own), name))
			return true;
	}
	return false;
}

/* An unknown argument was meant for something: it is refused. */
static int mcp_request_check_names(
	const perch_json_value *arguments, const perch_json_value *list, perch_err *err)
{
	perch_json_iter iter = perch_json_iterate(arguments);
	while (perch_json_next(&iter)) {
		struct str name = json_str(iter.name);
		bool is_known =
			str_is(name, "answers") || (list ? mcp_request_has(list, name) : str_is(name, "args"));
		if (!is_known)
			return err_set(err, -EINVAL, "$.%.*s: there is no such argument",
				(int)(name.len < 100 ? name.len : 100), name.data);
	}
	return 0;
}

static int mcp_request_listed(struct mcp_words *words, const perch_json_value *arguments,
	const perch_json_value *list, perch_err *err)
{
	const perch_json_value *missing = NULL;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *argument; (argument = perch_json_next(&iter));) {
		const perch_json_value *name = perch_json_get(argument, "name");
		if (perch_json_type_of(name) != PERCH_JSON_STRING)
			continue;
		struct str text = json_str(name);
		int r = mcp_request_named(
			words, argument, perch_json_get_n(arguments, text.data, text.len), &missing, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int mcp_request_command(const struct mcp_wish *wish, const perch_entry *entry,
	struct arena *arena, perch_job_request *request, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *list = NULL;
	struct mcp_words args = { 0 }, answers = { 0 };
	struct str text = str_from(entry->arguments);
	if (perch_json_new(NULL, &json) < 0)
		return err_no_memory(err);
	if (text.len && perch_json_parse(json, text.data, text.len, &list, NULL) < 0)
		list = NULL;
	int r = mcp_words_open(&args, arena, err);
	if (r == 0)
		r = mcp_words_open(&answers, arena, err);
	if (r == 0)
		r = mcp_request_check_names(wish->arguments, list, err);
	if (r == 0)
		r = list ? mcp_request_listed(&args, wish->arguments, list, err)
				 : mcp_request_plain(&args, wish->arguments, err);
	if (r == 0 && !mcp_request_has(list, STR("answers")))
		r = mcp_request_answers(&answers, perch_json_get(wish->arguments, "answers"), err);
	request->args = args.items;
	request->answers = answers.items;
	return r;
}

/* ---- agents ---------------------------------------------------------------- */

#define MCP_SESSION_NAME "mcp-"

/* A session that we have named for this caller: it is in the store. Where that cannot be read, the
 * turn itself will say so. */
static bool mcp_request_knows(const char *name, const char *caller)
{
	perch_sessions *sessions = NULL;
	const perch_session *list = NULL;
	size_t count = 0;
	bool is_known = false;
	if (perch_sessions_open(&sessions, NULL) < 0)
		return true;
	if (perch_sessions_list(sessions, NULL, &list, &count, NULL) < 0)
		is_known = true;
	for (size_t i = 0; i < count && !is_known; i++)
		is_known = strcmp(list[i].name, name) == 0 && strcmp(list[i].from, caller) == 0;
	perch_sessions_free(sessions);
	return is_known;
}

static int mcp_request_session(struct mcp_task *task, const perch_json_value *session,
	struct arena *arena, perch_job_request *request, perch_err *err)
{
	struct mcp_front *front = task->front;
	bool is_given = session && perch_json_type_of(session) != PERCH_JSON_NULL;
	if (is_given && perch_json_type_of(session) != PERCH_JSON_STRING)
		return err_set(err, -EINVAL, "$.session must be a text");
	struct str given = is_given ? json_str(session) : (struct str){ 0 };
	if (!is_given)
		mcp_tag("session", ++front->sessions, front->key, task->session);
	else if (given.len == MCP_SESSION_SIZE - 1 && !memchr(given.data, '\0', given.len))
		memcpy(task->session, given.data, given.len);
	request->session = arena_join(arena, MCP_SESSION_NAME, task->session, NULL);
	request->is_new = !is_given;
	if (!request->session)
		return err_no_memory(err);
	if (is_given && (!task->session[0] || !mcp_request_knows(request->session, task->caller)))
		return err_set(err, -ENOENT, "there is no such session of yours");
	return 0;
}

static int mcp_request_agent(struct mcp_task *task, const struct mcp_wish *wish,
	struct arena *arena, perch_job_request *request, perch_err *err)
{
	const perch_json_value *message = perch_json_get(wish->arguments, "message");
	if (perch_json_type_of(message) != PERCH_JSON_STRING)
		return err_set(err, -EINVAL, "$.message must be a text");
	struct str text = json_str(message);
	request->message = arena_dup(arena, text);
	request->message_len = text.len;
	if (!request->message)
		return err_no_memory(err);
	return mcp_request_session(
		task, perch_json_get(wish->arguments, "session"), arena, request, err);
}

/* ---------------------------------------------------------------------------- */

int mcp_task_request(struct mcp_task *task, const struct mcp_wish *wish, const perch_entry *entry,
	struct arena *arena, perch_job_request *request, perch_err *err)
{
	if (entry->kind == PERCH_ENTRY_COMMAND)
		return mcp_request_command(wish, entry, arena, request, err);
	if (entry->kind == PERCH_ENTRY_AGENT)
		return mcp_request_agent(task, wish, arena, request, err);
	if (wish->arguments)
		request->input = perch_json_raw(wish->arguments, &request->input_len);
	return 0;
}

/* ---- headers --------------------------------------------------------------- */

bool mcp_task_fits_headers(const struct mcp_wish *wish, const perch_entry *entry)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *schema = NULL;
	struct str name = { 0 };
	char text[160];
	const char *stored = entry->kind == PERCH_ENTRY_TOOL ? entry->input_schema : NULL;
	if (!wish->headers || !stored || !strstr(stored, MCP_PARAM_MARK))
		return true;
	if (perch_json_new(NULL, &json) < 0 ||
		perch_json_parse(json, stored, strlen(stored), &schema, NULL) < 0) {
		mcp_job_error(wish->job, JSONRPC_INTERNAL_ERROR, STR("out of memory"), (struct str){ 0 });
		return false;
	}
	if (mcp_params_fit(schema, wish->arguments, wish->headers, &name))
		return true;
	snprintf(text, sizeof(text), "the header Mcp-Param-%.*s does not say what the argument does",
		utf8_quoted(name), name.data);
	mcp_job_error(wish->job, MCP_HEADER_MISMATCH, str_from(text), (struct str){ 0 });
	return false;
}
