/* Any bytes as a binding: no crash, no hang; an error has a place, and what is
 * accepted is written as a text that reads the same. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "tool/binding.h"

static void check_promises(const struct tool_binding *binding)
{
	check(binding->name && binding->args && binding->capabilities && binding->env);
	check(binding->invocation_ns && binding->handshake_ns && binding->teardown_ns);
	check(binding->spares <= TOOL_SPARES_MAX);
	check(!binding->command[0] || binding->command[0] == '/');
	for (size_t i = 0; i < binding->pin_count; i++)
		check(binding->pins[i].path[0] == '/' || !binding->pins[i].path[0]);
}

static void check_round_trip(const struct tool_binding *binding, struct arena *arena)
{
	_cleanup_(buf_free) struct buf once = { 0 };
	_cleanup_(buf_free) struct buf twice = { 0 };
	struct tool_binding again;
	check(tool_binding_text(binding, &once, NULL) == 0);
	check(tool_binding_parse(
			  "/b/x.toml", (struct str){ once.data, once.len }, arena, &again, NULL) == 0);
	check(tool_binding_text(&again, &twice, NULL) == 0);
	check(str_eq((struct str){ once.data, once.len }, (struct str){ twice.data, twice.len }));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct tool_binding binding;
	perch_err err = { 0 };
	int r = tool_binding_parse(
		"/b/x.toml", (struct str){ (const char *)data, size }, &arena, &binding, &err);
	if (r == 0) {
		check_promises(&binding);
		check_round_trip(&binding, &arena);
		r = tool_binding_check(&binding, &err);
		check(r == 0 || err.text[0]);
	} else {
		check(err.code == r && err.line && err.column && err.text[0]);
	}
	arena_free(&arena);
	return 0;
}
