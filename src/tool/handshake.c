/* Judging a handshake: rows 4 to 10 of the verdicts, in their order. */
#include "base/utf8.h"
#include "tool/tool_engine_parts.h"

#define STAGE "handshake"

/* A manifest as it was read; the texts and lists point into the frame. */
struct manifest {
	struct str type;
	const perch_json_value *object; /* NULL = there is none */
	struct str plugin_id;
	struct str plugin_version;
	struct str protocol_version;
	const perch_json_value *exposed_tools; /* NULL = absent, as below */
	const perch_json_value *capabilities;
};

/* Row 4: the types of all fields are checked before any value is used. */
static bool handshake_read_manifest(
	struct tool_engine *engine, const perch_json_value *frame, struct manifest *manifest)
{
	*manifest = (struct manifest){ 0 };
	if (!frame_string(engine, STAGE, frame, "type", &manifest->type) ||
		!frame_member(engine, STAGE, frame, "manifest", PERCH_JSON_OBJECT, &manifest->object))
		return false;
	const perch_json_value *object = manifest->object;
	return frame_string(engine, STAGE, object, "plugin_id", &manifest->plugin_id) &&
		frame_string(engine, STAGE, object, "plugin_version", &manifest->plugin_version) &&
		frame_string(engine, STAGE, object, "protocol_version", &manifest->protocol_version) &&
		frame_strings(engine, STAGE, object, "exposed_tools", &manifest->exposed_tools) &&
		frame_strings(engine, STAGE, object, "capabilities", &manifest->capabilities);
}

static void handshake_fail(struct tool_engine *engine, const char *why)
{
	engine_decide(engine, PERCH_TOOL_HANDSHAKE_FAILED, STAGE, "the manifest of the plugin %s", why);
}

/* Row 5. */
static bool handshake_judge_type(struct tool_engine *engine, const struct manifest *manifest)
{
	if (str_is(manifest->type, "handshake"))
		return true;
	engine_decide(engine, PERCH_TOOL_HANDSHAKE_FAILED, STAGE,
		"the first message of the plugin must be of type \"handshake\", not \"%.*s\"",
		utf8_quoted(manifest->type), manifest->type.data ? manifest->type.data : "");
	return false;
}

/* Row 6. */
static bool handshake_judge_protocol(struct tool_engine *engine, const struct manifest *manifest)
{
	struct str wanted = engine->options->protocol;
	struct str spoken = str_trim(manifest->protocol_version);
	if (manifest->object && str_eq(spoken, wanted))
		return true;
	if (!manifest->object)
		engine_decide(engine, PERCH_TOOL_PROTOCOL_VERSION_MISMATCH, STAGE,
			"the plugin sent no manifest, so it does not say that it speaks %.*s",
			utf8_quoted(wanted), wanted.data);
	else
		engine_decide(engine, PERCH_TOOL_PROTOCOL_VERSION_MISMATCH, STAGE,
			"the plugin speaks \"%.*s\", asked for was \"%.*s\"", utf8_quoted(spoken),
			spoken.data ? spoken.data : "", utf8_quoted(wanted), wanted.data);
	return false;
}

/* Row 7. */
static bool handshake_judge_identity(struct tool_engine *engine, const struct manifest *manifest)
{
	struct str bound = engine->options->name;
	if (!str_trim(manifest->plugin_id).len) {
		handshake_fail(engine, "has no plugin_id");
	} else if (!str_trim(manifest->plugin_version).len) {
		handshake_fail(engine, "has no plugin_version");
	} else if (!perch_json_count(manifest->exposed_tools)) {
		handshake_fail(engine, "exposes no tools");
	} else if (!str_eq(manifest->plugin_id, bound)) {
		engine_decide(engine, PERCH_TOOL_HANDSHAKE_FAILED, STAGE,
			"the plugin calls itself \"%.*s\", the binding is for \"%.*s\"",
			utf8_quoted(manifest->plugin_id), manifest->plugin_id.data, utf8_quoted(bound),
			bound.data);
	} else {
		return true;
	}
	return false;
}

/* Row 8. */
static bool handshake_judge_one_tool(
	struct tool_engine *engine, const perch_json_value *exposed_tools)
{
	if (!engine->request)
		return true;
	struct str wanted = engine->request->tool;
	perch_json_iter iter = perch_json_iterate(exposed_tools);
	for (const perch_json_value *tool; (tool = perch_json_next(&iter));) {
		if (str_eq(json_str(tool), wanted))
			return true;
	}
	engine_decide(engine, PERCH_TOOL_NOT_EXPOSED, STAGE,
		"the plugin does not expose a tool \"%.*s\"", utf8_quoted(wanted), wanted.data);
	return false;
}

static bool handshake_is_allowed(const char *const *allowed, struct str capability)
{
	for (; allowed && *allowed; allowed++) {
		if (str_is(capability, *allowed))
			return true;
	}
	return false;
}

/* Whether a capability stands in the list before the one at `place`. */
static bool handshake_is_repeated(const perch_json_value *list, size_t place, struct str capability)
{
	perch_json_iter iter = perch_json_iterate(list);
	for (size_t i = 0; i < place; i++) {
		if (str_eq(json_str(perch_json_next(&iter)), capability))
			return true;
	}
	return false;
}

static bool handshake_refuse_capability(
	struct tool_engine *engine, perch_tool_code code, struct str capability, const char *why)
{
	engine_decide(engine, code, STAGE, "the plugin declares the capability \"%.*s\", which %s",
		utf8_quoted(capability), capability.data, why);
	return false;
}

/* Rows 9 and 10. The first capability that is not allowed ends the walk, so that it takes at most
 * as many steps as the allow-list is long. */
static bool handshake_judge_capabilities(
	struct tool_engine *engine, const perch_json_value *declared)
{
	const char *const *allowed = engine->options->capabilities;
	if (allowed && *allowed && !perch_json_count(declared)) {
		engine_decide(engine, PERCH_TOOL_CAPABILITY_NOT_DECLARED, STAGE,
			"the binding allows capabilities, and the plugin declares none");
		return false;
	}
	perch_json_iter iter = perch_json_iterate(declared);
	const perch_json_value *value;
	for (size_t i = 0; (value = perch_json_next(&iter)); i++) {
		struct str capability = json_str(value);
		perch_tool_code code = PERCH_TOOL_CAPABILITY_NOT_DECLARED;
		if (!capability.len)
			return handshake_refuse_capability(engine, code, capability, "is empty");
		if (str_trim(capability).len != capability.len)
			return handshake_refuse_capability(engine, code, capability, "has blanks around it");
		if (handshake_is_repeated(declared, i, capability))
			return handshake_refuse_capability(engine, code, capability, "it has declared before");
		if (!handshake_is_allowed(allowed, capability))
			return handshake_refuse_capability(engine, PERCH_TOOL_CAPABILITY_NOT_ALLOWED,
				capability, "the binding does not allow");
	}
	return true;
}

void handshake_judge(struct tool_engine *engine, const struct tool_line *line)
{
	const perch_json_value *frame = frame_read(engine, STAGE, line);
	struct manifest manifest;
	if (!frame || !handshake_read_manifest(engine, frame, &manifest))
		return;
	engine->verdict.plugin_id = engine_keep(engine, manifest.plugin_id);
	engine->verdict.plugin_version = engine_keep(engine, manifest.plugin_version);
	engine->verdict.manifest = engine_keep(engine, frame_raw(manifest.object));
	bool has_passed = handshake_judge_type(engine, &manifest) &&
		handshake_judge_protocol(engine, &manifest) &&
		handshake_judge_identity(engine, &manifest) &&
		handshake_judge_one_tool(engine, manifest.exposed_tools) &&
		handshake_judge_capabilities(engine, manifest.capabilities);
	if (has_passed)
		engine->stage = TOOL_READY;
}

void handshake_judge_tool(struct tool_engine *engine)
{
	const perch_json_value *manifest;
	perch_text text = engine->verdict.manifest;
	if (perch_json_parse(engine->json, text.data, text.len, &manifest, NULL) < 0)
		engine->is_broken = true; /* it was parsed before: there is no memory */
	else
		handshake_judge_one_tool(engine, perch_json_get(manifest, "exposed_tools"));
}
