/* How perch speaks to people: one voice for all commands. */
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/cli.h"

static void print_error(const char *hint, const char *format, va_list args)
{
	fputs("error: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	if (hint)
		fprintf(stderr, "  %s\n", hint);
}

void cli_error(const char *hint, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print_error(hint, format, args);
	va_end(args);
}

void cli_warning(const char *text)
{
	fprintf(stderr, "warning: %s\n", text);
}

int cli_usage_error(const char *hint, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print_error(hint ? hint : "see: perch help", format, args);
	va_end(args);
	return EXIT_USAGE;
}

const char *cli_nearest(
	const char *word, const char *(*next)(const void *data, size_t i), const void *data)
{
	const char *nearest = NULL;
	unsigned best = UINT_MAX;
	const char *candidate;
	for (size_t i = 0; (candidate = next(data, i)) != NULL; i++) {
		if (str_is_nearer(word, candidate, &best))
			nearest = candidate;
	}
	return nearest;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);
	return value && value[0];
}

bool cli_wants_color(const struct cli *cli, FILE *stream)
{
	if (cli->color && strcmp(cli->color, "auto") != 0)
		return strcmp(cli->color, "always") == 0;
	if (is_set("NO_COLOR"))
		return false;
	const char *force = getenv("CLICOLOR_FORCE");
	if (force && force[0] && strcmp(force, "0") != 0)
		return true;
	const char *term = getenv("TERM");
	return isatty(fileno(stream)) && !(term && strcmp(term, "dumb") == 0);
}

bool cli_forbids_asking(const struct cli *cli)
{
	static const char *const words[] = { "1", "true", "yes", "y", "on" };
	const char *value = getenv("FLEDGE_NON_INTERACTIVE");
	if (cli->non_interactive)
		return true;
	for (size_t i = 0; value && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(value, words[i]) == 0)
			return true;
	}
	return false;
}

bool cli_is_utf8(void)
{
	setlocale(LC_CTYPE, "");
	bool is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	setlocale(LC_CTYPE, "C");
	return is_utf8;
}

int cli_print(struct buf *out)
{
	bool is_written =
		!out->failed && (!out->len || fwrite(out->data, 1, out->len, stdout) == out->len);
	if (out->failed)
		cli_error(NULL, "out of memory");
	buf_free(out);
	return is_written ? EXIT_SUCCESS : EXIT_HOST;
}
