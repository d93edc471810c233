/* What a plugin asks for: answers of the user, and services of the host. */
#include <stdlib.h>

#include "plugin_parts.h"

static void plugin_ask_put_list(
	struct perch_json_writer *writer, const char *name, const char *const *items, size_t count)
{
	perch_json_write_name(writer, name);
	perch_json_begin_array(writer);
	for (size_t i = 0; i < count; i++)
		perch_json_write_string(writer, items[i]);
	perch_json_end_array(writer);
}

/* A copy of a string for the caller. */
static perch_plugin_status plugin_ask_give_text(const perch_json_value *value, char **ret_text)
{
	size_t len;
	const char *text = perch_json_string(value, &len);
	if (!text)
		return PERCH_PLUGIN_NONSENSE;
	*ret_text = str_dup((struct str){ text, len });
	return *ret_text ? PERCH_PLUGIN_OK : PERCH_PLUGIN_NO_MEMORY;
}

/* ---- the user ------------------------------------------------------------ */

perch_plugin_status perch_plugin_prompt(perch_plugin *plugin, const char *message,
	const char *default_text, const char *validator, char **ret_text)
{
	struct perch_json_writer writer = plugin_begin(plugin, "prompt");
	kit_put(&writer, "message", message);
	kit_put(&writer, "default", default_text);
	kit_put(&writer, "validate", validator);
	const perch_json_value *value;
	perch_plugin_status status = plugin_ask(plugin, &writer, &value);
	return status == PERCH_PLUGIN_OK ? plugin_ask_give_text(value, ret_text) : status;
}

perch_plugin_status perch_plugin_confirm(
	perch_plugin *plugin, const char *message, bool default_yes, bool *ret_yes)
{
	struct perch_json_writer writer = plugin_begin(plugin, "confirm");
	kit_put(&writer, "message", message);
	perch_json_write_name(&writer, "default");
	perch_json_write_bool(&writer, default_yes);
	const perch_json_value *value;
	perch_plugin_status status = plugin_ask(plugin, &writer, &value);
	if (status == PERCH_PLUGIN_OK && perch_json_bool(value, ret_yes) < 0)
		status = PERCH_PLUGIN_NONSENSE;
	return status;
}

/* Where a string of the host stands among our options; count = nowhere. */
static size_t plugin_ask_index_of(
	const perch_json_value *value, const char *const *options, size_t option_count)
{
	size_t i = 0;
	while (i < option_count && !perch_json_is(value, options[i]))
		i++;
	return i;
}

perch_plugin_status perch_plugin_select(perch_plugin *plugin, const char *message,
	const char *const *options, size_t option_count, size_t default_index, size_t *ret_index)
{
	struct perch_json_writer writer = plugin_begin(plugin, "select");
	kit_put(&writer, "message", message);
	plugin_ask_put_list(&writer, "options", options, option_count);
	if (default_index < option_count) {
		perch_json_write_name(&writer, "default");
		perch_json_write_uint64(&writer, default_index);
	}
	const perch_json_value *value;
	perch_plugin_status status = plugin_ask(plugin, &writer, &value);
	if (status != PERCH_PLUGIN_OK)
		return status;
	size_t index = plugin_ask_index_of(value, options, option_count);
	if (index == option_count)
		return PERCH_PLUGIN_NONSENSE;
	*ret_index = index;
	return PERCH_PLUGIN_OK;
}

static perch_plugin_status plugin_ask_read_chosen(
	const perch_json_value *list, const char *const *options, size_t option_count, bool *chosen)
{
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return PERCH_PLUGIN_NONSENSE;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		if (plugin_ask_index_of(value, options, option_count) == option_count)
			return PERCH_PLUGIN_NONSENSE;
	}
	memset(chosen, 0, option_count * sizeof(*chosen));
	iter = perch_json_iterate(list);
	for (const perch_json_value *value; (value = perch_json_next(&iter));)
		chosen[plugin_ask_index_of(value, options, option_count)] = true;
	return PERCH_PLUGIN_OK;
}

perch_plugin_status perch_plugin_multi_select(perch_plugin *plugin, const char *message,
	const char *const *options, size_t option_count, bool *chosen)
{
	struct perch_json_writer writer = plugin_begin(plugin, "multi_select");
	kit_put(&writer, "message", message);
	plugin_ask_put_list(&writer, "options", options, option_count);
	perch_json_write_name(&writer, "defaults");
	perch_json_begin_array(&writer);
	for (size_t i = 0; i < option_count; i++) {
		if (chosen[i])
			perch_json_write_uint64(&writer, i);
	}
	perch_json_end_array(&writer);
	const perch_json_value *value;
	perch_plugin_status status = plugin_ask(plugin, &writer, &value);
	return status == PERCH_PLUGIN_OK ? plugin_ask_read_chosen(value, options, option_count, chosen)
									 : status;
}

/* ---- what the host lends ------------------------------------------------- */

/* Without the capability the host would send an answer that looks like any other: the request is
 * not sent. */
#define REQUIRE(plugin, capability)         \
	do {                                    \
		if (!(plugin)->init.may.capability) \
			return PERCH_PLUGIN_DENIED;     \
	} while (0)

/* With an id, so that it is known when the value is on disk. */
perch_plugin_status perch_plugin_store(perch_plugin *plugin, const char *key, const char *value)
{
	REQUIRE(plugin, store);
	struct perch_json_writer writer = plugin_begin(plugin, "store");
	kit_put(&writer, "key", key);
	kit_put(&writer, "value", value);
	const perch_json_value *nothing;
	return plugin_ask(plugin, &writer, &nothing);
}

perch_plugin_status perch_plugin_load(perch_plugin *plugin, const char *key, char **ret_value)
{
	REQUIRE(plugin, store);
	struct perch_json_writer writer = plugin_begin(plugin, "load");
	kit_put(&writer, "key", key);
	const perch_json_value *value;
	perch_plugin_status status = plugin_ask(plugin, &writer, &value);
	if (status != PERCH_PLUGIN_OK)
		return status;
	if (perch_json_type_of(value) != PERCH_JSON_NULL)
		return plugin_ask_give_text(value, ret_value);
	*ret_value = NULL;
	return PERCH_PLUGIN_OK;
}

static perch_plugin_status plugin_ask_read_exec(
	const perch_json_value *value, perch_plugin_exec_result *result)
{
	int64_t code;
	if (perch_json_whole_int64(perch_json_get(value, "code"), &code) < 0)
		return PERCH_PLUGIN_NONSENSE;
	result->code = (int)code;
	result->out_truncated = json_flag(value, "stdout_truncated");
	result->err_truncated = json_flag(value, "stderr_truncated");
	perch_plugin_status status =
		plugin_ask_give_text(perch_json_get(value, "stdout"), &result->out);
	if (status == PERCH_PLUGIN_OK)
		status = plugin_ask_give_text(perch_json_get(value, "stderr"), &result->err);
	if (status != PERCH_PLUGIN_OK)
		return status;
	perch_json_string(perch_json_get(value, "stdout"), &result->out_length);
	perch_json_string(perch_json_get(value, "stderr"), &result->err_length);
	return PERCH_PLUGIN_OK;
}

perch_plugin_status perch_plugin_exec(perch_plugin *plugin, const char *command, const char *cwd,
	double timeout, perch_plugin_exec_result *ret_result)
{
	REQUIRE(plugin, exec);
	struct perch_json_writer writer = plugin_begin(plugin, "exec");
	kit_put(&writer, "command", command);
	kit_put(&writer, "cwd", cwd);
	if (timeout > 0) {
		perch_json_write_name(&writer, "timeout");
		perch_json_write_double(&writer, timeout);
	}
	const perch_json_value *value;
	perch_plugin_exec_result result = { 0 };
	perch_plugin_status status = plugin_ask(plugin, &writer, &value);
	if (status == PERCH_PLUGIN_OK)
		status = plugin_ask_read_exec(value, &result);
	if (status == PERCH_PLUGIN_OK)
		*ret_result = result;
	else
		perch_plugin_exec_free(&result);
	return status;
}

void perch_plugin_exec_free(perch_plugin_exec_result *result)
{
	free(result->out);
	free(result->err);
	*result = (perch_plugin_exec_result){ 0 };
}

perch_plugin_status perch_plugin_metadata(
	perch_plugin *plugin, const char *const *keys, size_t key_count, char **ret_json)
{
	REQUIRE(plugin, metadata);
	struct perch_json_writer writer = plugin_begin(plugin, "metadata");
	plugin_ask_put_list(&writer, "keys", keys, key_count);
	const perch_json_value *value;
	perch_plugin_status status = plugin_ask(plugin, &writer, &value);
	if (status != PERCH_PLUGIN_OK)
		return status;
	size_t len = 0;
	const char *raw = perch_json_raw(value, &len);
	*ret_json = str_dup((struct str){ raw, len });
	return *ret_json ? PERCH_PLUGIN_OK : PERCH_PLUGIN_NO_MEMORY;
}
