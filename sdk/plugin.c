/* The conversation of a plugin with its host: the first message, requests and
 * their answers, cancels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/macros.h"
#include "plugin_parts.h"

const char *perch_plugin_status_name(perch_plugin_status status)
{
	static const char *const names[] = {
		[PERCH_PLUGIN_OK] = "ok",
		[PERCH_PLUGIN_CANCELLED] = "cancelled",
		[PERCH_PLUGIN_DENIED] = "denied",
		[PERCH_PLUGIN_CLOSED] = "closed",
		[PERCH_PLUGIN_NONSENSE] = "nonsense",
		[PERCH_PLUGIN_NO_MEMORY] = "no memory",
	};
	return (size_t)status < COUNT(names) ? names[status] : "unknown";
}

/* What a failed read or write means. */
static perch_plugin_status plugin_failure(int error)
{
	switch (error) {
	case -ENOMEM:
		return PERCH_PLUGIN_NO_MEMORY;
	case -EMSGSIZE:
		return PERCH_PLUGIN_NONSENSE;
	default:
		return PERCH_PLUGIN_CLOSED;
	}
}

/* ---- reading ------------------------------------------------------------- */

static perch_plugin_status plugin_parse(
	perch_plugin *plugin, struct str line, const perch_json_value **ret_message)
{
	int r = perch_json_parse(plugin->json, line.data, line.len, ret_message, NULL);
	if (r == -ENOMEM)
		return PERCH_PLUGIN_NO_MEMORY;
	if (r < 0 || perch_json_type_of(*ret_message) != PERCH_JSON_OBJECT)
		return PERCH_PLUGIN_NONSENSE;
	return PERCH_PLUGIN_OK;
}

/* The next message; blank lines do not count. */
static perch_plugin_status plugin_read_message(
	perch_plugin *plugin, bool waits, const perch_json_value **ret_message)
{
	struct str line;
	do {
		int r = wire_read(&plugin->wire, waits, &line);
		if (r == -EAGAIN) {
			*ret_message = NULL;
			return PERCH_PLUGIN_OK;
		}
		if (r <= 0)
			return plugin_failure(r);
	} while (str_trim(line).len == 0);
	return plugin_parse(plugin, line, ret_message);
}

static struct asked *plugin_find_asked(const perch_plugin *plugin, unsigned long id)
{
	struct asked *asked = plugin->asked;
	while (asked && asked->id != id)
		asked = asked->next;
	return asked;
}

/* Our ids are decimal numbers in a string; another id belongs to no request of ours. */
static struct asked *plugin_asked_of(const perch_plugin *plugin, const perch_json_value *message)
{
	size_t len;
	const char *text = perch_json_string(perch_json_get(message, "id"), &len);
	unsigned long id = 0;
	if (!text || len == 0 || len > 18)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return NULL;
		id = id * 10 + (unsigned long)(text[i] - '0');
	}
	return plugin_find_asked(plugin, id);
}

static void plugin_note_cancel(perch_plugin *plugin, const perch_json_value *message)
{
	size_t len;
	const char *reason = perch_json_string(perch_json_get(message, "reason"), &len);
	snprintf(plugin->reason, sizeof(plugin->reason), "%.*s", reason ? (int)len : 9,
		reason ? reason : "cancelled");
	if (plugin->cancelled)
		plugin->cancelled(plugin->cancelled_data, plugin->reason);
}

static perch_plugin_status plugin_take_cancel(perch_plugin *plugin, const perch_json_value *message)
{
	struct asked *asked = plugin_asked_of(plugin, message);
	if (asked) {
		asked->is_answered = true;
		asked->status = PERCH_PLUGIN_CANCELLED;
	} else if (perch_json_type_of(perch_json_get(message, "id")) <= PERCH_JSON_NULL) {
		plugin->is_over = true;
	}
	plugin_note_cancel(plugin, message);
	return PERCH_PLUGIN_OK;
}

static perch_plugin_status plugin_take_response(
	perch_plugin *plugin, const perch_json_value *message)
{
	struct asked *asked = plugin_asked_of(plugin, message);
	if (!asked || asked->is_answered)
		return PERCH_PLUGIN_OK;
	size_t len = 0;
	const char *raw = perch_json_raw(perch_json_get(message, "value"), &len);
	asked->value = str_dup(raw ? (struct str){ raw, len } : STR("null"));
	asked->is_answered = true;
	asked->status = asked->value ? PERCH_PLUGIN_OK : PERCH_PLUGIN_NO_MEMORY;
	return PERCH_PLUGIN_OK;
}

/* Messages of a later protocol are ignored. */
static perch_plugin_status plugin_take_message(
	perch_plugin *plugin, const perch_json_value *message)
{
	const perch_json_value *type = perch_json_get(message, "type");
	if (perch_json_is(type, "response"))
		return plugin_take_response(plugin, message);
	if (perch_json_is(type, "cancel"))
		return plugin_take_cancel(plugin, message);
	return perch_json_type_of(type) == PERCH_JSON_STRING ? PERCH_PLUGIN_OK : PERCH_PLUGIN_NONSENSE;
}

perch_plugin_status perch_plugin_poll(perch_plugin *plugin)
{
	for (;;) {
		const perch_json_value *message;
		perch_plugin_status status = plugin_read_message(plugin, false, &message);
		if (status == PERCH_PLUGIN_OK && message)
			status = plugin_take_message(plugin, message);
		if (status != PERCH_PLUGIN_OK)
			return status;
		if (!message)
			return plugin->is_over ? PERCH_PLUGIN_CANCELLED : PERCH_PLUGIN_OK;
	}
}

/* ---- opening ------------------------------------------------------------- */

static perch_plugin_status plugin_await_init(perch_plugin *plugin)
{
	const perch_json_value *message;
	perch_plugin_status status = plugin_read_message(plugin, true, &message);
	return status == PERCH_PLUGIN_OK ? plugin_read_init(plugin, message) : status;
}

perch_plugin_status perch_plugin_open_on(int in_fd, int out_fd, perch_plugin **ret_plugin)
{
	perch_plugin *plugin = calloc(1, sizeof(*plugin));
	if (!plugin)
		return PERCH_PLUGIN_NO_MEMORY;
	plugin->wire.in = in_fd;
	plugin->wire.out = out_fd;
	plugin->next_id = 1;
	perch_json_options options = PERCH_JSON_OPTIONS_INIT;
	options.text_max = PERCH_JSON_TEXT_CEILING;
	options.replace_invalid_utf8 = true;
	perch_plugin_status status = PERCH_PLUGIN_NO_MEMORY;
	if (perch_json_new(&options, &plugin->json) == 0)
		status = plugin_await_init(plugin);
	if (status != PERCH_PLUGIN_OK) {
		perch_plugin_close(plugin);
		return status;
	}
	*ret_plugin = plugin;
	return PERCH_PLUGIN_OK;
}

perch_plugin_status perch_plugin_open(perch_plugin **ret_plugin)
{
	return perch_plugin_open_on(STDIN_FILENO, STDOUT_FILENO, ret_plugin);
}

static void plugin_drop_asked(perch_plugin *plugin, struct asked *dropped)
{
	struct asked **place = &plugin->asked;
	while (*place != dropped)
		place = &(*place)->next;
	*place = dropped->next;
	free(dropped->value);
	free(dropped);
}

void perch_plugin_close(perch_plugin *plugin)
{
	if (!plugin)
		return;
	while (plugin->asked)
		plugin_drop_asked(plugin, plugin->asked);
	perch_json_free(plugin->json);
	arena_free(&plugin->arena);
	buf_free(&plugin->line);
	wire_free(&plugin->wire);
	free(plugin);
}

const perch_plugin_init *perch_plugin_about(const perch_plugin *plugin)
{
	return &plugin->init;
}

void perch_plugin_on_cancel(perch_plugin *plugin, perch_plugin_cancel_fn *cancelled, void *data)
{
	plugin->cancelled = cancelled;
	plugin->cancelled_data = data;
}

const char *perch_plugin_cancel_reason(const perch_plugin *plugin)
{
	return plugin->reason;
}

/* ---- writing ------------------------------------------------------------- */

struct perch_json_writer plugin_begin(perch_plugin *plugin, const char *type)
{
	buf_clear(&plugin->line);
	struct perch_json_writer writer = json_writer_on(&plugin->line);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "type");
	perch_json_write_string(&writer, type);
	return writer;
}

perch_plugin_status plugin_finish(perch_plugin *plugin, struct perch_json_writer *writer)
{
	perch_json_end_object(writer);
	buf_append_char(&plugin->line, '\n');
	if (plugin->line.failed)
		return PERCH_PLUGIN_NO_MEMORY;
	int r = wire_write(&plugin->wire, (struct str){ plugin->line.data, plugin->line.len });
	return r < 0 ? plugin_failure(r) : PERCH_PLUGIN_OK;
}

/* Gives the message that is being written an id, and sends it. */
static perch_plugin_status plugin_send_request(
	perch_plugin *plugin, struct perch_json_writer *writer, unsigned long *ret_id)
{
	if (plugin->is_over)
		return PERCH_PLUGIN_CANCELLED;
	struct asked *asked = calloc(1, sizeof(*asked));
	if (!asked)
		return PERCH_PLUGIN_NO_MEMORY;
	asked->id = plugin->next_id++;
	asked->next = plugin->asked;
	plugin->asked = asked;
	char id[24];
	snprintf(id, sizeof(id), "%lu", asked->id);
	perch_json_write_name(writer, "id");
	perch_json_write_string(writer, id);
	perch_plugin_status status = plugin_finish(plugin, writer);
	if (status == PERCH_PLUGIN_OK)
		*ret_id = asked->id;
	else
		plugin_drop_asked(plugin, asked);
	return status;
}

perch_plugin_status perch_plugin_send(
	perch_plugin *plugin, const char *type, const char *fields, unsigned long *ret_id)
{
	struct perch_json_writer writer = plugin_begin(plugin, type);
	if (fields[0]) {
		buf_append_char(&plugin->line, ',');
		buf_append_text(&plugin->line, fields);
	}
	return plugin_send_request(plugin, &writer, ret_id);
}

/* ---- waiting ------------------------------------------------------------- */

static perch_plugin_status plugin_await(perch_plugin *plugin, struct asked *asked)
{
	while (!asked->is_answered) {
		const perch_json_value *message;
		perch_plugin_status status = plugin_read_message(plugin, true, &message);
		if (status == PERCH_PLUGIN_OK)
			status = plugin_take_message(plugin, message);
		if (status != PERCH_PLUGIN_OK)
			return status;
		if (plugin->is_over)
			return PERCH_PLUGIN_CANCELLED;
	}
	return asked->status;
}

perch_plugin_status perch_plugin_wait(perch_plugin *plugin, unsigned long id, char **ret_json)
{
	struct asked *asked = plugin_find_asked(plugin, id);
	if (!asked)
		return PERCH_PLUGIN_NONSENSE;
	perch_plugin_status status = plugin_await(plugin, asked);
	if (status == PERCH_PLUGIN_OK) {
		*ret_json = asked->value;
		asked->value = NULL;
	}
	plugin_drop_asked(plugin, asked);
	return status;
}

perch_plugin_status plugin_ask(
	perch_plugin *plugin, struct perch_json_writer *writer, const perch_json_value **ret_value)
{
	unsigned long id;
	char *value;
	perch_plugin_status status = plugin_send_request(plugin, writer, &id);
	if (status == PERCH_PLUGIN_OK)
		status = perch_plugin_wait(plugin, id, &value);
	if (status != PERCH_PLUGIN_OK)
		return status;
	/* The text of the value must live as long as what is read from it. */
	buf_clear(&plugin->line);
	buf_append_text(&plugin->line, value);
	free(value);
	if (plugin->line.failed)
		return PERCH_PLUGIN_NO_MEMORY;
	int r = perch_json_parse(plugin->json, plugin->line.data, plugin->line.len, ret_value, NULL);
	return r < 0 ? PERCH_PLUGIN_NO_MEMORY : PERCH_PLUGIN_OK;
}
