/* What the gateway counts. */
#include "serve/metrics.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macros.h"
#include "data/json.h"

const char *const metrics_kinds[METRICS_KINDS] = { "turn", "call", "run" };

/* Upper bounds, in milliseconds. */
static const double metrics_bounds[METRICS_BUCKETS] = { 0.1, 0.5, 1, 5, 10, 50, 100, 500, 1000,
	5000, 30000, 120000 };

static void histogram_add(struct histogram *histogram, uint64_t duration_ns)
{
	size_t i = 0;
	while (i < METRICS_BUCKETS && (double)duration_ns > metrics_bounds[i] * 1e6)
		i++;
	histogram->counts[i]++;
	histogram->count++;
	histogram->sum_ns += duration_ns;
}

void metrics_status(struct metrics *metrics, int status)
{
	size_t digit = (size_t)status / 100;
	if (digit < COUNT(metrics->statuses))
		metrics->statuses[digit]++;
}

void metrics_request(struct metrics *metrics, uint64_t duration_ns)
{
	histogram_add(&metrics->answers, duration_ns);
}

void metrics_job(
	struct metrics *metrics, unsigned kind, enum queue_state state, uint64_t duration_ns)
{
	metrics->jobs[kind][state]++;
	histogram_add(&metrics->durations[kind], duration_ns);
	uint64_t us = duration_ns / 1000;
	metrics->lately.count++;
	metrics->lately.sum_us += us;
	if (us > metrics->lately.slowest_us)
		metrics->lately.slowest_us = us;
}

void metrics_sample(struct metrics *metrics, const struct metrics_now *now)
{
	struct metrics_now *sample = &metrics->history[metrics->history_count++ % METRICS_HISTORY];
	*sample = *now;
	if (metrics->lately.count)
		sample->mean_us = metrics->lately.sum_us / metrics->lately.count;
	sample->slowest_us = metrics->lately.slowest_us;
	memset(&metrics->lately, 0, sizeof(metrics->lately));
}

uint64_t metrics_memory(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	if (!file)
		return 0;
	if (fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- Prometheus ------------------------------------------------------------------ */

static void metrics_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void metrics_one(
	struct buf *out, const char *name, const char *type, const char *help, uint64_t value)
{
	metrics_head(out, name, type, help);
	buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

/* label is "" or ends with a comma. */
static void metrics_histogram(
	struct buf *out, const char *name, const char *label, const struct histogram *histogram)
{
	uint64_t below = 0;
	for (size_t i = 0; i < METRICS_BUCKETS; i++) {
		below += histogram->counts[i];
		buf_printf(out, "%s_bucket{%sle=\"%g\"} %llu\n", name, label, metrics_bounds[i] / 1000,
			(unsigned long long)below);
	}
	buf_printf(
		out, "%s_bucket{%sle=\"+Inf\"} %llu\n", name, label, (unsigned long long)histogram->count);
	int len = label[0] ? (int)strlen(label) - 1 : 0;
	buf_printf(out, "%s_sum%s%.*s%s %.9f\n", name, len ? "{" : "", len, label, len ? "}" : "",
		(double)histogram->sum_ns / 1e9);
	buf_printf(out, "%s_count%s%.*s%s %llu\n", name, len ? "{" : "", len, label, len ? "}" : "",
		(unsigned long long)histogram->count);
}

static void metrics_jobs(const struct metrics *metrics, struct buf *out)
{
	metrics_head(out, "perch_jobs_total", "counter", "Jobs that have ended, by kind and verdict.");
	for (size_t kind = 0; kind < METRICS_KINDS; kind++) {
		for (unsigned state = QUEUE_DONE; state < QUEUE_STATES; state++)
			buf_printf(out, "perch_jobs_total{kind=\"%s\",state=\"%s\"} %llu\n",
				metrics_kinds[kind], queue_state_name((enum queue_state)state),
				(unsigned long long)metrics->jobs[kind][state]);
	}
	metrics_head(out, "perch_job_seconds", "histogram", "From a job's acceptance to its end.");
	for (size_t kind = 0; kind < METRICS_KINDS; kind++) {
		char label[32];
		snprintf(label, sizeof(label), "kind=\"%s\",", metrics_kinds[kind]);
		metrics_histogram(out, "perch_job_seconds", label, &metrics->durations[kind]);
	}
}

static void metrics_write_queue(const struct metrics_queue *queue, struct buf *out)
{
	const struct {
		const char *name, *type, *help;
		uint64_t value;
	} rows[] = {
		{ "perch_queue_waiting", "gauge", "Jobs of all gateways that wait.", queue->waiting },
		{ "perch_queue_running", "gauge", "Jobs that workers run.", queue->running },
		{ "perch_queue_dead", "gauge", "Jobs that were tried too often.", queue->dead },
		{ "perch_queue_fenced_total", "counter", "Calls of workers that came too late.",
			queue->fenced },
		{ "perch_workers", "gauge", "Workers.", queue->workers },
	};
	for (size_t i = 0; queue->is_shared && i < COUNT(rows); i++)
		metrics_one(out, rows[i].name, rows[i].type, rows[i].help, rows[i].value);
}

void metrics_write(const struct metrics *metrics, const struct metrics_now *now, struct buf *out)
{
	const struct {
		const char *name, *type, *help;
		uint64_t value;
	} plain[] = {
		{ "perch_jobs_waiting", "gauge", "Accepted jobs that have not begun.", now->waiting },
		{ "perch_jobs_running", "gauge", "Jobs that run.", now->running },
		{ "perch_bad_exits_total", "counter", "Tools that failed behind an answer that counted.",
			now->bad_exits },
		{ "perch_connections", "gauge", "Open connections.", now->connections },
		{ "perch_streams", "gauge", "Open streams of events.", now->streams },
		{ "perch_memory_bytes", "gauge", "Memory of this process.", now->memory_bytes },
		{ "perch_events_bytes", "gauge", "Kept events and jobs.", now->kept_bytes },
		{ "perch_connections_total", "counter", "Connections taken.", metrics->connections },
		{ "perch_requests_total", "counter", "Requests let in.", metrics->requests },
		{ "perch_refused_total", "counter", "Requests of invalid framing, or late.",
			metrics->refused },
		{ "perch_unauthorized_total", "counter", "Requests without a valid token.",
			metrics->strangers },
		{ "perch_cut_total", "counter", "Connections cut: all together held too much memory.",
			metrics->cut },
		{ "perch_received_bytes_total", "counter", "Bytes read.", metrics->bytes_in },
		{ "perch_sent_bytes_total", "counter", "Bytes written.", metrics->bytes_out },
	};
	for (size_t i = 0; i < COUNT(plain); i++)
		metrics_one(out, plain[i].name, plain[i].type, plain[i].help, plain[i].value);
	metrics_write_queue(&now->queue, out);
	metrics_head(
		out, "perch_answers_total", "counter", "Answers, by the first digit of the status.");
	for (size_t i = 2; i < COUNT(metrics->statuses); i++)
		buf_printf(out, "perch_answers_total{status=\"%zuxx\"} %llu\n", i,
			(unsigned long long)metrics->statuses[i]);
	metrics_jobs(metrics, out);
	metrics_head(
		out, "perch_request_seconds", "histogram", "From a request's head to its answer's end.");
	metrics_histogram(out, "perch_request_seconds", "", &metrics->answers);
}

/* ---- the last hour ---------------------------------------------------------------- */

static void metrics_write_sample(perch_json_writer *out, const struct metrics_now *now)
{
	const struct {
		const char *name;
		uint64_t value;
	} members[] = {
		{ "time", (uint64_t)now->time },
		{ "waiting", now->waiting },
		{ "running", now->running },
		{ "connections", now->connections },
		{ "streams", now->streams },
		{ "memory_bytes", now->memory_bytes },
		{ "kept_bytes", now->kept_bytes },
		{ "ended", now->ended },
		{ "failed", now->failed },
		{ "mean_us", now->mean_us },
		{ "slowest_us", now->slowest_us },
	};
	perch_json_begin_object(out);
	for (size_t i = 0; i < COUNT(members); i++) {
		perch_json_write_name(out, members[i].name);
		perch_json_write_uint64(out, members[i].value);
	}
	perch_json_end_object(out);
}

void metrics_write_history(const struct metrics *metrics, struct buf *out)
{
	perch_json_writer json = json_writer_on(out);
	size_t count =
		metrics->history_count < METRICS_HISTORY ? metrics->history_count : METRICS_HISTORY;
	perch_json_begin_object(&json);
	perch_json_write_name(&json, "every_seconds");
	perch_json_write_int64(&json, METRICS_SAMPLE_SECONDS);
	perch_json_write_name(&json, "samples");
	perch_json_begin_array(&json);
	for (size_t i = 0; i < count; i++)
		metrics_write_sample(
			&json, &metrics->history[(metrics->history_count - count + i) % METRICS_HISTORY]);
	perch_json_end_array(&json);
	perch_json_end_object(&json);
}
