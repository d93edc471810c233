/* Any bytes as a line to `perch agent serve`: no crash; what is accepted keeps its promises. */
#include "fuzz.h"

#include <string.h>

#include "agent/sessions.h"
#include "events/turn_request.h"

static void check_turn(const struct turn_request *request)
{
	const perch_job_request *turn = &request->turn;
	check(request->id && request->id[0] && strlen(request->id) <= REQUEST_ID_MAX);
	check(turn->profile != NULL);
	check(turn->message != NULL);
	check(turn->attachment_count <= REQUEST_ATTACHMENTS_MAX);
	check(!turn->from || strlen(turn->from) <= SESSION_KEY_MAX);
	for (size_t i = 0; i < turn->attachment_count; i++) {
		check(turn->attachments[i].kind <= PERCH_ATTACHMENT_VIDEO);
		check(turn->attachments[i].url[0] && turn->attachments[i].name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static perch_json *json;
	struct arena arena = { 0 };
	const perch_json_value *root;
	struct turn_request request;
	perch_err err = { 0 };
	if (!json)
		check(perch_json_new(NULL, &json) == 0);
	if (perch_json_parse(json, (const char *)data, size, &root, NULL) < 0)
		return 0;
	int r = turn_request_read(root, "profile.yaml", &arena, &request, &err);
	if (r < 0)
		check(err.text[0]);
	else if (!request.cancel)
		check_turn(&request);
	arena_free(&arena);
	return 0;
}
