/* One launch of an agent. */
#include "harness/attempt.h"

#include <string.h>

#include "base/environment.h"
#include "harness/suite.h"

static const char *const own_env[] = { "PATH=/usr/bin:/bin", "HOME=/home/me", "SECRET=s3",
	"AGENT_MESSAGE=old", "AGENT_FOO=old", "LC_TIME=C", "EMPTY=", NULL };

void attempt_open(struct attempt *attempt, const char *text, const char *message)
{
	*attempt = (struct attempt){ 0 };
	perch_err err = { 0 };
	int r = agent_profile_parse(
		"/tmp/bot.yaml", str_from(text), &attempt->arena, &attempt->profile, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	attempt->options = (struct agent_turn_options){
		.profile = &attempt->profile,
		.message = str_from(message),
		.session_id = "s-7",
		.from = "ann",
	};
	attempt->launch = (struct launch){
		.arena = &attempt->arena,
		.options = &attempt->options,
		.dialect = dialect_of(attempt->profile.dialect),
		.own_env = own_env,
	};
}

int attempt_run(struct attempt *attempt)
{
	int r = launch_begin(&attempt->launch, &attempt->err);
	return r < 0 ? r : launch_finish(&attempt->launch, &attempt->err);
}

void attempt_close(struct attempt *attempt)
{
	launch_free(&attempt->launch);
	arena_free(&attempt->arena);
}

const char *attempt_variable(const struct attempt *attempt, const char *name)
{
	const char *found = NULL;
	for (const char *const *v = attempt->launch.env; *v; v++) {
		if (str_is(environment_name(*v), name)) {
			ck_assert_msg(!found, "%s is set twice", name);
			found = *v + strlen(name) + 1;
		}
	}
	return found;
}
