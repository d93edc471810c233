/* YAML 1.2 for settings that people write: a text becomes a tree of values that
 * know where they stand. libyaml reads, what is here decides: the core schema
 * (`on` and `yes` are strings), one document, no two equal keys in a mapping, no
 * NUL, nothing huge. An alias stands for the very value of its anchor. */
#ifndef DATA_YAML_H
#define DATA_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "perch/base.h"

enum {
	YAML_TEXT_MAX = 1024 * 1024, /* bytes */
	YAML_DEPTH_MAX = 64,         /* open lists and mappings */
	YAML_VALUES_MAX = 10000,     /* of a document, what aliases stand for counted again */
};

enum yaml_type {
	YAML_NULL,
	YAML_BOOL,
	YAML_INT,
	YAML_FLOAT,
	YAML_STRING,
	YAML_LIST,
	YAML_MAP,
};

struct yaml_value {
	enum yaml_type type;
	unsigned line; /* from 1, as the column */
	unsigned column;
	const char *text; /* a scalar as it was written, quotes and escapes undone; ends with NUL */
	bool boolean;
	double number; /* of an int, too */
	size_t count;  /* entries of a list or a mapping */
	struct yaml_entry *entries;
	size_t weight; /* values in it, itself included */
};

struct yaml_entry {
	const char *name; /* NULL in a list */
	unsigned line;    /* of the name */
	unsigned column;
	const struct yaml_value *value;
};

/* Reads one document. Everything lives in the arena; an empty text is a null.
 * Fails with PERCH_ESYNTAX (err has line and column), PERCH_ELIMIT (one of the
 * limits above), -ENOMEM. */
int yaml_parse(
	struct str text, struct arena *arena, const struct yaml_value **ret_root, perch_err *err);

/* "a string", "a mapping" …: for messages. */
const char *yaml_type_name(enum yaml_type type);

/* In yaml_scalar.c: what a plain scalar means by the core schema. Fills in type,
 * boolean and number from the text. */
void yaml_resolve(struct yaml_value *scalar);

#endif
