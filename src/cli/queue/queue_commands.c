/* perch queue: what a queue that several machines share has, and what to do about it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/queue/queue_option.h"
#include "cli/queue/queue_show.h"
#include "queue/queue_redis.h"

/* A question to all shards, and what is done with their answers. */
struct queue_inquiry {
	struct cli *cli;
	struct queue *queue;
	const char *function;
	struct str arguments[2];
	size_t count;
	int (*take)(struct queue_found *found, const redisReply *reply); /* NULL = a job is changed */
	int (*show)(struct cli *cli, struct queue_found *found);
	const char *subject; /* for words */
	struct queue_found found;
	unsigned left;   /* shards that have not answered */
	bool is_changed; /* one has had the job */
	int status;
	bool is_over;
	bool is_dead; /* the first word says what to ask */
};

static int queue_command_changed(const struct queue_inquiry *inquiry)
{
	if (inquiry->is_changed) {
		cli_tell(stderr, "%s: %s\n", inquiry->subject,
			strcmp(inquiry->function, "retry") == 0 ? "it waits again" : "it is forgotten");
		return 0;
	}
	cli_error("perch queue dead list names them", "there is no dead job '%s'", inquiry->subject);
	return EXIT_HOST;
}

/* ---- asking ------------------------------------------------------------------------------- */

static void queue_command_fail(struct queue_inquiry *inquiry, const char *format, const char *text)
{
	cli_error(queue_option_hint(text), format, text);
	inquiry->status = EXIT_HOST;
	inquiry->is_over = true;
}

static void queue_command_answered(void *data, const redisReply *reply)
{
	struct queue_inquiry *inquiry = data;
	if (!reply || inquiry->is_over)
		return;
	if (reply->type == REDIS_REPLY_ERROR) {
		queue_command_fail(inquiry, "the queue does not answer: %s", reply->str);
		return;
	}
	if (!inquiry->take)
		inquiry->is_changed =
			inquiry->is_changed || strcmp(reply->str ? reply->str : "", "ok") == 0;
	else if (inquiry->take(&inquiry->found, reply) < 0)
		queue_command_fail(inquiry, "%s", "no memory");
	if (--inquiry->left || inquiry->is_over)
		return;
	inquiry->is_over = true;
	inquiry->status = inquiry->show ? inquiry->show(inquiry->cli, &inquiry->found)
									: queue_command_changed(inquiry);
}

static void queue_command_ready(void *data)
{
	struct queue_inquiry *inquiry = data;
	unsigned shards = queue_redis_shards(inquiry->queue);
	if (inquiry->left || inquiry->is_over)
		return;
	inquiry->left = shards;
	inquiry->found.is_of_many = shards > 1;
	for (unsigned i = 0; i < shards; i++) {
		if (queue_redis_call(inquiry->queue, i, inquiry->function, inquiry->arguments,
				inquiry->count, queue_command_answered, inquiry) < 0)
			queue_command_fail(inquiry, "%s", "no memory");
	}
}

static void queue_command_lost(void *data, bool is_final, const char *text)
{
	(void)is_final;
	queue_command_fail(data, "%s", text);
}

static int queue_command_ask(struct queue_inquiry *inquiry, const struct queue_place *place)
{
	const struct queue_redis_options options = {
		.url = place->url,
		.password = queue_option_password(place),
		.ready = queue_command_ready,
		.lost = queue_command_lost,
		.data = inquiry,
	};
	perch_host *host = NULL;
	perch_err err = { 0 };
	int r = cli_host_new(&host, &err);
	if (r == 0)
		r = queue_open_redis(host, &options, &inquiry->queue, &err);
	while (r >= 0 && !inquiry->is_over)
		r = perch_host_wait(host, -1);
	if (r < 0)
		queue_command_fail(inquiry, "%s", err.text[0] ? err.text : perch_strerror(r));
	if (inquiry->queue)
		inquiry->queue->table->free(inquiry->queue);
	perch_host_free(host);
	queue_found_free(&inquiry->found);
	return inquiry->status;
}

static void queue_command_want_jobs(struct queue_inquiry *inquiry, const char *state)
{
	static char count[16];
	snprintf(count, sizeof(count), "%d", QUEUE_JOBS_SHOWN);
	inquiry->function = "jobs";
	inquiry->arguments[0] = str_from(state);
	inquiry->arguments[1] = str_from(count);
	inquiry->count = 2;
	inquiry->take = queue_found_jobs;
	inquiry->show = queue_show_jobs;
}

static int queue_command_read_dead(struct queue_inquiry *inquiry, const struct option_list *words)
{
	const char *verb = words->count ? words->items[0] : "list";
	bool is_change = strcmp(verb, "retry") == 0 || strcmp(verb, "drop") == 0;
	if (!is_change && strcmp(verb, "list") != 0)
		return cli_usage_error("write: perch queue dead list, retry JOB or drop JOB",
			"there is nothing to be done by '%s'", verb);
	if (is_change != (words->count == 2))
		return cli_usage_error(
			NULL, is_change ? "which job? perch queue dead list names them" : "list takes no word");
	queue_command_want_jobs(inquiry, "dead");
	if (is_change) {
		inquiry->function = strcmp(verb, "retry") == 0 ? "retry" : "drop";
		inquiry->subject = words->items[1];
		inquiry->arguments[0] = str_from(inquiry->subject);
		inquiry->count = 1;
		inquiry->take = NULL;
		inquiry->show = NULL;
	}
	return 0;
}

static const char *queue_command_state(const void *data, size_t i)
{
	(void)data;
	return i < QUEUE_STATES ? queue_state_name((enum queue_state)i) : NULL;
}

static int queue_command_want_state(struct queue_inquiry *inquiry, const char *word)
{
	inquiry->arguments[0] = str_from(word);
	if (queue_state_find(str_from(word)) != QUEUE_STATES)
		return 0;
	const char *nearest = cli_nearest(word, queue_command_state, NULL);
	char hint[160];
	snprintf(hint, sizeof(hint), "did you mean '%s'?", nearest ? nearest : "");
	return cli_usage_error(nearest ? hint
								   : "there are: waiting, running, done, failed, cancelled, "
									 "interrupted, dead",
		"no job has the state '%s'", word);
}

/* Reads options and at most `most` words into the question, and asks. */
static int queue_command_run(struct queue_inquiry *inquiry, size_t most, int argc, char **argv)
{
	struct queue_words given = { 0 };
	struct queue_place place = { 0 };
	struct option_list words = { 0 };
	const struct option_spec specs[] = {
		{ "queue", 0, OPTION_TEXT, &given.url },
		{ "password-file", 0, OPTION_TEXT, &given.password_file },
		{ 0 },
	};
	int r = cli_options(inquiry->cli, specs, argc, argv, &words);
	if (r == 0 && words.count > most)
		r = cli_usage_error(NULL, "one word too many: '%s'", words.items[most]);
	if (r == 0)
		r = queue_option_read(&given, &place);
	if (r == 0 && !place.is_given)
		r = cli_usage_error(NULL, "which queue? --queue redis://HOST:PORT or unix:PATH");
	if (r == 0 && inquiry->is_dead)
		r = queue_command_read_dead(inquiry, &words);
	else if (r == 0 && words.count)
		r = queue_command_want_state(inquiry, words.items[0]);
	if (r == 0)
		r = queue_command_ask(inquiry, &place);
	queue_option_free(&place);
	free(words.items);
	return r;
}

/* ---- the verbs --------------------------------------------------------------------------------
 */

static int queue_command_status(struct cli *cli, int argc, char **argv)
{
	struct queue_inquiry inquiry = {
		.cli = cli, .function = "status", .take = queue_found_status, .show = queue_show_status
	};
	return queue_command_run(&inquiry, 0, argc, argv);
}

static int queue_command_jobs(struct cli *cli, int argc, char **argv)
{
	struct queue_inquiry inquiry = { .cli = cli };
	queue_command_want_jobs(&inquiry, "");
	return queue_command_run(&inquiry, 1, argc, argv);
}

static int queue_command_workers(struct cli *cli, int argc, char **argv)
{
	struct queue_inquiry inquiry = {
		.cli = cli, .function = "workers", .take = queue_found_workers, .show = queue_show_workers
	};
	return queue_command_run(&inquiry, 0, argc, argv);
}

/* list, retry JOB, drop JOB: which, is known behind the options. */
static int queue_command_dead(struct cli *cli, int argc, char **argv)
{
	struct queue_inquiry inquiry = { .cli = cli, .is_dead = true };
	return queue_command_run(&inquiry, 2, argc, argv);
}

#define QUEUE_OPTIONS                                                          \
	"  --queue URL           redis://HOST:PORT or unix:PATH; or PERCH_QUEUE\n" \
	"  --password-file FILE  of Redis; or PERCH_QUEUE_PASSWORD\n"

static const struct command queue_command_verb_status = {
	.name = "status",
	.summary = "how many jobs wait, run and have ended",
	.help = "usage: perch queue status [--json] [OPTIONS]\n"
			"\n"
			"Jobs by state, calls of workers that were refused (fenced), and what ready jobs\n"
			"need: where no worker offers it, nobody will begin them.\n"
			"\n" QUEUE_OPTIONS "\n"
			"example:\n"
			"  perch queue status --queue redis://127.0.0.1\n",
	.run = queue_command_status,
};

static const struct command queue_command_verb_jobs = {
	.name = "jobs",
	.summary = "the newest jobs",
	.help = "usage: perch queue jobs [STATE] [--json] [OPTIONS]\n"
			"\n"
			"The newest 100 jobs, or those of a state: waiting, running, done, failed,\n"
			"cancelled, interrupted, dead.\n"
			"\n" QUEUE_OPTIONS "\n"
			"example:\n"
			"  perch queue jobs running --queue redis://127.0.0.1\n",
	.run = queue_command_jobs,
};

static const struct command queue_command_verb_workers = {
	.name = "workers",
	.summary = "who works",
	.help = "usage: perch queue workers [--json] [OPTIONS]\n"
			"\n"
			"The workers that were heard of within the last minute.\n"
			"\n" QUEUE_OPTIONS "\n"
			"example:\n"
			"  perch queue workers --queue redis://127.0.0.1\n",
	.run = queue_command_workers,
};

static const struct command queue_command_verb_dead = {
	.name = "dead",
	.summary = "jobs that were tried too often: list, retry, drop",
	.help = "usage: perch queue dead list [--json] [OPTIONS]\n"
			"       perch queue dead retry JOB [OPTIONS]\n"
			"       perch queue dead drop JOB [OPTIONS]\n"
			"\n"
			"Jobs whose every try ended with the death of a worker; kept for a week. retry\n"
			"has one begin anew, drop forgets it.\n"
			"\n" QUEUE_OPTIONS "\n"
			"example:\n"
			"  perch queue dead list --queue redis://127.0.0.1\n",
	.run = queue_command_dead,
};

static const struct command *const queue_command_verbs[] = {
	&queue_command_verb_status,
	&queue_command_verb_jobs,
	&queue_command_verb_workers,
	&queue_command_verb_dead,
	NULL,
};

const struct command command_queue = {
	.name = "queue",
	.summary = "see to that queue",
	.group = GROUP_TOOLS,
	.help = "usage: perch queue VERB …\n"
			"\n"
			"The queue that perch serve --queue and perch worker share: what waits, what\n"
			"runs, who works, and what was tried too often.\n",
	.example = "perch queue status --queue redis://127.0.0.1",
	.subcommands = queue_command_verbs,
};
