/* Any file as a trace: each of its lines is a record or what is wrong with it, in order;
 * a replay of it comes to an answer, and one that differs says where. The first byte
 * chooses how the rest is cut into pieces. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "replay/replay.h"

struct look {
	struct replay *replay;
	uint64_t number;
	int result; /* of the replay */
};

static void check_record(const struct trace_record *record)
{
	if (record->kind == TRACE_WRONG) {
		check(record->why && record->why[0]);
		return;
	}
	check(perch_json_type_of(record->object) == PERCH_JSON_OBJECT);
	if (record->kind == TRACE_ENTRY)
		check(record->seconds >= 0 && record->entry.direction < TRACE_DIRECTIONS);
}

static int take(void *data, const struct trace_record *record)
{
	struct look *look = data;
	check(record->number == look->number + 1);
	look->number = record->number;
	check_record(record);
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
		check(trace_reader_feed(reader, bytes, n) == 0);
	}
	check(trace_reader_finish(reader) == 0);
}

static void check_result(const struct look *look)
{
	const struct replay_report *report = replay_report(look->replay);
	check(report->difference.is_found == (look->result == 1));
	if (look->result < 0)
		check(look->result == -EINVAL && replay_error(look->replay)[0]);
	if (look->result == 1)
		check(report->difference.line > 0 && report->difference.line <= look->number + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct look look = { 0 };
	struct trace_reader *reader = NULL;
	const struct trace_reader_options options = { .record_max = 4096, .take = take, .data = &look };
	check(replay_new(&look.replay) == 0 && trace_reader_new(&options, &reader) == 0);
	feed(reader, data + 1, size - 1, data[0] % 256u + 1);
	if (look.result == 0)
		look.result = replay_finish(look.replay);
	check_result(&look);
	trace_reader_free(reader);
	replay_free(look.replay);
	return 0;
}
