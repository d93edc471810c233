/* Until binding.c and schema.c are there: row 0 in a few words. Weak, so that the
 * real ones win; this file goes when they come. */
#include <errno.h>

#include "base/err.h"
#include "tool/binding.h"
#include "tool/schema.h"

#define PENDING __attribute__((weak))

static bool is_blank(const char *text)
{
	return !text || !str_trim(str_from(text)).len;
}

PENDING int tool_binding_check(const struct tool_binding *binding, perch_err *err)
{
	if (is_blank(binding->name) || is_blank(binding->command))
		return err_set(err, -EINVAL, "the binding has no name or no command");
	const char *const *list = binding->capabilities;
	for (size_t i = 0; list && list[i]; i++) {
		struct str entry = str_from(list[i]);
		bool is_wrong = is_blank(list[i]) || str_trim(entry).len != entry.len;
		for (size_t j = 0; j < i; j++)
			is_wrong |= str_is(entry, list[j]);
		if (is_wrong)
			return err_set(err, -EINVAL, "the allow-list entry \"%s\" is not usable", list[i]);
	}
	return 0;
}

PENDING int tool_schema_validate(struct str schema, struct str input, perch_err *err)
{
	(void)schema;
	(void)input;
	(void)err;
	return 0;
}

PENDING int tool_binding_find(
	const char *name, struct arena *arena, struct tool_binding *ret_binding, perch_err *err)
{
	(void)arena;
	(void)ret_binding;
	return err_set(err, -ENOSYS, "bindings cannot be read yet: %s", name);
}

PENDING int tool_binding_read(
	const char *path, struct arena *arena, struct tool_binding *ret_binding, perch_err *err)
{
	return tool_binding_find(path, arena, ret_binding, err);
}
