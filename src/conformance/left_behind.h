/* What is left of an actor once its host has ended: whoever holds its pipe. */
#ifndef CONFORMANCE_LEFT_BEHIND_H
#define CONFORMANCE_LEFT_BEHIND_H

#include <stdbool.h>

/* How long the kernel may need to carry out what the host has killed. */
enum { LEFT_BEHIND_WAIT_MS = 3000 };

/* Waits until nobody holds the other end of the pipe. false: somebody still does. */
bool left_behind_nobody(int pipe_fd);

/* Kills them. */
void left_behind_kill(int pipe_fd);

#endif
