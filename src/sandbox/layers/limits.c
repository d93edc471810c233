/* Limits of each process by itself. */
#include "sandbox/sandbox_parts.h"

#include <unistd.h>

/* As the C library calls it in getrlimit. */
#ifdef __GLIBC__
typedef __rlimit_resource_t limit_kind;
#else
typedef int limit_kind;
#endif

/* Our own limit is the most that can be given. */
static void limits_add(
	struct confine_limit *out, size_t *count, limit_kind resource, uint64_t soft, uint64_t hard)
{
	struct rlimit now;
	if (getrlimit(resource, &now) < 0)
		now.rlim_max = RLIM_INFINITY;
	out[(*count)++] = (struct confine_limit){
		.resource = (int)resource,
		.value = {
			.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max,
			.rlim_max = hard < now.rlim_max ? hard : now.rlim_max,
		},
	};
}

/* A stack is not counted as data: a process that could raise its limit would have as much memory as
 * it likes. */
static void limits_add_stack(struct confine_limit *out, size_t *count, uint64_t most)
{
	struct rlimit now = { .rlim_cur = most };
	getrlimit(RLIMIT_STACK, &now);
	uint64_t soft = now.rlim_cur == RLIM_INFINITY ? most : now.rlim_cur;
	limits_add(out, count, RLIMIT_STACK, soft, soft > most ? soft : most);
}

bool limits_counts_processes(const struct limits_elsewhere *elsewhere)
{
	return elsewhere->processes || (elsewhere->has_own_count && getuid() != 0);
}

size_t limits_make(const struct sandbox_limits *wanted, const struct limits_elsewhere *elsewhere,
	struct confine_limit out[LIMITS_MAX])
{
	size_t count = 0;
	/* A core file would lie in the project, with the memory of the process in it. */
	limits_add(out, &count, RLIMIT_CORE, 0, 0);
	/* Not RLIMIT_AS: programs reserve more address space than they ever use. */
	if (wanted->memory && !elsewhere->memory) {
		limits_add(out, &count, RLIMIT_DATA, wanted->memory, wanted->memory);
		limits_add_stack(out, &count, wanted->memory / LIMITS_STACK_SHARE);
	}
	if (wanted->files)
		limits_add(out, &count, RLIMIT_NOFILE, wanted->files, wanted->files);
	if (wanted->size)
		limits_add(out, &count, RLIMIT_FSIZE, wanted->size, wanted->size);
	/* A signal that can be caught, and one a second later that cannot. */
	if (wanted->cpu)
		limits_add(out, &count, RLIMIT_CPU, wanted->cpu, wanted->cpu + 1);
	if (wanted->processes && !elsewhere->processes && limits_counts_processes(elsewhere))
		limits_add(out, &count, RLIMIT_NPROC, wanted->processes, wanted->processes);
	return count;
}
