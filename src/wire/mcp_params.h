/* MCP: arguments of a call that stand in headers, too: `x-mcp-header` in the input schema of a
 * tool, for modern requests over HTTP. */
#ifndef WIRE_MCP_PARAMS_H
#define WIRE_MCP_PARAMS_H

#include "base/str.h"
#include "perch/json.h"

#define MCP_PARAM_MARK "x-mcp-header"

enum { MCP_PARAM_DIGITS = 32 };

/* An argument as its header has it, before it is encoded. No data = it has none: null, an object, a
 * number that is not whole or that JavaScript cannot hold. */
struct str mcp_param_text(const perch_json_value *value, char digits[MCP_PARAM_DIGITS]);

/* Tells each argument that is marked and can be reached by `properties` alone; its value is NULL
 * where there is none. The first `false` ends it, and is returned. */
typedef bool mcp_param_fn(void *data, struct str name, const perch_json_value *value);
bool mcp_params_each(
	const perch_json_value *schema, const perch_json_value *given, mcp_param_fn *take, void *data);

/* The headers of a request. `get`: whether there is one Mcp-Param-NAME, and its decoded value;
 * without data when no such value can be. */
struct mcp_param_headers {
	bool (*get)(void *data, struct str name, struct str *ret_value);
	void *data;
};

/* Whether the headers say what the arguments do; the first that does not is *ret_name. */
bool mcp_params_fit(const perch_json_value *schema, const perch_json_value *given,
	const struct mcp_param_headers *headers, struct str *ret_name);

#endif
