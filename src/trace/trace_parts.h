/* What the parts of a recording know of each other. */
#ifndef TRACE_TRACE_PARTS_H
#define TRACE_TRACE_PARTS_H

#include "base/buf.h"
#include "trace/mask.h"
#include "trace/trace.h"

/* What is masked: that of plugins, of agents, or nothing. */
enum trace_speech { TRACE_OF_PLUGIN, TRACE_OF_AGENT, TRACE_OF_OTHERS };

struct trace {
	struct trace *whole; /* that it is a part of; NULL = it is one itself */
	int fd;
	bool is_stderr; /* not ours to close */
	bool secrets;   /* are recorded as well */
	enum trace_speech speech;
	uint64_t start_ns;
	struct buf out;
	struct buf scratch;
	struct buf facts;
	struct mask mask;
	int error; /* why it is off */
	bool is_error_told;
	void (*wants)(void *data); /* NULL = the recording code flushes */
	void *wants_data;
	trace_heard_fn *heard; /* NULL = it goes to the file */
	void *heard_data;
};

bool trace_is_on(const struct trace *trace);

/* Writes the text as it is. */
void trace_record_entry(struct trace *trace, const struct trace_entry *entry);

/* ---- trace_hide.c ------------------------------------------------------------ */

/* Whether what a plugin stores is masked. */
bool trace_hides_stored(const struct trace *trace);

/* A line, masked as it must be. */
void trace_record_said(struct trace *trace, struct trace_entry *entry);

/* ---- trace.c ----------------------------------------------------------------- */

/* An entry that cannot be recorded as it must be is not recorded at all, and neither are those
 * behind it. */
void trace_give_up(struct trace *trace);

/* Empties a buffer; one that held a huge line is made small again. */
void trace_empty(struct buf *buf);

#endif
