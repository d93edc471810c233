/* A host for commands that show no run. */
#include "cli/host.h"

#include "cli/cli.h"

static void log_warning(void *data, perch_log_level level, const char *text)
{
	(void)data;
	if (level >= PERCH_LOG_WARN)
		cli_warning(text);
}

int cli_host_new(perch_host **ret_host, perch_err *err)
{
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard_path = cli_guard_path();
	options.die_with_thread = true;
	options.log = log_warning;
	return perch_host_new(&options, ret_host, err);
}
