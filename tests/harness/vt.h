/* A very small terminal: what a person would see of bytes written to it. It
 * understands what the frontend sends and fails the test on anything else. */
#ifndef HARNESS_VT_H
#define HARNESS_VT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VT_COLUMNS_MAX = 132,
	VT_ROWS_MAX = 64,
	VT_TEXT_MAX = VT_ROWS_MAX * (VT_COLUMNS_MAX * 4 + 1)
};

struct vt {
	size_t columns;
	size_t rows;
	size_t x;
	size_t y;
	bool wraps; /* the last column was written: the next character begins a line */
	bool cursor_is_hidden;
	bool is_colored;
	size_t scrolled; /* rows that have left at the top */
	uint32_t cells[VT_ROWS_MAX][VT_COLUMNS_MAX];
	char text[VT_TEXT_MAX];
};

void vt_init(struct vt *vt, size_t columns, size_t rows);
void vt_write(struct vt *vt, const char *bytes, size_t len);

/* The screen as lines, without blanks and empty lines at their ends. */
const char *vt_text(struct vt *vt);

#endif
