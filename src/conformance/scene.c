/* The directories and the environment in which a host is checked. */
#include "conformance/scene.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/tree.h"
#include "base/vec.h"
#include "conformance/actor.h"
#include "data/json.h"
#include "plugins/new_file.h"

void scene_remove(struct scene *scene)
{
	if (scene->top)
		tree_remove(scene->top);
	free(scene->top);
	arena_free(&scene->arena);
	*scene = (struct scene){ 0 };
}

/* ---- words ---------------------------------------------------------------------- */

const char *scene_quote(struct scene *scene, const char *text)
{
	_cleanup_(buf_free) struct buf quoted = { 0 };
	perch_json_writer writer = json_writer_on(&quoted);
	if (!text)
		return NULL;
	perch_json_write_string(&writer, text);
	return quoted.failed ? NULL : arena_dup(&scene->arena, (struct str){ quoted.data, quoted.len });
}

void scene_place(struct scene *scene, const char *name, const char *value, const char *const *words)
{
	if (scene->placeholder_count < SCENE_PLACEHOLDERS_MAX)
		scene->placeholders[scene->placeholder_count++] =
			(struct placeholder){ name, value, words };
}

/* ---- directories ---------------------------------------------------------------- */

static int scene_make_directory(struct scene *scene, const char *name, perch_err *err)
{
	_cleanup_free_ char *path = str_join(scene->top, "/", name, NULL);
	if (!path)
		return err_no_memory(err);
	if (mkdir(path, 0700) < 0)
		return err_set(err, -errno, "%s cannot be made: %s", path, perch_strerror(-errno));
	return 0;
}

int scene_make_bare(struct scene *scene, perch_err *err)
{
	static const char *const names[] = { "home", "config", "state", "cache", "tmp", "project" };
	*scene = (struct scene){ 0 };
	int r = tree_make("perch-conformance-", &scene->top, err);
	for (size_t i = 0; i < COUNT(names) && r == 0; i++)
		r = scene_make_directory(scene, names[i], err);
	if (r < 0)
		return r;
	scene->project = arena_join(&scene->arena, scene->top, "/project", NULL);
	scene->variables[0] = (struct variable){ "project", scene_quote(scene, scene->project) };
	return scene->variables[0].json ? 0 : err_no_memory(err);
}

/* ---- a scene for a case --------------------------------------------------------- */

static int scene_put_files(struct scene *scene, const struct author_pairs *files, perch_err *err)
{
	int r = 0;
	for (size_t i = 0; i < files->count && r == 0; i++)
		r = new_file_write(
			scene->project, files->items[i].key, 0666, str_from(files->items[i].value), err);
	return r;
}

static int scene_put_variables(struct scene *scene, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	for (const struct variable *variable = scene->variables; variable->name; variable++)
		buf_printf(&text, "%s\"%s\":%s", variable == scene->variables ? "{" : ",", variable->name,
			variable->json);
	buf_append_char(&text, '}');
	if (text.failed)
		return err_no_memory(err);
	return new_file_write(
		scene->directory, ACTOR_VARIABLES, 0600, (struct str){ text.data, text.len }, err);
}

static int scene_make_pipe(struct scene *scene, perch_err *err)
{
	scene->pipe = arena_join(&scene->arena, scene->directory, "/" ACTOR_PIPE, NULL);
	if (!scene->pipe)
		return err_no_memory(err);
	if (mkfifo(scene->pipe, 0600) < 0)
		return err_set(err, -errno, "%s cannot be made: %s", scene->pipe, perch_strerror(-errno));
	return 0;
}

int scene_make(const struct scene_spec *spec, struct scene *scene, perch_err *err)
{
	int r = scene_make_bare(scene, err);
	if (r < 0)
		return r;
	scene->directory = arena_join(&scene->arena, scene->top,
		spec->protocol == PROTOCOL_FLEDGE ? "/config/fledge/plugins/conform" : "/actor", NULL);
	scene->variables[1] = (struct variable){ "dir", scene_quote(scene, scene->directory) };
	if (!scene->variables[1].json)
		return err_no_memory(err);
	r = scene_install(scene, spec, err);
	if (r == 0)
		r = new_file_write(scene->directory, ACTOR_CASES, 0600, spec->cases, err);
	if (r == 0)
		r = scene_put_variables(scene, err);
	if (r == 0)
		r = scene_put_files(scene, &spec->test->files, err);
	if (r == 0)
		r = scene_make_pipe(scene, err);
	scene_place(scene, "project", scene->project, NULL);
	scene_place(scene, "dir", scene->directory, NULL);
	scene_place(scene, "options", NULL, spec->test->options);
	return r;
}

/* ---- how the host is called ----------------------------------------------------- */

/* Variables that another host has set for its own children are not passed on. */
static bool scene_is_kept(const char *variable)
{
	return strncmp(variable, "AGENT_", 6) != 0 && strncmp(variable, "FLEDGE_", 7) != 0;
}

const char *const *scene_environment(struct scene *scene, const struct conformance_case *test)
{
	static const char *const homes[][2] = { { "HOME", "home" }, { "XDG_CONFIG_HOME", "config" },
		{ "XDG_STATE_HOME", "state" }, { "XDG_CACHE_HOME", "cache" }, { "TMPDIR", "tmp" } };
	enum { HOMES = COUNT(homes) };
	const char **extra = arena_alloc(&scene->arena, (HOMES + test->env.count + 1) * sizeof(*extra));
	size_t n = 0;
	for (size_t i = 0; extra && i < HOMES; i++)
		extra[n++] =
			arena_join(&scene->arena, homes[i][0], "=", scene->top, "/", homes[i][1], NULL);
	for (size_t i = 0; extra && i < test->env.count; i++)
		extra[n++] =
			arena_join(&scene->arena, test->env.items[i].key, "=", test->env.items[i].value, NULL);
	for (size_t i = 0; extra && i < n; i++) {
		if (!extra[i])
			return NULL;
	}
	if (!extra)
		return NULL;
	extra[n] = NULL;
	return environment_build(&scene->arena, (const char *const *)environ, scene_is_kept, extra);
}

const char *const *scene_placeholders(enum protocol protocol)
{
	static const char *const names[][SCENE_PLACEHOLDERS_MAX] = {
		[PROTOCOL_FLEDGE] = { "command", "args", "project", "dir" },
		[PROTOCOL_TOOL] = { "program", "binding", "tool", "input", "options", "project", "dir" },
		[PROTOCOL_AGENT] = { "program", "profile", "message", "options", "project", "dir" },
		[PROTOCOL_ACP] = { "program", "profile", "message", "options", "project", "dir" },
	};
	return names[protocol];
}

static bool scene_is_name(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (!isalpha((unsigned char)text.data[i]) && !strchr("-_", text.data[i]))
			return false;
	}
	return text.len > 0;
}

/* The name between braces at the very start of a text; empty = there is none. */
static struct str scene_braced(struct str text)
{
	const char *end = text.data[0] == '{' ? memchr(text.data, '}', text.len) : NULL;
	return (struct str){ text.data + 1, end ? (size_t)(end - text.data) - 1 : 0 };
}

struct str scene_unknown_placeholder(enum protocol protocol, const char *command)
{
	for (struct str rest = str_from(command); rest.len; rest.data++, rest.len--) {
		struct str name = scene_braced(rest);
		bool is_known = !scene_is_name(name);
		for (const char *const *at = scene_placeholders(protocol); *at && !is_known; at++)
			is_known = str_is(name, *at);
		if (!is_known)
			return name;
	}
	return STR("");
}

struct words {
	struct scene *scene;
	const char **items;
	size_t count;
	size_t cap;
	bool failed;
};

static void scene_add_word(struct words *words, const char *word)
{
	const char **items = vec_grow(words->items, &words->cap, words->count + 2, sizeof(*items));
	words->items = items ? items : words->items;
	words->failed = words->failed || !items || !word;
	if (words->failed)
		return;
	items[words->count++] = word;
	items[words->count] = NULL;
}

static const struct placeholder *scene_find_placeholder(const struct scene *scene, struct str name)
{
	for (size_t i = 0; i < scene->placeholder_count; i++) {
		if (str_is(name, scene->placeholders[i].name))
			return &scene->placeholders[i];
	}
	return NULL;
}

/* The host starts in another directory than the kit: ./host must be found from there too. */
static const char *scene_make_absolute(struct scene *scene, const char *word)
{
	char path[PATH_MAX];
	if (!word || !strchr(word, '/') || word[0] == '/' || !realpath(word, path))
		return word;
	return arena_dup(&scene->arena, str_from(path));
}

/* {name} alone may become any number of words; inside of a word it becomes text. */
static void scene_add_expanded(struct words *words, struct str word)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct str rest = word;
	bool has_placeholder = false;
	while (rest.len) {
		struct str name = scene_braced(rest);
		const struct placeholder *found = scene_find_placeholder(words->scene, name);
		size_t used = found ? name.len + 2 : 1;
		has_placeholder = has_placeholder || found;
		if (found && found->words && used == word.len) {
			for (size_t i = 0; found->words[i]; i++)
				scene_add_word(words, found->words[i]);
			return;
		}
		if (found && found->value)
			buf_append_text(&text, found->value);
		else if (!found)
			buf_append(&text, rest.data, 1);
		rest = (struct str){ rest.data + used, rest.len - used };
	}
	words->failed = words->failed || text.failed;
	const char *copy = arena_dup(&words->scene->arena, (struct str){ text.data, text.len });
	scene_add_word(words, has_placeholder ? copy : scene_make_absolute(words->scene, copy));
}

const char *const *scene_command(struct scene *scene, enum protocol protocol, const char *command)
{
	static const char *const usual[] = {
		[PROTOCOL_FLEDGE] = " plugins run {command} --ni {args}",
		[PROTOCOL_TOOL] = " tool call --json --binding {binding} {tool} --input {input} {options}",
		[PROTOCOL_AGENT] = " agent run --json --profile {profile} --prompt {message} {options}",
		[PROTOCOL_ACP] = " agent run --json --profile {profile} --prompt {message} {options}",
	};
	struct words words = { .scene = scene };
	const char *whole =
		strchr(command, '{') ? command : arena_join(&scene->arena, command, usual[protocol], NULL);
	struct str rest = str_from(whole);
	while (rest.len) {
		struct str word = str_trim(str_cut(&rest, ' '));
		if (word.len)
			scene_add_expanded(&words, word);
	}
	const char **argv = arena_alloc(&scene->arena, (words.count + 1) * sizeof(*argv));
	bool is_right = whole && argv && words.count && !words.failed;
	if (is_right)
		memcpy(argv, words.items, (words.count + 1) * sizeof(*argv));
	free(words.items);
	return is_right ? argv : NULL;
}
