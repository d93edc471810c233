/* Reading a trace again, line by line. Every line of the file comes out, either as a record or with
 * what is wrong with it. Does no I/O, and holds no more than one line. */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include "perch/json.h"
#include "trace/trace.h"

/* A longer line is wrong and passed over. A line of a plugin (8 MiB unless its user
 * allows more) takes up to six times its length here. */
enum { TRACE_RECORD_MAX = 64 * 1024 * 1024 };

enum trace_kind {
	TRACE_HEAD,  /* the first line: what was run */
	TRACE_ENTRY, /* a line, a note, an event */
	TRACE_WRONG, /* nothing that a trace holds */
};

struct trace_record {
	enum trace_kind kind;
	uint64_t number; /* of the line in the file, from 1 */
	struct str raw;  /* as it stands there; of one that is too long, its start */
	const char *why; /* TRACE_WRONG: in words */
	const perch_json_value *object;
	/* TRACE_ENTRY: */
	double seconds;
	struct trace_entry entry;
	const perch_json_value *facts; /* NULL = none */
};

struct trace_reader_options {
	size_t record_max; /* 0 = TRACE_RECORD_MAX */
	/* Takes a record, valid during the call. Anything but 0 ends the reading, and is
	 * what the reader returns. */
	int (*take)(void *data, const struct trace_record *record);
	void *data;
};

struct trace_reader;

/* Options are copied. -ENOMEM. */
int trace_reader_new(const struct trace_reader_options *options, struct trace_reader **ret_reader);
void trace_reader_free(struct trace_reader *reader);

/* Feeds bytes; data[len] must be writable. Returns 0, what `take` returned, or
 * -ENOMEM; then it is over. */
int trace_reader_feed(struct trace_reader *reader, char *data, size_t len);

/* The file has ended. */
int trace_reader_finish(struct trace_reader *reader);

/* All of a file. Fails as the above, and with the errno of a read. */
int trace_read(int fd, const struct trace_reader_options *options, perch_err *err);

#endif
