/* The lines of a test, for people: bounded, however much a plugin writes. */
#ifndef PLUGINS_TRANSCRIPT_H
#define PLUGINS_TRANSCRIPT_H

#include "base/arena.h"
#include "base/str.h"
#include "trace/trace.h"

enum {
	TRANSCRIPT_LINES_MAX = 5000,
	TRANSCRIPT_BYTES_MAX = 4 * 1024 * 1024,
	TRANSCRIPT_LINE_MAX = 64 * 1024, /* of a line; the rest is not kept */
};

struct transcript_line {
	enum trace_direction direction;
	unsigned number; /* of the plugin's line; 0 = it is none */
	struct str text;
	bool is_cut;
};

/* `{ .arena = … }` is an empty one. */
struct transcript {
	struct arena *arena; /* where the texts live */
	struct transcript_line *items;
	size_t count;
	size_t cap;
	size_t bytes;
	unsigned number;
	size_t left_out;
	bool failed; /* memory ran out */
};

void transcript_free(struct transcript *transcript);
void transcript_add(struct transcript *transcript, enum trace_direction direction, struct str text);

#endif
