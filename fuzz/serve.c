/* Any bytes as a line of `perch tool serve`: no crash, no hang; what is accepted is a
 * call or a cancel with everything it needs, and its id can be answered with. */
#include "fuzz.h"

#include "cli/tool/tool_serve.h"
#include "data/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct serve_request request;
	perch_json *json;
	const perch_json_value *id;
	perch_err err = { 0 };
	check(perch_json_new(NULL, &json) == 0);
	int r =
		serve_request_read(json, (struct str){ (const char *)data, size }, &arena, &request, &err);
	check(r == 0 || (err.code == r && err.text[0]));
	check(r < 0 || request.is_cancel || (request.name && request.tool));
	check(perch_json_parse(json, request.id.data, request.id.len, &id, NULL) == 0);
	check(r < 0 || perch_json_type_of(id) == PERCH_JSON_STRING ||
		perch_json_type_of(id) == PERCH_JSON_NUMBER);
	perch_json_free(json);
	arena_free(&arena);
	return 0;
}
