/* How far a plugin is, as a line: "▶ message [===>      ] 3/10". */
#include "term/term_parts.h"

#include <stdio.h>

enum {
	MESSAGE_MAX = 4096,
	MESSAGE_COLUMNS_MIN = 8,
	BAR_MIN = 10,
	BAR_MAX = 40,
};

void progress_free(struct progress *progress)
{
	buf_free(&progress->message);
}

void progress_set(struct progress *progress, const struct shown *shown)
{
	progress->is_on = shown->kind == PERCH_SHOWN_PROGRESS;
	progress->has_amount = shown->has_amount;
	progress->current = shown->current;
	progress->total = shown->total;
	buf_clear(&progress->message);
	size_t len = shown->text.len < MESSAGE_MAX ? shown->text.len : MESSAGE_MAX;
	/* Without memory there is a bar without words. */
	buf_append(&progress->message, shown->text.data, len);
}

static size_t progress_bar_columns(const struct look *look)
{
	size_t columns = look->columns / 4;
	return columns < BAR_MIN ? BAR_MIN : columns > BAR_MAX ? BAR_MAX : columns;
}

/* From 0 to 1, whatever the plugin says. */
static double progress_share_done(const struct progress *progress)
{
	if (!(progress->total > 0) || !(progress->current > 0))
		return 0;
	return progress->current < progress->total ? progress->current / progress->total : 1;
}

/* "[===>      ]" */
static size_t progress_write_bar(
	const struct progress *progress, size_t columns, char out[BAR_MAX + 2])
{
	size_t done = (size_t)((double)columns * progress_share_done(progress));
	out[0] = '[';
	memset(out + 1, '=', done);
	memset(out + 1 + done, ' ', columns - done);
	if (done < columns)
		out[1 + done] = '>';
	out[1 + columns] = ']';
	return columns + 2;
}

static void progress_draw_bar(
	const struct progress *progress, struct frame *frame, struct str message)
{
	char bar[BAR_MAX + 2];
	char amount[64];
	size_t bar_len = progress_write_bar(progress, progress_bar_columns(&frame->look), bar);
	int amount_len =
		snprintf(amount, sizeof(amount), " %.15g/%.15g", progress->current, progress->total);
	size_t needed = 1 + bar_len + (size_t)amount_len;
	size_t room = frame_room(frame);
	frame_put_within(frame, STYLE_PLAIN, message,
		room > needed + MESSAGE_COLUMNS_MIN ? room - needed : MESSAGE_COLUMNS_MIN);
	if (message.len)
		frame_put(frame, STYLE_PLAIN, STR(" "));
	frame_put(frame, STYLE_ANSWER, (struct str){ bar, bar_len });
	frame_put(frame, STYLE_PLAIN, (struct str){ amount, (size_t)amount_len });
}

void progress_draw(const struct progress *progress, struct frame *frame)
{
	if (!progress->is_on)
		return;
	struct str message = { progress->message.data, progress->message.len };
	frame_line(frame);
	if (progress->has_amount) {
		frame_glyph(frame, STYLE_MARK, GLYPH_PLAY);
		frame_put(frame, STYLE_PLAIN, STR(" "));
		progress_draw_bar(progress, frame, message);
	} else {
		const char *picture = style_spinner(&frame->look, progress->step);
		frame_put(frame, STYLE_MARK, str_from(picture));
		frame_put(frame, STYLE_PLAIN, STR(" "));
		frame_put(frame, STYLE_PLAIN, message);
	}
	frame_set_cursor(frame);
}
