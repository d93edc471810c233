/* perch agent check: what a profile means on this machine, and what is missing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_launch.h"
#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/agent/agent_check.h"
#include "cli/agent/agent_run.h"
#include "cli/ui/envelope.h"
#include "cli/ui/layers_in_force.h"
#include "proc/program.h"

#define AGENT_LOOKS_NEWER                                                                      \
	"%.200s looks like an agent of AgentProc 0.4: then add the line protocol: \"0.4\" to the " \
	"profile"

/* ---- looking ----------------------------------------------------------------- */

/* A ${VAR} that is not set expands to nothing: often a forgotten key. */
static void agent_check_find_unset(struct checkup *checkup, const char *variable)
{
	struct str name = environment_name(variable);
	for (const char *at = variable; (at = strstr(at, "${")); at++) {
		struct str wanted = { at + 2, strcspn(at + 2, "}") };
		if (at[2 + wanted.len] == '}' && !launch_own_variable(&checkup->launch, wanted))
			buf_printf(&checkup->warnings, "env %.*s: ${%.*s} is not set\n", (int)name.len,
				name.data, (int)wanted.len, wanted.data);
	}
}

static void agent_check_add_problem(struct checkup *checkup, const perch_err *why)
{
	perch_err *problem = &checkup->problem;
	if (why->code && problem->code)
		err_set(problem, problem->code, "%.250s; %.250s", problem->text, why->text);
	else if (why->code)
		*problem = *why;
}

/* Without its directory there is still a command to be looked at. */
static void agent_check_begin_launch(struct checkup *checkup)
{
	perch_err why = { 0 };
	int r = launch_begin(&checkup->launch, &why);
	agent_check_add_problem(checkup, &why);
	checkup->has_directory = r == 0;
	perch_err more = { 0 };
	launch_finish(&checkup->launch, &more);
	agent_check_add_problem(checkup, &more);
}

/* A relative path starts in the agent's directory. */
static int agent_check_place_program(struct checkup *checkup, perch_err *err)
{
	const char *cwd = checkup->launch.cwd;
	if (checkup->program[0] == '/' || !cwd)
		return 0;
	char *joined = str_join(cwd, "/", checkup->program, NULL);
	if (!joined)
		return err_no_memory(err);
	free(checkup->program);
	checkup->program = joined;
	return 0;
}

static void agent_check_add_path_advice(struct checkup *checkup)
{
	char text[COMMAND_ADVICE_MAX];
	perch_err advice = { 0 };
	if (command_explain_path(&checkup->launch, text))
		err_set(&advice, -ENOENT, "%s", text);
	agent_check_add_problem(checkup, &advice);
}

static int agent_check_find_program(struct checkup *checkup, perch_err *err)
{
	const char *const *argv = checkup->launch.argv;
	perch_err why = { 0 };
	if (!argv || !argv[0])
		return 0;
	bool is_relative = argv[0][0] != '/' && strchr(argv[0], '/');
	if (is_relative && !checkup->has_directory)
		return 0;
	int r = program_find(argv[0], checkup->launch.env, &checkup->program, &why);
	if (r == 0 && agent_check_place_program(checkup, err) < 0)
		return -ENOMEM;
	if (r == 0)
		r = agent_program_check(checkup->program, &why);
	agent_check_add_problem(checkup, &why);
	if (r == -ENOENT)
		agent_check_add_path_advice(checkup);
	return 0;
}

/* The program behind a translator, and the script of an interpreter. */
static int agent_check_find_needs(struct checkup *checkup, perch_err *err)
{
	perch_err why = { 0 };
	int r = agent_needs_check(&checkup->profile, checkup->launch.env, &why);
	agent_check_add_problem(checkup, &why);
	perch_err more = { 0 };
	if (r != -ENOMEM && checkup->has_directory)
		r = agent_needs_script(&checkup->launch, &more);
	agent_check_add_problem(checkup, &more);
	return r == -ENOMEM ? err_no_memory(err) : 0;
}

static void agent_check_guess_dialect(struct checkup *checkup)
{
	const char *path = agent_guess_newer(&checkup->profile, checkup->launch.argv);
	if (path)
		buf_printf(&checkup->warnings, AGENT_LOOKS_NEWER "\n", path);
}

/* Placeholders are shown as they are: a value that was put in is never expanded again. */
static int agent_check_look(struct checkup *checkup, const char *path, perch_err *err)
{
	int r = agent_open_profile(
		checkup->cli, path, checkup->protocol, &checkup->arena, &checkup->profile, err);
	if (r < 0)
		return r;
	checkup->options = (struct agent_turn_options){
		.profile = &checkup->profile,
		.message = STR("{{MESSAGE}}"),
		.session_id = "{{SESSION_ID}}",
		.session_name = "{{SESSION_NAME}}",
		.cwd = checkup->cwd,
	};
	checkup->launch = (struct launch){
		.arena = &checkup->arena,
		.options = &checkup->options,
		.dialect = dialect_of(checkup->profile.dialect),
		.own_env = (const char *const *)environ,
	};
	for (const char *const *warning = checkup->profile.warnings; *warning; warning++)
		buf_printf(&checkup->warnings, "%s\n", *warning);
	for (const char *const *variable = checkup->profile.env; *variable; variable++)
		agent_check_find_unset(checkup, *variable);
	agent_check_begin_launch(checkup);
	r = agent_check_find_program(checkup, err);
	agent_check_guess_dialect(checkup);
	return r < 0 ? r : agent_check_find_needs(checkup, err);
}

/* Called while its sandbox stands. */
static void agent_check_look_inside(void *data, perch_host *host, const struct sandbox *sandbox)
{
	struct checkup *checkup = data;
	const struct profile_about *about = &checkup->profile.about;
	_cleanup_free_ char *needed = NULL;
	if (!checkup->problem.code && agent_needs_program(about))
		program_find(about->cli, checkup->launch.env, &needed, NULL);
	const char *const programs[] = { checkup->program, needed };
	for (size_t i = 0; i < COUNT(programs) && !checkup->problem.code; i++) {
		perch_err why = { 0 };
		if (programs[i])
			agent_program_check_inside(
				host, sandbox, programs[i], checkup->launch.cwd, checkup->profile.widen_by, &why);
		agent_check_add_problem(checkup, &why);
	}
}

/* A sandbox that cannot be made keeps the agent from starting. */
static int agent_check_look_at_sandbox(struct checkup *checkup, perch_err *err)
{
	struct sandbox_policy policy;
	bool has_policy = checkup->profile.is_sandboxed;
	perch_err why = { 0 };
	int r = has_policy ? launch_make_places(&checkup->launch, &why) : 0;
	if (r == 0 && has_policy)
		r = launch_policy(&checkup->launch, &policy, &why);
	if (r == 0)
		r = in_force_visit(has_policy ? &policy : NULL, agent_check_look_inside, checkup,
			&checkup->arena, &checkup->in_force);
	if (r == 0 && checkup->in_force.problem)
		err_set(&why, -EINVAL, "%s", checkup->in_force.problem);
	if (!checkup->problem.code)
		checkup->problem = why;
	return r == -ENOMEM ? err_no_memory(err) : 0;
}

static void agent_check_free(struct checkup *checkup)
{
	free(checkup->program);
	buf_free(&checkup->warnings);
	launch_free(&checkup->launch);
	arena_free(&checkup->arena);
}

bool agent_check_explain(
	const struct cli *cli, const struct agent_words *words, char ret_text[PERCH_ERR_TEXT_MAX])
{
	struct checkup checkup = { .cli = cli, .protocol = words->protocol, .cwd = words->cwd };
	const char *newer = NULL;
	bool is_read = agent_check_look(&checkup, words->profile, NULL) == 0;
	if (is_read)
		newer = agent_guess_newer(&checkup.profile, checkup.launch.argv);
	if (newer)
		snprintf(ret_text, PERCH_ERR_TEXT_MAX, AGENT_LOOKS_NEWER, newer);
	else
		snprintf(ret_text, PERCH_ERR_TEXT_MAX, "%s", checkup.problem.text);
	bool is_explained = newer || (is_read && checkup.problem.code);
	agent_check_free(&checkup);
	return is_explained;
}

static int agent_check_profile(struct cli *cli, const char *path, const char *protocol)
{
	struct checkup checkup = { .cli = cli, .protocol = protocol };
	perch_err err = { 0 };
	int code = EXIT_HOST;
	if (agent_check_look(&checkup, path, &err) < 0 ||
		agent_check_look_at_sandbox(&checkup, &err) < 0) {
		agent_check_tell_failure(cli, path, &err);
	} else {
		code = cli->json ? agent_check_print_json(&checkup) : 0;
		if (!cli->json)
			agent_check_print_for_people(&checkup);
		if (code == 0 && checkup.problem.code)
			code = EXIT_FAILURE;
	}
	agent_check_free(&checkup);
	return code;
}

static int agent_check(struct cli *cli, int argc, char **argv)
{
	struct option_list words = { 0 };
	const char *protocol = NULL;
	const struct option_spec options[] = {
		{ "json", 0, OPTION_FLAG, &cli->json },
		{ "protocol", 0, OPTION_TEXT, &protocol },
		{ 0 },
	};
	int r = options_parse_words(options, argc, argv, &words);
	if (r == 0)
		r = agent_check_protocol(protocol);
	if (r == 0 && words.count != 1)
		r = cli_usage_error("write: perch agent check NAME", "check takes one profile");
	if (r == 0)
		r = agent_check_profile(cli, words.items[0], protocol);
	free(words.items);
	return r;
}

const struct command agent_check_command = {
	.name = "check",
	.summary = "look at a profile: what would be started, and what is missing",
	.help = "usage: perch agent check NAME|FILE [--json] [--protocol 0.1|0.4|acp]\n"
			"\n"
			"Reads a profile and shows what it means here: the command as it would be\n"
			"started, with its placeholders, the program it finds, the directory, the\n"
			"variables. Ends with 0 when the agent could be started, with 1 when something is\n"
			"missing, with 125 when the profile cannot be used.\n"
			"\n"
			"  --json       one object, for programs\n"
			"  --protocol   as if the profile said so\n"
			"\n"
			"example:\n"
			"  perch agent check bot.yaml\n",
	.words = WORDS_AGENTS,
	.run = agent_check,
};
