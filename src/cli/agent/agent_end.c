/* The end of a command whose agents may still run. */
#include "cli/agent/agent_commands.h"

/* Longer than an agent has that leaves by itself when its input ends. */
#define AGENT_END_NS (2 * NSEC_PER_SEC)

void agent_end_service(perch_host *host, perch_service *service)
{
	uint64_t due_ns = clock_after(clock_now_ns(), AGENT_END_NS), now_ns;
	if (!service)
		return;
	perch_service_close(service);
	while (perch_service_servers(service) && (now_ns = clock_now_ns()) < due_ns) {
		if (perch_host_wait(host, (int)((due_ns - now_ns) / NSEC_PER_MSEC) + 1) < 0)
			break;
	}
	perch_service_free(service);
}
