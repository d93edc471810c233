/* Sockets of programs that would act for any process that reaches them. */
#include "base/macros.h"
#include "sandbox/policy/hidden_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

/* Below /run, where one listing shows which of them exist. */
static const char *const run_sockets[] = {
	"dbus",
	"systemd",
	"docker.sock",
	"docker",
	"containerd",
	"podman",
	"crio",
	"buildkit",
	"k3s",
	"incus",
	"user",
	"screen",
	"tmux",
	"snapd.socket",
	"libvirt",
	"pcscd",
};

static const char *const system_sockets[] = {
	"/var/lib/incus/unix.socket",
	"/var/lib/lxd/unix.socket",
	"/var/snap/lxd",
	"/tmp/.X11-unix",
	"/tmp/.ICE-unix",
};

/* Each holds the path of a socket, some with words in front or behind. */
static const char *const agents[] = {
	"SSH_AUTH_SOCK",
	"GPG_AGENT_INFO",
	"DBUS_SESSION_BUS_ADDRESS",
	"DOCKER_HOST",
	"CONTAINER_HOST",
	"TMUX",
	"WAYLAND_DISPLAY",
	"SWAYSOCK",
	"I3SOCK",
	"PULSE_SERVER",
};

/* The path in "unix:path=/run/x,guid=…", "unix:///run/x" or "/run/x:1:1". */
static void hidden_add_address(struct path_list *hide, const char *address)
{
	bool is_path = address[0] == '/' || strncmp(address, "unix:", 5) == 0;
	const char *slash = is_path ? strchr(address, '/') : NULL;
	while (slash && slash[1] == '/')
		slash++;
	size_t len = slash ? strcspn(slash, ",:;") : 0;
	if (len <= 1)
		return;
	const char *path = arena_dup(hide->arena, (struct str){ slash, len });
	if (path)
		path_list_add(hide, path);
	else
		hide->failed = true;
}

/* tmux keeps its sockets in a directory for each user. */
static void hidden_add_tmux(struct path_list *hide)
{
	const char *base = getenv("TMUX_TMPDIR");
	char name[32];
	snprintf(name, sizeof(name), "tmux-%u", (unsigned)getuid());
	path_list_add_below(hide, base && base[0] == '/' ? base : "/tmp", name);
}

void hidden_sockets_add_agent(struct path_list *paths, const char *variable)
{
	const char *address = getenv(variable);
	if (address)
		hidden_add_address(paths, address);
}

static void hidden_add_run(struct path_list *hide)
{
	struct hidden_names names;
	hidden_names_read(&names, "/run", false);
	for (size_t i = 0; i < COUNT(run_sockets); i++) {
		if (hidden_names_may_have(&names, run_sockets[i]))
			path_list_add_below(hide, "/run", run_sockets[i]);
	}
	hidden_names_free(&names);
}

void hidden_sockets_add_looked_up(struct path_list *paths)
{
	for (size_t i = 0; i < COUNT(run_sockets); i++)
		path_list_add_below(paths, "/run", run_sockets[i]);
}

void hidden_sockets_add(struct path_list *hide)
{
	hidden_add_run(hide);
	for (size_t i = 0; i < COUNT(system_sockets); i++)
		path_list_add(hide, system_sockets[i]);
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	if (runtime && runtime[0] == '/')
		path_list_add_below(hide, runtime, "");
	for (size_t i = 0; i < COUNT(agents); i++)
		hidden_sockets_add_agent(hide, agents[i]);
	hidden_add_tmux(hide);
}
