/* A host for commands that show no run: what it starts ends with us, and its warnings go
 * to stderr. */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include "perch/host.h"

/* Fails as perch_host_new does. */
int cli_host_new(perch_host **ret_host, perch_err *err);

#endif
