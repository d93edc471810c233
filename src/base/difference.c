/* The difference of two texts: equal lines at both ends are put aside, the longest common
 * subsequence of the rest decides. */
#include "base/difference.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct difference {
	struct str *old, *young; /* lines */
	size_t old_count, young_count;
	size_t head, tail; /* equal lines at both ends */
	uint16_t *common;  /* [i][j]: how many lines the rests behind i and j have in common */
	struct buf *out;
};

static struct str *difference_cut(struct str text, size_t *ret_count)
{
	size_t count = text.len > 0;
	for (size_t i = 0; i < text.len; i++)
		count += text.data[i] == '\n';
	struct str *lines = calloc(count + 1, sizeof(*lines));
	*ret_count = 0;
	while (lines && text.len)
		lines[(*ret_count)++] = str_cut(&text, '\n');
	return lines;
}

static void difference_line(struct difference *of, const char *mark, struct str line)
{
	buf_append_text(of->out, mark);
	buf_append(of->out, line.data, line.len);
	buf_append_char(of->out, '\n');
}

/* Without the ends: how many lines of each. */
static size_t difference_old_rest(const struct difference *of)
{
	return of->old_count - of->head - of->tail;
}

static size_t difference_young_rest(const struct difference *of)
{
	return of->young_count - of->head - of->tail;
}

static void difference_trim(struct difference *of)
{
	size_t most = of->old_count < of->young_count ? of->old_count : of->young_count;
	while (of->head < most && str_eq(of->old[of->head], of->young[of->head]))
		of->head++;
	while (of->head + of->tail < most &&
		str_eq(of->old[of->old_count - 1 - of->tail], of->young[of->young_count - 1 - of->tail]))
		of->tail++;
}

static uint16_t *difference_at(const struct difference *of, size_t i, size_t j)
{
	return &of->common[i * (difference_young_rest(of) + 1) + j];
}

/* False: they are too long, or memory ran out; both are shown whole then. */
static bool difference_compare(struct difference *of)
{
	size_t rows = difference_old_rest(of), columns = difference_young_rest(of);
	if (rows > DIFFERENCE_LINES_MAX || columns > DIFFERENCE_LINES_MAX)
		return false;
	of->common = calloc((rows + 1) * (columns + 1), sizeof(*of->common));
	if (!of->common)
		return false;
	for (size_t i = rows; i-- > 0;) {
		for (size_t j = columns; j-- > 0;) {
			uint16_t down = *difference_at(of, i + 1, j), right = *difference_at(of, i, j + 1);
			if (str_eq(of->old[of->head + i], of->young[of->head + j]))
				*difference_at(of, i, j) = (uint16_t)(*difference_at(of, i + 1, j + 1) + 1);
			else
				*difference_at(of, i, j) = down > right ? down : right;
		}
	}
	return true;
}

static void difference_tell_rest(struct difference *of, bool is_compared)
{
	const struct str *old = of->old + of->head, *young = of->young + of->head;
	size_t rows = difference_old_rest(of), columns = difference_young_rest(of), i = 0, j = 0;
	while (i < rows || j < columns) {
		bool is_equal = is_compared && i < rows && j < columns && str_eq(old[i], young[j]);
		bool is_old = i < rows &&
			(!is_compared || j == columns ||
				*difference_at(of, i + 1, j) >= *difference_at(of, i, j + 1));
		if (is_equal) {
			difference_line(of, "  ", old[i]);
			i++, j++;
		} else if (is_old) {
			difference_line(of, "- ", old[i++]);
		} else {
			difference_line(of, "+ ", young[j++]);
		}
	}
}

static void difference_tell(struct difference *of)
{
	difference_trim(of);
	if (!difference_old_rest(of) && !difference_young_rest(of))
		return;
	size_t first = of->head > DIFFERENCE_AROUND ? of->head - DIFFERENCE_AROUND : 0;
	for (size_t i = first; i < of->head; i++)
		difference_line(of, "  ", of->old[i]);
	difference_tell_rest(of, difference_compare(of));
	for (size_t i = 0; i < of->tail && i < DIFFERENCE_AROUND; i++)
		difference_line(of, "  ", of->old[of->old_count - of->tail + i]);
}

int difference_append(struct buf *out, struct str old, struct str new_text)
{
	struct difference of = { .out = out };
	of.old = difference_cut(old, &of.old_count);
	of.young = difference_cut(new_text, &of.young_count);
	bool has_memory = of.old && of.young;
	if (has_memory)
		difference_tell(&of);
	free(of.common);
	free(of.old);
	free(of.young);
	return has_memory && !out->failed ? 0 : -ENOMEM;
}
