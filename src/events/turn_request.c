/* What `perch agent serve` is asked. */
#include "events/turn_request.h"

#include <errno.h>

#include "agent/agent_launch.h"
#include "agent/sessions.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "data/json_member.h"

/* A string that becomes a name or an argument: no NUL, and not endless. Leaves
 * *text alone when there is none. */
static int turn_request_read_text(const perch_json_value *object, const char *name, size_t most,
	struct arena *arena, const char **text, perch_err *err)
{
	const perch_json_value *value;
	int r = json_member_of(object, name, PERCH_JSON_STRING, &value, err);
	if (r <= 0)
		return r;
	struct str content = json_str(value);
	if (content.len > most)
		return err_set(err, -EINVAL, "\"%s\" is too long (at most %zu bytes)", name, most);
	if (content.len && memchr(content.data, '\0', content.len))
		return err_set(err, -EINVAL, "\"%s\" has a NUL character in it", name);
	*text = arena_dup(arena, content);
	return *text ? 0 : err_no_memory(err);
}

/* As much of an id as can be told. */
static const char *turn_request_cut_id(struct str id, struct arena *arena)
{
	char text[REQUEST_ID_MAX];
	size_t len = 0;
	for (size_t i = 0; i < id.len; i++) {
		struct str piece = id.data[i] ? (struct str){ id.data + i, 1 } : STR("\xEF\xBF\xBD");
		if (piece.len > sizeof(text) - len)
			break;
		memcpy(text + len, piece.data, piece.len);
		len += piece.len;
	}
	return arena_dup(arena, (struct str){ text, utf8_whole_prefix(text, len) });
}

static int turn_request_read_id(
	const perch_json_value *root, struct arena *arena, const char **ret_id, perch_err *err)
{
	const char *id = NULL;
	int r = turn_request_read_text(root, "id", REQUEST_ID_MAX, arena, &id, err);
	const perch_json_value *given = perch_json_get(root, "id");
	if (r < 0 && perch_json_type_of(given) == PERCH_JSON_STRING)
		*ret_id = turn_request_cut_id(json_str(given), arena);
	if (r < 0)
		return r;
	if (!id || !id[0])
		return err_set(err, -EINVAL, "a turn needs an \"id\"");
	*ret_id = id;
	return 0;
}

static int turn_request_read_message(
	const perch_json_value *root, perch_job_request *turn, perch_err *err)
{
	const perch_json_value *value = NULL;
	int r = perch_json_demand(root, "message", PERCH_JSON_STRING, &value, err);
	if (r < 0)
		return err_set(err, -EINVAL, "%s", err ? err->text : "");
	const struct str message = json_str(value);
	turn->message = message.len ? message.data : "";
	turn->message_len = message.len;
	return 0;
}

/* A member that has two names: that of dialect 0.4, and the one of 0.1. */
static int turn_request_read_either(const perch_json_value *object, const char *name,
	const char *other, size_t most, struct arena *arena, const char **text, perch_err *err)
{
	bool has_name = perch_json_get(object, name);
	return turn_request_read_text(object, has_name ? name : other, most, arena, text, err);
}

static int turn_request_read_attachment(const perch_json_value *value, struct arena *arena,
	perch_attachment *ret_attachment, perch_err *err)
{
	perch_attachment attachment = { .name = "" };
	const char *kind = NULL;
	int r = turn_request_read_either(value, "kind", "type", REQUEST_ID_MAX, arena, &kind, err);
	if (r == 0)
		r = turn_request_read_text(value, "url", PERCH_JSON_TEXT_MAX, arena, &attachment.url, err);
	if (r == 0)
		r = turn_request_read_either(
			value, "filename", "name", SESSION_KEY_MAX, arena, &attachment.name, err);
	if (r < 0)
		return r;
	if (!attachment_kind_find(str_from(kind), &attachment.kind))
		return err_set(err, -EINVAL, "an attachment's \"kind\" is image, file, audio or video");
	if (!attachment.url || !attachment.url[0])
		return err_set(err, -EINVAL, "an attachment needs a \"url\"");
	*ret_attachment = attachment;
	return 0;
}

static int turn_request_read_attachments(
	const perch_json_value *root, struct arena *arena, perch_job_request *turn, perch_err *err)
{
	const perch_json_value *list = json_member(root, "attachments");
	size_t count = perch_json_count(list);
	if (!list)
		return 0;
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY || count > REQUEST_ATTACHMENTS_MAX)
		return err_set(
			err, -EINVAL, "\"attachments\" must be a list of at most %d", REQUEST_ATTACHMENTS_MAX);
	perch_attachment *attachments = arena_alloc(arena, count * sizeof(*attachments));
	if (!attachments)
		return err_no_memory(err);
	perch_json_iter iter = perch_json_iterate(list);
	const perch_json_value *value;
	for (size_t i = 0; (value = perch_json_next(&iter)); i++) {
		int r = turn_request_read_attachment(value, arena, &attachments[i], err);
		if (r < 0)
			return r;
	}
	turn->attachments = attachments;
	turn->attachment_count = count;
	return 0;
}

static int turn_request_read_flag(
	const perch_json_value *root, const char *name, bool *flag, perch_err *err)
{
	const perch_json_value *value = perch_json_get(root, name);
	if (value && perch_json_bool(value, flag) < 0)
		return err_set(err, -EINVAL, "\"%s\" must be true or false", name);
	return 0;
}

static int turn_request_read_timeout(
	const perch_json_value *root, perch_agent_turn_options *options, perch_err *err)
{
	const perch_json_value *value = json_member(root, "timeout");
	double seconds = 0;
	if (!value)
		return 0;
	if (perch_json_double(value, &seconds) < 0 || !(seconds >= 0))
		return err_set(err, -EINVAL, "\"timeout\" must be a number of seconds, 0 = none");
	options->has_timeout = true;
	options->timeout_ns = clock_from_seconds(seconds);
	return 0;
}

/* NAME=VALUE, of a member of "env". */
static const char *turn_request_variable(
	struct str name, const perch_json_value *value, struct arena *arena, perch_err *err)
{
	bool is_name =
		name.len && !memchr(name.data, '=', name.len) && !memchr(name.data, '\0', name.len);
	struct str text = { 0 };
	if (perch_json_type_of(value) == PERCH_JSON_STRING)
		text = json_str(value);
	bool is_text = perch_json_type_of(value) == PERCH_JSON_STRING &&
		!(text.len && memchr(text.data, '\0', text.len));
	const char *left = is_name ? arena_dup(arena, name) : NULL;
	const char *right = is_text ? arena_dup(arena, text) : NULL;
	if (!is_name || !is_text)
		err_set(err, -EINVAL, "\"env\" must have strings by the names of variables");
	const char *joined = left && right ? arena_join(arena, left, "=", right, NULL) : NULL;
	if (is_name && is_text && !joined)
		err_no_memory(err);
	return joined;
}

static int turn_request_read_env(
	const perch_json_value *root, struct arena *arena, perch_job_request *turn, perch_err *err)
{
	const perch_json_value *map = json_member(root, "env");
	size_t count = perch_json_count(map);
	if (!map)
		return 0;
	if (perch_json_type_of(map) != PERCH_JSON_OBJECT || count > REQUEST_ENV_MAX)
		return err_set(
			err, -EINVAL, "\"env\" must be an object of at most %d variables", REQUEST_ENV_MAX);
	const char **list = arena_alloc(arena, (count + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	perch_json_iter iter = perch_json_iterate(map);
	const perch_json_value *value;
	size_t at = 0;
	while ((value = perch_json_next(&iter))) {
		list[at] = turn_request_variable(json_str(iter.name), value, arena, err);
		if (!list[at++])
			return err ? err->code : -EINVAL;
	}
	list[at] = NULL;
	turn->env = list;
	return 0;
}

/* known: ends with NULL. `of` stands before the names that are not among them. */
static void turn_request_find_unknown_in(const perch_json_value *object, const char *of,
	const char *const *known, struct arena *arena, struct turn_request *request)
{
	perch_json_iter iter = perch_json_iterate(object);
	while (perch_json_next(&iter) && request->unknown_count < REQUEST_UNKNOWN_MAX) {
		bool is_known = false;
		for (size_t i = 0; known[i]; i++)
			is_known = is_known || perch_json_is(iter.name, known[i]);
		const char *own = is_known ? NULL : arena_dup(arena, json_str(iter.name));
		const char *name = own ? arena_join(arena, of, own, NULL) : NULL;
		if (name)
			request->unknown[request->unknown_count++] = name;
	}
}

static void turn_request_find_unknown(
	const perch_json_value *root, struct arena *arena, struct turn_request *request)
{
	static const char *const of_turn[] = { "id", "profile", "message", "session_name", "from",
		"new", "attachments", "session_id", "timeout", "env", "cwd", "streaming", NULL };
	static const char *const of_attachment[] = { "kind", "type", "url", "filename", "name", NULL };
	const perch_json_value *list = perch_json_get(root, "attachments"), *value;
	turn_request_find_unknown_in(root, "", of_turn, arena, request);
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return;
	perch_json_iter iter = perch_json_iterate(list);
	while ((value = perch_json_next(&iter))) {
		if (perch_json_type_of(value) == PERCH_JSON_OBJECT)
			turn_request_find_unknown_in(value, "attachments.", of_attachment, arena, request);
	}
}

/* What stands in for what the profile says, or for what is stored. */
static int turn_request_read_changes(
	const perch_json_value *root, struct arena *arena, struct turn_request *request, perch_err *err)
{
	perch_job_request *turn = &request->turn;
	bool is_streaming = true;
	int r = turn_request_read_text(
		root, "session_id", SESSION_KEY_MAX, arena, &request->options.session_id, err);
	if (r == 0)
		r = turn_request_read_timeout(root, &request->options, err);
	if (r == 0)
		r = turn_request_read_env(root, arena, turn, err);
	if (r == 0)
		r = turn_request_read_text(root, "cwd", SESSION_KEY_MAX, arena, &turn->cwd, err);
	if (r == 0)
		r = turn_request_read_flag(root, "streaming", &is_streaming, err);
	turn->no_stream = !is_streaming;
	return r;
}

static int turn_request_read_turn(const perch_json_value *root, const char *profile,
	struct arena *arena, perch_job_request *turn, perch_err *err)
{
	turn->size = sizeof(*turn);
	turn->kind = PERCH_ENTRY_AGENT;
	turn->profile = profile;
	int r = turn_request_read_text(root, "profile", SESSION_KEY_MAX, arena, &turn->profile, err);
	if (r == 0)
		r = turn_request_read_message(root, turn, err);
	if (r == 0)
		r = turn_request_read_text(
			root, "session_name", SESSION_KEY_MAX, arena, &turn->session, err);
	if (r == 0)
		r = turn_request_read_text(root, "from", SESSION_KEY_MAX, arena, &turn->from, err);
	if (r == 0)
		r = turn_request_read_flag(root, "new", &turn->is_new, err);
	if (r == 0)
		r = turn_request_read_attachments(root, arena, turn, err);
	if (r == 0 && !turn->profile)
		r = err_set(err, -EINVAL, "a turn needs a \"profile\": none was given by --profile");
	return r;
}

/* With anything beside it, a turn may have been meant: that one is to be answered. */
static int turn_request_read_cancel(
	const perch_json_value *root, struct arena *arena, struct turn_request *request, perch_err *err)
{
	if (perch_json_count(root) > 1) {
		turn_request_read_id(root, arena, &request->id, NULL);
		return err_set(err, -EINVAL, "\"cancel\" stands alone in its line");
	}
	int r = turn_request_read_text(root, "cancel", REQUEST_ID_MAX, arena, &request->cancel, err);
	if (r == 0 && !request->cancel)
		r = err_set(err, -EINVAL, "\"cancel\" must be the id of a turn");
	return r;
}

static int turn_request_read_permit(
	const perch_json_value *root, struct arena *arena, struct turn_permit *permit, perch_err *err)
{
	permit->message = "";
	int r = turn_request_read_text(root, "permit", REQUEST_ID_MAX, arena, &permit->turn, err);
	if (r == 0)
		r = turn_request_read_text(
			root, "request_id", PERCH_JSON_TEXT_MAX, arena, &permit->request_id, err);
	if (r == 0)
		r = turn_request_read_flag(root, "allow", &permit->is_allowed, err);
	if (r == 0)
		r = turn_request_read_text(
			root, "message", PERCH_JSON_TEXT_MAX, arena, &permit->message, err);
	if (r == 0)
		r = turn_request_read_text(root, "option", REQUEST_ID_MAX, arena, &permit->option, err);
	bool is_decided = permit->option || perch_json_get(root, "allow");
	if (r == 0 && (!permit->turn || !permit->request_id || !is_decided))
		r = err_set(err, -EINVAL,
			"\"permit\" is the id of a turn; beside it stand \"request_id\" and \"allow\" or "
			"\"option\"");
	return r;
}

int turn_request_read(const perch_json_value *root, const char *profile, struct arena *arena,
	struct turn_request *ret_request, perch_err *err)
{
	*ret_request = (struct turn_request){ 0 };
	if (perch_json_type_of(root) != PERCH_JSON_OBJECT)
		return err_set(err, -EINVAL, "a turn is an object: {\"id\":…,\"message\":…}");
	if (perch_json_get(root, "answer"))
		return turn_answer_read(root, arena, &ret_request->answer, err);
	if (perch_json_get(root, "cancel"))
		return turn_request_read_cancel(root, arena, ret_request, err);
	if (perch_json_get(root, "permit"))
		return turn_request_read_permit(root, arena, &ret_request->permit, err);
	int r = turn_request_read_id(root, arena, &ret_request->id, err);
	if (r < 0)
		return r;
	ret_request->options.size = sizeof(ret_request->options);
	turn_request_find_unknown(root, arena, ret_request);
	r = turn_request_read_turn(root, profile, arena, &ret_request->turn, err);
	return r < 0 ? r : turn_request_read_changes(root, arena, ret_request, err);
}
