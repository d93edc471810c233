/* Any bytes as what the gateway reads of its disk and of its queue: tokens, cookies, settings, a
 * job and what is in it. No crash; errors have words; what was read keeps its promises. The first
 * byte chooses. */
#include "fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness/gateway.h"
#include "queue/job_request.h"
#include "serve/jobs.h"
#include "serve/serve_parts.h"

static struct gateway gateway;

static void put(const char *name, struct str text)
{
	char path[96];
	snprintf(path, sizeof(path), "%s/perch/%s", getenv("HOME"), name);
	FILE *file = fopen(path, "w");
	check(file && fwrite(text.data, 1, text.len, file) == text.len && fclose(file) == 0);
}

static void try_tokens(struct str text)
{
	struct tokens tokens = { 0 };
	perch_err err = { 0 };
	put("tokens.json", text);
	int r = tokens_read(&tokens, &err);
	check(r == 0 || err.text[0]);
	for (size_t i = 0; r == 0 && i < tokens.count; i++)
		check(token_is_name(tokens.items[i].name) && strlen(tokens.items[i].hash) == 64);
	tokens_free(&tokens);
	put("tokens.json", STR("{\"tokens\":[]}"));
}

static void try_cookies(struct str text)
{
	struct cookies *cookies = &gateway.serve->cookies;
	put("cookies", text);
	cookies_load(gateway.serve);
	check(cookies->list.count <= COOKIES_MAX);
	for (const struct cookie *item = list_first(&cookies->list); item; item = list_next(item))
		check(item->who == gateway.serve->local && strlen(item->hash) == SHA256_HEX_SIZE - 1);
	cookies_save(cookies);
	cookies_free(cookies);
}

static void try_settings(struct str text)
{
	struct settings settings = { 0 };
	perch_err err = { 0 };
	put("config.toml", text);
	int r = serve_settings_read(&settings, &err);
	check(r == 0 || err.text[0]);
	check(r < 0 || (settings.max_jobs >= 1 && settings.head_seconds >= 1));
	if (r == 0)
		serve_settings_free(&settings);
	put("config.toml", STR(""));
}

/* The fields of a job are lines. */
static void try_job(struct str text, enum queue_state state)
{
	struct serve *serve = gateway.serve;
	const struct queue_news news = jobs_news(serve);
	const struct queue_loader loader = news.loader;
	struct queue_job job = { .id = STR("j00000000000000000000"), .state = state };
	job.kind = str_cut(&text, '\n');
	job.name = str_cut(&text, '\n');
	job.owner = str_cut(&text, '\n');
	job.session = str_cut(&text, '\n');
	job.key = str_cut(&text, '\n');
	struct str event = str_cut(&text, '\n');
	job.request = text;
	job.result = text;
	check(loader.job(loader.data, &job) == 0);
	check(loader.event(loader.data, &(struct queue_event){ 7, job.id, event }) == 0);
	job.revision = 1;
	check(loader.job(loader.data, &job) == 0);
	const struct record *record = records_find(&serve->records, job.id);
	check(!record || str_eq(record->name, job.name));
	records_free(&serve->records);
}

static void try_request(struct str text, perch_entry_kind kind)
{
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct uploads uploads = { .arena = &arena, .id = "j00000000000000000000" };
	perch_job_request request = PERCH_JOB_REQUEST_INIT;
	perch_err err = { 0 };
	const struct queue_job job = { .name = STR("bot"), .owner = STR("me"), .request = text };
	int r = job_request_fill(&job, kind, &uploads, &request, &err);
	check(r == 0 || err.text[0] || r == -ENOMEM);
	check(r < 0 || request.kind == kind);
	uploads_remove(&uploads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!gateway.serve)
		check(gateway_open_alone(&gateway) == 0);
	if (size < 2)
		return 0;
	struct str rest = { (const char *)data + 1, size - 1 };
	unsigned more = data[0] >> 3;
	switch (data[0] & 7) {
	case 0:
		try_tokens(rest);
		break;
	case 1:
		try_cookies(rest);
		break;
	case 2:
		try_settings(rest);
		break;
	case 3:
		try_job(rest, more % QUEUE_STATES);
		break;
	default:
		try_request(rest,
			more % 3 == 0       ? PERCH_ENTRY_AGENT
				: more % 3 == 1 ? PERCH_ENTRY_TOOL
								: PERCH_ENTRY_COMMAND);
	}
	return 0;
}
