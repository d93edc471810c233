/* What `perch agent serve` is asked. */
#include "events/turn_request.h"

#include <errno.h>

#include "agent/agent_launch.h"
#include "agent/sessions.h"
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

static int turn_request_read_attachment(const perch_json_value *value, struct arena *arena,
	perch_attachment *ret_attachment, perch_err *err)
{
	perch_attachment attachment = { .name = "" };
	const char *kind = NULL;
	int r = turn_request_read_text(value, "type", REQUEST_ID_MAX, arena, &kind, err);
	if (r == 0)
		r = turn_request_read_text(value, "url", PERCH_JSON_TEXT_MAX, arena, &attachment.url, err);
	if (r == 0)
		r = turn_request_read_text(value, "name", SESSION_KEY_MAX, arena, &attachment.name, err);
	if (r < 0)
		return r;
	if (!attachment_kind_find(str_from(kind), &attachment.kind))
		return err_set(err, -EINVAL, "an attachment's \"type\" is image, file, audio or video");
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

static int turn_request_read_new(const perch_json_value *root, bool *ret_is_new, perch_err *err)
{
	const perch_json_value *value = perch_json_get(root, "new");
	if (value && perch_json_bool(value, ret_is_new) < 0)
		return err_set(err, -EINVAL, "\"new\" must be true or false");
	return 0;
}

static const char *turn_request_find_unknown(const perch_json_value *root, struct arena *arena)
{
	static const char *const known[] = { "id", "profile", "message", "session_name", "from", "new",
		"attachments" };
	perch_json_iter iter = perch_json_iterate(root);
	while (perch_json_next(&iter)) {
		bool is_known = false;
		for (size_t i = 0; i < COUNT(known); i++)
			is_known = is_known || perch_json_is(iter.name, known[i]);
		if (!is_known)
			return arena_dup(arena, json_str(iter.name));
	}
	return NULL;
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
		r = turn_request_read_new(root, &turn->is_new, err);
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

int turn_request_read(const perch_json_value *root, const char *profile, struct arena *arena,
	struct turn_request *ret_request, perch_err *err)
{
	*ret_request = (struct turn_request){ 0 };
	if (perch_json_type_of(root) != PERCH_JSON_OBJECT)
		return err_set(err, -EINVAL, "a turn is an object: {\"id\":…,\"message\":…}");
	if (perch_json_get(root, "cancel"))
		return turn_request_read_cancel(root, arena, ret_request, err);
	int r = turn_request_read_id(root, arena, &ret_request->id, err);
	if (r < 0)
		return r;
	ret_request->unknown = turn_request_find_unknown(root, arena);
	return turn_request_read_turn(root, profile, arena, &ret_request->turn, err);
}
