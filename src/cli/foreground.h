/* Whose terminal it is: a program that shares ours may make process groups of its own and
 * hand them the terminal, as a shell with jobs does. */
#ifndef CLI_FOREGROUND_H
#define CLI_FOREGROUND_H

#include <stdbool.h>

/* Whether the terminal is our group's. False without one. */
bool foreground_is_ours(void);

/* Takes the terminal back from a group that is gone without having given it back: in a
 * PID namespace nobody can, since our group has no number there. A group that lives, as that
 * of the shell that has put us into the background, keeps it. */
void foreground_take_back(void);

#endif
