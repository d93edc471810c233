/* The requests of an agent for files and terminals: read, and turned into errands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/errand_parts.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "data/json.h"

static void errand_take_refuse(
	struct resident_session *session, uint64_t number, int64_t code, const char *text)
{
	acp_talk_refuse(session->talk, number, code, str_from(text));
}

/* What is read of a request. Nothing is left out of it, for lack of memory or because it is odd: it
 * is refused. */
struct errand_reading {
	struct arena arena;
	bool has_failed;
	const char *odd; /* what is; NULL = nothing */
};

static void errand_reading_free(struct errand_reading *reading)
{
	arena_free(&reading->arena);
}

/* A request that cannot be carried out as it stands. */
static void errand_take_refuse_reading(struct resident_session *session, uint64_t number,
	const struct errand_reading *reading, const char *text)
{
	if (reading->has_failed)
		errand_take_refuse(session, number, JSONRPC_INTERNAL_ERROR, "out of memory");
	else
		errand_take_refuse(session, number, JSONRPC_INVALID_PARAMS, text);
}

static const char *errand_take_dup(struct errand_reading *reading, struct str text)
{
	const char *copy = arena_dup(&reading->arena, text);
	reading->has_failed = reading->has_failed || !copy;
	return copy;
}

/* A text with a NUL behind it; NULL = it is none, or has one inside. */
static const char *errand_take_text(
	const perch_json_value *params, const char *name, struct errand_reading *reading)
{
	const perch_json_value *value = perch_json_get(params, name);
	struct str text =
		perch_json_type_of(value) == PERCH_JSON_STRING ? json_str(value) : (struct str){ 0 };
	if (!text.data || (text.len && memchr(text.data, '\0', text.len)))
		return NULL;
	return errand_take_dup(reading, text);
}

static uint64_t errand_take_number(
	const perch_json_value *params, const char *name, uint64_t otherwise)
{
	int64_t number = 0;
	return perch_json_whole_int64(perch_json_get(params, name), &number) < 0 || number < 0
		? otherwise
		: (uint64_t)number;
}

/* ---- files ------------------------------------------------------------------- */

/* Whether it has begun; else the agent is told, and the user where it is for the sandbox. */
static bool errand_take_begin(
	struct errand *errand, const struct errand_command *command, const char *what)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct resident_session *session = errand->session;
	perch_err err = { 0 };
	int r = errand_start(errand, command, &err);
	if (r == 0)
		return true;
	bool is_hindered = errand_explain(errand, what, str_from(err.text), &text);
	errand_give_up(errand, &text);
	if (is_hindered || r == PERCH_ESANDBOX || r == PERCH_EGUARD)
		errand_tell_user(session, &text);
	return false;
}

static void errand_take_file(
	struct resident_session *session, const struct acp_said *said, enum errand_kind kind)
{
	static const char *const none[] = { NULL };
	_cleanup_(errand_reading_free) struct errand_reading reading = { 0 };
	const char *path = errand_take_text(said->value, "path", &reading);
	const char *const reader[] = { "/bin/cat", "--", path, NULL };
	const perch_json_value *content = perch_json_get(said->value, "content");
	char size[24];
	const char *const writer[] = { "/bin/sh", "-c", errand_write_script, "sh", path, size, NULL };
	bool is_read = kind == ERRAND_READ;
	struct errand_command command = { .argv = is_read ? reader : writer, .env = none };
	perch_err err = { 0 };
	if (!path || path[0] != '/' || (!is_read && perch_json_type_of(content) != PERCH_JSON_STRING)) {
		errand_take_refuse_reading(session, said->number, &reading,
			is_read ? "it needs an absolute path" : "it needs an absolute path, and content");
		return;
	}
	if (!is_read)
		command.input = json_str(content);
	snprintf(size, sizeof(size), "%zu", command.input.len);
	struct errand *errand = errand_new(session, kind, said->number, ERRAND_STDERR_TAIL, &err);
	if (!errand) {
		errand_take_refuse(session, said->number, JSONRPC_INTERNAL_ERROR, err.text);
		return;
	}
	errand->line = errand_take_number(said->value, "line", 1);
	errand->limit = errand_take_number(said->value, "limit", UINT64_MAX);
	if (errand_take_begin(errand, &command, "the file cannot be reached"))
		perch_timer_set(errand->timer, ERRAND_FILE_NS);
}

/* ---- terminals ---------------------------------------------------------------- */

/* One item of a list as a word; NULL = it is none. */
typedef const char *errand_word_fn(const perch_json_value *item, struct errand_reading *reading);

static const char *errand_take_argument(
	const perch_json_value *item, struct errand_reading *reading)
{
	struct str text =
		perch_json_type_of(item) == PERCH_JSON_STRING ? json_str(item) : (struct str){ 0 };
	if (!text.data || (text.len && memchr(text.data, '\0', text.len)))
		return NULL;
	return errand_take_dup(reading, text);
}

static const char *errand_take_variable(
	const perch_json_value *item, struct errand_reading *reading)
{
	const char *name = errand_take_text(item, "name", reading);
	const char *value = errand_take_text(item, "value", reading);
	if (!name || !value || !name[0] || strchr(name, '='))
		return NULL;
	const char *word = arena_join(&reading->arena, name, "=", value, NULL);
	reading->has_failed = reading->has_failed || !word;
	return word;
}

/* The words of a list, behind room for so many others; a list that is absent, or null, has none. */
static const char **errand_take_list(const perch_json_value *list, size_t before,
	errand_word_fn *take, struct errand_reading *reading, size_t *ret_count)
{
	size_t most = before + ERRAND_WORDS_MAX, count = before;
	bool is_list = perch_json_type_of(list) == PERCH_JSON_ARRAY;
	bool is_odd = list && !is_list && perch_json_type_of(list) != PERCH_JSON_NULL;
	const char **words = arena_alloc(&reading->arena, (most + 1) * sizeof(*words));
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item;
		 words && is_list && !is_odd && (item = perch_json_next(&iter));) {
		words[count] = count < most ? take(item, reading) : NULL;
		is_odd = !words[count];
		count += !is_odd;
	}
	if (is_odd)
		reading->odd = "args is a list of texts, env one of names and values: 1024 at most";
	reading->has_failed = reading->has_failed || !words;
	if (words)
		words[count] = NULL;
	*ret_count = count;
	return words;
}

/* A command with blanks and without arguments is meant for a shell. */
static const char *const *errand_take_argv(
	const perch_json_value *params, struct errand_reading *reading)
{
	const char *program = errand_take_text(params, "command", reading);
	size_t count = 0;
	const char **argv =
		errand_take_list(perch_json_get(params, "args"), 3, errand_take_argument, reading, &count);
	if (!program || !program[0] || !argv)
		return NULL;
	if (count > 3 || !strpbrk(program, " \t\n")) {
		argv[2] = program;
		return argv + 2;
	}
	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = program;
	return argv;
}

/* The terminal is named by the number of its request. One whose name cannot be told would run for
 * nobody. */
static void errand_take_start(
	struct errand *errand, const struct errand_command *command, uint64_t number)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!errand_take_begin(errand, command, "the command cannot be started"))
		return;
	buf_printf(&text, "{\"terminalId\":\"terminal-%llu\"}", (unsigned long long)number);
	errand_answer(errand, number, &text);
	if (text.failed)
		errand_free(errand);
}

static void errand_take_create(struct resident_session *session, const struct acp_said *said)
{
	_cleanup_(errand_reading_free) struct errand_reading reading = { 0 };
	const perch_json_value *params = said->value;
	const perch_json_value *cwd = perch_json_get(params, "cwd");
	uint64_t limit = errand_take_number(params, "outputByteLimit", ERRAND_OUTPUT_MAX);
	size_t count = 0;
	const struct errand_command command = {
		.argv = errand_take_argv(params, &reading),
		.env = errand_take_list(
			perch_json_get(params, "env"), 0, errand_take_variable, &reading, &count),
		.cwd = errand_take_text(params, "cwd", &reading),
	};
	bool has_cwd = cwd && perch_json_type_of(cwd) != PERCH_JSON_NULL;
	perch_err err = { 0 };
	if (reading.has_failed || !command.argv || (has_cwd && (!command.cwd || command.cwd[0] != '/')))
		reading.odd = "it needs a command, and an absolute cwd if any";
	if (reading.odd) {
		errand_take_refuse_reading(session, said->number, &reading, reading.odd);
		return;
	}
	struct errand *errand = errand_new(session, ERRAND_TERMINAL, said->number,
		limit < ERRAND_OUTPUT_MAX ? (size_t)limit : ERRAND_OUTPUT_MAX, &err);
	if (errand)
		errand_take_start(errand, &command, said->number);
	else
		errand_take_refuse(session, said->number, JSONRPC_INTERNAL_ERROR, err.text);
}

static struct errand *errand_find_terminal(
	const struct resident_session *session, const perch_json_value *params)
{
	const perch_json_value *id = perch_json_get(params, "terminalId");
	struct errand *errand = list_first(&session->resident->errands.all);
	for (; errand; errand = list_next(errand)) {
		char name[32];
		snprintf(name, sizeof(name), "terminal-%llu", (unsigned long long)errand->number);
		if (errand->session == session && errand->kind == ERRAND_TERMINAL &&
			perch_json_is(id, name))
			return errand;
	}
	return NULL;
}

/* ---- all of them -------------------------------------------------------------- */

void errand_take(struct resident_session *session, const struct acp_said *said)
{
	static const struct {
		const char *method;
		void (*take)(struct errand *terminal, uint64_t number);
	} terminals[] = {
		{ "terminal/output", errand_terminal_output },
		{ "terminal/wait_for_exit", errand_terminal_wait },
		{ "terminal/kill", errand_terminal_kill },
		{ "terminal/release", errand_terminal_release },
	};
	if (!session->seat) {
		errand_take_refuse(session, said->number, JSONRPC_INTERNAL_ERROR, "the turn is over");
		return;
	}
	if (str_is(said->text, "fs/read_text_file")) {
		errand_take_file(session, said, ERRAND_READ);
		return;
	}
	if (str_is(said->text, "fs/write_text_file")) {
		errand_take_file(session, said, ERRAND_WRITE);
		return;
	}
	if (str_is(said->text, "terminal/create")) {
		errand_take_create(session, said);
		return;
	}
	struct errand *terminal = errand_find_terminal(session, said->value);
	for (size_t i = 0; terminal && i < COUNT(terminals); i++) {
		if (!str_is(said->text, terminals[i].method))
			continue;
		terminals[i].take(terminal, said->number);
		return;
	}
	errand_take_refuse(session, said->number, JSONRPC_INVALID_PARAMS, "there is no such terminal");
}
