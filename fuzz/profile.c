/* Any bytes as a profile: no crash, no hang; an error has words and a file, and
 * what is accepted can be started from. */
#include "fuzz.h"

#include "agent/agent_launch.h"

static void start_from(const struct agent_profile *profile, struct arena *arena)
{
	static const char *const own_env[] = { "PATH=/usr/bin", "HOME=/home", "SECRET=hidden", NULL };
	const struct agent_turn_options options = {
		.profile = profile,
		.message = STR("${SECRET} {{SESSION_ID}}"),
		.session_id = "id",
	};
	struct launch launch = {
		.arena = arena,
		.options = &options,
		.dialect = dialect_of(profile->dialect),
		.own_env = own_env,
	};
	perch_err err = { 0 };
	int r = launch_finish(&launch, &err);
	check(r == 0 || err.text[0]);
	check(r < 0 || (launch.argv[0] && launch.env));
	launch_free(&launch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct agent_profile profile;
	perch_err err = { 0 };
	const struct str text = { (const char *)data, size };
	int r = agent_profile_parse("/p/bot.yaml", text, &arena, &profile, &err);
	if (r == 0) {
		check(profile.command[0] && profile.args && profile.env && profile.session_prefix[0]);
		start_from(&profile, &arena);
	} else {
		check(err.code == r && err.text[0]);
	}
	arena_free(&arena);
	return 0;
}
