/* What no sandboxed process sees unless the user says so. */
#include "sandbox/kept_back.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { PASSWD_LINE_MAX = 4096 };

/* Below the home directory. */
static const char *const credential_stores[] = {
	".ssh",
	".gnupg",
	".aws",
	".azure",
	".kube",
	".netrc",
	".git-credentials",
	".config/git/credentials",
	".npmrc",
	".pypirc",
	".cargo/credentials.toml",
	".docker/config.json",
	".config/containers/auth.json",
	".config/gh",
	".config/gcloud",
	".config/op",
	".mozilla",
	".config/google-chrome",
	".config/chromium",
	".config/BraveSoftware",
	".config/microsoft-edge",
	".config/vivaldi",
	".thunderbird",
	".local/share/keyrings",
	".local/share/kwalletd",
	".password-store",
	".config/sops",
	".vault-token",
	".terraform.d/credentials.tfrc.json",
	".pgpass",
	".my.cnf",
	".gem/credentials",
	".m2/settings.xml",
	".config/glab-cli",
	".config/rclone",
};

/* Root owns these: it can read them even without a capability. */
static const char *const system_secrets[] = {
	"/etc/shadow",
	"/etc/gshadow",
	"/etc/ssh/ssh_host_rsa_key",
	"/etc/ssh/ssh_host_ecdsa_key",
	"/etc/ssh/ssh_host_ed25519_key",
	"/etc/ssl/private",
};

static const char *const system_sockets[] = {
	"/run/dbus",
	"/run/systemd",
	"/run/docker.sock",
	"/run/docker",
	"/run/containerd",
	"/run/podman",
	"/run/crio",
	"/run/buildkit",
	"/run/k3s",
	"/run/incus",
	"/var/lib/incus/unix.socket",
	"/var/lib/lxd/unix.socket",
	"/var/snap/lxd",
	"/run/user",
	"/run/screen",
	"/run/tmux",
	"/run/snapd.socket",
	"/run/libvirt",
	"/run/pcscd",
	"/tmp/.X11-unix",
	"/tmp/.ICE-unix",
};

static const char *const home_sockets[] = {
	".docker/run",
	".docker/desktop",
	".colima",
	".lima",
	".orbstack/run",
	".rd/docker.sock",
	".1password",
	".bitwarden-ssh-agent.sock",
	".screen",
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

static void add_stores(struct path_list *hide, const char *home)
{
	for (size_t i = 0; i < COUNT(credential_stores); i++)
		path_list_add_below(hide, home, credential_stores[i]);
}

/* Where the user is at home whatever HOME says: by the password file alone, since a
 * directory service may take its time. */
static void add_account(struct path_list *hide, const char *home)
{
	char buffer[PASSWD_LINE_MAX];
	struct passwd account;
	struct passwd *found = NULL;
	FILE *accounts = fopen("/etc/passwd", "re");
	if (!accounts)
		return;
	while (fgetpwent_r(accounts, &account, buffer, sizeof(buffer), &found) == 0) {
		if (account.pw_uid != getuid())
			continue;
		bool is_another = account.pw_dir[0] == '/' && strcmp(account.pw_dir, home) != 0;
		if (is_another && account.pw_dir[1] && access(account.pw_dir, F_OK) == 0)
			add_stores(hide, account.pw_dir);
		break;
	}
	fclose(accounts);
}

void kept_back_credentials(struct path_list *hide, const char *home)
{
	add_stores(hide, home);
	add_account(hide, home);
	for (size_t i = 0; geteuid() == 0 && i < COUNT(system_secrets); i++)
		path_list_add(hide, system_secrets[i]);
}

/* The path in "unix:path=/run/x,guid=…", "unix:///run/x" or "/run/x:1:1". */
static void add_address(struct path_list *hide, const char *address)
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
static void add_tmux(struct path_list *hide)
{
	const char *base = getenv("TMUX_TMPDIR");
	char name[32];
	snprintf(name, sizeof(name), "tmux-%u", (unsigned)getuid());
	path_list_add_below(hide, base && base[0] == '/' ? base : "/tmp", name);
}

void kept_back_agent(struct path_list *paths, const char *variable)
{
	const char *address = getenv(variable);
	if (address)
		add_address(paths, address);
}

void kept_back_sockets(struct path_list *hide, const char *home)
{
	for (size_t i = 0; i < COUNT(system_sockets); i++)
		path_list_add(hide, system_sockets[i]);
	for (size_t i = 0; i < COUNT(home_sockets); i++)
		path_list_add_below(hide, home, home_sockets[i]);
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	if (runtime && runtime[0] == '/')
		path_list_add_below(hide, runtime, "");
	for (size_t i = 0; i < COUNT(agents); i++)
		kept_back_agent(hide, agents[i]);
	add_tmux(hide);
}
