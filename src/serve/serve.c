/* The gateway: its parts put together, its loop, its end. */
#include "serve/serve.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/paths.h"
#include "base/tree.h"
#include "serve/serve_catalog.h"
#include "serve/jobs.h"
#include "serve/mcp_endpoint.h"
#include "serve/openai.h"
#include "serve/peer.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"

void serve_warn(struct serve *serve, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (serve->options.say)
		serve->options.say(serve->options.data, true, text);
}

struct str serve_date(struct serve *serve)
{
	uint64_t now_ns = clock_now_ns();
	if (!serve->date[0] || now_ns - serve->date_ns >= NSEC_PER_SEC / 2) {
		http_date_write(serve->date, (uint64_t)time(NULL));
		serve->date_ns = now_ns;
	}
	return str_from(serve->date);
}

bool serve_trusts(const struct serve *serve, const struct address *address)
{
	for (const char *const *item = serve->settings.trusted_proxies; *item; item++) {
		struct address trusted;
		if (address_parse(str_from(*item), &trusted) &&
			memcmp(&trusted, address, sizeof(trusted)) == 0)
			return true;
	}
	return false;
}

void serve_now(const struct serve *serve, struct metrics_now *ret_now)
{
	*ret_now = (struct metrics_now){
		.queue = serve->shared,
		.time = (int64_t)time(NULL),
		.waiting = serve->records.waiting,
		.running = serve->records.running + mcp_endpoint_calls(serve),
		.bad_exits = perch_service_bad_exits(serve->service),
		.connections = serve->peers.count,
		.streams = serve->watcher_count,
		.memory_bytes = metrics_memory(),
		.kept_bytes = serve->records.bytes,
	};
	for (size_t kind = 0; kind < METRICS_KINDS; kind++) {
		for (unsigned state = QUEUE_DONE; state < QUEUE_STATES; state++) {
			ret_now->ended += serve->metrics.jobs[kind][state];
			ret_now->failed += state > QUEUE_DONE ? serve->metrics.jobs[kind][state] : 0;
		}
	}
}

const char *serve_address(const struct serve *serve)
{
	return serve->address[0] ? serve->address : NULL;
}

/* ---- the end -------------------------------------------------------------------------- */

static void serve_late(perch_timer *timer, void *data)
{
	struct serve *serve = data;
	serve->is_late = true;
	perch_service_cancel(serve->service, SIGTERM); /* again: the next step of every ladder */
	perch_timer_set(timer, 5 * NSEC_PER_SEC);
}

void serve_stop(struct serve *serve)
{
	if (serve->is_draining) {
		perch_timer_set(serve->drain, 0);
		return;
	}
	serve->is_draining = true; /* it goes on to answer, and says that it takes no jobs */
	mcp_endpoint_close(serve);
	perch_timer_set(serve->drain, (uint64_t)serve->settings.drain_seconds * NSEC_PER_SEC);
}

static bool serve_has_ended(const struct serve *serve)
{
	bool runs_here = serve->records.running && !serve->options.queue;
	/* What a Redis that is away has not answered was not accepted. */
	bool gives_up = serve->is_late && serve->options.queue;
	return serve->is_draining && !runs_here && !mcp_endpoint_calls(serve) &&
		(gives_up || !serve->queue->table->unwritten(serve->queue));
}

/* What callbacks have changed. When a connection has gone, its jobs end, which may send messages
 * to other connections. */
static void serve_settle(struct serve *serve)
{
	do {
		peers_settle(serve);
		guests_settle(serve);
	} while (serve->touched);
}

/* MCP servers may have something to write down before they go, and a tool that has answered is
 * judged by its exit. */
static int serve_end_servers(struct serve *serve)
{
	uint64_t until_ns = clock_after(clock_now_ns(), SERVE_SERVERS_MS * NSEC_PER_MSEC);
	int r = 0;
	perch_service_close(serve->service);
	while (r >= 0 && perch_service_servers(serve->service) + perch_service_jobs(serve->service)) {
		uint64_t now_ns = clock_now_ns();
		if (now_ns >= until_ns)
			break;
		r = perch_host_wait(serve->host, (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1);
	}
	return r;
}

int serve_run(struct serve *serve)
{
	int r = 0;
	while (r >= 0 && !serve_has_ended(serve) && !serve->queue_is_refused) {
		serve_settle(serve);
		if (!serve_has_ended(serve))
			r = perch_host_wait(serve->host, -1);
	}
	serve_settle(serve);
	if (r >= 0)
		r = serve_end_servers(serve);
	return serve->queue_is_refused ? -EPERM : r < 0 ? r : 0;
}

/* ---- life ------------------------------------------------------------------------------- */

static int serve_read_settings(struct serve *serve, perch_err *err)
{
	struct settings settings = { 0 };
	const struct serve_options *options = &serve->options;
	int r = serve_settings_read(&settings, err);
	if (r < 0)
		return r;
	if (options->listen)
		settings.listen = options->listen;
	if (options->socket)
		settings.socket = options->socket;
	if (options->has_drain)
		settings.drain_seconds = options->drain_seconds;
	settings.is_durable = settings.is_durable || options->is_durable;
	if (serve->service) /* which counts to the number that it was made with */
		settings.max_jobs = serve->settings.max_jobs;
	serve_settings_free(&serve->settings);
	serve->settings = settings;
	serve->limits.body_max = (uint64_t)settings.body_max;
	return 0;
}

static void serve_set_clocks(struct serve *serve)
{
	const struct settings *settings = &serve->settings;
	int64_t step = settings->body_seconds < PEER_BODY_STEP_SECONDS ? settings->body_seconds
																   : PEER_BODY_STEP_SECONDS;
	const int64_t seconds[DEADLINE_KINDS] = {
		[DEADLINE_HEAD] = settings->head_seconds,
		[DEADLINE_BODY] = step,
		[DEADLINE_IDLE] = settings->idle_seconds,
		[DEADLINE_WRITE] = settings->write_seconds,
		[DEADLINE_COMMENT] = settings->heartbeat_seconds,
		[DEADLINE_LINGER] = PEER_LINGER_SECONDS,
	};
	for (enum deadline_kind i = DEADLINE_NONE; i < DEADLINE_KINDS; i++)
		deadlines_set_length(&serve->deadlines, i, (uint64_t)seconds[i] * NSEC_PER_SEC);
}

void serve_reload(struct serve *serve)
{
	perch_err err = { 0 };
	if (serve_read_settings(serve, &err) < 0 || serve_tokens_read(serve, &err) < 0) {
		serve_warn(serve, "%s", err.text);
		return;
	}
	serve_set_clocks(serve);
	catalog_changed(serve->service, serve);
	catalog_warn(serve);
	jobs_look(serve);
	if (serve->options.say)
		serve->options.say(serve->options.data, false,
			"the configuration was read again; listen, socket, project, max_jobs and durable are "
			"what they were at the start");
}

static void serve_service_warns(perch_service *service, void *data, const char *text)
{
	(void)service;
	serve_warn(data, "%s", text);
}

static int serve_open_service(struct serve *serve, perch_err *err)
{
	perch_service_options options = PERCH_SERVICE_OPTIONS_INIT;
	options.frontend = "http";
	options.project_dir = serve->settings.project;
	options.max_jobs = (size_t)serve->settings.max_jobs;
	options.no_store = serve->options.no_store;
	options.profiles = serve->options.agents;
	options.changed = catalog_changed;
	options.told = mcp_endpoint_told;
	options.warn = serve_service_warns;
	options.data = serve;
	return perch_service_new(serve->host, &options, &serve->service, err);
}

static int serve_open_stores(struct serve *serve, perch_err *err)
{
	_cleanup_free_ char *directory = NULL;
	int r = paths_user(PATH_STATE, "perch", &directory, err);
	if (r == 0)
		r = paths_make(directory, err);
	if (r < 0)
		return r;
	_cleanup_free_ char *path = str_join(directory, "/gateway.db", NULL);
	_cleanup_free_ char *transcripts = str_join(directory, "/transcripts.db", NULL);
	_cleanup_free_ char *left = str_join(directory, "/attachments", NULL);
	if (!path || !transcripts || !left)
		return err_no_memory(err);
	r = serve->options.queue ? jobs_remote_open(serve, err) : jobs_open(serve, path, err);
	if (r < 0)
		return r;
	tree_remove(left); /* of a process that was killed */
	if (!serve->options.no_store)
		r = transcripts_open(serve->host, transcripts, &serve->transcripts, err);
	return r;
}

static int serve_open_clocks(struct serve *serve, perch_err *err)
{
	serve->deadlines.due = peer_due;
	serve->deadlines.data = serve;
	int r = deadlines_open(&serve->deadlines, serve->host, err);
	if (r == 0)
		serve_set_clocks(serve);
	if (r == 0)
		r = perch_timer_new(serve->host, serve_tick, serve, &serve->tick, err);
	if (r == 0)
		r = perch_timer_new(serve->host, serve_late, serve, &serve->drain, err);
	return r;
}

static int serve_check_anonymous(struct serve *serve, perch_err *err)
{
	const char *name = serve->options.anonymous;
	if (!name)
		return 0;
	if (!identities_named(&serve->identities, name))
		return err_set(err, -ENOENT, "--anonymous %s: there is no such token", name);
	serve_warn(serve,
		"requests from this machine without a token count as the token %s: every process on it, a "
		"sandboxed plugin with a network too, can use what that token may, unconfined",
		name);
	return 0;
}

static int serve_open(struct serve *serve, perch_err *err)
{
	int r = serve_read_settings(serve, err);
	if (r == 0)
		r = serve_open_clocks(serve, err);
	if (r == 0)
		r = serve_tokens_read(serve, err);
	if (r == 0)
		r = serve_tokens_make_local(serve, err);
	if (r == 0)
		r = serve_check_anonymous(serve, err);
	if (r == 0)
		r = serve_open_service(serve, err);
	if (r == 0)
		r = mcp_endpoint_open(serve, err);
	if (r < 0 || serve->options.is_check)
		return r;
	r = serve_open_stores(serve, err);
	if (r == 0)
		r = listeners_open(serve, err);
	if (r < 0)
		return r;
	catalog_warn(serve);
	cookies_load(serve);
	if (!serve->options.queue) /* else once workers have renewed their leases: jobs_remote_reap */
		serve->queue->table->reap(serve->queue, NULL, NULL);
	jobs_look(serve);
	perch_timer_set(serve->tick, SERVE_TICK_MS * NSEC_PER_MSEC);
	return 0;
}

DEFINE_POINTER_CLEANUP(serve_cleanup, struct serve, serve_free)

int serve_new(
	perch_host *host, const struct serve_options *options, struct serve **ret_serve, perch_err *err)
{
	_cleanup_(serve_cleanup) struct serve *serve = calloc(1, sizeof(*serve));
	if (!serve || !(serve->scratch = malloc(PEER_SCRATCH)))
		return err_no_memory(err);
	serve->host = host;
	serve->options = *options;
	serve->identities.revoked = serve_tokens_revoked;
	serve->identities.data = serve;
	int r = serve_open(serve, err);
	if (r < 0)
		return r;
	*ret_serve = steal(&serve);
	return 0;
}

void serve_free(struct serve *serve)
{
	if (!serve)
		return;
	serve->is_over = true;
	listeners_close(serve);
	peers_free(serve);
	if (serve->queue) /* what it has yet to tell speaks of jobs */
		serve->queue->table->free(serve->queue);
	records_free(&serve->records);
	mcp_endpoint_leave(serve);
	perch_catalog_free(serve->catalog);
	perch_service_free(serve->service);
	mcp_endpoint_free(serve);
	transcripts_free(serve->transcripts);
	openai_free(serve);
	cookies_free(&serve->cookies);
	identities_free(&serve->identities);
	strangers_free(&serve->strangers);
	deadlines_close(&serve->deadlines);
	perch_timer_free(serve->tick);
	perch_timer_free(serve->drain);
	serve_settings_free(&serve->settings);
	free(serve->scratch);
	free(serve);
}
