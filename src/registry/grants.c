/* What the user granted and approved: $XDG_CONFIG_HOME/perch/grants.toml. People
 * may edit it, so a mistake in it is told with its place and nothing is guessed:
 * a program that cannot read what was granted must not run as if nothing were. */
#include "registry/grants.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/shell_word.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/paths.h"
#include "registry/grants_parts.h"

const char *const grant_kind_names[] = {
	[GRANT_PLUGIN] = "plugin",
	[GRANT_TOOL] = "tool",
	[GRANT_AGENT] = "agent",
};

/* ---- reading ------------------------------------------------------------- */

/* One of two words: 1 for the first, 2 for the second, 0 when it is absent. */
static int grants_read_word(const struct toml_value *table, const char *key, const char *first,
	const char *second, perch_err *err)
{
	const char *word = NULL;
	int r = toml_get_string(table, key, &word, err);
	if (r <= 0)
		return r;
	if (strcmp(word, first) == 0)
		return 1;
	if (strcmp(word, second) == 0)
		return 2;
	const struct toml_value *value = toml_get(table, key);
	char quoted[TOML_QUOTE_MAX];
	return err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column,
		"`%s` must be \"%s\" or \"%s\", not %s", key, first, second,
		toml_quote(value->string, quoted));
}

static int grants_read_widening(const struct toml_value *table, struct arena *arena,
	struct policy_widening *widening, perch_err *err)
{
	const struct {
		const char *key;
		const char *const **ret_list;
	} lists[] = {
		{ "read", &widening->read },
		{ "write", &widening->write },
		{ "env", &widening->env },
		{ "presets", &widening->presets },
	};
	int r = 0;
	for (size_t i = 0; i < COUNT(lists) && r == 0; i++)
		r = toml_get_strings(table, lists[i].key, arena, lists[i].ret_list, err);
	if (r < 0)
		return r;
	int net = grants_read_word(table, "net", "none", "full", err);
	int sandbox = grants_read_word(table, "sandbox", "off", "on", err);
	if (net < 0 || sandbox < 0)
		return net < 0 ? net : sandbox;
	if (net > 0)
		widening->net = net == 1 ? WIDENING_NET_NONE : WIDENING_NET_FULL;
	widening->is_off = sandbox == 1;
	widening->is_on = sandbox == 2;
	return 0;
}

/* There was a preset "plugins", which let a plugin write what all of them are made of. What it was
 * for is a grant of its own now. */
static int grants_read_callees(
	const struct toml_value *table, struct arena *arena, struct grant *grant, perch_err *err)
{
	static const char *const any[] = { GRANT_ANY_PLUGIN, NULL };
	struct policy_widening *widening = &grant->widening;
	int r = toml_get_strings(table, "plugins", arena, &grant->callees, err);
	if (r < 0 || !list_has(widening->presets, "plugins"))
		return r;
	if (!list_count(grant->callees))
		grant->callees = any;
	const char **kept = arena_alloc(arena, list_count(widening->presets) * sizeof(*kept));
	size_t count = 0;
	if (!kept)
		return err_no_memory(err);
	for (const char *const *preset = widening->presets; *preset; preset++) {
		if (strcmp(*preset, "plugins") != 0)
			kept[count++] = *preset;
	}
	kept[count] = NULL;
	widening->presets = kept;
	return 0;
}

/* Paths are written without links (cli/ui/allow.c): a link in one was put there later. */
static int grants_note_granted(enum grant_kind kind, const char *name, struct arena *arena,
	struct policy_widening *widening, perch_err *err)
{
	static const char *const commands[] = {
		[GRANT_PLUGIN] = "perch plugins allow ",
		[GRANT_TOOL] = "perch tool allow ",
		[GRANT_AGENT] = "perch agent allow ",
	};
	const char *const *const lists[] = { widening->read, widening->write };
	size_t count = list_count(widening->read) + list_count(widening->write);
	const char **granted = arena_alloc(arena, (count + 1) * sizeof(*granted));
	widening->allow_by = shell_command(arena, commands[kind], name, "");
	if (!granted || !widening->allow_by)
		return err_no_memory(err);
	widening->granted = granted;
	for (size_t i = 0; i < COUNT(lists); i++) {
		for (const char *const *path = lists[i]; path && *path; path++)
			*granted++ = *path;
	}
	*granted = NULL;
	return 0;
}

static int grants_read_text(const struct toml_value *table, const char *key, struct arena *arena,
	const char **ret_text, perch_err *err)
{
	const char *text = "";
	int r = toml_get_string(table, key, &text, err);
	if (r < 0)
		return r;
	*ret_text = arena_dup(arena, str_from(text));
	return *ret_text ? 0 : err_no_memory(err);
}

int grants_read_approval(
	const struct toml_value *table, struct arena *arena, struct grant *grant, perch_err *err)
{
	const struct toml_value *approved = NULL;
	int r = toml_get_table(table, "approved", &approved, err);
	if (r <= 0)
		return r;
	struct grant_approval *approval = &grant->approval;
	r = grants_read_text(approved, "protocol", arena, &approval->protocol, err);
	if (r == 0)
		r = grants_read_text(approved, "manifest", arena, &approval->manifest, err);
	if (r == 0)
		r = toml_get_strings(approved, "hooks", arena, &approval->hooks, err);
	if (r == 0)
		r = toml_get_strings(approved, "dangerous", arena, &approval->dangerous, err);
	if (r == 0)
		r = toml_get_strings(approved, "wishes", arena, &approval->wishes, err);
	if (r == 0)
		r = toml_get_strings(approved, "files", arena, &approval->files, err);
	if (r == 0 && !approval->manifest[0])
		r = grants_read_text(approved, "file", arena, &approval->manifest, err);
	grant->has_approval = r == 0;
	return r;
}

int grants_check_schema(const struct toml_value *root, perch_err *err)
{
	int64_t schema = GRANTS_SCHEMA;
	int r = toml_get_integer(root, "schema", 1, INT64_MAX, &schema, err);
	if (r < 0 || schema == GRANTS_SCHEMA)
		return r < 0 ? r : 0;
	const struct toml_value *value = toml_get(root, "schema");
	return err_set_at(err, PERCH_ESYNTAX, value->at.line, value->at.column,
		"this file was written by a later version of perch: upgrade perch");
}

int grants_read_text_of_file(struct str text, enum grant_kind kind, const char *name,
	struct arena *arena, struct grant *grant, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	int r = toml_parse(text, NULL, &toml, err);
	if (r == 0)
		r = grants_check_schema(toml_root(toml), err);
	if (r < 0)
		return r;
	const struct toml_value *table = toml_root(toml);
	r = toml_get_table(table, grant_kind_names[kind], &table, err);
	if (r > 0)
		r = toml_get_table(table, name, &table, err);
	if (r <= 0)
		return r;
	r = grants_read_widening(table, arena, &grant->widening, err);
	if (r == 0 && kind == GRANT_PLUGIN)
		r = grants_read_callees(table, arena, grant, err);
	if (r == 0 && toml_get(table, "shell"))
		r = grants_read_text(table, "shell", arena, &grant->shell, err);
	if (r == 0 && kind == GRANT_AGENT)
		r = toml_get_strings(table, "tools", arena, &grant->tools, err);
	if (r == 0)
		r = grants_note_granted(kind, name, arena, &grant->widening, err);
	return r < 0 ? r : grants_read_approval(table, arena, grant, err);
}

int grants_read_file(const char *path, enum grant_kind kind, const char *name, struct arena *arena,
	struct grant *ret_grant, perch_err *err)
{
	struct grant grant = { 0 };
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_err inner = { 0 }; /* that there is no file is no error */
	int r = file_read(path, GRANTS_SIZE_MAX, &text, &inner);
	if (r < 0 && r != -ENOENT)
		return err_set(err, r, "%s", inner.text);
	inner = (perch_err){ 0 };
	r = grants_read_text_of_file(
		(struct str){ text.data, text.len }, kind, name, arena, &grant, &inner);
	if (r < 0)
		return file_blame(err, path, &inner);
	*ret_grant = grant;
	return 0;
}

int grants_read(enum grant_kind kind, const char *name, struct arena *arena,
	struct grant *ret_grant, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	int r = paths_user(PATH_CONFIG, "perch/grants.toml", &path, NULL);
	if (r == -ENOENT) {
		*ret_grant = (struct grant){ 0 };
		return 0;
	}
	return r < 0 ? err_no_memory(err) : grants_read_file(path, kind, name, arena, ret_grant, err);
}
