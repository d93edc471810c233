/* What a client can call, under the names that it knows: the catalogue of the service, as it was
 * when it was read last. */
#ifndef MCP_SHELF_H
#define MCP_SHELF_H

#include "perch/service.h"
#include "wire/mcp_names.h"
#include "wire/mcp_server.h"

struct mcp_shelf_item {
	const perch_entry *entry;
	const struct mcp_name *name;
};

struct mcp_shelf {
	perch_catalog *catalog;
	struct mcp_name *names;
	struct mcp_shelf_item *items; /* what can be used, in the order of the catalogue */
	size_t count;
};

/* Reads the catalogue. Fails with -EEXIST (two things of one name: err has both), -ENOMEM, and as
 * the service does; the shelf stays as it was then. */
int mcp_shelf_read(
	struct mcp_shelf *shelf, perch_service *service, bool without_prefix, perch_err *err);

/* NULL when there is none. */
const struct mcp_shelf_item *mcp_shelf_find(const struct mcp_shelf *shelf, struct str name);

/* For mcp_job_list; data is the shelf. */
void mcp_shelf_write(void *data, size_t item, const struct mcp_page *page);

void mcp_shelf_free(struct mcp_shelf *shelf);

#endif
