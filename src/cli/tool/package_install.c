/* Installing a package: npm and pip run in a sandbox that has the network and may write one
 * directory; scripts of packages are not run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/replace.h"
#include "base/tree.h"
#include "cli/tool/package.h"
#include "cli/ui/inquiry.h"
#include "proc/capture.h"
#include "proc/program.h"
#include "tool/tool_launch.h"

struct installing {
	struct tool_session *session;
	struct arena *arena;
	const struct package *package;
	const char *directory; /* where it is built: beside its place */
	struct package_python python;
	const char *npm, *node;
};

int package_directory(
	const char *server, struct arena *arena, const char **ret_path, perch_err *err)
{
	_cleanup_free_ char *folder = NULL;
	int r = paths_user(PATH_DATA, "perch/mcp", &folder, err);
	if (r < 0)
		return r;
	*ret_path = arena_join(arena, folder, "/", server, NULL);
	return *ret_path ? 0 : err_no_memory(err);
}

/* ---- a step ------------------------------------------------------------------------ */

static void package_step_done(void *data, struct capture *capture)
{
	(void)capture;
	*(bool *)data = true;
}

static int package_wait(struct installing *installing, const struct capture_spec *spec,
	const bool *is_done, perch_err *err)
{
	struct capture *capture;
	perch_host *host = installing->session->host;
	int r = capture_start(host, spec, &capture, err);
	if (r < 0)
		return r;
	while (!*is_done && r >= 0)
		r = perch_host_wait(host, -1);
	int code = r < 0 ? r : capture_code(capture);
	if (code > 0) {
		struct str words = str_trim((struct str){ capture->err.data, capture->err.len });
		cli_error(NULL, "the installation failed:");
		while (words.len) {
			fputs("  | ", stderr);
			cli_put_text(stderr, str_cut(&words, '\n'));
			fputc('\n', stderr);
		}
	}
	capture_free(capture);
	return code > 0 ? tool_exit_code(PERCH_TOOL_LAUNCH_FAILED) : code;
}

/* Settings of the operator that name a registry and the certificates to trust. */
static const char *const package_variables[] = { "http_proxy", "https_proxy", "no_proxy",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	"PIP_INDEX_URL", "PIP_CERT", "REQUESTS_CA_BUNDLE", "npm_config_registry", "npm_config_cafile",
	NULL };

/* The binding of a program that installs: one directory to write, and the network. */
static int package_step(
	struct installing *installing, const char *program, const char *const *args, perch_err *err)
{
	const char *const write[] = { installing->directory, NULL };
	const char *prefix = installing->python.prefix;
	const char *const read[] = { prefix, NULL };
	struct tool_binding binding = tool_binding_default();
	binding.name = "installer";
	binding.command = program;
	binding.args = args;
	binding.directory = installing->directory;
	binding.widening.write = write;
	binding.widening.read = prefix && strcmp(prefix, "/usr") != 0 ? read : NULL;
	binding.widening.env = package_variables;
	binding.widening.net = WIDENING_NET_FULL;
	binding.limits = (struct sandbox_limits){
		.memory = 2048ull << 20, .files = 4096, .size = 1024ull << 20, .cpu = PACKAGE_TIMEOUT_S
	};
	struct launch launch = { 0 };
	perch_child_spec child = PERCH_CHILD_SPEC_INIT;
	bool is_done = false;
	int r = launch_prepare(&launch, installing->session->host, &binding, &child, err);
	const struct capture_spec spec = {
		.argv = child.argv,
		.env = child.env,
		.cwd = child.cwd,
		.confine = child.confine,
		.limit = PACKAGE_OUTPUT_MAX,
		.timeout_ns = PACKAGE_TIMEOUT_S * NSEC_PER_SEC,
		.done = package_step_done,
		.data = &is_done,
	};
	if (r == 0)
		r = package_wait(installing, &spec, &is_done, err);
	launch_close(&launch);
	return r;
}

static int package_write_file(
	struct installing *installing, const char *name, struct str text, perch_err *err)
{
	const char *path = arena_join(installing->arena, installing->directory, "/", name, NULL);
	int r = path ? replace_path(path, text) : -ENOMEM;
	return r < 0 ? err_set(err, r, "cannot write %s: %s", name, perch_strerror(r)) : 0;
}

/* ---- npm ------------------------------------------------------------------------------ */

/* First which versions, with their hashes, then exactly those. */
static int package_install_npm(struct installing *installing, perch_err *err)
{
	static const char *const lock[] = { "install", "--package-lock-only", "--ignore-scripts",
		"--omit=dev", "--no-audit", "--no-fund", "--loglevel=error", NULL };
	static const char *const install[] = { "ci", "--ignore-scripts", "--omit=dev", "--no-audit",
		"--no-fund", "--loglevel=error", NULL };
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = package_write_json(installing->package, &text, err);
	if (r == 0)
		r = package_write_file(
			installing, "package.json", (struct str){ text.data, text.len }, err);
	if (r == 0)
		r = package_step(installing, installing->npm, lock, err);
	return r ? r : package_step(installing, installing->npm, install, err);
}

/* ---- pip ------------------------------------------------------------------------------ */

static int package_install_pip(struct installing *installing, perch_err *err)
{
	const struct package *package = installing->package;
	const char *wanted = package->version[0]
		? arena_join(installing->arena, package->name, "==", package->version, NULL)
		: package->name;
	const char *const resolve[] = { "-m", "pip", "install", "--quiet", "--dry-run",
		"--ignore-installed", "--only-binary", ":all:", "--disable-pip-version-check",
		"--root-user-action", "ignore", "--report", "report.json", wanted, NULL };
	static const char *const install[] = { "-m", "pip", "install", "--quiet", "--no-deps",
		"--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check",
		"--root-user-action", "ignore", "--target", "site", "--requirement", "requirements.txt",
		NULL };
	_cleanup_(buf_free) struct buf report = { 0 }, text = { 0 };
	const char *path = arena_join(installing->arena, installing->directory, "/report.json", NULL);
	if (!wanted || !path)
		return err_no_memory(err);
	int r = package_step(installing, installing->python.program, resolve, err);
	if (r)
		return r;
	r = file_read(path, PACKAGE_FILE_MAX, &report, err);
	if (r == 0)
		r = package_write_requirements((struct str){ report.data, report.len }, &text, err);
	if (r == 0)
		r = package_write_file(
			installing, "requirements.txt", (struct str){ text.data, text.len }, err);
	return r ? r : package_step(installing, installing->python.program, install, err);
}

/* ---- what installs ---------------------------------------------------------------------- */

/* It is asked outside of a sandbox, and its prefix is shown to the installer: so it is the
 * system's, never a python3 that a sandboxed program may have put into a directory of PATH. It says
 * itself where it is, as the file may be a script that looks for it. */
static int package_find_python(struct installing *installing, perch_err *err)
{
	_cleanup_free_ char *found = NULL;
	struct inquiry inquiry;
	int r = program_find_own("python3", &found, err);
	if (r < 0)
		return r;
	const char *const argv[] = { found, "-IS", "-c",
		"import sys; print(sys.executable, sys.base_prefix)", NULL };
	r = inquire(argv, PERCH_GUARD_OFF, &inquiry, err);
	if (r < 0)
		return r;
	struct str prefix = str_from(inquiry.line);
	struct str program = str_cut(&prefix, ' ');
	if (inquiry.code || !program.len || !prefix.len)
		return err_set(err, -ENOENT, "python3 does not say where it is");
	installing->python.program = arena_dup(installing->arena, program);
	installing->python.prefix = arena_dup(installing->arena, prefix);
	return installing->python.program && installing->python.prefix ? 0 : err_no_memory(err);
}

static int package_find_program(
	struct installing *installing, const char *name, const char **ret_path, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	int r = program_find(name, (const char *const *)environ, &path, err);
	if (r < 0)
		return r;
	*ret_path = arena_dup(installing->arena, str_from(path));
	return *ret_path ? 0 : err_no_memory(err);
}

static int package_find_installer(struct installing *installing, perch_err *err)
{
	if (installing->package->kind == PACKAGE_PIP)
		return package_find_python(installing, err);
	int r = package_find_program(installing, "npm", &installing->npm, err);
	return r < 0 ? r : package_find_program(installing, "node", &installing->node, err);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* An empty directory beside its place, so that what is there stays until the new one is whole. */
static int package_begin(struct installing *installing, const char *place, perch_err *err)
{
	installing->directory = arena_join(installing->arena, place, ".new", NULL);
	if (!installing->directory)
		return err_no_memory(err);
	int r = tree_remove(installing->directory);
	if (r < 0)
		return err_set(err, r, "cannot remove %s: %s", installing->directory, perch_strerror(r));
	return paths_make(installing->directory, err);
}

static int package_put_in_place(struct installing *installing, const char *place, perch_err *err)
{
	int r = tree_remove(place);
	if (r == 0 && rename(installing->directory, place) < 0)
		r = -errno;
	return r < 0 ? err_set(err, r, "cannot put it into %s: %s", place, perch_strerror(r)) : 0;
}

int package_install(struct tool_session *session, const struct package *package, const char *server,
	struct package_program *ret_program, perch_err *err)
{
	struct installing installing = {
		.session = session,
		.arena = &session->arena,
		.package = package,
	};
	bool is_npm = package->kind == PACKAGE_NPM;
	const char *place = NULL;
	int r = package_directory(server, installing.arena, &place, err);
	if (r == 0)
		r = package_find_installer(&installing, err);
	if (r == 0)
		r = package_begin(&installing, place, err);
	if (r == 0)
		r = is_npm ? package_install_npm(&installing, err) : package_install_pip(&installing, err);
	if (r == 0)
		r = package_put_in_place(&installing, place, err);
	else if (installing.directory)
		tree_remove(installing.directory);
	if (r)
		return r;
	return is_npm
		? package_find_npm(package, place, installing.node, installing.arena, ret_program, err)
		: package_find_pip(package, place, &installing.python, installing.arena, ret_program, err);
}
