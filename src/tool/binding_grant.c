/* What the user allowed a tool, and whether its binding is still the one that was approved. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/shell_word.h"
#include "registry/decision.h"
#include "sandbox/policy/path_list.h"
#include "tool/binding.h"
#include "tool/bundle.h"

/* ---- what a binding allows ------------------------------------------------------ */

static void binding_add_words(struct path_list *words, const char *kind, const char *const *list)
{
	for (; list && *list && !words->failed; list++) {
		const char *word = decision_word(words->arena, kind, *list);
		words->failed |= !word;
		path_list_add(words, word ? word : "");
	}
}

static void binding_add_path(struct path_list *words, const char *kind, const char *path)
{
	const char *word = decision_word_of_path(words->arena, kind, path);
	words->failed |= !word;
	path_list_add(words, word ? word : "");
}

static void binding_add_word(struct path_list *words, const char *kind, const char *about)
{
	const char *const list[] = { about, NULL };
	binding_add_words(words, kind, list);
}

/* The tools that may be called without asking: all of them, or those that the binding lists with
 * ask = false. */
static void binding_add_unasked(struct path_list *words, const struct tool_binding *binding)
{
	bool asks = tool_binding_asks(binding, "");
	if (!asks)
		path_list_add(words, DECISION_UNASKED);
	for (size_t i = 0; i < binding->tool_count && asks; i++) {
		if (!binding->tools[i].asks)
			binding_add_word(words, DECISION_UNASKED, binding->tools[i].name);
	}
}

static void binding_add_pins(struct path_list *words, const struct tool_binding *binding)
{
	for (size_t i = 0; i < binding->pin_count && !words->failed; i++) {
		const struct tool_pin *pin = &binding->pins[i];
		const char *about = arena_join(words->arena, pin->path, " ", pin->sha256, NULL);
		words->failed |= !about;
		binding_add_word(words, DECISION_PIN, about ? about : "");
	}
}

static void binding_add_limits(struct path_list *words, const struct tool_binding *binding)
{
	struct sandbox_limits limits = tool_binding_limits(binding);
	const struct {
		const char *name;
		uint64_t number;
	} all[] = {
		{ "memory", limits.memory },
		{ "processes", limits.processes },
		{ "files", limits.files },
		{ "size", limits.size },
		{ "cpu", limits.cpu },
	};
	for (size_t i = 0; i < COUNT(all); i++) {
		char about[64];
		snprintf(about, sizeof(about), "%s %llu", all[i].name, (unsigned long long)all[i].number);
		if (all[i].number)
			binding_add_word(words, DECISION_LIMIT, about);
	}
}

/* For an MCP server: the tools as they were approved, the variables of its process, and which calls
 * share it. */
static void binding_add_server(struct path_list *words, const struct tool_binding *binding)
{
	const struct tool_server *server = &binding->server;
	for (size_t i = 0; i < binding->tool_count && !words->failed; i++) {
		const struct tool_known *tool = &binding->tools[i];
		const char *about = arena_join(words->arena, tool->name, " ", tool->pin, NULL);
		words->failed |= !about;
		binding_add_word(words, "tool", about ? about : "");
	}
	if (server->lifetime == TOOL_LIFETIME_SHARED)
		path_list_add(words, "shared by all callers");
	if (server->secrets[0])
		binding_add_path(words, "secrets", server->secrets);
	if (server->elicitation == TOOL_ANSWER_CLIENT)
		path_list_add(words, "asks the client's user");
	if (server->sampling == TOOL_ANSWER_CLIENT)
		path_list_add(words, "uses the client's model");
	if (server->sampling == TOOL_ANSWER_AGENT)
		binding_add_word(words, "asks the agent", server->sampler);
	if (server->roots == TOOL_ANSWER_CLIENT)
		path_list_add(words, "knows the client's roots");
	if (server->url[0])
		binding_add_word(words, "url", server->url);
	if (server->token[0])
		binding_add_path(words, "token", server->token);
}

/* Without a sandbox, everything counts that decides what is executed. */
static void binding_add_execution(struct path_list *words, const struct tool_binding *binding)
{
	for (size_t i = 0; binding->args && binding->args[i] && !words->failed; i++) {
		char number[32];
		snprintf(number, sizeof(number), "%zu ", i + 1);
		const char *about = arena_join(words->arena, number, binding->args[i], NULL);
		words->failed |= !about;
		binding_add_word(words, DECISION_ARGUMENT, about ? about : "");
	}
	binding_add_words(words, DECISION_VARIABLE, binding->env);
}

/* The tool sees the directory of its command. */
static const char *const *binding_words(
	struct arena *arena, const struct tool_binding *binding, const struct grant *grant)
{
	struct path_list words;
	bool is_off = binding->widening.is_off && !(grant && grant->widening.is_on);
	path_list_begin(&words, arena, NULL);
	binding_add_path(&words, DECISION_COMMAND, binding->command);
	binding_add_path(&words, "directory", binding->directory);
	binding_add_words(&words, "capability", binding->capabilities);
	if (binding->widening.net == WIDENING_NET_FULL)
		path_list_add(&words, "network");
	if (is_off) {
		path_list_add(&words, DECISION_NO_SANDBOX);
		binding_add_execution(&words, binding);
	}
	binding_add_unasked(&words, binding);
	if (binding->verdict == TOOL_VERDICT_RESPONSE)
		path_list_add(&words, "answers before its exit is judged");
	if (binding->server.is_server)
		binding_add_server(&words, binding);
	binding_add_pins(&words, binding);
	binding_add_limits(&words, binding);
	return words.failed ? NULL : decision_words(arena, &binding->widening, words.items);
}

int tool_binding_decision(struct arena *arena, const struct tool_binding *binding,
	const struct grant *grant, const char *name, struct decision *ret_decision, perch_err *err)
{
	const struct decision decision = {
		.kind = GRANT_TOOL,
		.name = name,
		.path = binding->path,
		.sha256 = binding->sha256,
		.words = binding_words(arena, binding, grant),
		.approve_by = shell_command(arena, "perch tool allow ", name, " --binding"),
	};
	if (!decision.words || !decision.approve_by)
		return err_no_memory(err);
	*ret_decision = decision;
	return 0;
}

/* ---- the files that it names ------------------------------------------------------ */

/* Relative paths start in the directory that the tool runs in. */
static void binding_add_file(
	struct path_list *files, const struct tool_binding *binding, const char *name)
{
	struct stat info;
	bool is_relative = name[0] != '/';
	if (!name[0] || (is_relative && !binding->directory[0]))
		return;
	const char *path = is_relative ? arena_join(files->arena, binding->directory, "/", name, NULL)
								   : arena_dup(files->arena, str_from(name));
	files->failed |= !path;
	if (path && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
		!list_has(binding->widening.write, path))
		path_list_add(files, path);
}

/* The bundle that lies beside the command. */
static void binding_add_bundle(struct path_list *files, const struct tool_binding *binding)
{
	const char *slash = strrchr(binding->command, '/');
	size_t len = slash ? (size_t)(slash - binding->command) : 0;
	const char *folder = arena_dup(files->arena, (struct str){ binding->command, len });
	const char *path = folder ? arena_join(files->arena, folder, "/" TOOL_BUNDLE_FILE, NULL) : NULL;
	files->failed |= !path;
	if (path && slash)
		binding_add_file(files, binding, path);
}

const char *const *tool_binding_files(struct arena *arena, const struct tool_binding *binding)
{
	struct path_list files;
	path_list_begin(&files, arena, NULL);
	binding_add_file(&files, binding, binding->command);
	binding_add_file(&files, binding, TOOL_BUNDLE_FILE);
	binding_add_bundle(&files, binding);
	for (size_t i = 0; i < binding->pin_count; i++)
		binding_add_file(&files, binding, binding->pins[i].path);
	for (const char *const *argument = binding->args; argument && *argument; argument++)
		binding_add_file(&files, binding, *argument);
	return files.failed ? NULL : files.items;
}

/* ---- approving --------------------------------------------------------------------- */

static int binding_record(struct arena *arena, const struct tool_binding *binding,
	const struct decision *decision, const struct grant *keeps, perch_err *err)
{
	const char *const *files = tool_binding_files(arena, binding);
	return files ? decision_record(decision, files, keeps, err) : err_no_memory(err);
}

int tool_binding_approve(
	struct arena *arena, const struct tool_binding *binding, const char *name, perch_err *err)
{
	struct decision decision;
	int r = tool_binding_decision(arena, binding, NULL, name, &decision, err);
	return r < 0 ? r : binding_record(arena, binding, &decision, NULL, err);
}

int tool_binding_trust(struct arena *arena, struct tool_binding *binding, perch_err *err)
{
	struct grant grant;
	struct decision decision;
	binding->widen_in = binding->path;
	int r = grants_read(GRANT_TOOL, binding->path, arena, &grant, err);
	if (r == 0)
		r = tool_binding_decision(arena, binding, &grant, binding->path, &decision, err);
	if (r == 0)
		r = decision_check(&decision, &grant, err);
	/* When the approval cannot be recorded, the call goes on: the sandbox protects the binding's
	 * file. */
	if (r > 0 && !binding->widening.is_off &&
		binding_record(arena, binding, &decision, &grant, NULL) == -ENOMEM)
		r = err_no_memory(err);
	return r < 0 ? r : 0;
}

/* The paths that `perch tool add` has written had no links. */
static int binding_fix(struct arena *arena, struct tool_binding *binding)
{
	const struct policy_widening *own = &binding->widening;
	const struct policy_widening read = { .fixed = own->read };
	const struct policy_widening write = { .fixed = own->write };
	struct policy_widening fixed = *own;
	int r = policy_widening_join(arena, &read, &fixed);
	if (r == 0)
		r = policy_widening_join(arena, &write, &fixed);
	if (r == 0)
		binding->widening = fixed;
	return r;
}

/* A binding of ours that was never approved lies where no sandbox may write, or even look. */
int tool_binding_grant(
	const char *name, struct arena *arena, struct tool_binding *binding, perch_err *err)
{
	struct grant grant;
	struct decision decision;
	binding->widen_by = shell_command(arena, "perch tool allow ", name, " ");
	if (!binding->widen_by)
		return err_no_memory(err);
	int r = grants_read(GRANT_TOOL, name, arena, &grant, err);
	bool is_checked = r == 0 && grant.has_approval && !grant.widening.is_off;
	if (is_checked)
		r = tool_binding_decision(arena, binding, &grant, name, &decision, err);
	if (r == 0 && is_checked)
		r = decision_check(&decision, &grant, err);
	if (r >= 0 &&
		(binding_fix(arena, binding) < 0 ||
			policy_widening_join(arena, &grant.widening, &binding->widening) < 0))
		r = err_no_memory(err);
	return r < 0 ? r : 0;
}
