/* The effects of a run's engine: lines to the plugin, questions to the frontend, requests to the
 * services. */
#include <errno.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "fledge/fledge_notes.h"
#include "fledge/run_parts.h"

/* The host's own words are noted; the plugin's words are in its line. */
static void run_effects_show(struct fledge_run *run, const struct shown *shown)
{
	bool is_ours = shown->kind == PERCH_SHOWN_WARNING || shown->kind == PERCH_SHOWN_ERROR ||
		shown->kind == PERCH_SHOWN_DEBUG;
	if (is_ours)
		trace_note(run->options.trace, "%.*s", (int)shown->text.len, shown->text.data);
	run->options.frontend->table->show(run->options.frontend, shown);
}

void run_say(struct fledge_run *run, perch_shown_kind kind, const char *text)
{
	const struct shown shown = {
		.kind = kind,
		.text = str_from(text),
		.plugin = str_from(run->options.plugin_name),
	};
	run_effects_show(run, &shown);
}

void run_hear_stderr(const struct fledge_run *run, const perch_line *line)
{
	const struct fledge_run_options *options = &run->options;
	trace_child_line(options->trace, TRACE_PLUGIN_ERR, line);
	if (options->stderr_line)
		options->stderr_line(options->stderr_data, (struct str){ line->data, line->len });
}

/* ---- to the plugin ------------------------------------------------------- */

/* A plugin that misses a message would wait for it for ever, and one whose values were not stored
 * must not seem to have ended well. */
static void run_effects_give_up(struct fledge_run *run)
{
	run_fail(run, "out of memory: the plugin is ended");
}

/* A plugin that does not read is no error: its exit status decides. */
static void run_effects_write_line(struct fledge_run *run, struct str line)
{
	trace_line(run->options.trace, TRACE_TO_PLUGIN, line.data, line.len);
	if (perch_child_write(run->child, line.data, line.len) == -ENOMEM)
		run_effects_give_up(run);
}

void run_drained(struct fledge_run *run)
{
	run_weigh(run);
}

/* init is always the first message: answers that are ready earlier wait. */
static void run_effects_send_line(void *data, struct str line)
{
	struct fledge_run *run = data;
	if (run->has_ended)
		return;
	if (run->is_init_sent)
		run_effects_write_line(run, line);
	else if (buf_append(&run->early, line.data, line.len) < 0)
		run_effects_give_up(run);
}

static void run_effects_send_early(struct fledge_run *run)
{
	struct str rest = { run->early.data, run->early.len };
	while (rest.len) {
		const char *start = rest.data;
		size_t len = str_cut(&rest, '\n').len + 1;
		run_effects_write_line(run, (struct str){ start, len });
	}
	buf_free(&run->early);
}

void run_send_init(struct fledge_run *run, bool is_dirty)
{
	const struct fledge_run_options *options = &run->options;
	const struct init_context context = {
		.command = str_from(options->command),
		.args = options->args,
		.project = surroundings_project(run->surroundings),
		.is_dirty = is_dirty,
		.plugin_name = str_from(options->plugin_name),
		.plugin_version = str_from(options->plugin_version),
		.plugin_dir = str_from(options->plugin_dir),
		.granted = options->granted,
	};
	struct buf line = { 0 };
	if (init_line(&line, &context) == 0)
		run_effects_write_line(run, (struct str){ line.data, line.len });
	else
		run_effects_give_up(run);
	buf_free(&line);
	run->is_init_sent = true;
	run_effects_send_early(run);
}

/* ---- the engine and its effects ------------------------------------------ */

void run_attend(struct fledge_run *run)
{
	timer_set(&run->host->loop.timers, &run->deadline, fledge_engine_deadline(run->engine));
	if (fledge_engine_is_broken(run->engine))
		run_effects_give_up(run);
	run_weigh(run);
}

static void run_effects_check_memory(struct fledge_run *run, int r)
{
	if (r < 0)
		run_effects_give_up(run);
}

void run_result_known(void *data, uint64_t ticket, struct str json)
{
	struct fledge_run *run = data;
	trace_result(run->options.trace, ticket, json);
	fledge_engine_result(run->engine, ticket, json, loop_now_ns(&run->host->loop));
	run_attend(run);
}

static void run_effects_effect_show(void *data, const struct shown *shown)
{
	struct fledge_run *run = data;
	if (shown->kind == PERCH_SHOWN_OUTPUT || shown->kind == PERCH_SHOWN_LOG)
		denials_hear(run->denials, shown->text);
	run_effects_show(data, shown);
}

static void run_effects_effect_ask(void *data, const perch_question *question)
{
	struct fledge_run *run = data;
	trace_note(run->options.trace, "asks the user");
	run->options.frontend->table->ask(run->options.frontend, question, NULL);
}

static void run_effects_effect_withdraw(void *data)
{
	struct fledge_run *run = data;
	run->options.frontend->table->withdraw(run->options.frontend);
}

static void run_effects_effect_store(void *data, uint64_t ticket, struct str key, struct str value)
{
	struct fledge_run *run = data;
	trace_note(run->options.trace, "stores '%.*s'", utf8_quoted(key), key.data);
	run_effects_check_memory(run, run_services_store(run->run_services, ticket, key, value));
}

static void run_effects_effect_load(void *data, uint64_t ticket, struct str key)
{
	struct fledge_run *run = data;
	trace_note(run->options.trace, "looks up '%.*s' in the store", utf8_quoted(key), key.data);
	run_effects_check_memory(run, run_services_load(run->run_services, ticket, key));
}

static void run_effects_effect_exec(void *data, uint64_t ticket, const struct fledge_exec *exec)
{
	struct fledge_run *run = data;
	trace_note(run->options.trace, "runs: %s -c '%.*s'", run->options.shell,
		utf8_quoted(exec->command), exec->command.data);
	run_effects_check_memory(run, execs_run(run->execs, ticket, exec));
}

static void run_effects_effect_metadata(
	void *data, uint64_t ticket, const perch_text *keys, size_t count)
{
	struct fledge_run *run = data;
	trace_note(run->options.trace, "collects metadata: %zu keys", count);
	run_effects_check_memory(run, run_services_metadata(run->run_services, ticket, keys, count));
}

static void run_effects_effect_drop(void *data)
{
	struct fledge_run *run = data;
	execs_drop(run->execs);
	calls_drop(run->calls);
	run_services_drop(run->run_services);
}

static void run_effects_effect_stop(void *data)
{
	run_stop(data);
}

static void run_effects_effect_note(void *data, const char *text)
{
	struct fledge_run *run = data;
	trace_note(run->options.trace, "%s", text);
}

static void run_effects_effect_hold(void *data, bool on)
{
	struct fledge_run *run = data;
	trace_note(run->options.trace,
		on ? "too many requests wait: the plugin is not read" : "the plugin is read again");
	run->is_held = on;
	run_pace(run);
}

const struct fledge_effects run_effects = {
	.send = run_effects_send_line,
	.show = run_effects_effect_show,
	.ask = run_effects_effect_ask,
	.withdraw = run_effects_effect_withdraw,
	.store = run_effects_effect_store,
	.load = run_effects_effect_load,
	.exec = run_effects_effect_exec,
	.metadata = run_effects_effect_metadata,
	.drop = run_effects_effect_drop,
	.stop = run_effects_effect_stop,
	.hold = run_effects_effect_hold,
	.note = run_effects_effect_note,
};
