/* Ollama's API by curl: a JSON object a line. It remembers nothing: the messages of a session are a
 * file of ours, ~/.local/share/perch-translate/ollama/ID.json. */
#include "translate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/replace.h"
#include "data/json.h"

#define OLLAMA_MODEL_DEFAULT "llama3.2"
#define OLLAMA_HOST_DEFAULT "127.0.0.1:11434"

enum { OLLAMA_HISTORY_MAX = 16 * 1024 * 1024, CURL_CANNOT_CONNECT = 7 };

static const char *ollama_setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);
	return value && value[0] ? value : otherwise;
}

static const char *ollama_url(struct translation *translation)
{
	const char *host = ollama_setting("OLLAMA_HOST", OLLAMA_HOST_DEFAULT);
	const char *scheme = strstr(host, "://") ? "" : "http://";
	return arena_join(&translation->arena, scheme, host, "/api/chat", NULL);
}

/* ---- what was said ------------------------------------------------------------------ */

static const char *ollama_file(struct translation *translation, bool is_directory)
{
	const char *home = ollama_setting("HOME", "/");
	return arena_join(&translation->arena, home, "/.local/share/perch-translate/ollama",
		is_directory ? "" : "/", is_directory ? "" : translation->session,
		is_directory ? "" : ".json", NULL);
}

static void ollama_write_message(perch_json_writer *writer, const char *role, struct str text)
{
	perch_json_begin_object(writer);
	perch_json_write_name(writer, "role");
	perch_json_write_string(writer, role);
	perch_json_write_name(writer, "content");
	perch_json_write_string_n(writer, text.len ? text.data : "", text.len);
	perch_json_end_object(writer);
}

/* The messages before this one; a history that is gone or broken is none. */
static void ollama_write_history(struct translation *translation, perch_json_writer *writer)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	const char *path = ollama_file(translation, false);
	if (!path || file_read(path, OLLAMA_HISTORY_MAX, &text, NULL) < 0)
		return;
	perch_json_iter at =
		perch_json_iterate(translate_parse(translation, (struct str){ text.data, text.len }));
	const perch_json_value *message;
	while ((message = perch_json_next(&at)))
		perch_json_write_value(writer, message);
}

static int ollama_keep(struct translation *translation, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct perch_json_writer writer = json_writer_on(&text);
	perch_json_begin_array(&writer);
	ollama_write_history(translation, &writer);
	ollama_write_message(&writer, "user", str_from(translation->message));
	ollama_write_message(
		&writer, "assistant", (struct str){ translation->said.data, translation->said.len });
	perch_json_end_array(&writer);
	const char *directory = ollama_file(translation, true);
	const char *path = ollama_file(translation, false);
	if (text.failed || !directory || !path)
		return err_no_memory(err);
	int r = paths_make(directory, err);
	if (r < 0)
		return r;
	r = replace_path(path, (struct str){ text.data, text.len });
	return r < 0 ? err_set(err, r, "%s: %s", path, perch_strerror(r)) : 0;
}

/* ---- the turn -------------------------------------------------------------------------- */

static bool ollama_begin(struct translation *translation)
{
	if (!translation->session[0])
		translate_new_session(translation);
	struct perch_json_writer writer = json_writer_on(&translation->input);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "model");
	perch_json_write_string(&writer, ollama_setting("OLLAMA_MODEL", OLLAMA_MODEL_DEFAULT));
	perch_json_write_name(&writer, "messages");
	perch_json_begin_array(&writer);
	ollama_write_history(translation, &writer);
	ollama_write_message(&writer, "user", str_from(translation->message));
	perch_json_end_array(&writer);
	perch_json_write_name(&writer, "stream");
	perch_json_write_bool(&writer, true);
	perch_json_end_object(&writer);
	translate_add(translation, "--data-binary");
	translate_add(translation, "@-");
	translate_add(translation, "--");
	const char *url = ollama_url(translation);
	translate_add(translation, url ? url : "");
	return url && !translation->input.failed;
}

static void ollama_line(struct translation *translation, struct str line)
{
	const perch_json_value *event = translate_parse(translation, line);
	struct str error = translate_text(event, "error");
	if (error.len)
		translate_fail(translation, error);
	translate_think(translation, translate_text(perch_json_get(event, "message"), "thinking"));
	translate_say(translation, translate_text(perch_json_get(event, "message"), "content"));
	translate_use(translation, translate_number(event, "prompt_eval_count"),
		translate_number(event, "eval_count"));
}

static void ollama_end(struct translation *translation, int status)
{
	perch_err err = { 0 };
	if (status == CURL_CANNOT_CONNECT)
		translate_fail(translation,
			STR("no Ollama answers there: start it by `ollama serve`, or set OLLAMA_HOST"));
	if (status == 0 && !translation->has_failed && ollama_keep(translation, &err) < 0)
		fprintf(stderr, "the conversation cannot be kept: %s\n", err.text);
}

const struct format format_ollama = {
	.name = "ollama",
	.begin = ollama_begin,
	.line = ollama_line,
	.end = ollama_end,
};
