/* AgentProc: what the dialects share. */
#include "agent/agent_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/agent_engine_parts.h"
#include "agent/usage.h"
#include "base/macros.h"
#include "base/utf8.h"

int agent_engine_new(const struct agent_engine_options *options,
	const struct agent_effects *effects, void *data, struct agent_engine **ret_engine)
{
	struct agent_engine *engine = calloc(1, sizeof(*engine));
	if (!engine)
		return -ENOMEM;
	perch_json_options json_options = PERCH_JSON_OPTIONS_INIT;
	json_options.text_max = PERCH_JSON_TEXT_CEILING;
	int r = perch_json_new(&json_options, &engine->json);
	if (r < 0) {
		free(engine);
		return r;
	}
	engine->options = *options;
	engine->effects = effects;
	engine->data = data;
	*ret_engine = engine;
	return 0;
}

void agent_engine_free(struct agent_engine *engine)
{
	if (!engine)
		return;
	struct buf *const owned[] = { &engine->repaired, &engine->session, &engine->body, &engine->cut,
		&engine->raw, &engine->error, &engine->stop_reason, &engine->denial, &engine->reply };
	for (size_t i = 0; i < COUNT(owned); i++)
		buf_free(owned[i]);
	for (size_t i = 0; i < AGENT_ERRORS_MAX; i++)
		buf_free(&engine->said[i]);
	permissions_free(engine);
	perch_json_free(engine->json);
	free(engine);
}

bool agent_engine_is_broken(const struct agent_engine *engine)
{
	return engine->is_broken;
}

struct str agent_engine_session(const struct agent_engine *engine)
{
	return (struct str){ engine->session.data, engine->session.len };
}

const char *agent_engine_stop_reason(const struct agent_engine *engine)
{
	return engine->stop_reason.data;
}

const perch_agent_usage *agent_engine_usage(const struct agent_engine *engine)
{
	return &engine->usage;
}

void engine_set(struct agent_engine *engine, struct buf *target, struct str text)
{
	buf_clear(target);
	if (buf_append(target, text.data, text.len) < 0 || buf_terminate(target) < 0)
		engine->is_broken = true;
}

/* ---- warnings -------------------------------------------------------------- */

static void agent_engine_warn(struct agent_engine *engine, const char *text)
{
	if (engine->warnings++ < AGENT_WARNINGS_MAX)
		engine->effects->warning(engine->data, str_from(text));
	else if (engine->warnings == AGENT_WARNINGS_MAX + 1)
		engine->effects->warning(engine->data, STR("there are more warnings: they are not shown"));
}

enum { SHOWN_BYTES = 80 };

/* The first bytes of a line, without characters that a terminal would obey. */
static void agent_engine_excerpt(struct str line, char out[SHOWN_BYTES + 1])
{
	size_t len = line.len < SHOWN_BYTES ? line.len : SHOWN_BYTES;
	len = len ? utf8_whole_prefix(line.data, len) : 0;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)line.data[i];
		out[i] = c < ' ' || c == 0x7F ? '?' : line.data[i];
	}
	out[len] = '\0';
}

void engine_warn(struct agent_engine *engine, const char *what, struct str text)
{
	enum { WARNING_MAX = 4096 }; /* long paths, and the command that allows them */
	char words[WARNING_MAX];
	size_t shown = text.len < WARNING_MAX ? text.len : WARNING_MAX;
	snprintf(words, sizeof(words), "%s%s%.*s", what ? what : "", what && text.len ? ": " : "",
		(int)shown, text.len ? text.data : "");
	words[utf8_whole_prefix(words, strlen(words))] = '\0';
	agent_engine_warn(engine, words);
}

void engine_warn_of_line(struct agent_engine *engine, struct str line, const char *what)
{
	char shown[SHOWN_BYTES + 1];
	char text[512];
	agent_engine_excerpt(line, shown);
	snprintf(text, sizeof(text), "line %llu %s: %s", (unsigned long long)engine->line_number, what,
		shown);
	text[utf8_whole_prefix(text, strlen(text))] = '\0';
	agent_engine_warn(engine, text);
}

/* ---- the meaning of a line --------------------------------------------------- */

struct str engine_first_chars(struct str text, size_t chars, size_t *ret_taken)
{
	size_t len = 0;
	size_t taken = 0;
	while (taken < chars && len < text.len) {
		uint32_t character;
		len += utf8_decode(text.data + len, text.len - len, &character);
		taken++;
	}
	*ret_taken = taken;
	return (struct str){ text.data, len };
}

static void agent_engine_forward(struct agent_engine *engine, struct str text, struct str raw)
{
	engine->has_forwarded = engine->has_forwarded || text.len;
	if (!raw.len) {
		buf_clear(&engine->raw);
		struct perch_json_writer writer = json_writer_on(&engine->raw);
		if (engine->options.dialect->has_turn_line) {
			perch_json_begin_object(&writer);
			perch_json_write_name(&writer, "type");
			perch_json_write_string(&writer, "partial");
			perch_json_write_name(&writer, "text");
		}
		perch_json_write_string_n(&writer, text.data ? text.data : "", text.len);
		if (engine->options.dialect->has_turn_line)
			perch_json_end_object(&writer);
		raw = (struct str){ engine->raw.data, engine->raw.len };
		engine->is_broken = engine->is_broken || engine->raw.failed;
	}
	if (!engine->is_broken)
		engine->effects->partial(engine->data, text, raw);
}

/* The partial that crosses max_reply_chars: the part that still fits, and the suffix. */
static void agent_engine_forward_cut(struct agent_engine *engine, struct str text)
{
	size_t room = engine->options.max_reply_chars - engine->partial_chars;
	size_t taken;
	struct str suffix = engine->options.truncation_suffix;
	engine_set(engine, &engine->cut, engine_first_chars(text, room, &taken));
	if (buf_append(&engine->cut, suffix.data, suffix.len) < 0)
		engine->is_broken = true;
	engine->is_cut = true;
	engine->partial_chars += taken;
	agent_engine_forward(
		engine, (struct str){ engine->cut.data, engine->cut.len }, (struct str){ 0 });
}

void engine_partial(struct agent_engine *engine, struct str text, struct str raw)
{
	size_t most = engine->options.max_reply_chars;
	if (!engine->options.is_streaming || engine->has_error || engine->is_cut)
		return;
	if (!most) {
		agent_engine_forward(engine, text, raw);
		return;
	}
	size_t count = utf8_count(text.data, text.len);
	if (count > most - engine->partial_chars) {
		agent_engine_forward_cut(engine, text);
		return;
	}
	engine->partial_chars += count;
	agent_engine_forward(engine, text, raw);
}

void engine_session(struct agent_engine *engine, struct str id)
{
	const struct dialect *dialect = engine->options.dialect;
	if (engine->session.len && !dialect->last_session_wins) {
		if (!str_eq(agent_engine_session(engine), id) && !engine->is_contradicted)
			engine_warn_of_line(
				engine, id, "has another session_id than the lines before, which counts");
		engine->is_contradicted |= !str_eq(agent_engine_session(engine), id);
		return;
	}
	if (engine->is_repaired || !dialect->is_session_id(id)) {
		engine_warn_of_line(engine, id, "has a session id that cannot be used and is ignored");
		return;
	}
	if (str_eq(agent_engine_session(engine), id))
		return;
	engine_set(engine, &engine->session, id);
	if (!engine->is_broken)
		engine->effects->session(engine->data, agent_engine_session(engine));
}

void engine_error(struct agent_engine *engine, struct str text)
{
	if (engine->has_error) {
		engine_warn_of_line(engine, text, "reports a further error");
		return;
	}
	engine->has_error = true;
	engine->has_body_line = false;
	engine->has_result = false;
	buf_free(&engine->body);
	if (!str_trim(text).len)
		text = STR("the agent reported an error without saying which");
	engine_set(engine, &engine->error, text);
	engine->effects->hang_up(engine->data);
}

static void agent_engine_cross_limit(struct agent_engine *engine, enum agent_limit limit)
{
	engine->limit = limit;
	engine->effects->stop(engine->data);
}

void engine_usage(struct agent_engine *engine, const perch_json_value *said)
{
	struct str json = { 0 };
	uint64_t most = engine->options.max_tokens;
	json.data = perch_json_raw(said, &json.len);
	if (!json.len)
		return;
	usage_raise(&engine->usage, said);
	if (engine->effects->usage)
		engine->effects->usage(engine->data, json);
	if (most && engine->usage.total_tokens > most)
		agent_engine_cross_limit(engine, LIMIT_TOKENS);
}

/* ---- session ids -------------------------------------------------------------- */

static bool agent_engine_is_wide_blank(uint32_t c)
{
	return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
		c == 0x202F || c == 0x205F || c == 0x3000;
}

static bool agent_engine_is_control(uint32_t c)
{
	return c < ' ' || (c >= 0x7F && c < 0xA0);
}

bool session_id_has_control_character(struct str id)
{
	bool has = !utf8_is_valid(id.data, id.len);
	for (size_t at = 0; !has && at < id.len;) {
		uint32_t c;
		at += utf8_decode(id.data + at, id.len - at, &c);
		has = agent_engine_is_control(c);
	}
	return has;
}

bool session_id_has_bad_character(struct str id, bool with_blanks)
{
	if (!utf8_is_valid(id.data, id.len))
		return true;
	for (size_t at = 0; at < id.len;) {
		uint32_t c;
		at += utf8_decode(id.data + at, id.len - at, &c);
		bool is_control = agent_engine_is_control(c);
		bool is_blank = c == ' ' || c == ':' || agent_engine_is_wide_blank(c);
		if (is_control || c == '/' || c == '\\' || (with_blanks && is_blank))
			return true;
	}
	return false;
}

/* ---- lines ---------------------------------------------------------------------- */

bool engine_count(struct agent_engine *engine, size_t bytes)
{
	engine->total += bytes;
	if (engine->total <= engine->options.total_limit)
		return true;
	agent_engine_cross_limit(engine, LIMIT_OUTPUT);
	return false;
}

void agent_engine_line(struct agent_engine *engine, const char *line, size_t len, bool too_long)
{
	if (engine->is_broken || engine->limit)
		return;
	engine->line_number++;
	if (too_long) {
		agent_engine_cross_limit(engine, LIMIT_LINE);
		return;
	}
	if (!engine_count(engine, len + 1))
		return;
	struct str text = { line, len };
	engine->is_repaired = !utf8_is_valid(line, len);
	if (engine->is_repaired) {
		buf_clear(&engine->repaired);
		if (utf8_append_replaced(&engine->repaired, line, len) < 0)
			engine->is_broken = true;
		text = (struct str){ engine->repaired.data, engine->repaired.len };
	}
	if (!engine->is_broken)
		engine->options.dialect->line(engine, text);
}
