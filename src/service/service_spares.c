/* The processes of a service that were started and wait for a job. */
#include "agent/resident.h"
#include "base/cleanup.h"
#include "service/agent_files.h"
#include "service/service_parts.h"

struct spares_listener {
	perch_spare_fn *take;
	void *data;
};

/* Agents know the files of their profiles alone. */
static void spares_take_agent(void *data, const perch_spare *spare)
{
	const struct spares_listener *listener = data;
	_cleanup_(arena_free) struct arena arena = { 0 };
	perch_spare named = *spare;
	const char *name = agent_file_name(&arena, spare->name);
	if (name)
		named.name = name;
	listener->take(listener->data, &named);
}

void perch_service_spares(const perch_service *service, perch_spare_fn *take, void *data)
{
	struct spares_listener listener = { take, data };
	const struct bound_tool *bound = service->tools.first;
	for (; bound; bound = bound->next)
		tool_pool_show(service->tools.pool, &bound->binding, bound->name, take, data);
	if (service->residents)
		residents_show(service->residents, spares_take_agent, &listener);
}
