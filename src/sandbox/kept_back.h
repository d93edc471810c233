/* What no sandboxed process sees unless the user says so: where secrets are
 * kept, and the sockets through which another program would act for it. */
#ifndef SANDBOX_KEPT_BACK_H
#define SANDBOX_KEPT_BACK_H

#include "sandbox/path_list.h"

/* Adds where secrets are kept below the home directory ("" = there is none),
 * and what a process of root could read of the system's. */
void kept_back_credentials(struct path_list *hide, const char *home);

/* Adds the sockets of those who would act for it: the service manager, the
 * buses, container engines, terminal multiplexers, the display, key agents. */
void kept_back_sockets(struct path_list *hide, const char *home);

/* Adds the path of the socket that a variable such as SSH_AUTH_SOCK names. */
void kept_back_agent(struct path_list *paths, const char *variable);

#endif
