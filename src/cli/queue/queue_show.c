/* What a queue has, for people and as JSON. */
#include "cli/queue/queue_show.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "cli/ui/page.h"
#include "cli/ui/table.h"
#include "data/json.h"

const char *queue_show_text(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS ? reply->str : "";
}

/* The value of a member in a list of names and values; "" where there is none. */
static const char *queue_show_member(const redisReply *members, const char *name)
{
	for (size_t i = 0; i + 1 < members->elements; i += 2) {
		if (strcmp(queue_show_text(members->element[i]), name) == 0)
			return queue_show_text(members->element[i + 1]);
	}
	return "";
}

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

static const char *const queue_show_states[] = { "waiting", "running", "done", "failed",
	"cancelled", "interrupted", "dead", "fenced" };

static int queue_show_status_json(const redisReply *reply)
{
	struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	perch_json_begin_object(&out);
	for (size_t i = 0; i < COUNT(queue_show_states); i++) {
		const char *count = queue_show_member(reply->element[0], queue_show_states[i]);
		queue_show_write(&out, queue_show_states[i], count[0] ? count : "0");
	}
	perch_json_write_name(&out, "needs");
	perch_json_begin_array(&out);
	for (size_t i = 1; i < reply->elements; i++) {
		const redisReply *need = reply->element[i];
		perch_json_begin_object(&out);
		json_write_text(&out, "need", str_from(queue_show_text(need->element[0])));
		perch_json_write_name(&out, "ready");
		perch_json_write_int64(&out, need->element[1]->integer);
		perch_json_write_name(&out, "workers");
		perch_json_write_int64(&out, need->element[2]->integer);
		perch_json_end_object(&out);
	}
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	buf_append_char(&json, '\n');
	return cli_print_json(&json);
}

int queue_show_status(struct cli *cli, const redisReply *reply)
{
	struct buf out = { 0 };
	if (cli->json)
		return queue_show_status_json(reply);
	for (size_t i = 0; i < COUNT(queue_show_states); i++) {
		const char *count = queue_show_member(reply->element[0], queue_show_states[i]);
		buf_printf(&out, "%-12s %s\n", queue_show_states[i], count[0] ? count : "0");
	}
	for (size_t i = 1; i < reply->elements; i++) {
		const redisReply *need = reply->element[i];
		long long workers = need->element[2]->integer;
		buf_printf(&out, "ready: %lld for %s, ", need->element[1]->integer,
			queue_show_text(need->element[0]));
		if (workers)
			buf_printf(&out, "which %lld workers offer\n", workers);
		else
			buf_append_text(&out, "which no worker offers\n");
	}
	return cli_print_text(&out);
}

/* Rows of texts under these names: a table, or a list of objects. */
struct queue_rows {
	const char *const *names;
	size_t count;
	size_t shown; /* in the table */
};

static int queue_show_rows_json(const struct queue_rows *rows, const redisReply *reply)
{
	struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	perch_json_begin_array(&out);
	for (size_t i = 0; i < reply->elements; i++) {
		perch_json_begin_object(&out);
		for (size_t k = 0; k < rows->count && k < reply->element[i]->elements; k++)
			queue_show_write(&out, rows->names[k], queue_show_text(reply->element[i]->element[k]));
		perch_json_end_object(&out);
	}
	perch_json_end_array(&out);
	buf_append_char(&json, '\n');
	return cli_print_json(&json);
}

static int queue_show_rows(struct cli *cli, const struct queue_rows *rows, const redisReply *reply)
{
	struct page page;
	struct table table = { .columns = rows->shown };
	if (cli->json)
		return queue_show_rows_json(rows, reply);
	page_begin(&page, cli);
	table_add(&table, rows->names);
	for (size_t i = 0; i < reply->elements; i++) {
		const char *cells[TABLE_COLUMNS_MAX];
		for (size_t k = 0; k < rows->shown; k++)
			cells[k] = queue_show_text(reply->element[i]->element[k]);
		table_add(&table, cells);
	}
	table_print(&table, &page);
	table_free(&table);
	return page_end(&page);
}

int queue_show_jobs(struct cli *cli, const redisReply *reply)
{
	static const char *const names[] = { "id", "kind", "name", "owner", "session", "state",
		"created", "started", "ended", "tries", "worker" };
	const struct queue_rows rows = { names, COUNT(names), 6 };
	return queue_show_rows(cli, &rows, reply);
}

/* A worker's members come by name. */
int queue_show_workers(struct cli *cli, const redisReply *reply)
{
	static const char *const names[] = { "name", "machine", "pid", "state", "running", "capacity",
		"version" };
	struct page page;
	struct table table = { .columns = COUNT(names) };
	struct buf json = { 0 };
	perch_json_writer out = json_writer_on(&json);
	page_begin(&page, cli);
	table_add(&table, names);
	perch_json_begin_array(&out);
	for (size_t i = 0; i < reply->elements; i++) {
		const char *cells[COUNT(names)];
		perch_json_begin_object(&out);
		for (size_t k = 0; k < COUNT(names); k++) {
			cells[k] = queue_show_member(reply->element[i], names[k]);
			queue_show_write(&out, names[k], cells[k]);
		}
		perch_json_end_object(&out);
		table_add(&table, cells);
	}
	perch_json_end_array(&out);
	buf_append_char(&json, '\n');
	if (!cli->json)
		table_print(&table, &page);
	else
		buf_append(&page.out, json.data, json.len);
	buf_free(&json);
	table_free(&table);
	return page_end(&page);
}
