/* Templates of a profile. */
#include "agent/template.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE "{{MESSAGE}}"
#define SESSION_NAME "{{SESSION_NAME}}"

enum { NAME_MESSAGE, NAME_SESSION_ID, NAME_SESSION_NAME, NAME_PROFILE_DIR, NAME_PERCH_DIR, NAMES };

static const char *const names[NAMES] = {
	[NAME_MESSAGE] = "MESSAGE",
	[NAME_SESSION_ID] = "SESSION_ID",
	[NAME_SESSION_NAME] = "SESSION_NAME",
	[NAME_PROFILE_DIR] = "PROFILE_DIR",
	[NAME_PERCH_DIR] = "PERCH_DIR",
};

/* The NAME when the template begins with {{NAME}}, in capitals as all of ours are;
 * else nothing. */
static struct str template_read_name(struct str template)
{
	if (!str_has_prefix(template, STR("{{")))
		return (struct str){ 0 };
	struct str name = { template.data + 2, 0 };
	size_t most = template.len - 2;
	while (name.len < most &&
		((name.data[name.len] >= 'A' && name.data[name.len] <= 'Z') || name.data[name.len] == '_'))
		name.len++;
	struct str rest = { name.data + name.len, most - name.len };
	return str_has_prefix(rest, STR("}}")) ? name : (struct str){ 0 };
}

static int template_find_name(struct str name)
{
	for (int i = 0; i < NAMES; i++) {
		if (str_is(name, names[i]))
			return i;
	}
	return -1;
}

/* Expands the placeholder at the start of the template; returns its length, 0 = there is none. */
static size_t template_expand_name(
	struct buf *out, struct str template, const struct template_values *values)
{
	struct str name = template_read_name(template);
	int which = template_find_name(name);
	if (which < 0 || (which == NAME_MESSAGE && !values->has_message))
		return 0;
	const struct str texts[NAMES] = {
		[NAME_MESSAGE] = values->message,
		[NAME_SESSION_ID] = str_from(values->session_id),
		[NAME_SESSION_NAME] = str_from(values->session_name),
		[NAME_PROFILE_DIR] = str_from(values->profile_dir),
		[NAME_PERCH_DIR] = str_from(values->perch_dir),
	};
	buf_append(out, texts[which].data, texts[which].len);
	return name.len + strlen("{{}}");
}

static bool template_is_name_character(char c, bool is_first)
{
	bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
	return is_letter || (!is_first && c >= '0' && c <= '9');
}

static size_t template_expand_variable(
	struct buf *out, struct str template, const struct template_values *values)
{
	if (!values->variable || !str_has_prefix(template, STR("${")))
		return 0;
	size_t end = 2;
	while (end < template.len && template_is_name_character(template.data[end], end == 2))
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
		size_t used = template_expand_name(out, template, values);
		if (!used)
			used = template_expand_variable(out, template, values);
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

bool template_uses_session_name(struct str template)
{
	return template.len && memmem(template.data, template.len, SESSION_NAME, strlen(SESSION_NAME));
}

bool template_uses_strangers(struct str template)
{
	return template_uses_message(template) || template_uses_session_name(template);
}

/* The first {{NAME}} that we do not know. */
static struct str template_find_unknown(struct str template)
{
	for (; template.len; template.data++, template.len--) {
		struct str name = template_read_name(template);
		if (name.len && template_find_name(name) < 0)
			return name;
	}
	return (struct str){ 0 };
}

bool template_explain_unknown(struct str template, char ret_text[TEMPLATE_WORDS_MAX])
{
	char shown[64];
	struct str name = template_find_unknown(template);
	if (!name.len)
		return false;
	snprintf(shown, sizeof(shown), "%.*s", (int)(name.len < 60 ? name.len : 60), name.data);
	const char *nearest = str_nearest(shown, names, NAMES, sizeof(names[0]));
	snprintf(ret_text, TEMPLATE_WORDS_MAX,
		"there is no placeholder {{%s}}, it stays as it is: there are {{MESSAGE}}, "
		"{{SESSION_ID}}, {{SESSION_NAME}}, {{PROFILE_DIR}} and {{PERCH_DIR}}%s%s%s",
		shown, nearest ? "; did you mean {{" : "", nearest ? nearest : "", nearest ? "}}?" : "");
	return true;
}
