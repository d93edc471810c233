/* How an agent is started: the message, the directory, and templates. */
#include "agent/agent_launch.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/template.h"
#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"

const char *launch_own_variable(const struct launch *launch, struct str name)
{
	if (str_has_prefix(name, STR("AGENT_")))
		return NULL;
	for (const char *const *variable = launch->own_env; *variable; variable++) {
		if (environment_is_of(*variable, name))
			return (*variable)[name.len] ? *variable + name.len + 1 : "";
	}
	return NULL;
}

static bool agent_launch_is_allowed(const struct launch *launch, struct str name)
{
	const struct agent_profile *profile = launch->options->profile;
	if (!profile->has_env_allowlist || list_has_str(profile->env_allowlist, name))
		return true;
	return launch->dialect->inherits && launch_is_basic(name);
}

/* ${VAR} of a template. */
static const char *agent_launch_find_variable(void *data, struct str name)
{
	struct launch *launch = data;
	if (agent_launch_is_allowed(launch, name))
		return launch_own_variable(launch, name);
	buf_printf(&launch->warnings, "${%.*s} is empty: it is not in env_allowlist\n",
		(int)(name.len < 100 ? name.len : 100), name.data);
	return NULL;
}

static int agent_launch_refuse_length(const struct launch *launch, struct str template,
	const struct launch_place *place, size_t len, perch_err *err)
{
	bool has_message = launch->dialect->has_message && template_uses_message(template);
	bool is_on_stdin = launch->options->profile->message_on_stdin;
	const char *advice = "shorten it in the profile";
	if (has_message)
		advice = is_on_stdin ? "take {{MESSAGE}} out of it, the message is on stdin as well"
							 : "take {{MESSAGE}} out of it, and write stdin: message instead";
	return err_set(err, -EINVAL, "%.100s is too long%s (%zu bytes, at most %zu): %s", place->name,
		has_message ? " with the message in it" : "", len, place->most, advice);
}

int launch_expand(struct launch *launch, struct str template, const struct launch_place *place,
	const char **ret_text, perch_err *err)
{
	const struct agent_turn_options *options = launch->options;
	const struct template_values values = {
		.has_message = launch->dialect->has_message,
		.message = options->message,
		.session_id = options->session_id ? options->session_id : "",
		.session_name = options->session_name ? options->session_name : "default",
		.profile_dir = options->profile->directory,
		.perch_dir = options->profile->programs,
		.variable = place->has_variables ? agent_launch_find_variable : NULL,
		.data = launch,
	};
	_cleanup_(buf_free) struct buf text = { 0 };
	if (template_expand(&text, template, &values) < 0)
		return err_no_memory(err);
	if (text.len > place->most)
		return agent_launch_refuse_length(launch, template, place, text.len, err);
	const char *kept = arena_dup(launch->arena, (struct str){ text.data, text.len });
	if (!kept)
		return err_no_memory(err);
	*ret_text = kept;
	return 0;
}

/* ---- the message ----------------------------------------------------------- */

static int agent_launch_check_message(const struct agent_turn_options *options, perch_err *err)
{
	struct str message = options->message;
	if (!message.len && !options->attachment_count)
		return err_set(err, -EINVAL, "refused: the message is empty, and nothing is attached");
	if (message.len && memchr(message.data, '\0', message.len))
		return err_set(err, -EINVAL, "refused: the message has a NUL byte in it");
	if (message.len > PERCH_AGENT_MESSAGE_MAX)
		return err_set(err, -EINVAL,
			"refused: the message has more than the %d MiB that can be sent",
			PERCH_AGENT_MESSAGE_MAX / 1024 / 1024);
	return 0;
}

/* ---- the directory ----------------------------------------------------------- */

static int agent_launch_refuse_cwd(perch_err *err, int code, const char *path, const char *why)
{
	err_set(err, code, "the agent's directory cannot be used: %.300s: %s", path, why);
	if (err)
		err->stage = "chdir";
	return code;
}

/* Only a ~ of the template is the home directory. */
static int agent_launch_profile_cwd(struct launch *launch, const char **ret_cwd, perch_err *err)
{
	const struct agent_profile *profile = launch->options->profile;
	const char *template = profile->cwd;
	bool is_home = profile_is_home(template);
	const char *home = is_home ? launch_own_variable(launch, STR("HOME")) : "";
	const char *text;
	if (is_home && (!home || !home[0]))
		return agent_launch_refuse_cwd(err, -ENOENT, template,
			"HOME is not set: set it, or write the whole path into the profile's cwd");
	const struct launch_place place = { "cwd", AGENT_ARGUMENT_MAX, .has_variables = true };
	int r = launch_expand(launch, str_from(template + is_home), &place, &text, err);
	if (r < 0)
		return r;
	bool is_relative = !is_home && text[0] != '/';
	*ret_cwd = arena_join(launch->arena, home, is_relative ? profile->directory : "",
		is_relative ? "/" : "", text, NULL);
	return *ret_cwd ? 0 : err_no_memory(err);
}

static int agent_launch_find_cwd(struct launch *launch, perch_err *err)
{
	int r = 0;
	if (launch->options->cwd)
		launch->cwd = launch->options->cwd;
	else if (launch->options->profile->cwd[0])
		r = agent_launch_profile_cwd(launch, &launch->cwd, err);
	struct stat info;
	if (r < 0 || !launch->cwd)
		return r;
	if (stat(launch->cwd, &info) < 0)
		r = -errno;
	else if (!S_ISDIR(info.st_mode))
		r = -ENOTDIR;
	const char *cwd = launch->options->cwd ? "/" : launch->options->profile->cwd;
	char why[128];
	snprintf(why, sizeof(why), "%s%s", perch_strerror(r),
		cwd[0] == '/' || cwd[0] == '~' ? "" : "; a relative cwd starts where the profile is");
	return r < 0 ? agent_launch_refuse_cwd(err, r, launch->cwd, why) : 0;
}

int launch_begin(struct launch *launch, perch_err *err)
{
	int r = agent_launch_check_message(launch->options, err);
	return r < 0 ? r : agent_launch_find_cwd(launch, err);
}

int launch_finish(struct launch *launch, perch_err *err)
{
	int r = launch_make_env(launch, err);
	return r < 0 ? r : launch_make_argv(launch, err);
}

void launch_free(struct launch *launch)
{
	buf_free(&launch->warnings);
}
