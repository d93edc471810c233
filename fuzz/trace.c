/* Any file as a trace: each of its lines is a record or what is wrong with it, in order;
 * a replay of it comes to an answer, and one that differs says where. The first byte
 * chooses how the rest is cut into pieces. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

struct look {
	struct replay *replay;
	uint64_t number;
	int result; /* of the replay */
};

static void check(const struct trace_record *record)
{
	if (record->kind == TRACE_WRONG) {
		must(record->why && record->why[0]);
		return;
	}
	must(perch_json_type_of(record->object) == PERCH_JSON_OBJECT);
	if (record->kind == TRACE_ENTRY)
		must(record->seconds >= 0 && record->entry.direction < TRACE_DIRECTIONS);
}

static int take(void *data, const struct trace_record *record)
{
	struct look *look = data;
	must(record->number == look->number + 1);
	look->number = record->number;
	check(record);
	if (look->result == 0)
		look->result = replay_take(look->replay, record);
	return 0;
}

static void feed(struct trace_reader *reader, const uint8_t *data, size_t size, size_t piece)
{
	char bytes[256 + 1];
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;
		memcpy(bytes, data + at, n);
		must(trace_reader_feed(reader, bytes, n) == 0);
	}
	must(trace_reader_finish(reader) == 0);
}

static void check_result(const struct look *look)
{
	const struct replay_report *report = replay_report(look->replay);
	must(report->difference.is_found == (look->result == 1));
	if (look->result < 0)
		must(look->result == -EINVAL && replay_error(look->replay)[0]);
	if (look->result == 1)
		must(report->difference.line > 0 && report->difference.line <= look->number + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct look look = { 0 };
	struct trace_reader *reader = NULL;
	const struct trace_reader_options options = { .record_max = 4096, .take = take, .data = &look };
	must(replay_new(&look.replay) == 0 && trace_reader_new(&options, &reader) == 0);
	feed(reader, data + 1, size - 1, data[0] % 256u + 1);
	if (look.result == 0)
		look.result = replay_finish(look.replay);
	check_result(&look);
	trace_reader_free(reader);
	replay_free(look.replay);
	return 0;
}
