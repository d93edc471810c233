/* What a trace records of a run. */
#include "fledge/fledge_notes.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/exit_status.h"
#include "data/json.h"

static const char *const asking_names[] = {
	[FLEDGE_ASK] = "ask",
	[FLEDGE_TAKE_DEFAULTS] = "defaults",
	[FLEDGE_DEMAND_DEFAULTS] = "strict",
};

const char *fledge_asking_name(enum fledge_asking asking)
{
	return asking_names[asking];
}

static void fledge_notes_write_answers(struct buf *out, const struct fledge_engine_options *engine)
{
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_array(&writer);
	for (size_t i = 0; i < engine->answer_count; i++) {
		perch_json_begin_object(&writer);
		json_write_text(&writer, "message", engine->answers[i].message);
		json_write_text(&writer, "value", engine->answers[i].value);
		perch_json_end_object(&writer);
	}
	perch_json_end_array(&writer);
}

static void fledge_notes_write_layers(struct buf *out, const char *const *layers)
{
	for (; layers && *layers; layers++)
		buf_printf(out, "%s%s", out->len ? ", " : "", *layers);
	if (!out->len)
		buf_append_text(out, "none");
	buf_terminate(out);
}

void fledge_note_start(struct trace *trace, const struct fledge_run_options *options,
	const struct fledge_engine_options *engine)
{
	if (!trace)
		return;
	_cleanup_(buf_free) struct buf answers = { 0 };
	_cleanup_(buf_free) struct buf layers = { 0 };
	fledge_notes_write_answers(&answers, engine);
	fledge_notes_write_layers(&layers, options->layers);
	struct trace_fact facts[CAPABILITIES_MAX + 6] = {
		FACT_TEXT("protocol", STR(FLEDGE_TRACE_NAME)),
		FACT_TEXT("plugin", engine->plugin),
		FACT_TEXT("asking", str_from(fledge_asking_name(engine->asking))),
		FACT_NUMBER("prompt_timeout_ns", engine->prompt_timeout_ns),
		FACT_JSON("answers", ((struct str){ answers.data, answers.failed ? 0 : answers.len })),
	};
	size_t count = 5;
	for (const struct capability *one = capability_table; one->name; one++) {
		bool is_granted = capabilities_have(&engine->granted, one);
		if (is_granted || one->is_always_told)
			facts[count++] = (struct trace_fact)FACT_FLAG(one->name, is_granted);
	}
	trace_event(trace, "start", facts, "starts %s (sandbox: %s)", options->path,
		layers.failed ? "?" : layers.data);
}

void fledge_note_answer(struct trace *trace, const struct answer *answer)
{
	if (!trace)
		return;
	_cleanup_(buf_free) struct buf chosen = { 0 };
	perch_json_writer writer = json_writer_on(&chosen);
	perch_json_begin_array(&writer);
	for (size_t i = 0; i < answer->chosen_count; i++)
		perch_json_write_uint64(&writer, answer->chosen[i]);
	perch_json_end_array(&writer);
	const struct trace_fact facts[] = {
		FACT_NUMBER("ticket", answer->number),
		FACT_FLAG("cancelled", answer->cancelled),
		FACT_TEXT("text", answer->text),
		FACT_FLAG("yes", answer->yes),
		FACT_JSON("chosen", ((struct str){ chosen.data, chosen.failed ? 0 : chosen.len })),
		FACTS_END,
	};
	trace_event(trace, "answer", facts,
		answer->cancelled ? "the user does not want to answer" : "the user has answered");
}

void fledge_note_interrupt(struct trace *trace, int signal)
{
	const struct trace_fact facts[] = { FACT_NUMBER("signal", signal), FACTS_END };
	trace_event(trace, "interrupt", facts, "the user wants it to end: signal %d", signal);
}

void fledge_note_exit(struct trace *trace, const perch_result *result)
{
	const struct trace_fact facts[] = {
		FACT_NUMBER("status", result->exit_code),
		FACT_NUMBER("signal", result->signal),
		FACTS_END,
	};
	if (result->signal)
		trace_event(trace, "exit", facts, "the plugin was ended by signal %d", result->signal);
	else
		trace_event(trace, "exit", facts, "the plugin exited with status %d", result->exit_code);
}

int fledge_exit_code(int interrupted_by, int status, int signal, bool has_failed)
{
	if (interrupted_by)
		return EXIT_SIGNAL + interrupted_by;
	return exit_status_of(signal, status == 0 && has_failed ? EXIT_FAILURE : status);
}

void fledge_note_end(struct trace *trace, int exit_code)
{
	const struct trace_fact facts[] = { FACT_NUMBER("exit_code", exit_code), FACTS_END };
	trace_event(trace, "end", facts, "the run ends with exit code %d", exit_code);
}
