/* Options of a command, as a table. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_FLAG,   /* bool *target: set to true */
	OPTION_TEXT,   /* const char **target: the value */
	OPTION_MAYBE,  /* const char **target: the value behind a '=', "" without one */
	OPTION_LIST,   /* struct option_list *target: every value, in order */
	OPTION_NET,    /* const char **target: "full" or "none", the word behind it; "full" without */
	OPTION_NO_NET, /* the same target: "none" */
};

struct option_list {
	const char **items;
	size_t count;
	size_t cap;
};

struct option_spec {
	const char *name; /* without the dashes */
	char letter;      /* 0 = none */
	enum option_kind kind;
	void *target;
};

/* Reads options from argv[*at] on and moves *at to the first word that is not an option; a `--`
 * is passed over. Understands --name value, --name=value and -x. The table ends with a NULL name.
 * Returns 0, or EXIT_USAGE after an error message. */
int options_parse(const struct option_spec *specs, int argc, char **argv, int *at);

/* The same for options that may stand before, between and behind the words of a
 * command, from argv[1] on; the words are added to the list. Behind a `--` stand
 * words alone. */
int options_parse_words(
	const struct option_spec *specs, int argc, char **argv, struct option_list *words);

/* Adds to a list. Returns 0, or EXIT_HOST after an error message. */
int options_add(struct option_list *list, const char *value);

/* Whether a list of wanted words contains the word; an empty list wants all. */
bool options_want(const struct option_list *list, const char *word);

/* Reads 64, 256M, 1G: a number and, with `has_unit`, a unit of bytes. Returns whether it is one. */
bool options_amount(const char *text, bool has_unit, uint64_t *ret_amount);

/* Reads an amount of bytes that is not 0; 0 when the text is NULL. Returns as the next does. */
int options_bytes(const char *option, const char *text, uint64_t *ret_bytes);

/* Reads seconds, as nanoseconds; 0 when the text is NULL. Returns 0, or EXIT_USAGE after an error
 * message, which names the option. */
int options_seconds(const char *option, const char *text, uint64_t *ret_ns);

#endif
