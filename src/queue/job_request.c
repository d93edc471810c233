/* What is written of a job, as the service takes it. */
#include "queue/job_request.h"

#include "base/clock.h"
#include "data/json.h"
#include "data/json_member.h"

static const char *job_request_text(
	struct arena *arena, const perch_json_value *value, size_t *ret_len)
{
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return NULL;
	struct str text = json_str(value);
	if (ret_len)
		*ret_len = text.len;
	return arena_dup(arena, text);
}

/* The texts of a list, which ends with NULL. */
static const char *const *job_request_list(struct arena *arena, const perch_json_value *list)
{
	const char **items = arena_alloc(arena, (perch_json_count(list) + 1) * sizeof(*items));
	size_t count = 0;
	if (!items)
		return NULL;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));)
		items[count++] = job_request_text(arena, item, NULL);
	items[count] = NULL;
	return items;
}

static int job_request_fill_turn(const struct queue_job *job, const perch_json_value *root,
	struct uploads *uploads, perch_job_request *request, perch_err *err)
{
	request->message =
		job_request_text(uploads->arena, perch_json_get(root, "message"), &request->message_len);
	request->session = job->session.data;
	request->from = job->owner.data;
	request->is_new = json_flag(root, "new");
	return uploads_write(uploads, perch_json_get(root, "attachments"), request, err);
}

static void job_request_fill_call(
	const perch_json_value *root, struct arena *arena, perch_job_request *request)
{
	size_t len = 0;
	const char *input = perch_json_raw(perch_json_get(root, "input"), &len);
	request->input = input ? arena_dup(arena, (struct str){ input, len }) : NULL;
	request->input_len = len;
}

int job_request_fill(const struct queue_job *job, perch_entry_kind kind, struct uploads *uploads,
	perch_job_request *request, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	double timeout = 0;
	int r = perch_json_new(NULL, &json);
	if (r == 0)
		r = perch_json_parse(json, job->request.data, job->request.len, &root, err);
	if (r < 0)
		return r;
	perch_json_double(perch_json_get(root, "timeout"), &timeout);
	request->kind = kind;
	request->name = job->name.data;
	request->caller = (perch_caller){ job->owner.data, job->client.data ? job->client.data : "" };
	request->timeout_ns = clock_from_seconds(timeout);
	if (kind == PERCH_ENTRY_AGENT)
		return job_request_fill_turn(job, root, uploads, request, err);
	if (kind == PERCH_ENTRY_TOOL) {
		job_request_fill_call(root, uploads->arena, request);
	} else {
		request->args = job_request_list(uploads->arena, perch_json_get(root, "args"));
		request->answers = job_request_list(uploads->arena, perch_json_get(root, "answers"));
	}
	return 0;
}
