/* [serve] of perch/config.toml. */
#include "serve/serve_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/config.h"

enum setting_kind { SETTING_TEXT, SETTING_LIST, SETTING_NUMBER, SETTING_DURATION, SETTING_FLAG };

/* Every key of the section. */
static const struct setting {
	const char *name;
	enum setting_kind kind;
	size_t offset;
	int64_t low, high; /* of a number; low of a time */
} setting_table[] = {
	{ "listen", SETTING_TEXT, offsetof(struct settings, listen), 0, 0 },
	{ "socket", SETTING_TEXT, offsetof(struct settings, socket), 0, 0 },
	{ "project", SETTING_TEXT, offsetof(struct settings, project), 0, 0 },
	{ "allowed_hosts", SETTING_LIST, offsetof(struct settings, allowed_hosts), 0, 0 },
	{ "allowed_origins", SETTING_LIST, offsetof(struct settings, allowed_origins), 0, 0 },
	{ "trusted_proxies", SETTING_LIST, offsetof(struct settings, trusted_proxies), 0, 0 },
	{ "max_jobs", SETTING_NUMBER, offsetof(struct settings, max_jobs), 1, 100000 },
	{ "queue", SETTING_NUMBER, offsetof(struct settings, queue), 0, 1000000 },
	{ "connections", SETTING_NUMBER, offsetof(struct settings, connections), 1, 1000000 },
	{ "connections_unknown", SETTING_NUMBER, offsetof(struct settings, connections_unknown), 1,
		1000000 },
	{ "keep", SETTING_DURATION, offsetof(struct settings, keep_seconds), 0, 0 },
	{ "keep_bytes", SETTING_NUMBER, offsetof(struct settings, keep_bytes), 64 * 1024, INT64_MAX },
	{ "keep_transcripts", SETTING_DURATION, offsetof(struct settings, keep_transcripts_seconds), 0,
		0 },
	{ "drain", SETTING_DURATION, offsetof(struct settings, drain_seconds), 0, 0 },
	{ "body_max", SETTING_NUMBER, offsetof(struct settings, body_max), 1024, 256 * 1024 * 1024 },
	{ "body_floor", SETTING_NUMBER, offsetof(struct settings, body_floor), 0, 1024 * 1024 },
	{ "buffers_max", SETTING_NUMBER, offsetof(struct settings, buffers_max), 1024 * 1024,
		INT64_MAX },
	{ "head_timeout", SETTING_DURATION, offsetof(struct settings, head_seconds), 1, 0 },
	{ "body_timeout", SETTING_DURATION, offsetof(struct settings, body_seconds), 1, 0 },
	{ "idle_timeout", SETTING_DURATION, offsetof(struct settings, idle_seconds), 1, 0 },
	{ "write_timeout", SETTING_DURATION, offsetof(struct settings, write_seconds), 1, 0 },
	{ "heartbeat", SETTING_DURATION, offsetof(struct settings, heartbeat_seconds), 1, 0 },
	{ "retry_wait", SETTING_DURATION, offsetof(struct settings, retry_wait_seconds), 0, 0 },
	{ "mcp_sessions", SETTING_NUMBER, offsetof(struct settings, mcp_sessions), 1, 100000 },
	{ "mcp_idle", SETTING_DURATION, offsetof(struct settings, mcp_idle_seconds), 0, 0 },
	{ "durable", SETTING_FLAG, offsetof(struct settings, is_durable), 0, 0 },
};

static int serve_settings_read_duration(const struct toml_value *section,
	const struct setting *setting, int64_t *seconds, perch_err *err)
{
	const char *text = NULL, *name = setting->name;
	int r = toml_get_string(section, name, &text, err);
	const struct toml_value *value = toml_get(section, name);
	if (r > 0 && (!duration_parse(text, seconds) || *seconds < setting->low))
		return err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column,
			"`%s` takes a time like \"15m\", \"12h\" or \"30d\"", name);
	return r;
}

static int serve_settings_read_one(const struct toml_value *section, const struct setting *setting,
	struct settings *settings, perch_err *err)
{
	void *place = (char *)settings + setting->offset;
	const char *text = NULL;
	int r;
	switch (setting->kind) {
	case SETTING_TEXT:
		r = toml_get_string(section, setting->name, &text, err);
		if (r > 0 && !(*(const char **)place = arena_dup(&settings->arena, str_from(text))))
			return err_no_memory(err);
		return r;
	case SETTING_LIST:
		return toml_get_strings(section, setting->name, &settings->arena, place, err);
	case SETTING_NUMBER:
		return toml_get_integer(section, setting->name, setting->low, setting->high, place, err);
	case SETTING_DURATION:
		return serve_settings_read_duration(section, setting, place, err);
	default:
		return toml_get_bool(section, setting->name, place, err);
	}
}

static int serve_settings_read_section(const struct toml_value *root, void *data, perch_err *err)
{
	struct settings *settings = data;
	const struct toml_value *section = NULL;
	int r = toml_get_table(root, "serve", &section, err);
	if (r <= 0)
		return r;
	r = toml_check_keys(
		section, &setting_table[0].name, COUNT(setting_table), sizeof(setting_table[0]), err);
	for (size_t i = 0; r >= 0 && i < COUNT(setting_table); i++)
		r = serve_settings_read_one(section, &setting_table[i], settings, err);
	return r < 0 ? r : 0;
}

int serve_settings_read(struct settings *ret_settings, perch_err *err)
{
	static const char *const none[] = { NULL };
	struct settings settings = {
		.listen = SERVE_LISTEN,
		.allowed_hosts = none,
		.allowed_origins = none,
		.trusted_proxies = none,
		.max_jobs = SERVE_MAX_JOBS,
		.queue = SERVE_QUEUE,
		.connections = SERVE_CONNECTIONS,
		.connections_unknown = SERVE_CONNECTIONS_UNKNOWN,
		.keep_seconds = SERVE_KEEP_SECONDS,
		.keep_bytes = SERVE_KEEP_BYTES,
		.keep_transcripts_seconds = SERVE_KEEP_TRANSCRIPTS_DAYS * 86400,
		.drain_seconds = SERVE_DRAIN_SECONDS,
		.body_max = 8 * 1024 * 1024,
		.body_floor = SERVE_BODY_FLOOR,
		.buffers_max = SERVE_BUFFERS_MAX,
		.head_seconds = SERVE_HEAD_SECONDS,
		.body_seconds = SERVE_BODY_SECONDS,
		.idle_seconds = SERVE_IDLE_SECONDS,
		.write_seconds = SERVE_WRITE_SECONDS,
		.heartbeat_seconds = SERVE_HEARTBEAT_SECONDS,
		.retry_wait_seconds = SERVE_RETRY_WAIT_SECONDS,
		.mcp_sessions = SERVE_MCP_SESSIONS,
		.mcp_idle_seconds = SERVE_MCP_IDLE_SECONDS,
	};
	int r = config_read_own(serve_settings_read_section, &settings, err);
	if (r < 0) {
		serve_settings_free(&settings);
		return r;
	}
	*ret_settings = settings;
	return 0;
}

void serve_settings_free(struct settings *settings)
{
	arena_free(&settings->arena);
	*settings = (struct settings){ 0 };
}
