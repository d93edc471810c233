/* Writing a binding, as an operator would: defaults are left out. */
#include <inttypes.h>
#include <limits.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/replace.h"
#include "data/toml_edit.h"
#include "tool/binding.h"
#include "tool/binding_write.h"

static const char heading[] =
	"# What the operator has bound; a plugin never writes it. docs: perch help tool\n"
	"schema = 1\n";

static void binding_write_text(struct buf *out, const char *key, const char *text)
{
	toml_write_key(out, key);
	buf_append_text(out, " = ");
	toml_write_string(out, text);
	buf_append_char(out, '\n');
}

void binding_write_text_unless(
	struct buf *out, const char *key, const char *text, const char *usual)
{
	if (strcmp(text, usual) != 0)
		binding_write_text(out, key, text);
}

void binding_write_list(struct buf *out, const char *key, const char *const *list)
{
	const struct toml_entry entry = {
		.key = key, .type = TOML_ARRAY, .strings = list, .count = list_count(list)
	};
	if (entry.count == 0)
		return;
	toml_write_lines(out, (struct str){ 0 }, &entry, 1, "\n");
}

/* Without the locale's decimal point. */
void binding_write_seconds_unless(
	struct buf *out, const char *key, uint64_t time_ns, uint64_t usual)
{
	if (time_ns == usual)
		return;
	buf_printf(
		out, "%s = %" PRIu64 ".%09" PRIu64, key, time_ns / NSEC_PER_SEC, time_ns % NSEC_PER_SEC);
	while (!out->failed && out->data[out->len - 1] == '0' && out->data[out->len - 2] != '.')
		out->len--;
	buf_append_char(out, '\n');
}

static void binding_write_count(struct buf *out, const char *key, uint64_t count)
{
	if (count)
		buf_printf(out, "%s = %" PRIu64 "\n", key, count);
}

size_t binding_write_begin_table(struct buf *out, const char *header)
{
	size_t start = out->len;
	buf_printf(out, "\n%s\n", header);
	return start;
}

void binding_write_end_table(struct buf *out, size_t start, const char *header)
{
	if (!out->failed && out->len == start + strlen(header) + 2)
		out->len = start;
}

static bool binding_write_is_command_pinned(const struct tool_binding *binding)
{
	return binding->pin_count && strcmp(binding->pins[0].path, binding->command) == 0;
}

static void binding_write_root(struct buf *out, const struct tool_binding *binding)
{
	buf_append_text(out, heading);
	binding_write_text(out, "name", binding->name);
	binding_write_text_unless(out, "command", binding->command, "");
	binding_write_list(out, "args", binding->args);
	binding_write_text_unless(out, "dir", binding->directory, "");
	binding_write_text_unless(out, "protocol", binding->protocol, TOOL_PROTOCOL);
	binding_write_list(out, "capabilities", binding->capabilities);
	if (binding_write_is_command_pinned(binding))
		binding_write_text(out, "sha256", binding->pins[0].sha256);
	binding_write_count(out, "spares", binding->spares);
	binding_write_seconds_unless(
		out, "spare_ttl", binding->spare_ttl_ns, TOOL_SPARE_TTL_DEFAULT_NS);
	binding_write_text_unless(
		out, "verdict", tool_verdict_name(binding->verdict), tool_verdict_name(TOOL_VERDICT_EXIT));
}

static void binding_write_env(struct buf *out, const struct tool_binding *binding)
{
	size_t start = binding_write_begin_table(out, "[env]");
	for (const char *const *variable = binding->env; *variable; variable++) {
		struct str name = environment_name(*variable);
		_cleanup_free_ char *key = str_dup(name);
		out->failed |= !key;
		if (key)
			binding_write_text(out, key, *variable + name.len + 1);
	}
	binding_write_end_table(out, start, "[env]");
}

static void binding_write_timeouts(struct buf *out, const struct tool_binding *binding)
{
	size_t start = binding_write_begin_table(out, "[timeouts]");
	const struct tool_binding usual =
		binding->server.is_server ? tool_binding_default_server() : tool_binding_default();
	binding_write_seconds_unless(out, "invocation", binding->invocation_ns, usual.invocation_ns);
	binding_write_seconds_unless(out, "handshake", binding->handshake_ns, usual.handshake_ns);
	binding_write_seconds_unless(out, "teardown", binding->teardown_ns, usual.teardown_ns);
	binding_write_end_table(out, start, "[timeouts]");
}

static void binding_write_sandbox(struct buf *out, const struct tool_binding *binding)
{
	const struct policy_widening *widening = &binding->widening;
	size_t start = binding_write_begin_table(out, "[sandbox]");
	if (widening->is_off)
		binding_write_text(out, "mode", "off");
	binding_write_list(out, "read", widening->read);
	binding_write_list(out, "write", widening->write);
	if (widening->net != WIDENING_NET_KEEP)
		binding_write_text(out, "net", widening->net == WIDENING_NET_FULL ? "full" : "none");
	binding_write_list(out, "env", widening->env);
	binding_write_list(out, "presets", widening->presets);
	binding_write_end_table(out, start, "[sandbox]");
	start = binding_write_begin_table(out, "[sandbox.limits]");
	binding_write_count(out, "memory", binding->limits.memory);
	binding_write_count(out, "processes", binding->limits.processes);
	binding_write_count(out, "files", binding->limits.files);
	binding_write_count(out, "size", binding->limits.size);
	binding_write_count(out, "cpu", binding->limits.cpu);
	binding_write_end_table(out, start, "[sandbox.limits]");
}

static void binding_write_pins(struct buf *out, const struct tool_binding *binding)
{
	size_t start = binding_write_begin_table(out, "[pin]");
	for (size_t i = binding_write_is_command_pinned(binding); i < binding->pin_count; i++)
		binding_write_text(out, binding->pins[i].path, binding->pins[i].sha256);
	binding_write_end_table(out, start, "[pin]");
}

static void binding_write_tools(struct buf *out, const struct tool_binding *binding)
{
	for (size_t i = 0; i < binding->tool_count; i++) {
		const struct tool_known *tool = &binding->tools[i];
		buf_append_text(out, "\n[[tools]]\n");
		binding_write_text(out, "name", tool->name);
		binding_write_text_unless(out, "title", tool->title, "");
		binding_write_text_unless(out, "description", tool->description, "");
		binding_write_text_unless(out, "input_schema", tool->input_schema, "");
		binding_write_text_unless(out, "output_schema", tool->output_schema, "");
		binding_write_text_unless(out, "annotations", tool->annotations, "");
		binding_write_text_unless(out, "pin", tool->pin, "");
		if (tool->asks)
			buf_append_text(out, "ask = true\n");
	}
}

int tool_binding_text(const struct tool_binding *binding, struct buf *out, perch_err *err)
{
	binding_write_root(out, binding);
	binding_write_env(out, binding);
	binding_write_timeouts(out, binding);
	binding_write_sandbox(out, binding);
	binding_write_pins(out, binding);
	binding_write_server(out, binding);
	binding_write_tools(out, binding);
	return out->failed ? err_no_memory(err) : 0;
}

/* A value that cannot be read again must not be written: a name that is no UTF-8, a variable that
 * stands twice. */
static int binding_write_check_text(
	const struct tool_binding *binding, const struct buf *text, perch_err *err)
{
	struct arena arena = { 0 };
	struct tool_binding again;
	int r = tool_binding_parse(
		binding->path, (struct str){ text->data, text->len }, &arena, &again, err);
	arena_free(&arena);
	return r;
}

static int binding_write_replace(const char *path, struct str text, perch_err *err)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = str_dup((struct str){ path, (size_t)(slash - path) });
	if (!folder)
		return err_no_memory(err);
	int r = paths_make(folder[0] ? folder : "/", err);
	if (r < 0)
		return r;
	r = replace_path(path, text);
	char shown[FILE_SHOWN_MAX];
	if (r < 0)
		return err_set(err, r, "cannot write %s: %s", file_shown(path, shown), perch_strerror(r));
	return 0;
}

int tool_binding_write(const struct tool_binding *binding, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = tool_binding_text(binding, &text, err);
	if (r == 0)
		r = binding_write_check_text(binding, &text, err);
	return r < 0 ? r
				 : binding_write_replace(binding->path, (struct str){ text.data, text.len }, err);
}
