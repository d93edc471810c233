/* Templates of a profile. */
#include "agent/template.h"

#include <errno.h>
#include <string.h>

#define MESSAGE "{{MESSAGE}}"

/* Puts in what the template begins with; returns how long that was, 0 = it
 * begins with nothing of the kind. */
static size_t expand_name(
	struct buf *out, struct str template, const struct template_values *values)
{
	const struct {
		struct str name;
		struct str value;
		bool is_there;
	} names[] = {
		{ STR(MESSAGE), values->message, values->has_message },
		{ STR("{{SESSION_ID}}"), str_from(values->session_id), true },
		{ STR("{{SESSION_NAME}}"), str_from(values->session_name), true },
		{ STR("{{PROFILE_DIR}}"), str_from(values->profile_dir), true },
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!names[i].is_there || !str_has_prefix(template, names[i].name))
			continue;
		buf_append(out, names[i].value.data, names[i].value.len);
		return names[i].name.len;
	}
	return 0;
}

static bool is_name_character(char c, bool is_first)
{
	bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
	return is_letter || (!is_first && c >= '0' && c <= '9');
}

static size_t expand_variable(
	struct buf *out, struct str template, const struct template_values *values)
{
	if (!values->variable || !str_has_prefix(template, STR("${")))
		return 0;
	size_t end = 2;
	while (end < template.len && is_name_character(template.data[end], end == 2))
		end++;
	if (end == 2 || end == template.len || template.data[end] != '}')
		return 0;
	const char *value = values->variable(values->data, (struct str){ template.data + 2, end - 2 });
	if (value)
		buf_append_text(out, value);
	return end + 1;
}

int template_expand(struct buf *out, struct str template, const struct template_values *values)
{
	while (template.len) {
		size_t used = expand_name(out, template, values);
		if (!used)
			used = expand_variable(out, template, values);
		if (!used) {
			buf_append_char(out, template.data[0]);
			used = 1;
		}
		template.data += used;
		template.len -= used;
	}
	return out->failed ? -ENOMEM : 0;
}

bool template_uses_message(struct str template)
{
	return template.len && memmem(template.data, template.len, MESSAGE, strlen(MESSAGE));
}
