/* What a process of an agent asks perch to do for it: files and terminals. Each is a child in the
 * sandbox that the profile has, or would have: the kernel decides what may be read and written,
 * whatever perch itself could, and also where the agent runs unconfined. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agent/errand_parts.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/utf8.h"
#include "data/json.h"
#include "proc/ladder.h"
#include "sandbox/policy/explain.h"

/* ---- the sandbox ------------------------------------------------------------- */

/* That of the agent; or one as it would have, opened for the first errand. */
static int errand_sandbox(struct resident *resident, struct sandbox **ret_sandbox, perch_err *err)
{
	struct resident_errands *own = &resident->errands;
	int r = 0;
	if (resident->sandbox) {
		*ret_sandbox = resident->sandbox;
		return 0;
	}
	if (!own->sandbox) {
		own->launch = resident->launch;
		own->launch.warnings = (struct buf){ 0 };
		r = launch_open_sandbox(&own->launch, resident->host, &own->sandbox, err);
	}
	*ret_sandbox = own->sandbox;
	return r;
}

static const struct sandbox_policy *errand_policy(const struct resident *resident)
{
	return resident->sandbox ? &resident->launch.policy : &resident->errands.launch.policy;
}

/* Without what looks like a secret, as in every sandbox. */
static const char *const *errand_environment(
	const struct errand *errand, struct arena *arena, const char *const *more)
{
	const struct resident *resident = errand->resident;
	const struct sandbox *sandbox =
		resident->sandbox ? resident->sandbox : resident->errands.sandbox;
	const char *tmp = sandbox_tmp(sandbox);
	const char *text = tmp ? arena_join(arena, "TMPDIR=", tmp, NULL) : NULL;
	size_t count = list_count(more);
	const char **extra = arena_alloc(arena, (count + 3) * sizeof(*extra));
	if (!extra || (tmp && !text))
		return NULL;
	memcpy(extra, more, count * sizeof(*extra));
	if (text)
		extra[count++] = text;
	if (errand->kind != ERRAND_TERMINAL)
		extra[count++] = "LC_ALL=C"; /* words that explain.h knows */
	extra[count] = NULL;
	return policy_environment(arena, resident->launch.env, &resident->profile.widening, extra);
}

/* ---- answers ----------------------------------------------------------------- */

void errand_answer(struct errand *errand, uint64_t number, const struct buf *json)
{
	if (json->failed) {
		errand_refuse(errand, number, STR("out of memory"));
		return;
	}
	acp_talk_answer(errand->session->talk, number, (struct str){ json->data, json->len });
	resident_check(errand->resident);
}

void errand_refuse(struct errand *errand, uint64_t number, struct str text)
{
	acp_talk_refuse(errand->session->talk, number, JSONRPC_INTERNAL_ERROR, text);
	resident_check(errand->resident);
}

void errand_give_up(struct errand *errand, const struct buf *text)
{
	errand_refuse(errand, errand->number,
		text->failed ? STR("out of memory") : (struct str){ text->data, text->len });
	errand_free(errand);
}

/* A file that cannot be read is not shown by what allows to write it: the sandbox is not why. */
static bool errand_is_hindered(
	const struct errand *errand, const struct explain_context *context, struct str said)
{
	struct explain_advice advice;
	return errand->kind != ERRAND_READ ||
		(explain_advise(context, said, &advice) && strcmp(advice.option, "--read") == 0);
}

/* The last lines. What allows it stands behind them, and must be seen. */
static struct str errand_shorten(struct str said)
{
	if (said.len <= ERRAND_SHOWN)
		return said;
	said = (struct str){ said.data + said.len - ERRAND_SHOWN, ERRAND_SHOWN };
	struct str rest = said;
	str_cut(&rest, '\n');
	return rest.len ? rest : said;
}

bool errand_explain(const struct errand *errand, const char *what, struct str said, struct buf *out)
{
	const char *widen_by = errand->resident->profile.widen_by;
	const struct explain_context context = {
		.policy = errand_policy(errand->resident),
		.policy_name = "fledge",
		.widen_by = widen_by ? widen_by : "",
	};
	_cleanup_(buf_free) struct buf hint = { 0 };
	said = str_trim(said);
	struct str shown = errand_shorten(said);
	buf_append_text(out, what);
	buf_append_text(out, shown.len ? ": " : "");
	utf8_append_replaced(out, shown.data, shown.len);
	if (!errand_is_hindered(errand, &context, said) || !explain_failure(&context, said, &hint) ||
		hint.failed)
		return false;
	buf_append_text(out, "; ");
	buf_append(out, hint.data, hint.len);
	return true;
}

void errand_tell_user(struct resident_session *session, const struct buf *text)
{
	const struct acp_said told = { .kind = ACP_SAID_NOISE, .text = { text->data, text->len } };
	if (!text->failed && session->seat)
		seat_tell(session->seat, &told);
}

/* What the program said, without its own name: "/bin/cat: …", "sh: 12: …". */
static struct str errand_said(const struct errand *errand)
{
	struct str said = tail_text(&errand->tail), rest = said;
	struct str name = str_cut(&rest, ' ');
	if (str_is(name, "sh:"))
		str_cut(&rest, ' ');
	return str_is(name, "sh:") || str_is(name, "/bin/cat:") ? rest : said;
}

/* The user is told too, with the command that allows it: behind all else. */
static void errand_fail(struct errand *errand, const char *what)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct resident_session *session = errand->session;
	struct str said = errand_said(errand);
	bool is_hindered = errand_explain(errand, what, said, &text);
	errand_give_up(errand, &text);
	if (is_hindered)
		errand_tell_user(session, &text);
}

/* ---- files ------------------------------------------------------------------- */

/* So many lines, from the first wanted one on. */
static struct str errand_cut_lines(struct str text, uint64_t first, uint64_t count)
{
	struct str rest = text;
	for (uint64_t i = 1; i < first && rest.len; i++)
		str_cut(&rest, '\n');
	struct str end = rest;
	for (uint64_t i = 0; i < count && end.len; i++)
		str_cut(&end, '\n');
	return (struct str){ rest.data, rest.len - end.len };
}

static void errand_give_file(struct errand *errand)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	_cleanup_(buf_free) struct buf json = { 0 };
	struct str read = { errand->out.data, errand->out.len };
	utf8_append_replaced(&text, read.data, read.len);
	struct str cut =
		errand_cut_lines((struct str){ text.data, text.len }, errand->line, errand->limit);
	struct perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	json_write_text(&out, "content", cut);
	perch_json_end_object(&out);
	json.failed = json.failed || text.failed || errand->out.failed;
	errand_answer(errand, errand->number, &json);
}

static void errand_file_done(struct errand *errand, const perch_result *result)
{
	static const struct buf nothing = { .data = (char *)"{}", .len = 2 };
	bool is_read = errand->kind == ERRAND_READ;
	bool has_failed = result->signal || result->exit_code != 0;
	if (has_failed && errand->session && !errand->is_too_long && !errand->is_late) {
		errand_fail(errand, is_read ? "the file cannot be read" : "the file cannot be written");
		return;
	}
	if (!errand->session)
		; /* nobody waits for it */
	else if (errand->is_too_long)
		errand_refuse(errand, errand->number, STR("the file is too large: it has more than 4 MiB"));
	else if (has_failed)
		errand_refuse(errand, errand->number, STR("it takes too long"));
	else if (is_read)
		errand_give_file(errand);
	else
		errand_answer(errand, errand->number, &nothing);
	errand_free(errand);
}

/* ---- the child --------------------------------------------------------------- */

static void errand_on_bytes(
	perch_child *child, void *data, perch_stream stream, const char *bytes, size_t len)
{
	struct errand *errand = data;
	if (errand->kind == ERRAND_TERMINAL) {
		tail_append(&errand->tail, bytes, len);
	} else if (stream == PERCH_STDERR) {
		tail_append(&errand->tail, bytes, len);
	} else if (errand->out.len + len > ERRAND_FILE_MAX) {
		errand->is_too_long = true;
		perch_child_signal(child, SIGKILL);
	} else {
		buf_append(&errand->out, bytes, len);
	}
}

static void errand_on_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct errand *errand = data;
	struct resident *resident = resident_enter(errand->resident);
	if (errand->kind == ERRAND_TERMINAL)
		errand_terminal_done(errand, result);
	else
		errand_file_done(errand, result);
	resident_finish(resident);
	resident_leave(resident);
}

static const perch_child_events errand_events = {
	.size = sizeof(perch_child_events),
	.bytes = errand_on_bytes,
	.ended = errand_on_ended,
};

static void errand_due(perch_timer *timer, void *data)
{
	(void)timer;
	struct errand *errand = data;
	errand->is_late = true;
	perch_child_stop(errand->child);
}

int errand_start(struct errand *errand, const struct errand_command *command, perch_err *err)
{
	struct resident *resident = errand->resident;
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct sandbox *sandbox = NULL;
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	int r = errand_sandbox(resident, &sandbox, err);
	if (r < 0)
		return r;
	ending_apply(ENDING_COMMAND, &spec);
	spec.argv = command->argv;
	spec.env = errand_environment(errand, &arena, command->env);
	spec.cwd = command->cwd ? command->cwd : resident->cwd;
	spec.confine = sandbox_confine(sandbox);
	spec.stdin_mode = command->input.data ? PERCH_STDIN_PIPE : PERCH_STDIN_NULL;
	spec.stdout_mode = spec.stderr_mode = PERCH_OUTPUT_BYTES;
	spec.write_limit = SIZE_MAX / 2;
	spec.events = &errand_events;
	spec.data = errand;
	if (!spec.env)
		return err_no_memory(err);
	r = perch_child_start(resident->host, &spec, &errand->child, err);
	if (r == 0 && command->input.data) {
		r = perch_child_write(errand->child, command->input.data, command->input.len);
		perch_child_close_stdin(errand->child);
	}
	return r == -ENOMEM ? err_no_memory(err) : r == -EPIPE ? 0 : r;
}

/* ---- life -------------------------------------------------------------------- */

void errand_free(struct errand *errand)
{
	if (!errand)
		return;
	if (errand->is_listed)
		list_remove(&errand->resident->errands.all, errand);
	perch_child_free(errand->child);
	perch_timer_free(errand->timer);
	buf_free(&errand->out);
	buf_free(&errand->tail.kept);
	free(errand);
}

struct errand *errand_new(struct resident_session *session, enum errand_kind kind, uint64_t number,
	size_t tail, perch_err *err)
{
	struct resident *resident = session->resident;
	if (resident->errands.all.count >= ERRANDS_MAX) {
		err_set(err, PERCH_ELIMIT, "too many files and terminals are open: at most %d at a time",
			(int)ERRANDS_MAX);
		return NULL;
	}
	struct errand *errand = calloc(1, sizeof(*errand));
	if (!errand || perch_timer_new(resident->host, errand_due, errand, &errand->timer, NULL) < 0) {
		free(errand);
		err_no_memory(err);
		return NULL;
	}
	errand->resident = resident;
	errand->session = session;
	errand->kind = kind;
	errand->number = number;
	errand->tail.limit = tail;
	list_append(&resident->errands.all, errand);
	errand->is_listed = true;
	return errand;
}

/* What writes a file has something beside it: it is asked to end, and takes that with it. */
static void errand_end(struct errand *errand)
{
	static const struct str over = STR("the turn is over");
	struct acp_talk *talk = errand->session->talk;
	if (errand->kind != ERRAND_TERMINAL)
		acp_talk_refuse(talk, errand->number, JSONRPC_CANCELLED, over);
	for (size_t i = 0; i < errand->waiting_count; i++)
		acp_talk_refuse(talk, errand->waiting[i], JSONRPC_CANCELLED, over);
	resident_check(errand->resident);
	if (errand->kind == ERRAND_WRITE && errand->child) {
		errand->session = NULL;
		perch_child_stop(errand->child);
	} else {
		errand_free(errand);
	}
}

void errands_end(struct resident_session *session)
{
	struct errand *errand = list_first(&session->resident->errands.all), *next;
	for (; errand; errand = next) {
		next = list_next(errand);
		if (errand->session == session)
			errand_end(errand);
	}
}

/* That nobody waits for is not read on; a terminal goes on. */
void errand_withdraw(struct resident_session *session, uint64_t number)
{
	struct errand *errand = list_first(&session->resident->errands.all);
	while (errand &&
		(errand->session != session || errand->kind == ERRAND_TERMINAL || errand->number != number))
		errand = list_next(errand);
	if (errand)
		errand_end(errand);
}

void errands_close(struct resident *resident)
{
	while (resident->errands.all.count)
		errand_free(list_first(&resident->errands.all));
	sandbox_close(resident->errands.sandbox);
	launch_free(&resident->errands.launch);
}
