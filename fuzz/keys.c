/* Bytes of a terminal, through keys into an open question of each kind: the
 * first bytes choose the kind, the width, and the size of the pieces. */
#include "fuzz.h"

#include <string.h>

#include "base/utf8.h"
#include "term/asking.h"
#include "term/plain.h"

static const perch_text options[] = { { "red", 3 }, { "Grün", 5 }, { "日本\x1B[31m", 11 },
	{ "", 0 }, { "\xFF\xFE", 2 }, { "a longer option than most of the others are", 43 } };
static const size_t defaults[] = { 1, 7 };

static void check_frame(const struct frame *frame, size_t rows)
{
	check(!frame->failed && frame->line_count <= rows);
	check(frame->cursor_row < frame->line_count);
	for (size_t i = 0; i < frame->line_count; i++) {
		const struct frame_line *line = &frame->lines[i];
		const char *text = frame->text.len ? frame->text.data + line->begin : "";
		size_t len = line->end - line->begin;
		check(line->width < frame->look.columns && utf8_width(text, len) == line->width);
		check(!len || (utf8_is_valid(text, len) && !memchr(text, '\x1B', len)));
	}
}

static void draw(struct asking *asking, struct frame *frame, const struct look *look)
{
	if (!asking_fits(asking, look, look->rows))
		asking->is_told = true;
	frame_begin(frame, look);
	asking_draw(asking, frame, look->rows);
	frame_crop(frame, look->rows);
	check_frame(frame, look->rows);
}

/* Feeds all keys, beginning anew with every answer. */
static void run(const perch_question *question, const struct look *look, const char *bytes,
	size_t len, size_t piece)
{
	struct asking asking;
	struct frame frame = { 0 };
	struct keys keys = { 0 };
	check(asking_open(&asking, question, NULL) == 0);
	size_t seen = 0;
	for (size_t used = 0; used < len;) {
		bool is_final = seen == len;
		seen = seen + piece < len ? seen + piece : len;
		struct key key;
		size_t taken = keys_read(&keys, bytes + used, seen - used, is_final, &key);
		check(taken <= seen - used && (taken || !is_final));
		used += taken;
		if (!taken || key.code == KEY_NONE)
			continue;
		enum asking_step step = asking_key(&asking, &key);
		draw(&asking, &frame, look);
		if (step != ASKING_ANSWERED && step != ASKING_CANCELLED)
			continue;
		check(utf8_is_valid(asking.answer.text.data, asking.answer.text.len));
		frame_begin(&frame, look);
		asking_draw_answered(&asking, &frame);
		check_frame(&frame, SIZE_MAX);
		asking_close(&asking);
		check(asking_open(&asking, question, NULL) == 0);
	}
	plain_take(&asking, (struct str){ bytes, len });
	asking_close(&asking);
	frame_free(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4)
		return 0;
	struct look look = {
		.utf8 = data[0] & 4, .columns = 1u + data[1] % 90, .rows = 1u + data[2] % 9
	};
	perch_question question = {
		.kind = (perch_question_kind)(data[0] & 3),
		.message = { "A question\x9B?", 12 },
		.has_default = data[0] & 8,
		.default_text = { "default", 7 },
		.defaults = data[0] & 0x10 ? defaults : defaults + 1,
		.default_count = data[0] & 0x10 ? 2 : 1,
		.options = options,
		.option_count = data[0] & 0x80 ? 0 : sizeof(options) / sizeof(options[0]),
		.validator = data[0] & 0x40 ? PERCH_VALIDATE_URL
			: data[0] & 0x20        ? PERCH_VALIDATE_INTEGER
									: PERCH_VALIDATE_NOTHING,
	};
	run(&question, &look, (const char *)data + 4, size - 4, 1u + data[3]);
	return 0;
}
