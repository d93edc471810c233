/* ACP: the MCP servers of a session. */
#ifndef WIRE_ACP_SERVER_H
#define WIRE_ACP_SERVER_H

#include "data/json.h"

/* Whether it is one: a program, or what a URL leads to. Its lists may be absent; what else it has
 * does not count. */
bool acp_server_fits(const perch_json_value *server);

/* One that fits, as the protocol has it: with all of its lists, and nothing else. */
void acp_server_write(perch_json_writer *out, const perch_json_value *server);

#endif
