/* The actor: plays the other side of a host. */
#include "conformance/actor.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/fd.h"
#include "base/file.h"
#include "conformance/case_player.h"
#include "data/json.h"
#include "proc/lines.h"

enum { EXIT_CANNOT = 70, LINE_MAX_BYTES = 64 * 1024 * 1024 };

struct actor {
	struct arena arena;
	struct findings findings;
	struct case_file file;
	struct variable *variables;
	struct player player;
	struct lines lines;
	bool has_heard;
};

/* ---- reporting ------------------------------------------------------------------ */

/* A failed write means that the kit is gone, which does not matter. */
static void actor_send_report(struct buf *report)
{
	buf_append_char(report, '\n');
	if (!report->failed)
		fd_write_all_quietly(ACTOR_REPORT_FD, report->data, report->len);
	buf_free(report);
}

static void actor_report_text(const char *name, struct str text)
{
	struct buf report = { 0 };
	perch_json_writer writer = json_writer_on(&report);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, name);
	perch_json_write_string_n(&writer, text.data, text.len);
	perch_json_end_object(&writer);
	actor_send_report(&report);
}

/* As much of a line as is worth showing. */
static void actor_report_cut(const char *name, struct str text)
{
	bool has_newline = text.len && text.data[text.len - 1] == '\n';
	size_t len = text.len - has_newline;
	actor_report_text(
		name, (struct str){ text.data, len < ACTOR_REPORTED_MAX ? len : ACTOR_REPORTED_MAX });
}

static void actor_report_number(const char *name, int number)
{
	struct buf report = { 0 };
	buf_printf(&report, "{\"%s\":%d}", name, number);
	actor_send_report(&report);
}

static void actor_write_environment(perch_json_writer *writer)
{
	perch_json_write_name(writer, "env");
	perch_json_begin_object(writer);
	for (char **variable = environ; *variable; variable++) {
		struct str name = environment_name(*variable);
		perch_json_write_name_n(writer, name.data, name.len);
		perch_json_write_string(writer, *variable + name.len + ((*variable)[name.len] == '='));
	}
	perch_json_end_object(writer);
}

static const char *actor_kind_of(int fd)
{
	struct stat status;
	if (fstat(fd, &status) < 0)
		return "closed";
	if (S_ISFIFO(status.st_mode))
		return "pipe";
	if (S_ISSOCK(status.st_mode))
		return "socket";
	if (S_ISREG(status.st_mode))
		return "file";
	return isatty(fd) ? "terminal" : "device";
}

/* The descriptors that are open, but for the one to the kit. */
static void actor_write_descriptors(perch_json_writer *writer)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *item;
	perch_json_write_name(writer, "leaked");
	perch_json_begin_array(writer);
	while (directory && (item = readdir(directory))) {
		int fd = atoi(item->d_name);
		if (fd > 2 && fd != ACTOR_REPORT_FD && fd != dirfd(directory))
			perch_json_write_int64(writer, fd);
	}
	if (directory)
		closedir(directory);
	perch_json_end_array(writer);
}

static void actor_report_start(char **argv)
{
	struct buf report = { 0 };
	perch_json_writer writer = json_writer_on(&report);
	char cwd[PATH_MAX];
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "started");
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "argv");
	perch_json_begin_array(&writer);
	for (; *argv; argv++)
		perch_json_write_string(&writer, *argv);
	perch_json_end_array(&writer);
	actor_write_environment(&writer);
	perch_json_write_name(&writer, "cwd");
	perch_json_write_string(&writer, getcwd(cwd, sizeof(cwd)) ? cwd : "");
	perch_json_write_name(&writer, "stdin");
	perch_json_write_string(&writer, actor_kind_of(STDIN_FILENO));
	perch_json_write_name(&writer, "stdout");
	perch_json_write_string(&writer, actor_kind_of(STDOUT_FILENO));
	actor_write_descriptors(&writer);
	perch_json_write_name(&writer, "leads_session");
	perch_json_write_bool(&writer, getsid(0) == getpid());
	perch_json_end_object(&writer);
	perch_json_end_object(&writer);
	actor_send_report(&report);
}

/* ---- its case ------------------------------------------------------------------- */

static int actor_read_beside(
	const char *directory, const char *name, struct buf *out, perch_err *err)
{
	_cleanup_free_ char *path = str_join(directory, "/", name, NULL);
	return path ? file_read(path, CASES_FILE_MAX, out, err) : -ENOMEM;
}

/* An object of names and values: {"project":"/…"}. */
static int actor_read_variables(struct actor *actor, const char *directory, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json *json = NULL;
	const perch_json_value *root = NULL;
	int r = actor_read_beside(directory, ACTOR_VARIABLES, &text, err);
	if (r == 0)
		r = perch_json_new(NULL, &json);
	if (r == 0)
		r = perch_json_parse(json, text.data, text.len, &root, err);
	size_t count = r == 0 ? perch_json_count(root) : 0;
	actor->variables = arena_alloc(&actor->arena, (count + 1) * sizeof(*actor->variables));
	perch_json_iter iter = perch_json_iterate(root);
	const perch_json_value *value;
	size_t n = 0;
	while (actor->variables && r == 0 && (value = perch_json_next(&iter))) {
		size_t len;
		const char *raw = perch_json_raw(value, &len);
		actor->variables[n].name = arena_dup(&actor->arena, json_str(iter.name));
		actor->variables[n++].json = arena_dup(&actor->arena, (struct str){ raw, len });
		r = actor->variables[n - 1].name && actor->variables[n - 1].json ? 0 : -ENOMEM;
	}
	if (actor->variables)
		actor->variables[n] = (struct variable){ 0 };
	perch_json_free(json);
	return actor->variables ? r : -ENOMEM;
}

static const struct conformance_case *actor_find_case(const struct case_file *file, const char *id)
{
	for (size_t i = 0; i < file->count; i++) {
		if (strcmp(file->items[i].id, id) == 0)
			return &file->items[i];
	}
	return NULL;
}

static const struct conformance_case *actor_read_case(
	struct actor *actor, const char *directory, const char *id, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	static const char letters[] = "FTAC";
	const char *letter = strchr(letters, id[0]);
	if (!letter || !id[0] || actor_read_beside(directory, ACTOR_CASES, &text, err) < 0 ||
		actor_read_variables(actor, directory, err) < 0)
		return NULL;
	case_file_parse((struct str){ text.data, text.len }, (enum protocol)(letter - letters),
		&actor->arena, &actor->file, &actor->findings);
	return actor_find_case(&actor->file, id);
}

/* ---- playing -------------------------------------------------------------------- */

static bool actor_take_line(void *data, const perch_line *line)
{
	struct actor *actor = data;
	struct str text = { line->data, line->len };
	actor_report_cut("heard", text);
	player_hear(&actor->player, text);
	actor->has_heard = true;
	return false;
}

/* Reads until a line or the end has come. */
static void actor_listen(struct actor *actor)
{
	char block[64 * 1024 + 1];
	actor->has_heard = false;
	int r = lines_resume(&actor->lines);
	while (r == 0 && !actor->has_heard) {
		ssize_t n = read(STDIN_FILENO, block, sizeof(block) - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0) {
			r = lines_feed(&actor->lines, block, (size_t)n);
			continue;
		}
		r = lines_finish(&actor->lines);
		if (!actor->has_heard)
			player_hear_end(&actor->player);
		return;
	}
}

static void actor_hang(void)
{
	while (true)
		pause();
}

static void actor_act_out(struct actor *actor, const struct act *act)
{
	switch (act->kind) {
	case ACT_WRITE:
		actor_report_cut("said", act->text);
		fd_write_all_quietly(STDOUT_FILENO, act->text.data, act->text.len);
		break;
	case ACT_SAY:
		fd_write_all_quietly(STDERR_FILENO, act->text.data, act->text.len);
		break;
	case ACT_WAIT:
		actor_listen(actor);
		break;
	case ACT_CLOSE_STDIN:
		close(STDIN_FILENO);
		break;
	case ACT_CLOSE_STDOUT:
		close(STDOUT_FILENO);
		break;
	case ACT_SIGNAL:
		actor_report_number("signal", act->number);
		break;
	case ACT_IGNORE:
		signal(act->number, SIG_IGN);
		break;
	default:
		break;
	}
}

/* Whether there is still something to be seen: a script that only writes, or ends, may be cut short
 * by the host, as it should be. */
static bool actor_is_watching(const struct actor *actor)
{
	const struct conformance_case *test = actor->player.test;
	for (size_t i = actor->player.at; i < test->step_count; i++) {
		enum step_kind kind = test->steps[i].kind;
		if (kind == STEP_READ || kind == STEP_EOF || kind == STEP_DRAIN || kind == STEP_SIGNAL)
			return true;
	}
	return false;
}

static int actor_play_case(struct actor *actor)
{
	bool is_told = false;
	struct act act = { 0 };
	while (act.kind < ACT_HANG) {
		act = player_next(&actor->player);
		if (!is_told && !actor->player.has_failed && !actor_is_watching(actor)) {
			actor_report_number("done", 1);
			is_told = true;
		}
		actor_act_out(actor, &act);
	}
	if (actor->player.has_failed) {
		actor_report_text(
			"problem", (struct str){ actor->player.problem.data, actor->player.problem.len });
		return EXIT_CANNOT;
	}
	if (act.kind == ACT_HANG)
		actor_hang();
	if (act.kind == ACT_DIE) {
		signal(act.number, SIG_DFL);
		raise(act.number);
	}
	return act.kind == ACT_EXIT ? act.number : 0;
}

int actor_play(const char *directory, const char *id, char **argv)
{
	struct actor actor = { .findings.arena = &actor.arena };
	perch_err err = { 0 };
	alarm(ACTOR_LIFE_MAX);
	actor_report_start(argv);
	const struct conformance_case *test = actor_read_case(&actor, directory, id, &err);
	if (test) {
		player_init(&actor.player, test, actor.variables);
		lines_init(&actor.lines, LINE_MAX_BYTES, actor_take_line, &actor);
	}
	if (!test)
		actor_report_text(
			"problem", str_from(err.text[0] ? err.text : "the actor cannot read its case"));
	int r = test ? actor_play_case(&actor) : EXIT_CANNOT;
	lines_free(&actor.lines);
	player_free(&actor.player);
	findings_free(&actor.findings);
	arena_free(&actor.arena);
	return r;
}
