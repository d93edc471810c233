/* The environment of an agent: what is inherited, the profile's, the turn's,
 * the protocol's; each wins over those before. */
#include <errno.h>
#include <string.h>

#include "agent/agent_launch.h"
#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "data/json.h"

/* A list while it is made. */
struct environment {
	struct launch *launch;
	const char **items;
	size_t count;
	size_t cap;
	perch_err *err;
	int error;
};

static void agent_environment_append(struct environment *env, const char *variable)
{
	if (env->count == env->cap) {
		size_t cap = env->cap ? 2 * env->cap : 64;
		const char **items = arena_alloc(env->launch->arena, cap * sizeof(*items));
		if (!items) {
			env->error = err_no_memory(env->err);
			return;
		}
		if (env->count)
			memcpy(items, env->items, env->count * sizeof(*items));
		env->items = items;
		env->cap = cap;
	}
	env->items[env->count++] = variable;
}

static void agent_environment_set(struct environment *env, const char *variable)
{
	struct str name = environment_name(variable);
	for (size_t i = 0; i < env->count; i++) {
		if (environment_is_of(env->items[i], name)) {
			env->items[i] = variable;
			return;
		}
	}
	agent_environment_append(env, variable);
}

/* How long a value may be behind NAME= and before its NUL. */
static size_t agent_environment_room_for(size_t name_len)
{
	return name_len + 2 < AGENT_VARIABLE_MAX ? AGENT_VARIABLE_MAX - name_len - 2 : 0;
}

/* NAME=value, refused when the kernel would not take it. */
static void agent_environment_set_value(struct environment *env, const char *name, struct str value)
{
	size_t len = strlen(name) + 1 + value.len;
	if (env->error)
		return;
	if (value.len > agent_environment_room_for(strlen(name))) {
		env->error =
			err_set(env->err, -EINVAL, "%.100s is too long for a variable (%zu bytes, at most %zu)",
				name, value.len, agent_environment_room_for(strlen(name)));
		return;
	}
	char *variable = arena_alloc(env->launch->arena, len + 1);
	if (!variable) {
		env->error = err_no_memory(env->err);
		return;
	}
	memcpy(variable, name, strlen(name));
	variable[strlen(name)] = '=';
	if (value.len)
		memcpy(variable + strlen(name) + 1, value.data, value.len);
	variable[len] = '\0';
	agent_environment_set(env, variable);
}

/* ---- what is inherited ----------------------------------------------------- */

bool launch_is_basic(struct str name)
{
	static const char *const basic[] = { "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM",
		"TMPDIR", "TZ", NULL };
	return list_has_str(basic, name) || str_has_prefix(name, STR("LC_"));
}

static bool agent_environment_is_inherited(const struct launch *launch, const char *variable)
{
	const struct agent_profile *profile = launch->options->profile;
	struct str name = environment_name(variable);
	if (str_has_prefix(name, STR("AGENT_")))
		return false;
	if (!launch->dialect->inherits && !launch_is_basic(name))
		return false;
	if (launch->dialect->inherits && profile->has_env_allowlist && !launch_is_basic(name) &&
		!list_has_str(profile->env_allowlist, name))
		return false;
	return true;
}

/* ---- the protocol's -------------------------------------------------------- */

bool launch_is_protocols(const struct launch *launch, const char *variable)
{
	static const char *const names[] = { "AGENT_MESSAGE", "AGENT_MESSAGE_OMITTED",
		"AGENT_SESSION_ID", "AGENT_SESSION_NAME", "AGENT_FROM_USER", "AGENT_STREAMING",
		"AGENT_PROTOCOL_VERSION", "AGENT_IMAGE_URL", "AGENT_FILE_URL", "AGENT_ATTACHMENTS", NULL };
	struct str name = environment_name(variable);
	return list_has_str(names, name) ||
		(!launch->dialect->has_variables && str_has_prefix(name, STR("AGENT_")));
}

static void agent_environment_set_message(struct environment *env)
{
	static const char name[] = "AGENT_MESSAGE";
	const struct agent_turn_options *options = env->launch->options;
	size_t most = agent_environment_room_for(strlen(name));
	if (options->message.len <= most) {
		agent_environment_set_value(env, name, options->message);
	} else if (options->profile->message_on_stdin) {
		agent_environment_set(env, "AGENT_MESSAGE=");
		agent_environment_set(env, "AGENT_MESSAGE_OMITTED=1");
	} else {
		env->error = err_set(env->err, -EINVAL,
			"the message is too long for a variable (%zu bytes, at most %zu): the profile needs "
			"stdin: message",
			options->message.len, most);
	}
}

/* The URL, when there is exactly one of the kind. */
static void agent_environment_set_single(
	struct environment *env, const char *name, perch_attachment_kind kind)
{
	const struct agent_turn_options *options = env->launch->options;
	const char *url = NULL;
	size_t count = 0;
	for (size_t i = 0; i < options->attachment_count; i++) {
		if (options->attachments[i].kind == kind) {
			url = options->attachments[i].url;
			count++;
		}
	}
	if (count == 1)
		agent_environment_set_value(env, name, str_from(url));
}

static void agent_environment_set_attachments(struct environment *env)
{
	const struct agent_turn_options *options = env->launch->options;
	if (!options->attachment_count)
		return;
	_cleanup_(buf_free) struct buf json = { 0 };
	struct perch_json_writer writer = json_writer_on(&json);
	attachments_write(&writer, "type", options->attachments, options->attachment_count);
	if (json.failed)
		env->error = err_no_memory(env->err);
	else
		agent_environment_set_value(env, "AGENT_ATTACHMENTS", (struct str){ json.data, json.len });
}

static void agent_environment_set_protocols(struct environment *env)
{
	const struct agent_turn_options *options = env->launch->options;
	const struct agent_profile *profile = options->profile;
	bool is_streaming = profile->streaming && !options->no_stream;
	agent_environment_set_message(env);
	agent_environment_set_value(env, "AGENT_SESSION_ID", str_from(options->session_id));
	agent_environment_set_value(env, "AGENT_SESSION_NAME",
		str_from(options->session_name ? options->session_name : "default"));
	agent_environment_set_value(env, "AGENT_FROM_USER", str_from(options->from));
	agent_environment_set_value(env, "AGENT_STREAMING", is_streaming ? STR("1") : STR("0"));
	agent_environment_set_value(
		env, "AGENT_PROTOCOL_VERSION", str_from(env->launch->dialect->version));
	agent_environment_set_single(env, "AGENT_IMAGE_URL", PERCH_ATTACHMENT_IMAGE);
	agent_environment_set_single(env, "AGENT_FILE_URL", PERCH_ATTACHMENT_FILE);
	agent_environment_set_attachments(env);
}

static void agent_environment_refuse(struct environment *env, struct str name)
{
	buf_printf(&env->launch->warnings, "env %.*s is ignored: %s\n",
		(int)(name.len < 100 ? name.len : 100), name.data,
		env->launch->dialect->has_variables ? "it is the protocol's"
											: "names that begin with AGENT_ are the protocol's");
}

/* ---- all of them ----------------------------------------------------------- */

static void agent_environment_set_profiles(struct environment *env, const char *variable)
{
	struct str name = environment_name(variable);
	if (env->error)
		return;
	if (launch_is_protocols(env->launch, variable)) {
		agent_environment_refuse(env, name);
		return;
	}
	const char *kept = arena_dup(env->launch->arena, name);
	const char *value = NULL;
	const struct launch_place place = { kept, agent_environment_room_for(name.len),
		.has_variables = true };
	struct str template = str_from(variable + name.len + 1);
	env->error = kept ? launch_expand(env->launch, template, &place, &value, env->err)
					  : err_no_memory(env->err);
	if (!env->error)
		agent_environment_set_value(env, kept, str_from(value));
}

/* A sandboxed agent inherits what every sandboxed program does. */
static void agent_environment_inherit(struct environment *env)
{
	const struct launch *launch = env->launch;
	const struct agent_profile *profile = launch->options->profile;
	const char *const *variable = launch->own_env;
	if (profile->is_sandboxed)
		variable = policy_environment(launch->arena, variable, &profile->widening, NULL);
	if (!variable)
		env->error = err_no_memory(env->err);
	for (; !env->error && *variable; variable++) {
		if (agent_environment_is_inherited(env->launch, *variable))
			agent_environment_append(env, *variable);
	}
}

int launch_make_env(struct launch *launch, perch_err *err)
{
	struct environment env = { .launch = launch, .err = err };
	const struct agent_turn_options *options = launch->options;
	agent_environment_inherit(&env);
	for (const char *const *variable = options->profile->env; *variable; variable++)
		agent_environment_set_profiles(&env, *variable);
	for (const char *const *variable = options->env; variable && *variable; variable++) {
		if (launch_is_protocols(launch, *variable))
			agent_environment_refuse(&env, environment_name(*variable));
		else if (!env.error)
			agent_environment_set(&env, *variable);
	}
	if (launch->tmp)
		agent_environment_set_value(&env, "TMPDIR", str_from(launch->tmp));
	if (!env.error && launch->dialect->has_variables)
		agent_environment_set_protocols(&env);
	if (!env.error)
		agent_environment_append(&env, NULL);
	if (!env.error)
		launch->env = env.items;
	return env.error;
}
