/* Settings of a run. */
#include "cli/run/run_settings.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/paths.h"
#include "data/toml.h"

enum {
	CONFIG_MAX = 1024 * 1024,
	ANSWERS_MAX = 16 * 1024 * 1024,
};

static const struct number_setting {
	const char *option;
	const char *variable;
	const char *key;
	double lowest;
	double highest;
	size_t offset;      /* in struct settings */
	size_t text_offset; /* in struct cli */
} numbers[] = {
	{ "--prompt-timeout", "PERCH_PROMPT_TIMEOUT", "prompt_timeout", 0, 1e9,
		offsetof(struct settings, prompt_timeout), offsetof(struct cli, prompt_timeout) },
	{ "--line-limit", "PERCH_LINE_LIMIT", "line_limit", 1024 * 1024, 200 * 1024 * 1024,
		offsetof(struct settings, line_limit), offsetof(struct cli, line_limit) },
	{ "--waiting-limit", "PERCH_WAITING_LIMIT", "waiting_limit", 1024 * 1024,
		(double)1024 * 1024 * 1024 * 1024, offsetof(struct settings, waiting_limit),
		offsetof(struct cli, waiting_limit) },
	{ "--unread-timeout", "PERCH_UNREAD_TIMEOUT", "unread_timeout", 0.001, 1e9,
		offsetof(struct settings, unread_timeout), offsetof(struct cli, unread_timeout) },
	{ "--exec-timeout-max", "PERCH_EXEC_TIMEOUT_MAX", "exec_timeout_max", 0.001, 1e9,
		offsetof(struct settings, exec_timeout_max), offsetof(struct cli, exec_timeout_max) },
};

static int run_settings_check_range(
	const struct number_setting *setting, const char *where, double value, perch_err *err)
{
	if (value >= setting->lowest && value <= setting->highest)
		return 0;
	return err_set(
		err, -EINVAL, "%s must be from %g to %g", where, setting->lowest, setting->highest);
}

static int run_settings_parse_number(const struct number_setting *setting, const char *where,
	const char *text, double *ret, perch_err *err)
{
	char *end;
	double value = strtod(text, &end); /* the command sets no locale: a '.' is a '.' */
	if (end == text || *end)
		return err_set(err, -EINVAL, "%s must be a number, not '%s'", where, text);
	*ret = value;
	return run_settings_check_range(setting, where, value, err);
}

/* The place of an error is one in the file. */
static int run_settings_configured_number(const struct number_setting *setting,
	const struct toml_value *table, double *target, perch_err *err)
{
	int r = toml_get_float(table, setting->key, target, err);
	if (r <= 0)
		return r;
	r = run_settings_check_range(setting, setting->key, *target, err);
	if (r < 0) {
		const struct toml_value *value = toml_get(table, setting->key);
		err->line = value->at.line;
		err->column = value->at.column;
	}
	return r;
}

static int run_settings_read_number(const struct number_setting *setting, const struct cli *cli,
	const struct toml_value *table, struct settings *settings, perch_err *err)
{
	double *target = (double *)((char *)settings + setting->offset);
	const char *text = *(const char *const *)((const char *)cli + setting->text_offset);
	if (text)
		return run_settings_parse_number(setting, setting->option, text, target, err);
	text = getenv(setting->variable);
	if (text && text[0])
		return run_settings_parse_number(setting, setting->variable, text, target, err);
	*target = SETTINGS_STANDARD;
	return table ? run_settings_configured_number(setting, table, target, err) : 0;
}

static int run_settings_read_shell(const struct cli *cli, const struct toml_value *table,
	struct arena *arena, struct settings *settings, perch_err *err)
{
	const char *shell = cli->shell ? cli->shell : getenv("PERCH_SHELL");
	int r = 0;
	if ((!shell || !shell[0]) && table)
		r = toml_get_string(table, "shell", &shell, err);
	if (r < 0)
		return r;
	settings->shell = shell && shell[0] ? arena_dup(arena, str_from(shell)) : NULL;
	return !shell || !shell[0] || settings->shell ? 0 : err_no_memory(err);
}

/* The [perch] table of the config; NULL when there is none. */
static int run_settings_read_config(
	const char *path, struct toml **ret_toml, const struct toml_value **ret_table, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = file_read(path, CONFIG_MAX, &text, err);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = toml_parse((struct str){ text.data, text.len }, NULL, ret_toml, err);
	if (r == 0)
		r = toml_get_table(toml_root(*ret_toml), "perch", ret_table, err);
	return r < 0 ? r : 0;
}

int settings_read(
	const struct cli *cli, struct arena *arena, struct settings *ret_settings, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_(toml_freep) struct toml *toml = NULL;
	const struct toml_value *table = NULL;
	struct settings settings = { 0 };
	int r = paths_user(PATH_CONFIG, "fledge/config.toml", &path, err);
	if (r == 0)
		r = run_settings_read_config(path, &toml, &table, err);
	for (size_t i = 0; r >= 0 && i < COUNT(numbers); i++)
		r = run_settings_read_number(&numbers[i], cli, table, &settings, err);
	if (r >= 0)
		r = run_settings_read_shell(cli, table, arena, &settings, err);
	if (r == 0)
		*ret_settings = settings;
	if (r < 0 && err->line) {
		const perch_err inner = *err;
		file_blame(err, path, &inner);
	}
	return r < 0 ? r : 0;
}

/* ---- answers ------------------------------------------------------------- */

/* One MESSAGE=VALUE a line; blank lines and lines that begin with # are skipped. */
static bool run_settings_next_line(struct str *rest, struct str *ret_line)
{
	while (rest->len) {
		struct str line = str_cut(rest, '\n');
		if (line.len && line.data[line.len - 1] == '\r')
			line.len--;
		if (!str_trim(line).len || line.data[0] == '#')
			continue;
		*ret_line = line;
		return true;
	}
	return false;
}

int settings_answers(
	const struct cli *cli, struct arena *arena, const char *const **ret_answers, perch_err *err)
{
	_cleanup_(buf_free) struct buf file = { 0 };
	int r = cli->answers_file ? file_read(cli->answers_file, ANSWERS_MAX, &file, err) : 0;
	if (r < 0)
		return r;
	struct str rest = { file.data, file.len };
	size_t most = cli->answers.count + 2;
	for (size_t i = 0; i < rest.len; i++)
		most += rest.data[i] == '\n';
	const char **answers = arena_alloc(arena, most * sizeof(*answers));
	if (!answers)
		return err_no_memory(err);
	size_t count = 0;
	for (; count < cli->answers.count; count++)
		answers[count] = cli->answers.items[count];
	for (struct str line; run_settings_next_line(&rest, &line); count++) {
		if (!memchr(line.data, '=', line.len))
			return err_set(err, -EINVAL, "%s: a line without '=': '%.*s'", cli->answers_file,
				(int)(line.len < 100 ? line.len : 100), line.data);
		if (memchr(line.data, '\0', line.len))
			return err_set(err, -EINVAL, "%s: a line with a NUL in it", cli->answers_file);
		answers[count] = arena_dup(arena, line);
		if (!answers[count])
			return err_no_memory(err);
	}
	answers[count] = NULL;
	*ret_answers = answers;
	return 0;
}
