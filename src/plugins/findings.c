/* The mistakes in a file of a plugin's author. */
#include "plugins/findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "base/vec.h"

void findings_free(struct findings *findings)
{
	free(findings->items);
	*findings = (struct findings){ 0 };
}

static void findings_keep(struct findings *findings, enum finding_level level,
	const struct toml_place *at, const char *text)
{
	struct finding *items =
		vec_grow(findings->items, &findings->cap, findings->count + 1, sizeof(*items));
	const char *copy =
		arena_dup(findings->arena, (struct str){ text, utf8_whole_prefix(text, strlen(text)) });
	findings->items = items ? items : findings->items;
	if (!items || !copy) {
		findings->failed = true;
		return;
	}
	items[findings->count++] = (struct finding){
		.level = level,
		.at = at ? *at : (struct toml_place){ 0 },
		.text = copy,
	};
}

void findings_add(struct findings *findings, enum finding_level level, const struct toml_place *at,
	const char *format, ...)
{
	findings->errors += level == FINDING_ERROR;
	if (findings->count >= FINDINGS_MAX) {
		if (findings->left_out++ == 0)
			findings_keep(findings, level, NULL, "there is more, which is not listed here");
		return;
	}
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	findings_keep(findings, level, at, text);
}

void findings_add_err(struct findings *findings, const perch_err *err)
{
	if (err->code == -ENOMEM) {
		findings->failed = true;
		return;
	}
	const struct toml_place at = { err->line, err->column };
	findings_add(findings, FINDING_ERROR, &at, "%s", err->text);
}

void finding_put(struct buf *out, const char *file, const struct finding *finding)
{
	if (file)
		buf_append_text(out, file);
	if (file && finding->at.line)
		buf_printf(out, ":%u:%u", finding->at.line, finding->at.column);
	buf_printf(out, "%s%s", file ? ": " : "", finding->text);
}

/* ---- keys ---------------------------------------------------------------- */

/* Short words are near to many others. */
static unsigned findings_slip_max(const char *name)
{
	size_t len = strlen(name);
	if (len <= 4)
		return 1;
	return len <= 8 ? 2 : 3;
}

const char *name_meant(struct str word, const char *const *names)
{
	const char *nearest = NULL;
	unsigned best = UINT32_MAX;
	for (; *names; names++) {
		unsigned distance = str_distance(word.data, *names);
		if (distance <= findings_slip_max(*names) && distance < best) {
			best = distance;
			nearest = *names;
		}
	}
	return nearest;
}

void findings_add_unknown_keys(struct findings *findings, const struct toml_value *table,
	const char *const *names, bool strict)
{
	enum finding_level level = strict ? FINDING_ERROR : FINDING_WARNING;
	for (size_t i = 0; i < table->count; i++) {
		const struct toml_value *value = table->items[i];
		if (list_has_str(names, value->key))
			continue;
		char quoted[TOML_QUOTE_MAX];
		const char *meant = name_meant(value->key, names);
		toml_quote(value->key, quoted);
		if (meant)
			findings_add(findings, level, &value->key_at,
				"there is no key %s here: did you mean `%s`?", quoted, meant);
		else if (strict)
			findings_add(findings, level, &value->key_at, "there is no key %s here", quoted);
	}
}
