/* What the gateway counts, as Prometheus reads it, and the last hour of it for plots. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include <stdint.h>

#include "base/buf.h"
#include "queue/queue.h"

enum {
	METRICS_BUCKETS = 12,
	METRICS_KINDS = 3,     /* turn, call, run */
	METRICS_HISTORY = 360, /* samples */
	METRICS_SAMPLE_SECONDS = 10,
};

struct histogram {
	uint64_t counts[METRICS_BUCKETS + 1];
	uint64_t count;
	uint64_t sum_ns;
};

/* The state of a moment. */
/* The queue that is shared with workers, as it was last heard of. */
struct metrics_queue {
	bool is_shared;
	uint64_t waiting, running, dead, fenced, workers;
};

struct metrics_now {
	struct metrics_queue queue;
	int64_t time; /* seconds since 1970 */
	uint64_t waiting, running, connections, streams, memory_bytes, kept_bytes;
	uint64_t bad_exits;           /* behind an answer, since the start */
	uint64_t ended, failed;       /* since the start */
	uint64_t mean_us, slowest_us; /* of the jobs that have ended since the sample before */
};

struct metrics {
	uint64_t connections, requests, refused, strangers, cut;
	uint64_t bytes_in, bytes_out;
	uint64_t statuses[6];                       /* by their first digit */
	uint64_t jobs[METRICS_KINDS][QUEUE_STATES]; /* ended, by verdict */
	struct histogram answers;
	struct histogram durations[METRICS_KINDS];
	struct {
		uint64_t count, sum_us, slowest_us;
	} lately; /* jobs that have ended since the last sample */
	struct metrics_now history[METRICS_HISTORY];
	size_t history_count; /* all that were ever taken */
};

/* "turn", "call", "run". */
extern const char *const metrics_kinds[METRICS_KINDS];

void metrics_status(struct metrics *metrics, int status);
void metrics_request(struct metrics *metrics, uint64_t duration_ns);
void metrics_job(
	struct metrics *metrics, unsigned kind, enum queue_state state, uint64_t duration_ns);
void metrics_sample(struct metrics *metrics, const struct metrics_now *now);

void metrics_write(const struct metrics *metrics, const struct metrics_now *now, struct buf *out);
void metrics_write_history(const struct metrics *metrics, struct buf *out);

/* Bytes of memory that this process has. */
uint64_t metrics_memory(void);

#endif
