/* A perch that a plugin's command starts (`fledge sql query …`): it runs inside of the plugin's
 * sandbox, where there are no other plugins, so it has the host outside run them. */
#ifndef CLI_RUN_RUN_CALL_H
#define CLI_RUN_RUN_CALL_H

#include "cli/cli.h"

/* Whether this perch runs inside of a plugin's sandbox. */
bool call_is_inside(void);

/* Has the host outside run the plugin command argv[0]. Returns its exit status. */
int call_run(const struct cli *cli, int argc, char **argv);

/* The same for a subcommand of `perch plugins`, argv[0]: only `list --json` is there. */
int call_plugins(const struct cli *cli, int argc, char **argv);

#endif
