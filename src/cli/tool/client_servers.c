/* The MCP servers that the configuration of a client names. */
#include "cli/tool/client_servers.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "data/json.h"
#include "data/json_plain.h"
#include "data/toml.h"

/* ---- JSON ---------------------------------------------------------------------- */

/* A text without a NUL; "" where there is none. NULL without memory. */
static const char *client_text(struct arena *arena, const perch_json_value *value)
{
	struct str text = { 0 };
	text.data = perch_json_string(value, &text.len);
	if (!text.data || memchr(text.data, '\0', text.len))
		return "";
	return arena_dup(arena, text);
}

static const char *const *client_list(struct arena *arena, const perch_json_value *array)
{
	const char **list = arena_alloc(arena, (perch_json_count(array) + 1) * sizeof(*list));
	size_t count = 0;
	bool is_list = perch_json_type_of(array) == PERCH_JSON_ARRAY;
	perch_json_iter iter = perch_json_iterate(array);
	for (const perch_json_value *item; list && is_list && (item = perch_json_next(&iter));) {
		list[count] = client_text(arena, item);
		if (!list[count++])
			return NULL;
	}
	if (list)
		list[count] = NULL;
	return list;
}

/* The members of an object as NAME=VALUE. */
static const char *const *client_pairs(struct arena *arena, const perch_json_value *object)
{
	const char **list = arena_alloc(arena, (perch_json_count(object) + 1) * sizeof(*list));
	size_t count = 0;
	bool is_object = perch_json_type_of(object) == PERCH_JSON_OBJECT;
	perch_json_iter iter = perch_json_iterate(object);
	for (const perch_json_value *item; list && is_object && (item = perch_json_next(&iter));) {
		const char *name = client_text(arena, iter.name), *value = client_text(arena, item);
		if (!name || !value)
			return NULL;
		if (!name[0] || strchr(name, '='))
			continue;
		list[count] = arena_join(arena, name, "=", value, NULL);
		if (!list[count++])
			return NULL;
	}
	if (list)
		list[count] = NULL;
	return list;
}

static bool client_is_whole(const struct client_server *server)
{
	return server->name && server->command && server->url && server->args && server->env &&
		server->headers;
}

/* Zed writes the command of a server as an object, older ones with `path`. */
static int client_read_server(struct arena *arena, const char *name, const perch_json_value *object,
	struct client_server *ret_server, perch_err *err)
{
	const perch_json_value *command = perch_json_get(object, "command");
	const perch_json_value *of = object;
	if (perch_json_type_of(command) == PERCH_JSON_OBJECT) {
		of = command;
		command = perch_json_get(of, "path");
	}
	const perch_json_value *url = perch_json_get(object, "url");
	*ret_server = (struct client_server){
		.name = name,
		.command = client_text(arena, command),
		.url = client_text(arena, url ? url : perch_json_get(object, "httpUrl")),
		.args = client_list(arena, perch_json_get(of, "args")),
		.env = client_pairs(arena, perch_json_get(of, "env")),
		.headers = client_pairs(arena, perch_json_get(object, "headers")),
		.is_sse = perch_json_is(perch_json_get(object, "type"), "sse"),
		.is_disabled = json_flag(object, "disabled"),
	};
	return client_is_whole(ret_server) ? 0 : err_no_memory(err);
}

static const perch_json_value *client_find_servers(const perch_json_value *root)
{
	static const char *const keys[] = { "mcpServers", "servers", "context_servers" };
	const perch_json_value *found = NULL;
	for (size_t i = 0; i < COUNT(keys) && !found; i++)
		found = perch_json_get(root, keys[i]);
	if (!found) /* VS Code's settings.json */
		found = perch_json_get(perch_json_get(root, "mcp"), "servers");
	return perch_json_type_of(found) == PERCH_JSON_OBJECT ? found : NULL;
}

static int client_take_servers(struct arena *arena, const perch_json_value *object,
	struct client_servers *servers, perch_err *err)
{
	int r = 0;
	perch_json_iter iter = perch_json_iterate(object);
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));) {
		const char *name = client_text(arena, iter.name);
		if (!name)
			return err_no_memory(err);
		if (perch_json_type_of(item) == PERCH_JSON_OBJECT && name[0])
			r = client_read_server(arena, name, item, &servers->items[servers->count++], err);
	}
	return r;
}

static int client_make_room(
	struct arena *arena, size_t count, struct client_servers *servers, perch_err *err)
{
	if (count > CLIENT_SERVERS_MAX)
		return err_set(err, PERCH_ELIMIT, "it has more than %d servers", CLIENT_SERVERS_MAX);
	*servers = (struct client_servers){ .items = arena_alloc(
											arena, (count + 1) * sizeof(*servers->items)) };
	return servers->items ? 0 : err_no_memory(err);
}

int client_servers_read_json(
	struct str text, struct arena *arena, struct client_servers *ret_servers, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	_cleanup_(buf_free) struct buf plain = { 0 };
	const perch_json_value *root = NULL;
	if (json_plain(text, &plain) < 0 || perch_json_new(NULL, &json) < 0)
		return err_no_memory(err);
	int r = perch_json_parse(json, plain.data ? plain.data : "", plain.len, &root, err);
	if (r < 0)
		return r;
	const perch_json_value *object = client_find_servers(root);
	if (!object)
		return err_set(err, -EINVAL, "there are no MCP servers in it");
	r = client_make_room(arena, perch_json_count(object), ret_servers, err);
	return r < 0 ? r : client_take_servers(arena, object, ret_servers, err);
}

/* ---- TOML ---------------------------------------------------------------------- */

static int client_toml_text(struct arena *arena, const struct toml_value *table, const char *key,
	const char **ret_text, perch_err *err)
{
	const char *text = "";
	int r = toml_get_string(table, key, &text, err);
	*ret_text = arena_dup(arena, str_from(text));
	return r < 0 ? r : *ret_text ? 0 : err_no_memory(err);
}

static int client_toml_pairs(struct arena *arena, const struct toml_value *table, const char *key,
	const char *const **ret_list, perch_err *err)
{
	const struct toml_value *pairs = NULL;
	int r = toml_get_table(table, key, &pairs, err);
	size_t count = pairs ? pairs->count : 0;
	const char **list = arena_alloc(arena, (count + 1) * sizeof(*list));
	if (r >= 0 && !list)
		return err_no_memory(err);
	for (size_t i = 0; r >= 0 && i < count; i++) {
		const char *value = "";
		r = toml_get_string(pairs, pairs->items[i]->key.data, &value, err);
		list[i] = arena_join(arena, pairs->items[i]->key.data, "=", value, NULL);
		if (r >= 0 && !list[i])
			return err_no_memory(err);
	}
	if (r < 0)
		return r;
	list[count] = NULL;
	*ret_list = list;
	return 0;
}

/* Codex names variables where others write placeholders. */
static int client_toml_headers(struct arena *arena, const struct toml_value *table,
	struct client_server *server, perch_err *err)
{
	const char *const *plain = NULL;
	const char *const *named = NULL;
	const char *bearer = NULL;
	int r = client_toml_pairs(arena, table, "http_headers", &plain, err);
	if (r == 0)
		r = client_toml_pairs(arena, table, "env_http_headers", &named, err);
	if (r == 0)
		r = client_toml_text(arena, table, "bearer_token_env_var", &bearer, err);
	if (r < 0)
		return r;
	size_t count = list_count(plain), more = list_count(named);
	const char **list = arena_alloc(arena, (count + more + 2) * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	memcpy(list, plain, count * sizeof(*list));
	for (size_t i = 0; i < more; i++) {
		const char *equals = strchr(named[i], '=');
		const char *name = arena_dup(arena, (struct str){ named[i], (size_t)(equals - named[i]) });
		list[count++] = name ? arena_join(arena, name, "=${", equals + 1, "}", NULL) : NULL;
	}
	if (bearer[0])
		list[count++] = arena_join(arena, "Authorization=Bearer ${", bearer, "}", NULL);
	list[count] = NULL;
	for (size_t i = list_count(plain); i < count; i++)
		if (!list[i])
			return err_no_memory(err);
	server->headers = list;
	return 0;
}

static int client_read_table(struct arena *arena, const struct toml_value *table,
	struct client_server *server, perch_err *err)
{
	bool is_enabled = true;
	server->name = arena_dup(arena, table->key);
	if (!server->name)
		return err_no_memory(err);
	int r = client_toml_text(arena, table, "command", &server->command, err);
	if (r == 0)
		r = client_toml_text(arena, table, "url", &server->url, err);
	if (r == 0)
		r = toml_get_strings(table, "args", arena, &server->args, err);
	if (r == 0)
		r = client_toml_pairs(arena, table, "env", &server->env, err);
	if (r == 0)
		r = client_toml_headers(arena, table, server, err);
	if (r == 0)
		r = toml_get_bool(table, "enabled", &is_enabled, err);
	server->is_disabled = !is_enabled;
	return r < 0 ? r : 0;
}

int client_servers_read_toml(
	struct str text, struct arena *arena, struct client_servers *ret_servers, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	const struct toml_value *tables = NULL;
	int r = toml_parse(text, NULL, &toml, err);
	if (r == 0)
		r = toml_get_table(toml_root(toml), "mcp_servers", &tables, err);
	if (r < 0)
		return r;
	if (!tables)
		return err_set(err, -EINVAL, "there are no MCP servers in it");
	r = client_make_room(arena, tables->count, ret_servers, err);
	for (size_t i = 0; r == 0 && i < tables->count; i++) {
		if (tables->items[i]->type == TOML_TABLE)
			r = client_read_table(
				arena, tables->items[i], &ret_servers->items[ret_servers->count++], err);
	}
	return r;
}

/* ---- secrets --------------------------------------------------------------------- */

static bool client_has(struct str text, const char *part)
{
	size_t len = strlen(part);
	for (size_t i = 0; i + len <= text.len; i++) {
		if (strncasecmp(text.data + i, part, len) == 0)
			return true;
	}
	return false;
}

bool client_secret_option(const char *word, size_t *ret_value)
{
	static const char *const parts[] = { "api-key", "api_key", "apikey", "token", "secret",
		"password", "passwd", "credential", "access-key", "access_key" };
	const char *equals = strchr(word, '=');
	struct str name = { word, equals ? (size_t)(equals - word) : strlen(word) };
	if (strncmp(word, "--", 2) != 0) /* -ctoken=… may be code, which is to be shown */
		return false;
	*ret_value = equals ? name.len + 1 : 0;
	for (size_t i = 0; i < COUNT(parts); i++) {
		if (client_has(name, parts[i]))
			return true;
	}
	return false;
}

bool client_is_placeholder(const char *value, struct str *ret_variable)
{
	struct str text = str_trim(str_from(value));
	*ret_variable = (struct str){ "", 0 };
	if (!text.len)
		return true;
	bool is_braced = text.len > 3 && text.data[0] == '$' && text.data[1] == '{' &&
		text.data[text.len - 1] == '}';
	if (is_braced) {
		struct str inner = { text.data + 2, text.len - 3 };
		if (str_has_prefix(inner, STR("env:")))
			inner = (struct str){ inner.data + 4, inner.len - 4 };
		struct str name = str_cut(&inner, ':');
		if (!inner.len || inner.data[0] == '-') /* ${NAME:-default} */
			*ret_variable = name;
		return true;
	}
	bool is_angled = text.data[0] == '<' && text.data[text.len - 1] == '>';
	return is_angled || client_has(text, "your_") || client_has(text, "your-") ||
		client_has(text, "_here") || client_has(text, "xxxx");
}
