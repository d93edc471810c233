/* What to do about errors that come from far below, in words of the library or of another program:
 * the commands that print them know no more than the words. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "base/str.h"

static const struct {
	const char *part; /* of the error's text */
	const char *advice;
} advices[] = {
	{ "no such command on PATH: ",
		"install it, or write its path (./NAME is one of this directory)" },
	{ "the file has DOS line endings: convert it", "sed -i 's/\\r$//' FILE does it" },
	{ "(first line) does not exist",
		"install that interpreter, or name another one in the file's first line (#!/bin/sh)" },
	{ "the agent took longer than ",
		"give it more time: --timeout SECONDS, or timeout_secs in its profile" },
	{ "the agent said nothing for ",
		"let it be silent for longer: idle_timeout_secs in its profile" },
	{ " exited with status 0 without a handshake",
		"it must answer the handshake in one line, flushed at once: see man 7 rterm-tool" },
	{ " without a handshake",
		"run its command by hand to see why it ends: it must wait for a handshake on stdin "
		"(man 7 rterm-tool)" },
	{ "Could not resolve host", "look at the host's name, and whether this machine is online" },
	{ "does not appear to be a git repository",
		"look at the address: git ls-remote with it must work" },
};

/* "cannot read /a/b: No such …" names a path that is taken from nowhere else. */
static bool advice_is_whole_path(struct str text)
{
	size_t at = text.len;
	while (at && !strchr(" '", text.data[at - 1]))
		at--;
	return at < text.len && text.data[at] == '/';
}

/* A text may end with what a call of the system said. */
static const char *advice_on_missing(const char *text)
{
	static const struct str between = STR(": ");
	struct str said = str_from(perch_strerror(-ENOENT)), rest = str_from(text);
	bool is_missing = str_has_suffix(rest, said);
	rest.len -= is_missing ? said.len : 0;
	rest.len -= is_missing && str_has_suffix(rest, between) ? between.len : 0;
	return is_missing && !advice_is_whole_path(rest)
		? "look at the name: a relative one is taken from the current directory"
		: NULL;
}

const char *advice_on(const char *text)
{
	for (size_t i = 0; i < COUNT(advices); i++) {
		const char *found = strstr(text, advices[i].part);
		if (found && !strstr(found, "; ")) /* behind which it would advise something better */
			return advices[i].advice;
	}
	return advice_on_missing(text);
}
