/* /mcp: everything that perch hosts, for MCP clients over HTTP (Streamable HTTP, both eras). */
#ifndef SERVE_MCP_ENDPOINT_H
#define SERVE_MCP_ENDPOINT_H

#include "serve/mcp_guests.h"

void mcp_post(struct exchange *exchange);
void mcp_listen(struct exchange *exchange);
void mcp_delete(struct exchange *exchange);

/* When two things have the same name, the operator is warned, and /mcp answers with that error
 * until one is renamed. Fails without memory, and as the service does. */
int mcp_endpoint_open(struct serve *serve, perch_err *err);
void mcp_endpoint_changed(struct serve *serve);
/* For options.told of the service. */
void mcp_endpoint_told(perch_service *service, void *data, const perch_service_told *told);

/* Calls that have not ended. */
size_t mcp_endpoint_calls(const struct serve *serve);

/* No more calls. */
void mcp_endpoint_close(struct serve *serve);

/* Before the service is freed, and behind it. */
void mcp_endpoint_leave(struct serve *serve);
void mcp_endpoint_free(struct serve *serve);

#endif
