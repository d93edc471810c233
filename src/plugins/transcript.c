/* The lines of a test. */
#include "plugins/transcript.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "base/vec.h"

void transcript_free(struct transcript *transcript)
{
	free(transcript->items);
	*transcript = (struct transcript){ 0 };
}

void transcript_add(struct transcript *transcript, enum trace_direction direction, struct str text)
{
	unsigned number = direction == TRACE_FROM_PLUGIN ? ++transcript->number : 0;
	bool is_cut = text.len > TRANSCRIPT_LINE_MAX;
	size_t len = is_cut ? utf8_whole_prefix(text.data, TRANSCRIPT_LINE_MAX) : text.len;
	if (transcript->count == TRANSCRIPT_LINES_MAX ||
		transcript->bytes + len > TRANSCRIPT_BYTES_MAX) {
		transcript->left_out++;
		return;
	}
	struct transcript_line *items =
		vec_grow(transcript->items, &transcript->cap, transcript->count + 1, sizeof(*items));
	const char *copy = arena_dup(transcript->arena, (struct str){ text.data, len });
	transcript->items = items ? items : transcript->items;
	if (!items || !copy) {
		transcript->failed = true;
		return;
	}
	items[transcript->count++] = (struct transcript_line){
		.direction = direction,
		.number = number,
		.text = { copy, len },
		.is_cut = is_cut,
	};
	transcript->bytes += len;
}
