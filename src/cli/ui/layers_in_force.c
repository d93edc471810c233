/* Which layers of a sandbox are in force on this machine. */
#include "cli/ui/layers_in_force.h"

#include <errno.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/ui/envelope.h"
#include "sandbox/sandbox.h"

static const char *const nothing[] = { NULL };

static int layers_in_force_look(
	const struct sandbox *sandbox, struct arena *arena, struct in_force *in_force)
{
	in_force->layers = arena_dup_list(arena, sandbox_layers(sandbox));
	in_force->missing = arena_dup_list(arena, sandbox_warnings(sandbox));
	return in_force->layers && in_force->missing ? 0 : -ENOMEM;
}

/* Which layers the kernel accepts is known only once a sandbox has been made: one is made in a host
 * of its own, and closed again. */
int in_force_visit(const struct sandbox_policy *policy, in_force_visitor *visit, void *data,
	struct arena *arena, struct in_force *ret_in_force)
{
	struct in_force found = { .layers = nothing, .missing = nothing };
	perch_host *host = NULL;
	struct sandbox *sandbox = NULL;
	perch_err err = { 0 };
	int r = policy ? cli_make_host(NULL, NULL, &host, &err) : 0;
	if (r == 0 && policy)
		r = sandbox_try(host, policy, &sandbox, &err);
	if (r < 0)
		found.problem = arena_dup(arena, str_from(err.text));
	bool has_memory = r == 0 || found.problem;
	if (sandbox)
		has_memory = layers_in_force_look(sandbox, arena, &found) == 0;
	if (sandbox && visit)
		visit(data, host, sandbox);
	sandbox_close(sandbox);
	perch_host_free(host);
	if (!has_memory)
		return -ENOMEM;
	*ret_in_force = found;
	return 0;
}

int in_force_find(
	const struct sandbox_policy *policy, struct arena *arena, struct in_force *ret_in_force)
{
	return in_force_visit(policy, NULL, NULL, arena, ret_in_force);
}

int in_force_problem(const char *problem, struct arena *arena, struct in_force *ret_in_force)
{
	const char *kept = arena_dup(arena, str_from(problem));
	if (!kept)
		return -ENOMEM;
	*ret_in_force = (struct in_force){ nothing, nothing, kept };
	return 0;
}

void in_force_write(perch_json_writer *writer, const struct in_force *in_force)
{
	member_list(writer, "layers", in_force->layers);
	member_list(writer, "not_enforced", in_force->missing);
	if (in_force->problem)
		member_text(writer, "sandbox_problem", in_force->problem);
}
