/* git, as it fetches. */
#include "plugins/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/environment.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/test_switch.h"
#include "proc/program.h"
#include "sandbox/git/own_git.h"

enum { FETCH_MESSAGE_MAX = 300, FETCH_VARIABLES_MAX = 16 };

/* What the user's own configuration of git says about a source. */
struct fetch_wishes {
	bool has_helper;
	bool has_ssh_command;
};

/* The transport to a location, by its spelling. */
struct fetch_way {
	const char *directory; /* of this machine, as it stands in the location; "" = none */
	bool is_ssh;
	bool is_https;
};

static struct fetch_way fetch_way_of(const char *location)
{
	struct str text = str_from(location);
	struct fetch_way way = { .directory = "" };
	const char *scheme = strstr(location, "://");
	if (location[0] == '/')
		way.directory = location;
	else if (str_has_prefix(text, STR("file://")))
		way.directory = strchrnul(location + strlen("file://"), '/');
	else if (str_has_prefix(text, STR("https://")))
		way.is_https = true;
	else
		way.is_ssh = !scheme || str_has_prefix(text, STR("ssh://"));
	return way;
}

/* ---- the environment ----------------------------------------------------- */

/* Variables that a git process around us has set for itself. */
static bool fetch_git_keeps(const char *variable)
{
	static const char *const others[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_TEMPLATE_DIR",
		"GIT_EXTERNAL_DIFF", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_EXEC_PATH", "GIT_CONFIG",
		"GIT_PREFIX", "GIT_CEILING_DIRECTORIES" };
	for (size_t i = 0; i < COUNT(others); i++) {
		if (str_is(environment_name(variable), others[i]))
			return false;
	}
	return true;
}

/* A connection that ssh shares with later ones would be made where nothing may be written. */
static const char *fetch_git_ssh(bool is_interactive)
{
	return is_interactive ? "GIT_SSH_COMMAND=ssh -oControlMaster=no"
						  : "GIT_SSH_COMMAND=ssh -oControlMaster=no -oBatchMode=yes";
}

/* Programs that git starts are the system's, too: ssh, its own helpers, credential helpers. */
static const char *const *fetch_git_environment(struct arena *arena, bool is_interactive,
	const struct fetch_wishes *wishes, const char *tmp, const char *repository)
{
	const char *extra[FETCH_VARIABLES_MAX] = { "GIT_ALLOW_PROTOCOL=https:ssh:git:file", "LC_ALL=C",
		"GIT_CEILING_DIRECTORIES=/" };
	size_t count = 3;
	extra[count++] = arena_join(arena, "PATH=", PROGRAM_OWN_PATH, NULL);
	extra[count++] =
		repository ? arena_join(arena, "GIT_DIR=", repository, "/.git", NULL) : "GIT_DIR=/dev/null";
	if (repository)
		extra[count++] = arena_join(arena, "GIT_WORK_TREE=", repository, NULL);
	if (tmp)
		extra[count++] = arena_join(arena, "TMPDIR=", tmp, NULL);
	for (size_t i = 0; i < count; i++) {
		if (!extra[i])
			return NULL;
	}
	if (!is_interactive) {
		extra[count++] = "GIT_TERMINAL_PROMPT=0";
		extra[count++] = "GIT_ASKPASS=true";
		extra[count++] = "SSH_ASKPASS=true";
		extra[count++] = "GCM_INTERACTIVE=never";
	}
	if (!getenv("GIT_SSH_COMMAND") && !wishes->has_ssh_command)
		extra[count++] = fetch_git_ssh(is_interactive);
	return environment_build(arena, (const char *const *)environ, fetch_git_keeps, extra);
}

/* ---- what the user's own configuration says ------------------------------- */

static void fetch_git_take_wishes(struct str names, struct fetch_wishes *wishes)
{
	while (names.len) {
		struct str name = str_trim(str_cut(&names, '\n'));
		wishes->has_ssh_command |= str_is(name, "core.sshcommand");
		wishes->has_helper |=
			str_has_prefix(name, STR("credential.")) && str_has_suffix(name, STR(".helper"));
	}
}

/* Asks git, which knows where the configuration is and what it includes; in the sandbox of a git
 * that only reads, and without a repository. No answer is no failure. */
static int fetch_git_ask_wishes(
	struct workshop *workshop, struct arena *arena, struct fetch_wishes *wishes, perch_err *err)
{
	static const char *const argv[] = { "git", "--no-pager", "config", "--name-only",
		"--get-regexp", "^(credential\\..*|core\\.sshcommand)$", NULL };
	_cleanup_(buf_free) struct buf output = { 0 };
	struct own_git *own = NULL;
	int r = own_git_open(workshop->host, "", &own, err);
	if (r < 0)
		return r;
	const struct process_spec spec = {
		.argv = argv,
		.program_fd = own_git_program(own),
		.env = fetch_git_environment(arena, false, wishes, NULL, NULL),
		.cwd = "/",
		.confine = own_git_confine(own),
		.output = &output,
	};
	r = spec.env ? process_run(workshop, &spec, err) : err_no_memory(err);
	own_git_close(own);
	if (r == 0)
		fetch_git_take_wishes((struct str){ output.data, output.len }, wishes);
	return r < 0 ? r : 0;
}

/* ---- running ------------------------------------------------------------- */

static int fetch_git_confine(struct fetch_git *git, const struct fetch_way *way,
	const struct fetch_wishes *wishes, const char *target, perch_err *err)
{
	const struct policy_fetch fetch = {
		.source = way->directory,
		.target = target,
		.has_net = !way->directory[0],
		.uses_ssh = way->is_ssh,
		.uses_helper = way->is_https && wishes->has_helper,
		.shares_group = git->workshop->is_interactive,
	};
	struct sandbox_policy policy;
	int r = policy_for_fetch(&git->arena, &fetch, &policy, err);
	if (r == -ENOMEM)
		return err_no_memory(err);
	return r < 0 ? r : sandbox_open(git->workshop->host, &policy, &git->sandbox, err);
}

int fetch_git_open(struct fetch_git *git, struct workshop *workshop, const char *location,
	const char *target, perch_err *err)
{
	const struct fetch_way way = fetch_way_of(location);
	struct fetch_wishes wishes = { 0 };
	*git = (struct fetch_git){ .workshop = workshop };
	int r = own_git_find(&git->program, err);
	if (r == -ENOENT)
		return err_set(err, -EIO, "git is not installed: it is needed to fetch a repository");
	if (r == 0 && (way.is_ssh || way.is_https))
		r = fetch_git_ask_wishes(workshop, &git->arena, &wishes, err);
	if (r == 0)
		r = fetch_git_confine(git, &way, &wishes, target, err);
	if (r < 0)
		return r;
	git->has_ssh_command = wishes.has_ssh_command;
	git->target = arena_dup(&git->arena, str_from(target));
	return git->target ? 0 : err_no_memory(err);
}

static uint64_t fetch_git_most(const struct fetch_git *git)
{
	return git->workshop->clone_max ? git->workshop->clone_max : FETCH_BYTES_MAX;
}

static bool fetch_git_is_too_large(const void *data)
{
	const struct fetch_git *git = data;
	return git->target[0] && fetch_is_too_large(git->target, fetch_git_most(git));
}

/* Whether git only repeats that something failed: why, ssh or the server has said before. */
static bool fetch_git_is_vague(struct str line)
{
	static const char *const words[] = { "fatal: Could not read from remote repository",
		"fatal: the remote end hung up", "fatal: early EOF", "fatal: unable to fork",
		"fatal: expected flush", "fatal: protocol error", "error: failed to" };
	for (size_t i = 0; i < COUNT(words); i++) {
		if (str_has_prefix(line, str_from(words[i])))
			return true;
	}
	return false;
}

static bool fetch_git_is_verdict(struct str line)
{
	return str_has_prefix(line, STR("fatal: ")) || str_has_prefix(line, STR("error: ")) ||
		str_has_prefix(line, STR("warning: Could not find remote branch"));
}

/* The line of git's output that says what is wrong: its last verdict, or what stands before the
 * first one that says too little. */
static struct str fetch_git_reason(const struct buf *log)
{
	struct str rest = { log->data, log->len };
	struct str reason = STR("it says nothing");
	struct str before = { 0 };
	while (rest.len) {
		struct str line = str_trim(str_cut(&rest, '\n'));
		if (fetch_git_is_vague(line) && before.len) {
			reason = before;
			break;
		}
		if (fetch_git_is_verdict(line))
			reason = line;
		if (line.len && !str_has_prefix(line, STR("Cloning into")))
			before = line;
	}
	if (reason.len > FETCH_MESSAGE_MAX)
		reason.len = FETCH_MESSAGE_MAX;
	return reason;
}

int fetch_git_run(struct fetch_git *git, const char *const *argv, const char *repository,
	const char *title, struct buf *output, perch_err *err)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	_cleanup_(buf_free) struct buf log = { 0 };
	const struct fetch_wishes wishes = { .has_ssh_command = git->has_ssh_command };
	const char *tmp = sandbox_tmp(git->sandbox);
	const struct process_spec spec = {
		.argv = argv,
		.program = git->program,
		.env =
			fetch_git_environment(&arena, git->workshop->is_interactive, &wishes, tmp, repository),
		.cwd = repository ? repository : tmp,
		.confine = sandbox_confine(git->sandbox),
		.title = title,
		.owns_terminal = true,
		.output = output,
		.log = &log,
		.has_too_much = fetch_git_is_too_large,
		.data = git,
	};
	if (!spec.env)
		return err_no_memory(err);
	int r = process_run(git->workshop, &spec, err);
	if (r == -EFBIG && git->target[0])
		return err_set(err, r, "the repository takes more than %llu MiB (--clone-max)",
			(unsigned long long)(fetch_git_most(git) >> 20));
	if (r <= 0)
		return r;
	struct str reason = fetch_git_reason(&log);
	return err_set(err, -EIO, "git: %.*s", (int)reason.len, reason.data);
}

void fetch_git_close(struct fetch_git *git)
{
	sandbox_close(git->sandbox);
	arena_free(&git->arena);
	free(git->program);
	*git = (struct fetch_git){ 0 };
}
