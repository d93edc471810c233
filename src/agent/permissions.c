/* The permissions that an agent of 0.4 asks for: they may be answered in any order;
 * the agent is told in the order of its questions. */
#include <stdlib.h>

#include "agent/agent_engine_parts.h"

static void permissions_free_permit(struct permit *permit)
{
	buf_free(&permit->request_id);
	buf_free(&permit->answer);
	free(permit);
}

void permissions_free(struct agent_engine *engine)
{
	while (engine->first) {
		struct permit *permit = engine->first;
		engine->first = permit->next;
		permissions_free_permit(permit);
	}
}

static void permissions_answer(
	struct agent_engine *engine, struct permit *permit, bool allowed, struct str message)
{
	struct perch_json_writer writer = json_writer_on(&permit->answer);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "type", STR("permission_response"));
	json_write_text(
		&writer, "request_id", (struct str){ permit->request_id.data, permit->request_id.len });
	json_write_text(&writer, "behavior", allowed ? STR("allow") : STR("deny"));
	if (message.len)
		json_write_text(&writer, "message", message);
	perch_json_end_object(&writer);
	buf_append_char(&permit->answer, '\n');
	if (permit->answer.failed)
		engine->is_broken = true;
}

/* Tells the agent every answer that has no open question before it. */
static void permissions_send_ready(struct agent_engine *engine)
{
	while (engine->first && engine->first->answer.len && !engine->is_broken) {
		struct permit *permit = engine->first;
		engine->first = permit->next;
		if (!engine->first)
			engine->last = NULL;
		engine->effects->send(
			engine->data, (struct str){ permit->answer.data, permit->answer.len });
		permissions_free_permit(permit);
	}
}

void permissions_request(struct agent_engine *engine, const struct agent_permission *permission)
{
	struct permit *permit = calloc(1, sizeof(*permit));
	if (!permit) {
		engine->is_broken = true;
		return;
	}
	engine_set(engine, &permit->request_id, permission->request_id);
	if (engine->last)
		engine->last->next = permit;
	else
		engine->first = permit;
	engine->last = permit;
	if (engine->is_broken)
		return;
	if (!engine->denies_all) {
		engine->effects->permission(engine->data, permission);
		return;
	}
	permissions_answer(
		engine, permit, false, (struct str){ engine->denial.data, engine->denial.len });
	permissions_send_ready(engine);
}

void agent_engine_permit(
	struct agent_engine *engine, struct str request_id, bool allowed, struct str message)
{
	for (struct permit *permit = engine->first; permit; permit = permit->next) {
		struct str id = { permit->request_id.data, permit->request_id.len };
		if (permit->answer.len || !str_eq(id, request_id))
			continue;
		permissions_answer(engine, permit, allowed, message);
		break;
	}
	permissions_send_ready(engine);
}

void agent_engine_deny_all(struct agent_engine *engine, struct str message)
{
	engine->denies_all = true;
	engine_set(engine, &engine->denial, message);
	for (struct permit *permit = engine->first; permit; permit = permit->next) {
		if (!permit->answer.len)
			permissions_answer(engine, permit, false, message);
	}
	permissions_send_ready(engine);
}

bool agent_engine_is_asking(const struct agent_engine *engine)
{
	return engine->first != NULL;
}
