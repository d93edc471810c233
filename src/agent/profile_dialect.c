/* Which version of AgentProc a profile is written for, and what is odd about it there. */
#include <stdio.h>
#include <string.h>

#include "agent/dialect.h"
#include "agent/template.h"
#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"

/* The most sentences that depend on the dialect. */
enum { DIALECT_ODDITIES_MAX = 3 };

bool agent_dialect_find(const char *version, enum agent_dialect *ret_dialect)
{
	for (enum agent_dialect i = 0; i < AGENT_DIALECTS; i++) {
		if (strcmp(dialect_of(i)->version, version) == 0) {
			*ret_dialect = i;
			return true;
		}
	}
	return false;
}

static bool profile_dialect_any(const struct agent_profile *profile, bool (*uses)(struct str text))
{
	bool found = uses(str_from(profile->command)) || uses(str_from(profile->cwd));
	for (const char *const *text = profile->args; *text; text++)
		found = found || uses(str_from(*text));
	for (const char *const *text = profile->env; *text; text++)
		found = found || uses(str_from(*text));
	return found;
}

/* The published collection has these in every profile; `name` and `description` may be in any. */
static bool profile_dialect_is_published(const struct profile_about *about)
{
	return about->cli || about->cli_install || about->tested || about->maintainer;
}

/* A profile with a key that 0.4 does not have was written for 0.1. */
static bool profile_dialect_needs_0_1(const struct agent_profile *profile)
{
	return profile->message_on_stdin || profile_dialect_any(profile, template_uses_message);
}

static const char *profile_dialect_ask_for_line(
	struct arena *arena, const struct agent_profile *profile)
{
	char shown[FILE_SHOWN_MAX];
	return arena_join(arena, file_shown(profile->path, shown),
		": no protocol is said, and the keys are those of AgentProc 0.4: it is taken for that; to "
		"be sure, add the line protocol: \"0.4\" (or protocol: \"0.1\")",
		NULL);
}

/* Puts the sentences behind those that hold for any dialect. */
static int profile_dialect_settle(struct arena *arena, struct agent_profile *profile,
	enum agent_dialect dialect, enum dialect_evidence evidence, perch_err *err)
{
	size_t count = profile->oddities;
	const char **list = arena_alloc(arena, (count + DIALECT_ODDITIES_MAX + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	memcpy(list, profile->warnings, count * sizeof(*list));
	if (evidence == DIALECT_LIKELY &&
		!(list[count++] = profile_dialect_ask_for_line(arena, profile)))
		return err_no_memory(err);
	if (dialect != AGENT_0_1 && profile_dialect_any(profile, template_uses_message))
		list[count++] = "{{MESSAGE}} means nothing in this protocol: the message is on stdin";
	if (dialect == AGENT_0_1 && profile->max_turn_tokens)
		list[count++] = "max_turn_tokens means nothing in protocol 0.1: an agent cannot say in it "
						"what it uses";
	list[count] = NULL;
	profile->warnings = list;
	profile->dialect = dialect;
	profile->evidence = evidence;
	return 0;
}

int agent_profile_speak(
	struct arena *arena, struct agent_profile *profile, enum agent_dialect dialect, perch_err *err)
{
	return profile_dialect_settle(arena, profile, dialect, DIALECT_SAID, err);
}

int agent_profile_infer(struct arena *arena, struct agent_profile *profile, perch_err *err)
{
	bool is_likely = profile->evidence == DIALECT_UNSAID &&
		profile_dialect_is_published(&profile->about) && !profile_dialect_needs_0_1(profile);
	if (is_likely)
		return profile_dialect_settle(arena, profile, AGENT_0_4, DIALECT_LIKELY, err);
	return profile_dialect_settle(arena, profile, profile->dialect, profile->evidence, err);
}
