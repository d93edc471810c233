/* The subcommands allow and revoke: they widen the sandbox of a plugin, a tool or an agent beyond
 * its default, and take that back. `perch plugins`, `perch tool` and `perch agent` describe their
 * subject by a table; everything else is common. */
#ifndef CLI_UI_ALLOW_H
#define CLI_UI_ALLOW_H

#include "cli/cli.h"
#include "registry/grants.h"

struct allow_subject {
	enum grant_kind kind;
	const char *noun;    /* "plugin" */
	const char *command; /* "perch plugins" */
	/* The name that the grant is recorded under, in the arena, for what the user calls it.
	 * NULL = any word is a name. */
	int (*find)(const char *word, struct arena *arena, const char **ret_name, perch_err *err);
	/* The option that approves what it asks for now: "manifest". NULL = there is none. */
	const char *approve_option;
	/* Approves that, in *grant, and says so in *ret_words (in the arena). */
	int (*approve)(const char *name, struct arena *arena, struct grant *grant,
		const char **ret_words, perch_err *err);
	/* Grants, or takes back, what the words of --grant name, and says in *ret_words what is granted
	 * now (in the arena). NULL = there is no --grant. */
	int (*grant)(const char *name, const struct option_list *words, bool revokes,
		struct arena *arena, struct grant *grant, const char **ret_words, perch_err *err);
	/* It asks before it uses a tool, and --tool allows one for good. */
	bool has_tools;
	/* Called without that option, before the grant is written: what the user allows or revokes in
	 * this command must not count later as a change behind their back. `before` is the grant as it
	 * was. NULL = nothing is to be done. */
	int (*settle)(const char *name, struct arena *arena, const struct grant *before,
		struct grant *grant, perch_err *err);
};

/* argv[0] is "allow" or "revoke", then come NAME and options. Return an exit code. */
int cli_allow(struct cli *cli, const struct allow_subject *subject, int argc, char **argv);
int cli_revoke(struct cli *cli, const struct allow_subject *subject, int argc, char **argv);

/* ---- allow_print.c -------------------------------------------------------------- */

struct allow_outcome {
	const struct allow_subject *subject;
	bool revokes;
	const char *name;
	const struct grant *grant;
	const char *approved; /* in words; NULL = nothing was */
	const char *granted;  /* the same */
};

int allow_print_for_people(const struct allow_outcome *outcome);
int allow_print_json(const struct allow_outcome *outcome);

#define ALLOW_OPTIONS_HELP                                                             \
	"  --read PATH     read it, also where it is hidden (again for more)\n"            \
	"  --write PATH    write below it\n"                                               \
	"  --env NAME      see this variable, although it looks like a secret\n"           \
	"  --preset NAME   what a program needs: ssh, git, github, docker, aws, npm …\n" \
	"  --net, --no-net the network, or none\n"                                         \
	"  --sandbox off   no sandbox at all; on: always one\n"

#endif
