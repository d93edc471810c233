/* Regular expressions of strangers, for any text. This is the only place that compiles and matches
 * one: its length, the memory of its compilation, the steps, the depth, the memory and the time of
 * a match are limited. */
#ifndef DATA_REGEX_H
#define DATA_REGEX_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "perch/base.h"

enum {
	REGEX_LENGTH_MAX = 8 * 1024,                /* bytes of the expression */
	REGEX_COMPILE_MEMORY_MAX = 4 * 1024 * 1024, /* bytes */
	REGEX_MATCH_STEPS_MAX = 1000 * 1000,        /* from one place of the text */
	REGEX_MATCH_DEPTH_MAX = 100 * 1000,         /* of going back */
	REGEX_MATCH_MEMORY_MAX_KIB = 16 * 1024,
};

/* Time of this thread's processor for one match; a caller may have an end of its own. */
#define REGEX_TIME_MAX_NS (NSEC_PER_SEC)

enum regex_kind {
	REGEX_BYTES,  /* on bytes; . is also a newline */
	REGEX_LINES,  /* on UTF-8, broken or not; ^ and $ stand for the ends of lines */
	REGEX_SCHEMA, /* on valid UTF-8, as ECMAScript means it, as near as PCRE2 gets */
};

struct regex;

/* Compiles it. Fails with PERCH_ESYNTAX, PERCH_ELIMIT (longer or larger than
 * allowed), with words as "wrong at byte 3: …", or -ENOMEM. */
int regex_compile(struct str text, enum regex_kind kind, struct regex **ret_regex, perch_err *err);

/* 1 when it matches somewhere in the text, else 0. PERCH_ELIMIT: that takes too long, or
 * too much memory, to find out; `end_ns` is when the time of this thread's processor
 * (clock_processor_ns) is used up, 0 = after REGEX_TIME_MAX_NS. -EINVAL (the text is no
 * UTF-8 and has to be), -ENOMEM. */
int regex_match(struct regex *regex, struct str text, uint64_t end_ns);

void regex_free(struct regex *regex);

DEFINE_POINTER_CLEANUP(regex_freep, struct regex, regex_free)

#endif
