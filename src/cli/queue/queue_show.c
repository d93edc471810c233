/* What a queue has, for people and as JSON. */
#include "cli/queue/queue_show.h"

#include <stdlib.h>

#include "base/macros.h"
#include "cli/ui/page.h"
#include "cli/ui/table.h"
#include "data/json.h"

/* ---- counts -----------------------------------------------------------------------------------
 */

static int queue_show_status_json(const struct queue_found *found)
{
	struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	for (size_t i = 0; i < QUEUE_COUNTS; i++) {
		perch_json_write_name(&out, queue_count_names[i]);
		perch_json_write_int64(&out, found->counts[i]);
	}
	perch_json_write_name(&out, "needs");
	perch_json_begin_array(&out);
	for (size_t i = 0; i < found->count; i++) {
		perch_json_begin_object(&out);
		json_write_text(&out, "need", str_from(found->rows[i].cells[0]));
		perch_json_write_name(&out, "ready");
		perch_json_write_int64(&out, found->rows[i].ready);
		perch_json_write_name(&out, "workers");
		perch_json_write_int64(&out, found->rows[i].workers);
		perch_json_end_object(&out);
	}
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	buf_append_char(&json, '\n');
	return cli_print_json(&json);
}

/* What a job needs is a text that anybody who reaches the queue may have written. */
static void queue_show_need(struct page *page, const struct queue_row *need)
{
	buf_printf(&page->out, "ready: %lld for ", need->ready);
	page_cut(page, str_from(need->cells[0]), 0);
	if (need->workers)
		buf_printf(&page->out, ", which %lld workers offer\n", need->workers);
	else
		buf_append_text(&page->out, ", which no worker offers\n");
}

int queue_show_status(struct cli *cli, struct queue_found *found)
{
	struct page page;
	if (cli->json)
		return queue_show_status_json(found);
	page_begin(&page, cli);
	for (size_t i = 0; i < QUEUE_COUNTS; i++)
		buf_printf(&page.out, "%-12s %lld\n", queue_count_names[i], found->counts[i]);
	for (size_t i = 0; i < found->count; i++)
		queue_show_need(&page, &found->rows[i]);
	return page_end(&page);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Whole numbers are numbers. */
static void queue_show_write(perch_json_writer *out, const char *name, const char *text)
{
	char *end = NULL;
	long long number = strtoll(text, &end, 10);
	if (!text[0])
		return;
	if (*end) {
		json_write_text(out, name, str_from(text));
		return;
	}
	perch_json_write_name(out, name);
	perch_json_write_int64(out, number);
}

static int queue_show_rows_json(
	const struct queue_found *found, const char *const *names, size_t count)
{
	struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	perch_json_begin_array(&out);
	for (size_t i = 0; i < found->count; i++) {
		perch_json_begin_object(&out);
		for (size_t k = 0; k < count; k++)
			queue_show_write(&out, names[k], found->rows[i].cells[k]);
		perch_json_end_object(&out);
	}
	perch_json_end_array(&out);
	buf_append_char(&json, '\n');
	return cli_print_json(&json);
}

/* A table of the first `shown` cells of each row, or a list of objects with all. */
static int queue_show_rows(struct cli *cli, const struct queue_found *found,
	const char *const *names, size_t count, size_t shown)
{
	struct page page;
	struct table table = { .columns = shown };
	if (cli->json)
		return queue_show_rows_json(found, names, count);
	page_begin(&page, cli);
	table_add(&table, names);
	for (size_t i = 0; i < found->count; i++)
		table_add(&table, (const char *const *)found->rows[i].cells);
	table_print(&table, &page);
	table_free(&table);
	return page_end(&page);
}

static const char *const queue_show_job_names[QUEUE_ROW_CELLS] = { "id", "kind", "name", "owner",
	"session", "state", "created", "started", "ended", "tries", "worker" };
enum { QUEUE_JOB_CREATED = 6, QUEUE_JOB_CELLS_SHOWN = 6 };

static int queue_show_newest_first(const void *a, const void *b)
{
	long long first = strtoll(((const struct queue_row *)a)->cells[QUEUE_JOB_CREATED], NULL, 10);
	long long second = strtoll(((const struct queue_row *)b)->cells[QUEUE_JOB_CREATED], NULL, 10);
	return (first < second) - (first > second);
}

static void queue_show_cut(struct queue_found *found)
{
	while (found->count > QUEUE_JOBS_SHOWN) {
		const struct queue_row *last = &found->rows[--found->count];
		for (size_t k = 0; k < QUEUE_ROW_CELLS; k++)
			free(last->cells[k]);
	}
}

int queue_show_jobs(struct cli *cli, struct queue_found *found)
{
	/* One shard has them in their order already, also those of one millisecond. */
	if (found->is_of_many && found->count)
		qsort(found->rows, found->count, sizeof(found->rows[0]), queue_show_newest_first);
	queue_show_cut(found);
	return queue_show_rows(
		cli, found, queue_show_job_names, QUEUE_ROW_CELLS, QUEUE_JOB_CELLS_SHOWN);
}

int queue_show_workers(struct cli *cli, struct queue_found *found)
{
	return queue_show_rows(cli, found, queue_worker_names, QUEUE_WORKER_CELLS, QUEUE_WORKER_CELLS);
}
