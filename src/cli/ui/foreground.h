/* The process group that has the terminal. A program that shares ours may make process groups of
 * its own and hand them the terminal, as a shell with jobs does. */
#ifndef CLI_UI_FOREGROUND_H
#define CLI_UI_FOREGROUND_H

#include <stdbool.h>
#include <termios.h>

/* Whether the terminal is our group's. False without one. */
bool foreground_is_ours(void);

/* Takes the terminal back from a group that is gone without having given it back: from inside a PID
 * namespace no process can, because our group has no number there. A group that lives, as that of
 * the shell that has put us into the background, keeps it. */
void foreground_take_back(void);

/* How the terminal behind a descriptor works; `{0}` is none. */
struct foreground_modes {
	bool is_known;
	int fd;
	struct termios modes;
};

/* Remembers the modes, and restores them where a plugin has changed them: echo that it has switched
 * off. Not for a group in the background: the terminal belongs to another one then. */
void foreground_remember(struct foreground_modes *modes, int fd);
void foreground_restore(const struct foreground_modes *modes);

#endif
