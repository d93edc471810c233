/* A home with things that can be hosted, and jobs that write down what they are told. */
#include "harness/served.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/folder.h"
#include "harness/proc.h"

static struct served served;

static void warned(perch_service *service, void *data, const char *text)
{
	(void)service;
	(void)data;
	buf_append_text(&served.warnings, text);
	buf_append_char(&served.warnings, '|');
}

static void furnish(void)
{
	char path[8192];
	setenv("HOME", folder_new(), 1);
	setenv("TMPDIR", folder_path("tmp"), 1);
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	setenv("XDG_CACHE_HOME", folder_path("cache"), 1);
	free(folder_run("mkdir -p -m 700 tmp state cache project config/fledge/plugins/bin"));
	folder_write("config/fledge/plugins/try/plugin.toml",
		"[plugin]\nname = \"try\"\nversion = \"1.0.0\"\nprotocol = \"fledge-v1\"\n"
		"[[commands]]\nname = \"try\"\nbinary = \"run\"\ndescription = \"tries\"\n"
		"args = [{ name = \"what\", type = \"string\", required = true }]\n"
		"[[commands]]\nname = \"harm\"\nbinary = \"run\"\ndangerous = true\n");
	folder_write_mode("config/fledge/plugins.toml",
		"[[plugins]]\nname = \"try\"\nsource = \"x\"\nversion = \"1.0.0\"\n"
		"commands = [\"try\", \"harm\"]\n[plugins.capabilities]\nexec = false\n",
		0600);
	proc_in_build("plugin", path, sizeof(path));
	free(folder_run("cp '%s' config/fledge/plugins/try/run", path));
	free(folder_run("ln -s ../try/run config/fledge/plugins/bin/fledge-try"));
	free(folder_run("ln -s ../try/run config/fledge/plugins/bin/fledge-harm"));
}

struct served *served_open(const perch_service_options *options)
{
	perch_service_options given = PERCH_SERVICE_OPTIONS_INIT;
	perch_err err = { 0 };
	if (!getenv("PERCH_SERVED"))
		furnish();
	setenv("PERCH_SERVED", "1", 1);
	if (options)
		given = *options;
	if (!given.warn)
		given.warn = warned;
	given.project_dir = folder_path("project");
	served.host = proc_host();
	if (perch_service_new(served.host, &given, &served.service, &err) < 0)
		ck_abort_msg("%s", err.text);
	return &served;
}

void served_close(void)
{
	perch_service_free(served.service);
	perch_host_free(served.host);
	buf_free(&served.warnings);
	ck_assert_uint_eq(proc_children(), 0);
}

void served_bind(const char *name, const char *behaviour, const char *more)
{
	char tool[8192];
	char text[16384];
	char path[256];
	proc_in_build("tool", tool, sizeof(tool));
	snprintf(text, sizeof(text),
		"name = \"t.p\"\ncommand = \"%s\"\nargs = [\"%s\"]\ncapabilities = [\"tool.execute\"]\n"
		"[timeouts]\ninvocation = 60\nhandshake = 60\nteardown = 60\n%s",
		tool, behaviour, more);
	snprintf(path, sizeof(path), "config/perch/tools/%s.toml", name);
	folder_write(path, text);
}

void served_profile(const char *name, const char *command)
{
	char text[8192];
	char path[256];
	snprintf(text, sizeof(text), "command: %s\n", command);
	snprintf(path, sizeof(path), "config/perch/agents/%s.yaml", name);
	folder_write(path, text);
}

/* ---- jobs ---------------------------------------------------------------- */

static const char *const kinds[] = {
	[PERCH_EVENT_START] = "start",
	[PERCH_EVENT_SHOWN] = "shown",
	[PERCH_EVENT_PARTIAL] = "partial",
	[PERCH_EVENT_THINKING] = "thinking",
	[PERCH_EVENT_USAGE] = "usage",
	[PERCH_EVENT_SESSION] = "session",
	[PERCH_EVENT_REPLY] = "reply",
	[PERCH_EVENT_STDERR] = "stderr",
	[PERCH_EVENT_WARNING] = "warning",
	[PERCH_EVENT_ERROR] = "error",
	[PERCH_EVENT_ASK] = "ask",
	[PERCH_EVENT_WITHDRAW] = "withdraw",
	[PERCH_EVENT_RESULT] = "result",
	[PERCH_EVENT_END] = "end",
};

static void give_answer(perch_job *job, struct served_job *served_job, const perch_ask *ask)
{
	perch_answer answer = PERCH_ANSWER_INIT;
	static const size_t chosen[] = { 1 };
	answer.text = "me";
	answer.yes = !served_job->is_no;
	answer.chosen = chosen;
	answer.chosen_count = 1;
	answer.by = "tester";
	answer.option = served_job->option;
	answer.message = served_job->is_no ? "rather not" : NULL;
	perch_err err = { 0 };
	uint64_t number = ask->number; /* the question is gone when it is answered */
	ck_assert_msg(perch_job_answer(job, number, &answer, &err) == 0, "%s", err.text);
	ck_assert_int_lt(perch_job_answer(job, number, &answer, NULL), 0);
}

static void take_event(perch_job *job, void *data, const perch_event *event)
{
	struct served_job *own = data;
	perch_text json;
	ck_assert_ptr_eq(own->job, job); /* never before it was handed out */
	if (perch_event_json(job, event, "j", &json) == 0)
		ck_assert_ptr_nonnull(strstr(json.data, ",\"id\":\"j\""));
	own->behind_end += own->has_ended;
	buf_append_text(&own->log, kinds[event->kind]);
	buf_append_char(&own->log, ':');
	buf_append_text(&own->log, event->code ? event->code : "");
	buf_append(&own->log, event->text.data, event->text.len);
	buf_append_char(&own->log, ' ');
	own->partials += event->kind == PERCH_EVENT_PARTIAL;
	if (event->kind == PERCH_EVENT_START) {
		own->starts++;
		own->has_started = true;
		if (own->cancels)
			perch_job_cancel(job, SIGTERM);
		if (own->holds)
			perch_job_hold(job, true);
	} else if (event->kind == PERCH_EVENT_ASK) {
		own->asked = event->ask->number;
		own->ask_kind = event->ask->kind;
		for (size_t i = 0; i < event->ask->option_count; i++)
			buf_printf(&own->offered, "%s ", event->ask->options[i].id.data);
		if (own->answers)
			give_answer(job, own, event->ask);
	} else if (event->kind == PERCH_EVENT_RESULT) {
		own->code = event->tool->code;
		buf_append(&own->log, event->tool->output.data, event->tool->output.len);
		buf_append(&own->log, event->tool->message.data, event->tool->message.len);
		buf_append_char(&own->log, ' ');
	} else if (event->kind == PERCH_EVENT_END) {
		own->end = *event->end;
		own->is_confined = event->end->sandbox && event->end->sandbox[0];
		own->ends++;
		own->has_ended = true;
		if (own->frees)
			perch_job_free(job);
	}
}

perch_job_request served_tool(const char *name, const char *input)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_TOOL;
	request.name = name;
	request.input = input;
	return request;
}

perch_job_request served_command(const char *const *args)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_COMMAND;
	request.name = "try";
	request.args = args;
	return request;
}

perch_job_request served_turn(const char *name, const char *message, const char *session)
{
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	request.kind = PERCH_ENTRY_AGENT;
	request.name = name;
	request.message = message;
	request.session = session;
	return request;
}

int served_try_in(
	perch_service *service, perch_job_request request, struct served_job *job, perch_err *err)
{
	request.sink = take_event;
	request.data = job;
	return perch_job_submit(service, &request, &job->job, err);
}

int served_try(perch_job_request request, struct served_job *job, perch_err *err)
{
	return served_try_in(served.service, request, job, err);
}

void served_submit(perch_job_request request, struct served_job *job)
{
	perch_err err = { 0 };
	ck_assert_msg(served_try(request, job, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(job->log.len, 0);
}

void served_until(const bool *flag)
{
	proc_until(served.host, flag);
}

const char *served_log(struct served_job *job)
{
	ck_assert_int_eq(buf_terminate(&job->log), 0);
	return job->log.data;
}

const char *served_wait(struct served_job *job)
{
	served_until(&job->has_ended);
	ck_assert_uint_eq(job->ends, 1);
	ck_assert_uint_eq(job->behind_end, 0);
	return served_log(job);
}

void served_free(struct served_job *job)
{
	if (!job->frees)
		perch_job_free(job->job);
	buf_free(&job->log);
	buf_free(&job->offered);
}
