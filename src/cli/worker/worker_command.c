/* perch worker: reads its options, watches signals, and has src/worker run jobs. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/queue/queue_option.h"
#include "cli/ui/signals.h"
#include "proc/host.h"
#include "queue/need.h"
#include "worker/worker_run.h"

struct worker_words {
	struct queue_words queue;
	const char *config, *max_jobs, *max_waiting, *drain, *lease;
	struct option_list agents, tools, plugins, labels, profiles;
	bool is_check;
};

static void worker_command_say(void *data, bool is_warning, const char *text)
{
	const char *hint = is_warning ? queue_option_hint(text) : NULL;
	(void)data;
	if (is_warning)
		cli_warning(text);
	else
		cli_tell(stderr, "%s\n", text);
	if (hint)
		cli_tell(stderr, "  %s\n", hint);
}

/* ---- running ---------------------------------------------------------------------------- */

static void worker_command_signal(void *data, int signal)
{
	if (signal == SIGHUP)
		worker_reload(data);
	else
		worker_stop(data);
}

static int worker_command_loop(void *data)
{
	return worker_run(data);
}

static int worker_command_check(struct worker *worker)
{
	struct buf out = { 0 };
	if (worker_describe(worker, &out) < 0) {
		buf_free(&out);
		return cli_no_memory();
	}
	if (!out.len)
		cli_tell(
			stderr, "it offers nothing: [expose.worker] of perch/config.toml lists what it may\n");
	return cli_print(&out);
}

static int worker_command_work(
	perch_host *host, const struct worker_options *options, bool is_check)
{
	struct worker *worker = NULL;
	perch_err err = { 0 };
	if (worker_new(host, options, &worker, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	int r = is_check
		? worker_command_check(worker)
		: signals_serve(&host->loop, worker_command_signal, worker_command_loop, worker);
	if (r < 0 && r != -EPERM) /* that was told */
		cli_error(NULL, "it can work no longer: %s", perch_strerror(r));
	worker_free(worker);
	return r < 0 ? EXIT_HOST : r;
}

/* ---- options ------------------------------------------------------------------------------ */

static int worker_command_number(
	const char *option, const char *text, int64_t least, int64_t most, int64_t *number)
{
	uint64_t amount = 0;
	if (!text)
		return 0;
	if (!options_amount(text, false, &amount) || amount < (uint64_t)least ||
		amount > (uint64_t)most)
		return cli_usage_error(NULL, "--%s takes a number from %lld to %lld, not '%s'", option,
			(long long)least, (long long)most, text);
	*number = (int64_t)amount;
	return 0;
}

static int worker_command_numbers(const struct worker_words *words, struct worker_options *options)
{
	int r = worker_command_number("max-jobs", words->max_jobs, 1, 1024, &options->max_jobs);
	if (r == 0)
		r = worker_command_number(
			"max-waiting", words->max_waiting, 1, WORKER_WAITING_KIB_MAX, &options->waiting_kib);
	if (r == 0)
		r = worker_command_number("drain", words->drain, 0, 86400, &options->drain_seconds);
	if (r == 0)
		r = worker_command_number("lease", words->lease, 1, 3600, &options->lease_seconds);
	return r;
}

static int worker_command_labels(const struct option_list *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (!need_is_label(str_from(labels->items[i])))
			return cli_usage_error(NULL,
				"--label takes letters, digits, - and _, at most %d: '%s' is none", NEED_LABEL_MAX,
				labels->items[i]);
	}
	if (labels->count > WORKER_LABELS_MAX)
		return cli_usage_error(NULL, "a worker has %d labels at most", WORKER_LABELS_MAX);
	return 0;
}

/* The service wants absolute paths. */
static int worker_command_profiles(struct option_list *profiles)
{
	for (size_t i = 0; i < profiles->count; i++) {
		char *path = realpath(profiles->items[i], NULL);
		if (!path) {
			cli_error(NULL, "--agent %s: %s", profiles->items[i], perch_strerror(-errno));
			return EXIT_HOST;
		}
		profiles->items[i] = path;
	}
	return 0;
}

static int worker_command_lists(struct worker_words *words, struct worker_options *options)
{
	struct option_list *lists[] = { &words->agents, &words->tools, &words->plugins, &words->labels,
		&words->profiles };
	int r = worker_command_labels(&words->labels);
	if (r == 0)
		r = worker_command_profiles(&words->profiles);
	for (size_t i = 0; r == 0 && i < sizeof(lists) / sizeof(lists[0]); i++)
		r = options_add(lists[i], NULL); /* the end */
	options->agents = words->agents.items;
	options->tools = words->tools.items;
	options->plugins = words->plugins.items;
	options->labels = words->labels.items;
	options->profiles = words->profiles.items;
	return r;
}

static int worker_command_read(
	struct worker_words *words, struct worker_options *options, struct queue_place *place)
{
	int r = cli_set_config(words->config);
	if (r == 0)
		r = worker_command_numbers(words, options);
	if (r == 0)
		r = worker_command_lists(words, options);
	if (r == 0)
		r = queue_option_read(&words->queue, place);
	if (r == 0 && !place->is_given)
		r = cli_usage_error(NULL, "which queue? --queue redis://HOST:PORT or unix:PATH");
	options->url = place->url;
	options->password = queue_option_password(place);
	options->key = queue_option_key(place);
	options->shards = place->shards;
	return r;
}

static int worker_command_run(struct cli *cli, int argc, char **argv)
{
	struct worker_words words = { 0 };
	perch_host *host = NULL;
	struct queue_place place = { 0 };
	struct worker_options options = {
		.max_jobs = WORKER_MAX_JOBS,
		.waiting_kib = WORKER_WAITING_KIB,
		.drain_seconds = WORKER_DRAIN_SECONDS,
		.say = worker_command_say,
	};
	const struct option_spec specs[] = {
		{ "queue", 0, OPTION_TEXT, &words.queue.url },
		{ "password-file", 0, OPTION_TEXT, &words.queue.password_file },
		{ "key-file", 0, OPTION_TEXT, &words.queue.key_file },
		{ "shards", 0, OPTION_TEXT, &words.queue.shards },
		{ "config", 0, OPTION_TEXT, &words.config },
		{ "agent", 0, OPTION_LIST, &words.profiles },
		{ "agents", 0, OPTION_LIST, &words.agents },
		{ "tools", 0, OPTION_LIST, &words.tools },
		{ "plugins", 0, OPTION_LIST, &words.plugins },
		{ "label", 0, OPTION_LIST, &words.labels },
		{ "any-profile", 0, OPTION_FLAG, &options.any_profile },
		{ "name", 0, OPTION_TEXT, &options.name },
		{ "max-jobs", 0, OPTION_TEXT, &words.max_jobs },
		{ "max-waiting", 0, OPTION_TEXT, &words.max_waiting },
		{ "drain", 0, OPTION_TEXT, &words.drain },
		{ "lease", 0, OPTION_TEXT, &words.lease },
		{ "check", 0, OPTION_FLAG, &words.is_check },
		{ 0 },
	};
	int at = 1;
	(void)cli;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error(NULL, "worker takes no word: '%s'", argv[at]);
	if (r == 0)
		r = worker_command_read(&words, &options, &place);
	if (r == 0)
		r = cli_host_serve(NULL, NULL, &host);
	if (r == 0)
		r = worker_command_work(host, &options, words.is_check);
	perch_host_free(host);
	queue_option_free(&place);
	return r;
}

const struct command command_worker = {
	.name = "worker",
	.summary = "run jobs of a queue that several machines share",
	.group = GROUP_TOOLS,
	.help = "usage: perch worker --queue URL [OPTIONS]\n"
			"\n"
			"Runs jobs that perch serve --queue has accepted. It needs no open port.\n"
			"\n"
			"  --queue URL           redis://HOST:PORT or unix:PATH; or PERCH_QUEUE\n"
			"  --password-file FILE  of Redis; or PERCH_QUEUE_PASSWORD\n"
			"  --key-file FILE       jobs must be signed with this key\n"
			"  --shards N            as the gateways have it (1)\n"
			"  --config DIR          configuration in DIR/perch\n"
			"  --agent FILE          offer this agent, too; may be given again\n"
			"  --agents PATTERN, --tools PATTERN, --plugins PATTERN  only such names\n"
			"  --label NAME          jobs that ask for this label, too\n"
			"  --any-profile         also jobs whose profile or tool is another than ours\n"
			"  --name NAME           how it is called (the machine's name)\n"
			"  --max-jobs N          at a time (16)\n"
			"  --max-waiting KIB     of a job's events while Redis is away (1024)\n"
			"  --drain SECS          how long running jobs may take after SIGTERM (30)\n"
			"  --lease SECS          others take over after so long a silence (15)\n"
			"  --check               say what it offers, and end\n"
			"\n"
			"[expose.worker] of perch/config.toml lists what it offers: nothing by default.\n"
			"\n"
			"example:\n"
			"  perch worker --queue redis://127.0.0.1 --agent bot.yaml\n",
	.run = worker_command_run,
};
