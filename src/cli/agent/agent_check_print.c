/* What perch agent check has found out, for people and programs. */
#include <stdio.h>

#include "base/environment.h"
#include "base/macros.h"
#include "cli/agent/agent_check.h"
#include "cli/ui/envelope.h"

static void agent_check_print_list(const char *title, const char *const *list)
{
	printf("%-10s", title);
	for (; list && *list; list++) {
		putchar(' ');
		cli_put_text(stdout, str_from(*list));
	}
	putchar('\n');
}

static void agent_check_print_text(const char *title, const char *text)
{
	agent_check_print_list(title, (const char *const[]){ text, NULL });
}

static void agent_check_print_seconds(const char *title, uint64_t ns)
{
	if (ns)
		printf("%-10s %g s\n", title, (double)ns / 1e9);
	else
		printf("%-10s none\n", title);
}

/* Names alone: a value may be a secret. Variables of the protocol are left out, every agent has
 * them. */
static void agent_check_print_env(const struct checkup *checkup)
{
	printf("%-10s", "env");
	for (const char *const *variable = checkup->profile.env; *variable; variable++) {
		if (launch_is_protocols(&checkup->launch, *variable))
			continue;
		putchar(' ');
		cli_put_text(stdout, environment_name(*variable));
	}
	size_t count = 0;
	while (checkup->launch.env && checkup->launch.env[count])
		count++;
	printf(" (of %zu that the agent gets)\n", count);
}

static void agent_check_print_some(const char *title, const char *const *list)
{
	if (list && *list)
		agent_check_print_list(title, list);
}

static void agent_check_print_sandbox(const struct checkup *checkup)
{
	const struct policy_widening *widening = &checkup->profile.widening;
	if (!checkup->profile.is_sandboxed) {
		agent_check_print_text("sandbox", "off: it has all your rights");
		return;
	}
	agent_check_print_text("sandbox", "on");
	agent_check_print_some("  reads", widening->read);
	agent_check_print_some("  writes", widening->write);
	agent_check_print_some("  sees", widening->env);
	agent_check_print_some("  presets", widening->presets);
	agent_check_print_text("  network", widening->net == WIDENING_NET_NONE ? "none" : "full");
	agent_check_print_some("  layers", checkup->in_force.layers);
	for (const char *const *at = checkup->in_force.missing; at && *at; at++)
		agent_check_print_text("  missing", *at);
}

static void agent_check_print_about(const struct profile_about *about)
{
	const struct {
		const char *title;
		const char *text;
	} lines[] = {
		{ "name", about->name },
		{ "what", about->description },
		{ "needs", agent_needs_program(about) ? about->cli : NULL },
		{ "tested", about->tested },
		{ "by", about->maintainer },
	};
	for (size_t i = 0; i < COUNT(lines); i++) {
		if (lines[i].text)
			agent_check_print_text(lines[i].title, lines[i].text);
	}
	agent_check_print_some("tags", about->tags);
	struct str notes = str_from(about->notes ? about->notes : "");
	for (const char *title = "notes"; notes.len; title = "") {
		struct str line = str_cut(&notes, '\n');
		printf("%-10s ", title);
		cli_put_text(stdout, line);
		putchar('\n');
	}
}

void agent_check_print_for_people(const struct checkup *checkup)
{
	const struct agent_profile *profile = &checkup->profile;
	agent_check_print_text("profile", profile->path);
	agent_check_print_about(&profile->about);
	agent_check_print_text("protocol", dialect_of(profile->dialect)->version);
	agent_check_print_list("command", checkup->launch.argv);
	agent_check_print_text("program", checkup->program ? checkup->program : "-");
	agent_check_print_text("cwd", checkup->launch.cwd ? checkup->launch.cwd : "(yours)");
	agent_check_print_env(checkup);
	agent_check_print_seconds("timeout", profile->timeout_ns);
	agent_check_print_seconds("idle", profile->idle_timeout_ns);
	agent_check_print_seconds("grace", profile->kill_grace_ns);
	if (profile->budget_ns)
		printf(
			"%-10s %g s for all turns of a session\n", "budget", (double)profile->budget_ns / 1e9);
	if (profile->max_turn_tokens)
		printf("%-10s at most %zu a turn\n", "tokens", profile->max_turn_tokens);
	agent_check_print_some("may use", profile->permits);
	agent_check_print_sandbox(checkup);
	fflush(stdout); /* warnings come behind it, also where both streams are one terminal */
	struct str rest = { checkup->warnings.data, checkup->warnings.len };
	while (rest.len) {
		fputs("warning: ", stderr);
		cli_put_text(stderr, str_cut(&rest, '\n'));
		fputc('\n', stderr);
	}
	if (checkup->problem.code)
		cli_error(NULL, "%s", checkup->problem.text);
}

static void agent_check_write_warnings(perch_json_writer *writer, const struct checkup *checkup)
{
	struct str rest = { checkup->warnings.data, checkup->warnings.len };
	member_array(writer, "warnings");
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		perch_json_write_string_n(writer, line.data, line.len);
	}
	perch_json_end_array(writer);
}

static void agent_check_write_sandbox(perch_json_writer *writer, const struct checkup *checkup)
{
	const struct policy_widening *widening = &checkup->profile.widening;
	member_bool(writer, "sandbox", checkup->profile.is_sandboxed);
	member_object(writer, "widening");
	member_list(writer, "read", widening->read);
	member_list(writer, "write", widening->write);
	member_list(writer, "variables", widening->env);
	member_list(writer, "presets", widening->presets);
	member_text(writer, "net", widening->net == WIDENING_NET_NONE ? "none" : "full");
	perch_json_end_object(writer);
	if (checkup->in_force.layers)
		in_force_write(writer, &checkup->in_force);
}

int agent_check_print_json(const struct checkup *checkup)
{
	static const char *const nothing[] = { NULL };
	struct envelope envelope;
	perch_json_writer *writer = &envelope.writer;
	envelope_begin(&envelope);
	member_bool(writer, "healthy", !checkup->problem.code);
	member_text(writer, "profile", checkup->profile.path);
	member_text(writer, "protocol", dialect_of(checkup->profile.dialect)->version);
	agent_about_write(writer, &checkup->profile.about);
	member_list(writer, "argv", checkup->launch.argv);
	member_text(writer, "program", checkup->program);
	member_text(writer, "cwd", checkup->launch.cwd);
	member_variables(writer, "env", checkup->launch.env);
	member_list(writer, "tools", checkup->profile.permits ? checkup->profile.permits : nothing);
	agent_check_write_sandbox(writer, checkup);
	agent_check_write_warnings(writer, checkup);
	member_text(writer, "problem", checkup->problem.code ? checkup->problem.text : NULL);
	return envelope_end(&envelope);
}

void agent_check_tell_failure(const struct cli *cli, const char *path, const perch_err *err)
{
	struct envelope envelope;
	cli_error(NULL, "%s", err->text);
	if (!cli->json)
		return;
	envelope_begin(&envelope);
	member_bool(&envelope.writer, "healthy", false);
	member_text(&envelope.writer, "profile", path);
	member_text(&envelope.writer, "problem", err->text);
	envelope_end(&envelope);
}
