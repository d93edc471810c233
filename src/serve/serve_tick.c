/* What the gateway looks at twice a second: tokens, clients that gave up, what is old. */
#include "base/clock.h"
#include "serve/jobs.h"
#include "serve/openai.h"
#include "serve/serve_parts.h"

static void tick_transcripts(struct serve *serve, uint64_t now_ns)
{
	int64_t keep_ms = serve->settings.keep_transcripts_seconds * 1000;
	const struct transcripts_ask ask = {
		.question = TRANSCRIPTS_TRIM,
		.before = record_now_ms() - keep_ms,
	};
	if (!serve->transcripts || now_ns < serve->transcripts_ns)
		return;
	serve->transcripts_ns = now_ns + SERVE_TRIM_TRANSCRIPTS_SECONDS * NSEC_PER_SEC;
	transcripts_ask(serve->transcripts, &ask);
}

static void tick_jobs(struct serve *serve, uint64_t now_ns)
{
	int64_t keep = serve->settings.keep_seconds;
	int64_t seconds = keep < SERVE_TRIM_SECONDS ? keep : SERVE_TRIM_SECONDS;
	if (now_ns - serve->trimmed_ns < (uint64_t)seconds * NSEC_PER_SEC)
		return;
	serve->trimmed_ns = now_ns;
	records_trim(serve, record_now_ms());
}

static void tick_sample(struct serve *serve, uint64_t now_ns)
{
	struct metrics_now now;
	if (now_ns - serve->sampled_ns < METRICS_SAMPLE_SECONDS * NSEC_PER_SEC)
		return;
	serve->sampled_ns = now_ns;
	serve_now(serve, &now);
	metrics_sample(&serve->metrics, &now);
}

void serve_tick(perch_timer *timer, void *data)
{
	struct serve *serve = data;
	uint64_t now_ns = clock_now_ns();
	perch_timer_set(timer, SERVE_TICK_MS * NSEC_PER_MSEC);
	serve_tokens_look(serve);
	serve_resume(serve);
	if (serve->options.queue) {
		jobs_remote_count(serve);
		jobs_remote_reap(serve, now_ns);
	}
	guests_sweep(serve);
	openai_tick(serve);
	tick_transcripts(serve, now_ns);
	if (serve->records.bytes > (size_t)serve->settings.keep_bytes)
		records_trim(serve, record_now_ms());
	tick_jobs(serve, now_ns);
	tick_sample(serve, now_ns);
}
