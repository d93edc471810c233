/* Watching what a catalogue is made of. An event says only that something may have changed; whether
 * it has is seen from names and times of the files. */
#include "service/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/listing.h"
#include "base/macros.h"
#include "base/paths.h"
#include "base/str.h"
#include "base/test_switch.h"
#include "proc/host.h"

/* Editors write in several steps: they are looked at together. */
#define WATCH_SETTLE_NS (20 * NSEC_PER_MSEC)
#define WATCH_POLL_NS (2 * NSEC_PER_SEC)

#define WATCH_MASK                                                                      \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | \
		IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

/* The folders in it are plugins, or links to them: each has a manifest. */
#define WATCH_PLUGINS "fledge/plugins"
#define WATCH_MANIFEST "plugin.toml"

/* Below the directory of configurations; the first is that itself, for those that are missing. */
static const char *const watch_directories[] = { "", "perch", "perch/tools", "perch/agents",
	"fledge", WATCH_PLUGINS };
static const char *const watch_listed[] = { "perch/tools", "perch/agents" };
static const char *const watch_files[] = { "perch/config.toml", "perch/grants.toml",
	"fledge/plugins.toml" };

/* One for a host. */
struct watch_hub {
	struct host_guest guest; /* first: the host hands it back */
	perch_host *host;
	struct source source; /* fd -1 = inotify is refused */
	struct timer timer;
	struct list watches;
	bool polls;
};

struct service_watch {
	struct link link;
	struct watch_hub *hub;
	void (*changed)(void *data);
	void *data;
	uint64_t known; /* what the files looked like at the last look */
	bool is_told;   /* that they are not so any more */
};

/* ---- what things look like ----------------------------------------------- */

static uint64_t watch_mix(uint64_t hash, uint64_t number)
{
	return (hash ^ number) * UINT64_C(1099511628211);
}

static uint64_t watch_look_at(int directory, const char *name)
{
	struct stat info;
	uint64_t hash = str_hash(STR_HASH, name);
	if (fstatat(directory, name, &info, 0) < 0)
		return hash;
	hash = watch_mix(hash, info.st_ino);
	hash = watch_mix(hash, (uint64_t)info.st_size);
	hash = watch_mix(hash, (uint64_t)info.st_mtim.tv_sec);
	hash = watch_mix(hash, (uint64_t)info.st_mtim.tv_nsec);
	hash = watch_mix(hash, (uint64_t)info.st_ctim.tv_sec);
	return watch_mix(hash, (uint64_t)info.st_ctim.tv_nsec);
}

/* The order in which names come does not matter: a sum. */
static uint64_t watch_look_into(int above, const char *path)
{
	_cleanup_listing_ DIR *listing = listing_open(above, path, 0);
	uint64_t sum = 0;
	const char *name;
	while ((name = listing_next(listing)))
		sum += watch_look_at(dirfd(listing), name);
	return sum;
}

static uint64_t watch_look_at_plugins(int above)
{
	_cleanup_listing_ DIR *listing = listing_open(above, WATCH_PLUGINS, 0);
	uint64_t sum = 0;
	const char *name;
	while ((name = listing_next(listing))) {
		char path[NAME_MAX + sizeof("/" WATCH_MANIFEST)];
		snprintf(path, sizeof(path), "%s/%s", name, WATCH_MANIFEST);
		sum += watch_look_at(dirfd(listing), path);
	}
	return sum;
}

static int watch_open_config(void)
{
	_cleanup_free_ char *path = NULL;
	if (paths_user(PATH_CONFIG, NULL, &path, NULL) < 0)
		return -1;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static uint64_t watch_look(void)
{
	int config = watch_open_config();
	uint64_t sum = 0;
	if (config < 0)
		return 0;
	for (size_t i = 0; i < COUNT(watch_listed); i++)
		sum = watch_mix(sum, watch_look_into(config, watch_listed[i]));
	for (size_t i = 0; i < COUNT(watch_files); i++)
		sum = watch_mix(sum, watch_look_at(config, watch_files[i]));
	sum = watch_mix(sum, watch_look_at_plugins(config));
	close(config);
	return sum;
}

/* ---- the hub ------------------------------------------------------------- */

/* False = it is not there. What inotify refuses is polled. */
static bool watch_add(struct watch_hub *hub, const char *path)
{
	if (inotify_add_watch(hub->source.fd, path, WATCH_MASK) >= 0)
		return true;
	hub->polls = hub->polls || (errno != ENOENT && errno != ENOTDIR);
	return errno != ENOENT;
}

/* A plugin is edited where it lies. */
static void watch_add_plugins(struct watch_hub *hub)
{
	_cleanup_free_ char *plugins = NULL;
	if (paths_user(PATH_CONFIG, WATCH_PLUGINS, &plugins, NULL) < 0)
		return;
	_cleanup_listing_ DIR *listing = listing_open(AT_FDCWD, plugins, 0);
	const char *name;
	while ((name = listing_next(listing))) {
		_cleanup_free_ char *path = str_join(plugins, "/", name, NULL);
		if (path)
			watch_add(hub, path);
	}
}

/* Again behind every change: a directory that was not there may be there now. The first is watched
 * only while one below it is missing: other programs write there, too. */
static void watch_add_all(struct watch_hub *hub)
{
	bool is_missing = false;
	for (size_t i = COUNT(watch_directories); i-- > 0;) {
		_cleanup_free_ char *path = NULL;
		const char *below = watch_directories[i][0] ? watch_directories[i] : NULL;
		if ((!below && !is_missing) || paths_user(PATH_CONFIG, below, &path, NULL) < 0)
			continue;
		is_missing = !watch_add(hub, path) || is_missing;
	}
	watch_add_plugins(hub);
}

static void watch_again(struct watch_hub *hub)
{
	if (hub->source.fd >= 0)
		watch_add_all(hub);
	if (hub->polls && hub->watches.count)
		timer_set(&hub->host->loop.timers, &hub->timer, clock_after(clock_now_ns(), WATCH_POLL_NS));
}

static struct service_watch *watch_next_changed(const struct watch_hub *hub, uint64_t now)
{
	struct service_watch *watch = list_first(&hub->watches);
	while (watch && (watch->is_told || watch->known == now))
		watch = list_next(watch);
	return watch;
}

static void watch_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct watch_hub *hub = container_of(timer, struct watch_hub, timer);
	struct service_watch *watch;
	watch_again(hub); /* before the files are looked at, so that no change is missed */
	uint64_t now = watch_look();
	while ((watch = watch_next_changed(hub, now))) {
		watch->is_told = true;
		watch->changed(watch->data);
	}
}

static void watch_readable(struct source *source, uint32_t events)
{
	(void)events;
	struct watch_hub *hub = container_of(source, struct watch_hub, source);
	char buffer[4096] __attribute__((aligned(8)));
	while (read(source->fd, buffer, sizeof(buffer)) > 0)
		continue;
	if (!timer_is_set(&hub->timer) || hub->polls)
		timer_set(
			&hub->host->loop.timers, &hub->timer, clock_after(clock_now_ns(), WATCH_SETTLE_NS));
}

static void watch_leave(struct host_guest *guest)
{
	struct watch_hub *hub = (struct watch_hub *)guest;
	if (hub->source.fd >= 0) {
		loop_watch(&hub->host->loop, &hub->source, 0);
		close(hub->source.fd);
	}
	timer_cancel(&hub->host->loop.timers, &hub->timer);
	timers_release(&hub->host->loop.timers);
	free(hub);
}

static void watch_open(struct watch_hub *hub)
{
	bool is_refused = TEST_SWITCH("PERCH_TEST_NO_INOTIFY");
	hub->source.fd = is_refused ? -1 : inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	hub->source.ready = watch_readable;
	if (hub->source.fd >= 0 && loop_watch(&hub->host->loop, &hub->source, EPOLLIN) < 0) {
		close(hub->source.fd);
		hub->source.fd = -1;
	}
	hub->polls = hub->source.fd < 0;
}

static struct watch_hub *watch_hub_of(perch_host *host)
{
	struct watch_hub *hub = (struct watch_hub *)host_find_guest(host, watch_leave);
	if (hub)
		return hub;
	hub = calloc(1, sizeof(*hub));
	if (!hub || timers_promise(&host->loop.timers) < 0) {
		free(hub);
		return NULL;
	}
	hub->guest.leave = watch_leave;
	hub->host = host;
	hub->timer.due = watch_due;
	watch_open(hub);
	host_add_guest(host, &hub->guest);
	return hub;
}

/* ---- one service's ------------------------------------------------------- */

int service_watch_new(
	perch_host *host, void (*changed)(void *data), void *data, struct service_watch **ret_watch)
{
	struct watch_hub *hub = watch_hub_of(host);
	struct service_watch *watch = hub ? calloc(1, sizeof(*watch)) : NULL;
	if (!watch)
		return -ENOMEM;
	*watch = (struct service_watch){ .hub = hub, .changed = changed, .data = data };
	list_append(&hub->watches, watch);
	watch_again(hub);
	service_watch_remember(watch);
	*ret_watch = watch;
	return 0;
}

void service_watch_remember(struct service_watch *watch)
{
	if (!watch)
		return;
	watch->known = watch_look();
	watch->is_told = false;
}

void service_watch_free(struct service_watch *watch)
{
	if (!watch)
		return;
	list_remove(&watch->hub->watches, watch);
	free(watch);
}
