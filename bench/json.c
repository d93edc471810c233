/* Reading and writing protocol messages: ours, cJSON and jansson, in one run. */
#include "bench.h"

#include <cjson/cJSON.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/json.h"

/* The fields of a message; NULL where it has none. */
struct message {
	const char *name;
	const char *type;
	const char *id;
	const char *text_name;
	const char *text;
	const char *cwd;
	int64_t number;
	bool flag;
	const char *const *options;
	size_t options_count;
	struct buf json;
	perch_json *document;
	struct buf out;
};

static const char *const few_options[] = { "main", "release/1.2", "none" };

static const char *const many_options[] = {
	"src/proc/spawn.c",
	"src/proc/child.c",
	"src/proc/ladder.c",
	"tests/unit/proc.c",
};

static struct message request = {
	.name = "195",
	.type = "select",
	.id = "b7c1f0e2-4171",
	.text_name = "prompt",
	.text = "Which branch shall be \"deployed\"?\n(arrows, Enter)",
	.cwd = "/home/ada/projects/site/",
	.number = 12,
	.flag = true,
	.options = few_options,
	.options_count = 3,
};

static const char output[] =
	"cc -std=c17 -O2 -Wall -Wextra -c src/proc/spawn.c -o build/spawn.o\n"
	"cc -std=c17 -O2 -Wall -Wextra -c src/proc/child.c -o build/child.o\n"
	"src/proc/child.c: In function 'child_reap':\n"
	"src/proc/child.c:214:17: warning: unused variable 'status' [-Wunused-variable]\n"
	"  214 |         int status = 0;\n"
	"      |             ^~~~~~\n"
	"cc -std=c17 -O2 -Wall -Wextra -c src/proc/ladder.c -o build/ladder.o\n"
	"cc -std=c17 -O2 -Wall -Wextra -c src/proc/lines.c -o build/lines.o\n"
	"ar rcs build/libproc.a build/spawn.o build/child.o build/ladder.o build/lines.o\n"
	"cc build/libproc.a -o build/proc-tests tests/unit/proc.c -lcheck -lm -lpthread\n"
	"Running suite(s): proc\n"
	"ok 1 - a child that ignores \"TERM\" is killed after five seconds\n"
	"ok 2 - a grandchild that holds the pipe does not keep the host waiting\n"
	"ok 3 - a line of eight mebibytes arrives whole, one byte more does not\n"
	"ok 4 - nothing is left behind when the host dies\n"
	"not ok 5 - a stopped child wakes to die\n"
	"#   tests/unit/proc.c:388: expected 'signalled', found 'stopped' \xE2\x80\x93 see the log\n"
	"ok 6 - descriptors above 2 are closed in the child, C:\\temp included\n"
	"ok 7 - the exit code of a child that was not found is 127\n"
	"ok 8 - a plugin that closes its output and lives on is asked to stop\n"
	"ok 9 - the guard kills what is registered, and nothing else\n"
	"ok 10 - writing to a child that reads nothing ends at the limit\n"
	"ok 11 - a session leader of its own cannot push keys into the terminal\n"
	"# 11 tests, 10 passed, 1 failed in 2.31 s\n"
	"make: *** [Makefile:41: check] Error 1\n";

static struct message response = {
	.name = "1.7k",
	.type = "exec_result",
	.id = "b7c1f0e2-4172",
	.text_name = "stdout",
	.text = output,
	.cwd = "/home/ada/projects/site",
	.number = 2,
	.flag = false,
	.options = many_options,
	.options_count = 4,
};

static void write_ours(void *data)
{
	struct message *message = data;
	buf_clear(&message->out);
	struct perch_json_writer writer = json_writer_on(&message->out);
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "type");
	perch_json_write_string(&writer, message->type);
	perch_json_write_name(&writer, "id");
	perch_json_write_string(&writer, message->id);
	perch_json_write_name(&writer, message->text_name);
	perch_json_write_string(&writer, message->text);
	perch_json_write_name(&writer, "options");
	perch_json_begin_array(&writer);
	for (size_t i = 0; i < message->options_count; i++)
		perch_json_write_string(&writer, message->options[i]);
	perch_json_end_array(&writer);
	perch_json_write_name(&writer, "cwd");
	perch_json_write_string(&writer, message->cwd);
	perch_json_write_name(&writer, "code");
	perch_json_write_int64(&writer, message->number);
	perch_json_write_name(&writer, "ok");
	perch_json_write_bool(&writer, message->flag);
	perch_json_end_object(&writer);
	bench_keep(message->out.data);
}

static void write_cjson(void *data)
{
	const struct message *message = data;
	cJSON *object = cJSON_CreateObject();
	cJSON_AddStringToObject(object, "type", message->type);
	cJSON_AddStringToObject(object, "id", message->id);
	cJSON_AddStringToObject(object, message->text_name, message->text);
	cJSON *options = cJSON_AddArrayToObject(object, "options");
	for (size_t i = 0; i < message->options_count; i++)
		cJSON_AddItemToArray(options, cJSON_CreateString(message->options[i]));
	cJSON_AddStringToObject(object, "cwd", message->cwd);
	cJSON_AddNumberToObject(object, "code", (double)message->number);
	cJSON_AddBoolToObject(object, "ok", message->flag);
	char *text = cJSON_PrintUnformatted(object);
	bench_keep(text);
	cJSON_free(text);
	cJSON_Delete(object);
}

static void write_jansson(void *data)
{
	const struct message *message = data;
	json_t *object = json_object();
	json_object_set_new(object, "type", json_string(message->type));
	json_object_set_new(object, "id", json_string(message->id));
	json_object_set_new(object, message->text_name, json_string(message->text));
	json_t *options = json_array();
	for (size_t i = 0; i < message->options_count; i++)
		json_array_append_new(options, json_string(message->options[i]));
	json_object_set_new(object, "options", options);
	json_object_set_new(object, "cwd", json_string(message->cwd));
	json_object_set_new(object, "code", json_integer(message->number));
	json_object_set_new(object, "ok", json_boolean(message->flag));
	char *text = json_dumps(object, JSON_COMPACT);
	bench_keep(text);
	free(text);
	json_decref(object);
}

static void parse_ours(void *data)
{
	const struct message *message = data;
	const perch_json_value *root;
	size_t length;
	if (perch_json_parse(message->document, message->json.data, message->json.len, &root, NULL) < 0)
		abort();
	bench_keep(perch_json_string(perch_json_get(root, "type"), &length));
	perch_json_clear(message->document);
}

static void parse_cjson(void *data)
{
	const struct message *message = data;
	cJSON *root = cJSON_ParseWithLength(message->json.data, message->json.len);
	bench_keep(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "type")));
	cJSON_Delete(root);
}

static void parse_jansson(void *data)
{
	const struct message *message = data;
	json_t *root = json_loadb(message->json.data, message->json.len, 0, NULL);
	bench_keep(json_string_value(json_object_get(root, "type")));
	json_decref(root);
}

struct contest {
	const char *name;
	void (*ours)(void *data);
	void (*cjson)(void *data);
	void (*jansson)(void *data);
	double cjson_floor;
	double jansson_floor;
};

static const struct contest contests[] = {
	{ "parse", parse_ours, parse_cjson, parse_jansson, 5, 12 },
	{ "write", write_ours, write_cjson, write_jansson, 5, 5 },
};

static void run(const struct contest *contest, struct message *message)
{
	char name[64];
	snprintf(name, sizeof(name), "json/%s-%s", contest->name, message->name);
	struct bench_side sides[] = {
		{ .body = contest->ours, .data = message },
		{ .body = contest->cjson, .data = message },
		{ .body = contest->jansson, .data = message },
	};
	bench_sides(sides, 3);
	double ours = sides[0].best_ns;
	bench_print(name, "ours", ours, "ns");
	bench_print(name, "cjson", sides[1].best_ns, "ns");
	bench_print(name, "jansson", sides[2].best_ns, "ns");
	bench_print_least(name, "vs-cjson", sides[1].best_ns / ours, "x", contest->cjson_floor);
	bench_print_least(name, "vs-jansson", sides[2].best_ns / ours, "x", contest->jansson_floor);
}

static void run_message(struct message *message)
{
	write_ours(message);
	buf_append(&message->json, message->out.data, message->out.len);
	if (message->json.failed || perch_json_new(NULL, &message->document) < 0)
		abort();
	char name[64];
	snprintf(name, sizeof(name), "json/message-%s", message->name);
	bench_print(name, "size", (double)message->json.len, "bytes");
	for (size_t i = 0; i < sizeof(contests) / sizeof(contests[0]); i++)
		run(&contests[i], message);
	perch_json_free(message->document);
	buf_free(&message->json);
	buf_free(&message->out);
}

int main(void)
{
	run_message(&request);
	run_message(&response);
	return 0;
}
