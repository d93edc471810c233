/* The host of a command. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "proc/host.h"

const char *cli_guard_path(void)
{
	static char path[PATH_MAX];
	const char *given = getenv("PERCH_GUARD");
	if (given && given[0])
		return given;
	bool is_there =
		installed_path(INSTALLED_PROGRAMS, "perch-guard", path) == 0 && access(path, X_OK) == 0;
	return is_there ? path : NULL;
}

perch_host_options cli_host_options(void)
{
	perch_host_options options = PERCH_HOST_OPTIONS_INIT;
	options.guard_path = cli_guard_path();
	options.die_with_thread = true;
	options.ignores_sigpipe = true; /* see program.c */
	return options;
}

int cli_make_host(perch_log_fn *log, void *log_data, perch_host **ret_host, perch_err *err)
{
	perch_host_options options = cli_host_options();
	options.log = log;
	options.log_data = log_data;
	int r = perch_host_new(&options, ret_host, err);
	if (r < 0)
		return r;
	(*ret_host)->program_places = installed_program_places();
	(*ret_host)->spawner.owns_signals = true;
	return 0;
}

static void cli_host_log_warning(void *data, perch_log_level level, const char *text)
{
	(void)data;
	if (level >= PERCH_LOG_WARN)
		cli_warning(text);
}

int cli_host_new(perch_host **ret_host, perch_err *err)
{
	return cli_make_host(cli_host_log_warning, NULL, ret_host, err);
}

/* A limit that cannot be raised is no error: fewer children run at a time. */
void cli_raise_open_files(perch_host *host)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
		return;
	host->open_files = limit;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int cli_host_serve(perch_log_fn *log, void *log_data, perch_host **ret_host)
{
	perch_err err = { 0 };
	if (cli_make_host(log ? log : cli_host_log_warning, log_data, ret_host, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	cli_raise_open_files(*ret_host);
	return 0;
}
