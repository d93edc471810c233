/* The bindings of include/perch/tool.h: a binding and the memory it lives in. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/sized.h"
#include "tool/tool_api_parts.h"

static const char *api_binding_copy_text(
	struct arena *arena, const char *text, const char *otherwise)
{
	return text ? arena_dup(arena, str_from(text)) : otherwise;
}

static const struct tool_pin *api_binding_copy_pins(
	struct arena *arena, const perch_tool_pin *pins, size_t count)
{
	struct tool_pin *copy = arena_alloc(arena, count * sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i].path = arena_dup(arena, str_from(pins[i].path));
		copy[i].sha256 = arena_dup(arena, str_from(pins[i].sha256));
		if (!copy[i].path || !copy[i].sha256)
			return NULL;
	}
	return copy;
}

static uint64_t api_binding_either(uint64_t given, uint64_t otherwise)
{
	return given ? given : otherwise;
}

static struct policy_widening api_binding_copy_widening(
	struct arena *arena, const perch_tool_spec *spec)
{
	bool is_none = spec->net == PERCH_TOOL_NET_NONE;
	bool is_full = spec->net == PERCH_TOOL_NET_FULL;
	return (struct policy_widening){
		.is_off = spec->no_sandbox,
		.read = arena_dup_list(arena, spec->read),
		.write = arena_dup_list(arena, spec->write),
		.env = arena_dup_list(arena, spec->keep_env),
		.presets = arena_dup_list(arena, spec->presets),
		.net = is_full ? WIDENING_NET_FULL
			: is_none  ? WIDENING_NET_NONE
					   : WIDENING_NET_KEEP,
	};
}

/* When memory ran out, texts of the copy are NULL that must not be. */
static bool api_binding_is_whole(const struct tool_binding *binding)
{
	return binding->name && binding->command && binding->args && binding->directory &&
		binding->protocol && binding->capabilities && binding->env && binding->pins &&
		binding->widening.read && binding->widening.write && binding->widening.env &&
		binding->widening.presets;
}

static int api_binding_fill(
	perch_tool_binding *binding, const perch_tool_spec *spec, perch_err *err)
{
	struct arena *arena = &binding->arena;
	binding->bound = (struct tool_binding){
		.path = "",
		.name = api_binding_copy_text(arena, spec->name, ""),
		.command = api_binding_copy_text(arena, spec->command, ""),
		.args = arena_dup_list(arena, spec->args),
		.directory = api_binding_copy_text(arena, spec->directory, ""),
		.protocol = api_binding_copy_text(arena, spec->protocol, TOOL_PROTOCOL),
		.capabilities = arena_dup_list(arena, spec->capabilities),
		.env = arena_dup_list(arena, spec->env),
		.invocation_ns = api_binding_either(spec->invocation_ns, TOOL_INVOCATION_DEFAULT_NS),
		.handshake_ns = api_binding_either(spec->handshake_ns, TOOL_HANDSHAKE_DEFAULT_NS),
		.teardown_ns = api_binding_either(spec->teardown_ns, TOOL_TEARDOWN_DEFAULT_NS),
		.pins = api_binding_copy_pins(arena, spec->pins, spec->pin_count),
		.pin_count = spec->pin_count,
		.spares = spec->spares,
		.spare_ttl_ns = api_binding_either(spec->spare_ttl_ns, TOOL_SPARE_TTL_DEFAULT_NS),
		.verdict = spec->verdict == PERCH_TOOL_VERDICT_RESPONSE ? TOOL_VERDICT_RESPONSE
																: TOOL_VERDICT_EXIT,
		.widening = api_binding_copy_widening(arena, spec),
	};
	if (!api_binding_is_whole(&binding->bound))
		return err_no_memory(err);
	return tool_binding_check(&binding->bound, err);
}

DEFINE_POINTER_CLEANUP(free_binding, perch_tool_binding, perch_tool_binding_free)

int perch_tool_binding_new(
	const perch_tool_spec *spec, perch_tool_binding **ret_binding, perch_err *err)
{
	perch_tool_spec copy = PERCH_TOOL_SPEC_INIT;
	int r = sized_copy(&copy, sizeof(copy), spec, SIZED_UP_TO(perch_tool_spec, presets), err);
	if (r < 0)
		return r;
	_cleanup_(free_binding) perch_tool_binding *binding = calloc(1, sizeof(*binding));
	if (!binding)
		return err_no_memory(err);
	r = api_binding_fill(binding, &copy, err);
	if (r == 0)
		*ret_binding = steal(&binding);
	return r;
}

/* Reads it by one of the two functions. */
static int api_binding_load(
	int (*read)(const char *, struct arena *, struct tool_binding *, perch_err *), const char *what,
	perch_tool_binding **ret_binding, perch_err *err)
{
	_cleanup_(free_binding) perch_tool_binding *binding = calloc(1, sizeof(*binding));
	if (!binding)
		return err_no_memory(err);
	int r = read(what, &binding->arena, &binding->bound, err);
	if (r == 0)
		*ret_binding = steal(&binding);
	return r;
}

static int api_binding_find_granted(
	const char *name, struct arena *arena, struct tool_binding *ret_binding, perch_err *err)
{
	int r = tool_binding_find(name, arena, ret_binding, err);
	return r < 0 ? r : tool_binding_grant(name, arena, ret_binding, err);
}

int perch_tool_binding_find(const char *name, perch_tool_binding **ret_binding, perch_err *err)
{
	return api_binding_load(api_binding_find_granted, name, ret_binding, err);
}

int perch_tool_binding_read(const char *path, perch_tool_binding **ret_binding, perch_err *err)
{
	return api_binding_load(tool_binding_read, path, ret_binding, err);
}

void perch_tool_binding_free(perch_tool_binding *binding)
{
	if (!binding)
		return;
	arena_free(&binding->arena);
	free(binding);
}
