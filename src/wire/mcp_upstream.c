/* MCP client: its life, and the hello of both eras. A server that is asked by `server/discover` and
 * does not know it is a legacy one. */
#include "wire/mcp_upstream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "wire/mcp_upstream_parts.h"

#define MCP_MODERN_VERSION "2026-07-28"

DEFINE_POINTER_CLEANUP(mcp_cleanup_upstream, struct mcp_upstream, mcp_upstream_free)

/* ---- telling and sending --------------------------------------------------- */

void mcp_upstream_tell(struct mcp_upstream *upstream, const struct mcp_told *told)
{
	upstream->table->told(upstream->data, told);
}

void mcp_upstream_noise(struct mcp_upstream *upstream, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct mcp_told told = { .kind = MCP_TOLD_NOISE, .text = str_from(text) };
	told.text.len = utf8_whole_prefix(text, told.text.len);
	mcp_upstream_tell(upstream, &told);
}

perch_json_writer mcp_upstream_write(struct mcp_upstream *upstream)
{
	buf_clear(&upstream->out);
	upstream->out.failed = false;
	return json_writer_on(&upstream->out);
}

void mcp_upstream_send(struct mcp_upstream *upstream)
{
	struct buf *out = &upstream->out;
	if (buf_append_char(out, '\n') < 0)
		upstream->is_broken = true;
	else
		upstream->table->send(upstream->data, (struct str){ out->data, out->len - 1 });
}

/* ---- hello ----------------------------------------------------------------- */

static void mcp_upstream_fail(struct mcp_upstream *upstream, const char *format, ...)
	PERCH_PRINTF(2, 3);

static void mcp_upstream_fail(struct mcp_upstream *upstream, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	upstream->stage = MCP_STAGE_OVER;
	upstream->due_ns = NEVER;
	struct mcp_told told = { .kind = MCP_TOLD_FAILED, .text = str_from(text) };
	told.text.len = utf8_whole_prefix(text, told.text.len);
	mcp_upstream_tell(upstream, &told);
}

void mcp_upstream_ask_own(
	struct mcp_upstream *upstream, enum mcp_call_use use, const char *method, struct str params)
{
	struct mcp_call *call;
	const struct mcp_call_options options = {
		.method = method,
		.params = params,
		.log_level = MCP_LEVEL_NONE,
	};
	if (mcp_call_start(upstream, &options, use, &call) < 0)
		upstream->is_broken = true;
}

static void mcp_upstream_probe(struct mcp_upstream *upstream)
{
	upstream->stage = MCP_STAGE_PROBE;
	upstream->version = mcp_version_find(STR(MCP_MODERN_VERSION), true);
	upstream->due_ns = clock_after(upstream->now_ns, upstream->options.probe_ns);
	mcp_upstream_ask_own(upstream, MCP_CALL_PROBE, "server/discover", (struct str){ 0 });
}

void mcp_upstream_write_abilities(perch_json_writer *writer, unsigned abilities)
{
	static const struct {
		enum mcp_ability ability;
		const char *name;
		struct str value;
	} known[] = {
		{ MCP_CAN_ELICIT, "elicitation", STR("{\"form\":{}}") },
		{ MCP_HAS_ROOTS, "roots", STR("{}") },
		{ MCP_CAN_SAMPLE, "sampling", STR("{}") },
	};
	perch_json_begin_object(writer);
	for (size_t i = 0; i < COUNT(known); i++) {
		if (!(abilities & known[i].ability))
			continue;
		perch_json_write_name(writer, known[i].name);
		perch_json_write_raw(writer, known[i].value.data, known[i].value.len);
	}
	perch_json_end_object(writer);
}

void mcp_upstream_write_self(perch_json_writer *writer, const struct mcp_upstream_options *options)
{
	perch_json_begin_object(writer);
	json_write_text(writer, "name", options->name);
	json_write_text(writer, "version", options->version);
	perch_json_end_object(writer);
}

static void mcp_upstream_hello(struct mcp_upstream *upstream)
{
	_cleanup_(buf_free) struct buf params = { 0 };
	perch_json_writer writer = json_writer_on(&params);
	upstream->stage = MCP_STAGE_HELLO;
	upstream->version = mcp_version_fallback;
	upstream->due_ns = clock_after(upstream->now_ns, upstream->options.open_ns);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "protocolVersion", str_from(mcp_version_fallback->name));
	perch_json_write_name(&writer, "capabilities");
	mcp_upstream_write_abilities(&writer, upstream->options.hello_abilities);
	perch_json_write_name(&writer, "clientInfo");
	mcp_upstream_write_self(&writer, &upstream->options);
	perch_json_end_object(&writer);
	if (params.failed)
		upstream->is_broken = true;
	else
		mcp_upstream_ask_own(
			upstream, MCP_CALL_HELLO, "initialize", (struct str){ params.data, params.len });
}

void mcp_upstream_open(struct mcp_upstream *upstream)
{
	if (upstream->options.era == MCP_ONLY_LEGACY)
		mcp_upstream_hello(upstream);
	else
		mcp_upstream_probe(upstream);
}

/* ---- what it says of itself ------------------------------------------------ */

static bool mcp_upstream_lists_modern(const perch_json_value *versions)
{
	perch_json_iter iter = perch_json_iterate(versions);
	for (const perch_json_value *item; (item = perch_json_next(&iter));)
		if (perch_json_is(item, MCP_MODERN_VERSION))
			return true;
	return false;
}

static bool mcp_upstream_is_modern(const perch_json_value *result)
{
	return mcp_upstream_lists_modern(perch_json_get(result, "supportedVersions"));
}

/* A server that refuses the version, and names the same one as what it supports, is asked again. */
static bool mcp_upstream_is_asked_again(
	struct mcp_upstream *upstream, const struct jsonrpc_message *message)
{
	bool is_again = !upstream->is_asked_again && message && message->kind == JSONRPC_ERROR &&
		message->code == MCP_UNSUPPORTED_VERSION &&
		mcp_upstream_lists_modern(perch_json_get(message->data, "supported"));
	upstream->is_asked_again = upstream->is_asked_again || is_again;
	return is_again;
}

static void mcp_upstream_be_open(struct mcp_upstream *upstream, const perch_json_value *result)
{
	const struct mcp_told told = { .kind = MCP_TOLD_OPEN };
	mcp_facts_read(upstream, result);
	if (!upstream->version->is_modern) {
		perch_json_writer writer = mcp_upstream_write(upstream);
		jsonrpc_begin_notification(&writer, "notifications/initialized");
		jsonrpc_end(&writer);
		mcp_upstream_send(upstream);
	}
	upstream->stage = MCP_STAGE_OPEN;
	upstream->due_ns = NEVER;
	mcp_upstream_listen(upstream);
	mcp_upstream_tell(upstream, &told);
}

/* ---- answers to hello ------------------------------------------------------ */

/* What the engine itself has asked for, before it is open. */
static struct mcp_call *mcp_upstream_own_call(
	const struct mcp_upstream *upstream, enum mcp_call_use use)
{
	struct mcp_call *call = list_first(&upstream->calls);
	while (call && call->use != use)
		call = list_next(call);
	return call;
}

static void mcp_upstream_give_up(struct mcp_upstream *upstream, enum mcp_call_use use)
{
	struct mcp_call *call = mcp_upstream_own_call(upstream, use);
	if (call)
		mcp_call_cancel(call, STR("it takes too long"));
}

/* The answer of a modern server that was slow: it is one, although `initialize` is on its way. */
static void mcp_upstream_probed_late(
	struct mcp_upstream *upstream, const struct jsonrpc_message *message)
{
	if (message && message->kind == JSONRPC_RESULT && mcp_upstream_is_modern(message->result)) {
		mcp_upstream_give_up(upstream, MCP_CALL_HELLO);
		upstream->version = mcp_version_find(STR(MCP_MODERN_VERSION), true);
		mcp_upstream_be_open(upstream, message->result);
	} else if (!mcp_upstream_own_call(upstream, MCP_CALL_HELLO)) {
		mcp_upstream_fail(
			upstream, "it refuses initialize, and does not speak " MCP_MODERN_VERSION);
	}
}

static void mcp_upstream_probed(
	struct mcp_upstream *upstream, const struct jsonrpc_message *message)
{
	if (message && message->kind == JSONRPC_RESULT && mcp_upstream_is_modern(message->result))
		mcp_upstream_be_open(upstream, message->result);
	else if (mcp_upstream_is_asked_again(upstream, message))
		mcp_upstream_probe(upstream);
	else if (upstream->options.era == MCP_FIND_OUT)
		mcp_upstream_hello(upstream);
	else if (message && message->kind == JSONRPC_ERROR)
		mcp_upstream_fail(upstream, "it does not speak " MCP_MODERN_VERSION ": %.*s",
			utf8_quoted(message->text), message->text.data);
	else
		mcp_upstream_fail(upstream,
			message ? "it does not speak " MCP_MODERN_VERSION
					: "it does not answer server/discover");
}

static void mcp_upstream_greeted(
	struct mcp_upstream *upstream, const struct jsonrpc_message *message)
{
	if (!message) {
		mcp_upstream_fail(upstream, "it does not answer initialize");
		return;
	}
	/* A modern server knows no initialize: it may still answer what it was asked first. */
	if (message->kind == JSONRPC_ERROR && mcp_upstream_own_call(upstream, MCP_CALL_PROBE))
		return;
	if (message->kind == JSONRPC_ERROR) {
		mcp_upstream_fail(upstream, "it refuses initialize: %.*s", utf8_quoted(message->text),
			message->text.data ? message->text.data : "");
		return;
	}
	struct str version = mcp_text_of(perch_json_get(message->result, "protocolVersion"));
	upstream->version = mcp_version_find(version, false);
	mcp_upstream_give_up(upstream, MCP_CALL_PROBE);
	if (upstream->version)
		mcp_upstream_be_open(upstream, message->result);
	else if (version.len)
		mcp_upstream_fail(upstream, "it speaks version %.*s, which perch does not know",
			utf8_quoted(version), version.data);
	else
		mcp_upstream_fail(upstream, "it does not say which version it speaks");
}

void mcp_upstream_opened(
	struct mcp_upstream *upstream, enum mcp_call_use use, const struct jsonrpc_message *message)
{
	if (use == MCP_CALL_PROBE && upstream->stage == MCP_STAGE_PROBE)
		mcp_upstream_probed(upstream, message);
	else if (use == MCP_CALL_PROBE && upstream->stage == MCP_STAGE_HELLO)
		mcp_upstream_probed_late(upstream, message);
	else if (use == MCP_CALL_HELLO && upstream->stage == MCP_STAGE_HELLO)
		mcp_upstream_greeted(upstream, message);
}

/* ---- time and the end ------------------------------------------------------ */

void mcp_upstream_now(struct mcp_upstream *upstream, uint64_t now_ns)
{
	upstream->now_ns = now_ns;
}

/* One that may be a legacy server is greeted as one, while the answer to the probe may still come.
 */
void mcp_upstream_tick(struct mcp_upstream *upstream, uint64_t now_ns)
{
	upstream->now_ns = now_ns;
	if (now_ns < upstream->due_ns)
		return;
	upstream->due_ns = NEVER;
	if (upstream->stage == MCP_STAGE_PROBE && upstream->options.era == MCP_FIND_OUT) {
		mcp_upstream_hello(upstream);
		return;
	}
	enum mcp_call_use use = upstream->stage == MCP_STAGE_PROBE ? MCP_CALL_PROBE : MCP_CALL_HELLO;
	mcp_upstream_give_up(upstream, MCP_CALL_PROBE);
	mcp_upstream_give_up(upstream, MCP_CALL_HELLO);
	mcp_upstream_opened(upstream, use, NULL);
}

uint64_t mcp_upstream_deadline(const struct mcp_upstream *upstream)
{
	return upstream->due_ns;
}

void mcp_upstream_end(struct mcp_upstream *upstream, struct str why)
{
	bool was_opening = upstream->stage < MCP_STAGE_OPEN;
	struct mcp_call *call;
	upstream->stage = MCP_STAGE_OVER;
	upstream->due_ns = NEVER;
	while ((call = list_first(&upstream->calls)))
		mcp_call_fail(call, MCP_UPSTREAM_FAILED, why);
	mcp_quizzes_withdraw(upstream, &upstream->quizzes);
	if (was_opening)
		mcp_upstream_fail(upstream, "%.*s", utf8_quoted(why), why.data);
}

bool mcp_upstream_is_broken(const struct mcp_upstream *upstream)
{
	return upstream->is_broken;
}

const struct mcp_upstream_facts *mcp_upstream_facts(const struct mcp_upstream *upstream)
{
	return upstream->stage == MCP_STAGE_OPEN ? &upstream->facts : NULL;
}

/* ---- life ------------------------------------------------------------------ */

static int mcp_upstream_settle(
	struct mcp_upstream *upstream, const struct mcp_upstream_options *options)
{
	struct mcp_upstream_options *own = &upstream->options;
	*own = *options;
	own->name.data = arena_dup(&upstream->arena, options->name);
	own->version.data = arena_dup(&upstream->arena, options->version);
	own->probe_ns = own->probe_ns ? own->probe_ns : MCP_UPSTREAM_PROBE_MS * NSEC_PER_MSEC;
	own->open_ns = own->open_ns ? own->open_ns : MCP_UPSTREAM_OPEN_MS * NSEC_PER_MSEC;
	upstream->ids.limit = own->in_flight_max ? own->in_flight_max : MCP_UPSTREAM_IN_FLIGHT_MAX;
	upstream->asked.limit = MCP_UPSTREAM_QUIZZES_MAX;
	if (!own->name.data || !own->version.data)
		return -ENOMEM;
	int r = perch_json_new(NULL, &upstream->json);
	return r < 0 ? r : perch_json_new(NULL, &upstream->scratch);
}

int mcp_upstream_new(const struct mcp_upstream_options *options,
	const struct mcp_upstream_table *table, void *data, struct mcp_upstream **ret_upstream)
{
	_cleanup_(mcp_cleanup_upstream) struct mcp_upstream *upstream = calloc(1, sizeof(*upstream));
	if (!upstream)
		return -ENOMEM;
	upstream->table = table;
	upstream->data = data;
	upstream->due_ns = NEVER;
	int r = mcp_upstream_settle(upstream, options);
	if (r < 0)
		return r;
	*ret_upstream = steal(&upstream);
	return 0;
}

void mcp_upstream_free(struct mcp_upstream *upstream)
{
	if (!upstream)
		return;
	struct mcp_call *call;
	while ((call = list_first(&upstream->calls)))
		mcp_call_free(call);
	mcp_quizzes_drop(&upstream->quizzes);
	jsonrpc_ids_free(&upstream->ids);
	jsonrpc_ids_free(&upstream->asked);
	perch_json_free(upstream->json);
	perch_json_free(upstream->scratch);
	buf_free(&upstream->out);
	arena_free(&upstream->arena);
	free(upstream);
}
