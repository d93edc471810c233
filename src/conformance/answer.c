/* A host of fledge-v1, and a client of ACP, that answers by itself, so that any plugin and any
 * agent can be run whatever it asks for. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/exit_status.h"
#include "conformance/case_player.h"
#include "data/json.h"

typedef void value_fn(perch_json_writer *writer, const perch_json_value *request, bool denies);

static void answer_put_text(perch_json_writer *writer, const perch_json_value *request, bool denies)
{
	(void)denies;
	const perch_json_value *given = perch_json_get(request, "default");
	if (perch_json_type_of(given) == PERCH_JSON_STRING)
		perch_json_write_value(writer, given);
	else
		perch_json_write_string(writer, "https://example.org/1");
}

static void answer_put_yes(perch_json_writer *writer, const perch_json_value *request, bool denies)
{
	(void)request;
	perch_json_write_bool(writer, !denies);
}

static void answer_put_first_option(
	perch_json_writer *writer, const perch_json_value *request, bool denies)
{
	(void)denies;
	perch_json_iter iter = perch_json_iterate(perch_json_get(request, "options"));
	const perch_json_value *first = perch_json_next(&iter);
	if (first)
		perch_json_write_value(writer, first);
	else
		perch_json_write_null(writer);
}

static void answer_put_empty_list(
	perch_json_writer *writer, const perch_json_value *request, bool denies)
{
	(void)request;
	(void)denies;
	perch_json_begin_array(writer);
	perch_json_end_array(writer);
}

static void answer_put_empty_object(
	perch_json_writer *writer, const perch_json_value *request, bool denies)
{
	(void)request;
	(void)denies;
	perch_json_begin_object(writer);
	perch_json_end_object(writer);
}

static void answer_put_null(perch_json_writer *writer, const perch_json_value *request, bool denies)
{
	(void)request;
	(void)denies;
	perch_json_write_null(writer);
}

static void answer_put_exit(perch_json_writer *writer, const perch_json_value *request, bool denies)
{
	(void)request;
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "code");
	perch_json_write_int64(writer, denies ? EXIT_NOT_EXECUTABLE : 0);
	perch_json_write_name(writer, "stderr");
	perch_json_write_string(writer, denies ? "exec capability not granted" : "");
	perch_json_write_name(writer, "stdout");
	perch_json_write_string(writer, "");
	perch_json_end_object(writer);
}

static const struct {
	const char *type;
	value_fn *put;
} answers[] = {
	{ "prompt", answer_put_text }, { "confirm", answer_put_yes },
	{ "select", answer_put_first_option }, { "multi_select", answer_put_empty_list },
	{ "load", answer_put_null }, { "exec", answer_put_exit },
	{ "metadata", answer_put_empty_object },
	{ NULL, answer_put_null }, /* any other message with an id is answered too, once */
};

static void write_answer(enum manner manner, const perch_json_value *request,
	const perch_json_value *id, struct buf *out)
{
	perch_json_writer writer = json_writer_on(out);
	size_t i = 0;
	while (answers[i].type && !perch_json_is(perch_json_get(request, "type"), answers[i].type))
		i++;
	if (manner == MANNER_EXTRA)
		buf_append_text(out, "{\"type\":\"of-a-later-version\",\"id\":null,\"x\":[1]}\n");
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "type");
	perch_json_write_string(&writer, manner == MANNER_CANCEL ? "cancel" : "response");
	perch_json_write_name(&writer, "id");
	perch_json_write_value(&writer, id);
	perch_json_write_name(&writer, manner == MANNER_CANCEL ? "reason" : "value");
	if (manner == MANNER_CANCEL)
		perch_json_write_string(&writer, "user_interrupt");
	else
		answers[i].put(&writer, request, manner == MANNER_DENY);
	if (manner == MANNER_EXTRA) {
		perch_json_write_name(&writer, "of_a_later_version");
		perch_json_write_int64(&writer, 1);
	}
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
}

int answer_request(enum manner manner, struct str line, struct buf *out)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *request = NULL;
	const perch_json_options options = { .replace_invalid_utf8 = true };
	if (perch_json_new(&options, &json) < 0)
		return -ENOMEM;
	int r = perch_json_parse(json, line.data, line.len, &request, NULL);
	if (r == -ENOMEM)
		return r;
	const perch_json_value *id = r == 0 ? perch_json_get(request, "id") : NULL;
	if (perch_json_type_of(id) != PERCH_JSON_STRING && perch_json_type_of(id) != PERCH_JSON_NUMBER)
		return 0;
	if (manner != MANNER_SILENT)
		write_answer(manner, request, id, out);
	return out->failed ? -ENOMEM : 1;
}

/* ---- ACP ------------------------------------------------------------------------- */

static void answer_put_permission(perch_json_writer *writer, const perch_json_value *request)
{
	const perch_json_value *options = perch_json_get(perch_json_get(request, "params"), "options");
	perch_json_iter iter = perch_json_iterate(options);
	const perch_json_value *first = perch_json_get(perch_json_next(&iter), "optionId");
	perch_json_write_name(writer, "result");
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "outcome");
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "outcome");
	perch_json_write_string(writer, first ? "selected" : "cancelled");
	if (first) {
		perch_json_write_name(writer, "optionId");
		perch_json_write_value(writer, first);
	}
	perch_json_end_object(writer);
	perch_json_end_object(writer);
}

static void answer_put_refusal(perch_json_writer *writer)
{
	static const char refusal[] = "{\"code\":-32601,\"message\":\"it was not offered\"}";
	perch_json_write_name(writer, "error");
	perch_json_write_raw(writer, refusal, strlen(refusal));
}

int answer_acp_request(struct str line, struct buf *out)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *request = NULL;
	if (perch_json_new(NULL, &json) < 0)
		return -ENOMEM;
	int r = perch_json_parse(json, line.data, line.len, &request, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	const perch_json_value *id = perch_json_get(request, "id");
	const perch_json_value *method = perch_json_get(request, "method");
	if (!id || perch_json_type_of(method) != PERCH_JSON_STRING)
		return 0;
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "jsonrpc");
	perch_json_write_string(&writer, "2.0");
	perch_json_write_name(&writer, "id");
	perch_json_write_value(&writer, id);
	if (perch_json_is(method, "session/request_permission"))
		answer_put_permission(&writer, request);
	else
		answer_put_refusal(&writer);
	perch_json_end_object(&writer);
	buf_append_char(out, '\n');
	return out->failed ? -ENOMEM : 1;
}
