/* The default policies and what widens them, as data. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/policy/policy.h"

static const struct policy_plugin usual = {
	.home = "/home/dev",
	.config = "/home/dev/.config/fledge",
	.own_config = "/home/dev/.config/perch",
	.own_state = "/home/dev/.local/state/perch",
	.own_cache = "/home/dev/.cache/perch",
	.project = "/home/dev/app",
	.directory = "/home/dev/.config/fledge/plugins/deploy",
	.may_write_project = true,
	.may_write_directory = true,
};

static bool lists(const char *const *list, const char *path)
{
	for (; *list; list++) {
		if (strcmp(*list, path) == 0)
			return true;
	}
	return false;
}

START_TEST(the_default_policy)
{
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	ck_assert_int_eq(policy_for_plugin(&arena, &usual, &policy), 0);
	ck_assert(policy.reads_everything && policy.has_private_tmp);
	ck_assert_int_eq(policy.net, SANDBOX_NET_FULL);
	ck_assert(lists(policy.hide, "/home/dev/.ssh"));
	ck_assert(lists(policy.hide, "/home/dev/.config/fledge"));
	ck_assert(lists(policy.hide, "/home/dev/.local/state/perch"));
	ck_assert(lists(policy.reveal, "/home/dev/.config/fledge/plugins/deploy"));
	ck_assert(lists(policy.reveal, "/home/dev/.config/fledge/plugins/bin"));
	ck_assert(lists(policy.write, "/home/dev/app"));
	ck_assert(lists(policy.write, "/home/dev/.config/fledge/plugins/deploy"));
	ck_assert(lists(policy.protect, "/home/dev/.config/fledge/plugins/deploy/plugin.toml"));
	arena_free(&arena);
}
END_TEST

/* Such a project may be read, not written. */
START_TEST(a_project_that_holds_too_much_is_not_written)
{
	static const char *const projects[] = { "/", "/home", "/home/dev", "/home/dev/.config",
		"/home/dev/.config/fledge/plugins", "/home/dev/.local", "" };
	for (size_t i = 0; i < COUNT(projects); i++) {
		struct arena arena = { 0 };
		struct sandbox_policy policy;
		struct policy_plugin plugin = usual;
		plugin.project = projects[i];
		ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
		ck_assert_msg(!lists(policy.write, projects[i]), "%s", projects[i]);
		arena_free(&arena);
	}
}
END_TEST

START_TEST(a_manifest_narrows)
{
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	struct policy_plugin plugin = usual;
	plugin.may_write_project = false;
	plugin.may_write_directory = false;
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert_ptr_null(policy.write[0]);
	arena_free(&arena);
}
END_TEST

START_TEST(inside_is_by_whole_names)
{
	ck_assert(policy_is_inside("/a/b", "/a/b"));
	ck_assert(policy_is_inside("/a/b/c", "/a/b"));
	ck_assert(policy_is_inside("/a", "/"));
	ck_assert(!policy_is_inside("/a/bc", "/a/b"));
	ck_assert(!policy_is_inside("/a", "/a/b"));
	ck_assert(!policy_is_inside("/a", ""));
}
END_TEST

START_TEST(control_sockets_are_hidden)
{
	setenv("XDG_RUNTIME_DIR", "/run/user/1000", 1);
	setenv("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1", 1);
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/somewhere/bus,guid=1", 1);
	setenv("DOCKER_HOST", "unix:///elsewhere/docker.sock", 1);
	setenv("TMUX_TMPDIR", "/var/tmux", 1);
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	ck_assert_int_eq(policy_for_plugin(&arena, &usual, &policy), 0);
	static const char *const hidden[] = { "/run/user/1000", "/tmp/ssh-x/agent.1", "/somewhere/bus",
		"/elsewhere/docker.sock", "/tmp/.X11-unix" };
	for (size_t i = 0; i < COUNT(hidden); i++)
		ck_assert_msg(lists(policy.hide, hidden[i]), "%s", hidden[i]);
	static const char *const where_there[] = { "/run/docker.sock", "/run/systemd", "/run/dbus",
		"/run/user", "/run/screen" };
	for (size_t i = 0; i < COUNT(where_there); i++)
		ck_assert_msg(lists(policy.hide, where_there[i]) == (access(where_there[i], F_OK) == 0),
			"%s", where_there[i]);
	char tmux[64];
	snprintf(tmux, sizeof(tmux), "/var/tmux/tmux-%u", (unsigned)getuid());
	ck_assert(lists(policy.hide, tmux));
	/* An address that is no path hides nothing. */
	setenv("DOCKER_HOST", "tcp://host/x", 1);
	ck_assert_int_eq(policy_for_plugin(&arena, &usual, &policy), 0);
	ck_assert(!lists(policy.hide, "/host") && !lists(policy.hide, "/host/x"));
	arena_free(&arena);
}
END_TEST

START_TEST(a_project_that_is_not_written_is_told)
{
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	struct policy_plugin plugin = usual;
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert_ptr_null(policy.note);
	plugin.project = "/home/dev";
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert_ptr_nonnull(policy.note);
	ck_assert(lists(policy.reveal, "/home/dev"));
	/* Nobody asked to write it. */
	plugin.may_write_project = false;
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert_ptr_null(policy.note);
	/* What is hidden is not revealed by working in it. */
	plugin.project = "/home/dev/.config/fledge/plugins/other";
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(!lists(policy.reveal, plugin.project));
	arena_free(&arena);
}
END_TEST

START_TEST(what_a_plugin_is_made_of_is_protected_unless_it_is_a_live_link)
{
	static const char *const binaries[] = { "bin/deploy", NULL };
	folder_new();
	folder_write("plugin/bin/deploy", "");
	free(folder_run("ln -s plugin link"));
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	struct policy_plugin plugin = usual;
	plugin.binaries = binaries;
	plugin.directory = folder_path("plugin");
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(lists(policy.protect, folder_path("plugin/bin/deploy")));
	ck_assert(lists(policy.protect, folder_path("plugin/plugin.toml")));
	plugin.directory = folder_path("link");
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(!lists(policy.protect, folder_path("link/bin/deploy")));
	ck_assert(!lists(policy.protect, folder_path("link/plugin.toml")));
	arena_free(&arena);
}
END_TEST

/* The work tree that it lies in is written, too, unless that is the home directory or holds what
 * is hidden: then it alone. */
START_TEST(a_project_is_its_work_tree)
{
	folder_new();
	free(folder_run("mkdir -p tree/sub/deep && git init -q tree"));
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	struct policy_plugin plugin = usual;
	plugin.project = folder_path("tree/sub/deep");
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(lists(policy.write, plugin.project));
	ck_assert(lists(policy.write, folder_path("tree")));
	plugin.home = folder_path("tree");
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(lists(policy.write, plugin.project) && !policy.note);
	ck_assert(!lists(policy.write, folder_path("tree")));
	plugin.home = "/home/dev";
	plugin.own_state = folder_path("tree/state");
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(!lists(policy.write, folder_path("tree")));
	plugin.may_write_project = false;
	plugin.own_state = "";
	ck_assert_int_eq(policy_for_plugin(&arena, &plugin, &policy), 0);
	ck_assert(!lists(policy.write, folder_path("tree")));
	arena_free(&arena);
}
END_TEST

static const struct policy_tool tool = { .home = "/home/dev", .directory = "/opt/tools/x" };

START_TEST(a_tool_is_strict)
{
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	ck_assert_int_eq(policy_for_tool(&arena, &tool, &policy), 0);
	ck_assert(!policy.reads_everything && policy.has_private_tmp && policy.refuses_unsupported);
	ck_assert(lists(policy.read, "/usr") && lists(policy.read, "/opt/tools/x"));
	ck_assert(!lists(policy.read, "/home") && !lists(policy.read, "/no/such"));
	ck_assert(lists(policy.hide, "/home/dev/.ssh"));
	ck_assert(!policy.write || !policy.write[0]);
	ck_assert_int_eq(policy.net, SANDBOX_NET_NONE);
	ck_assert_uint_eq(policy.limits.memory, UINT64_C(1) << 30);
	ck_assert_uint_eq(policy.limits.files, 256);
	ck_assert_uint_eq(policy.limits.size, UINT64_C(256) << 20);
	ck_assert_uint_eq(policy.limits.cpu, 60);
	arena_free(&arena);
}
END_TEST

/* ---- widening ---------------------------------------------------------------- */

static const char *const ssh_and_github[] = { "ssh", "github", NULL };

START_TEST(a_widening_adds)
{
	static const char *const read[] = { "/srv/data", NULL };
	static const char *const write[] = { "/srv/out", NULL };
	folder_new();
	folder_write("home/.ssh/id", "");
	folder_write("home/.config/gh/hosts.yml", "");
	folder_write("agent", "");
	setenv("SSH_AUTH_SOCK", folder_path("agent"), 1);
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	ck_assert_int_eq(policy_for_tool(&arena, &tool, &policy), 0);
	const struct policy_widening widening = {
		.read = read, .write = write, .presets = ssh_and_github, .net = WIDENING_NET_FULL
	};
	ck_assert_int_eq(policy_widen(&arena, folder_path("home"), &widening, &policy, NULL), 0);
	ck_assert(lists(policy.read, "/usr") && lists(policy.read, "/srv/data"));
	ck_assert(lists(policy.write, "/srv/out"));
	ck_assert(lists(policy.read, folder_path("home/.ssh")));
	ck_assert(lists(policy.read, folder_path("home/.config/gh")));
	ck_assert(lists(policy.read, folder_path("agent")));
	ck_assert(policy.has_unix_sockets);
	ck_assert_int_eq(policy.net, SANDBOX_NET_FULL);
	arena_free(&arena);
}
END_TEST

START_TEST(a_widening_may_also_narrow_and_keeps_what_it_does_not_name)
{
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	ck_assert_int_eq(policy_for_plugin(&arena, &usual, &policy), 0);
	struct policy_widening widening = { .net = WIDENING_NET_KEEP };
	ck_assert_int_eq(policy_widen(&arena, "", &widening, &policy, NULL), 0);
	ck_assert_int_eq(policy.net, SANDBOX_NET_FULL);
	ck_assert(lists(policy.write, "/home/dev/app") && !policy.has_unix_sockets);
	widening.net = WIDENING_NET_NONE;
	ck_assert_int_eq(policy_widen(&arena, "", &widening, &policy, NULL), 0);
	ck_assert_int_eq(policy.net, SANDBOX_NET_NONE);
	arena_free(&arena);
}
END_TEST

START_TEST(an_unknown_preset_is_refused_and_changes_nothing)
{
	static const char *const presets[] = { "ssh", "gti", NULL };
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	perch_err err = { 0 };
	ck_assert_int_eq(policy_for_plugin(&arena, &usual, &policy), 0);
	const struct policy_widening widening = { .presets = presets };
	ck_assert_int_eq(policy_widen(&arena, "", &widening, &policy, &err), -EINVAL);
	ck_assert_str_eq(err.text,
		"there is no preset 'gti'; there are: aws, azure, cargo, claude, codex, copilot, docker, "
		"gcloud, gemini, git, github, gitlab, gpg, kube, mysql, npm, pip, postgres, ssh");
	ck_assert(!policy.has_unix_sockets);
	for (size_t i = 0; policy_preset(i); i++)
		ck_assert_ptr_nonnull(strstr(err.text, policy_preset(i)));
	arena_free(&arena);
}
END_TEST

START_TEST(the_environment_has_no_secrets_but_those_that_are_named)
{
	static const char *const base[] = { "PATH=/bin", "GH_TOKEN=x", "MY_SECRET=y",
		"SSH_AUTH_SOCK=/agent", "URL=user:pass@host", "LD_PRELOAD=z", "TMPDIR=/tmp", NULL };
	static const char *const named[] = { "MY_SECRET", NULL };
	static const char *const extra[] = { "TMPDIR=/own", NULL };
	const struct policy_widening widening = { .env = named, .presets = ssh_and_github };
	struct arena arena = { 0 };
	const char *const *env = policy_environment(&arena, base, NULL, extra);
	ck_assert(lists(env, "PATH=/bin") && lists(env, "TMPDIR=/own"));
	ck_assert_ptr_null(env[2]);
	env = policy_environment(&arena, base, &widening, extra);
	ck_assert(lists(env, "GH_TOKEN=x") && lists(env, "MY_SECRET=y"));
	ck_assert(lists(env, "SSH_AUTH_SOCK=/agent"));
	ck_assert(!lists(env, "URL=user:pass@host") && !lists(env, "LD_PRELOAD=z"));
	const char *const *caches = policy_caches(&arena, "/cache/x");
	ck_assert(lists(caches, "XDG_CACHE_HOME=/cache/x"));
	ck_assert(lists(caches, "npm_config_cache=/cache/x/npm"));
	arena_free(&arena);
}
END_TEST

static int make_once(void *data)
{
	(void)data;
	static const char *const base[] = { "PATH=/bin", NULL };
	const struct policy_widening widening = { .presets = ssh_and_github };
	struct arena arena = { 0 };
	struct sandbox_policy policy;
	int r = policy_for_plugin(&arena, &usual, &policy);
	if (r == 0)
		r = policy_for_tool(&arena, &tool, &policy);
	if (r == 0)
		r = policy_widen(&arena, "/", &widening, &policy, NULL);
	if (r == 0 && !policy_environment(&arena, base, &widening, NULL))
		r = -ENOMEM;
	if (r == 0 && !policy_caches(&arena, "/cache"))
		r = -ENOMEM;
	arena_free(&arena);
	return r;
}

START_TEST(every_failed_allocation_is_reported)
{
	ck_assert_uint_gt(oom_every(make_once, NULL), 0);
}
END_TEST

SUITE_MAIN("policy", the_default_policy, a_project_that_holds_too_much_is_not_written,
	a_manifest_narrows, inside_is_by_whole_names, control_sockets_are_hidden,
	a_project_that_is_not_written_is_told,
	what_a_plugin_is_made_of_is_protected_unless_it_is_a_live_link, a_project_is_its_work_tree,
	a_tool_is_strict, a_widening_adds, a_widening_may_also_narrow_and_keeps_what_it_does_not_name,
	an_unknown_preset_is_refused_and_changes_nothing,
	the_environment_has_no_secrets_but_those_that_are_named, every_failed_allocation_is_reported)
