/* How perch speaks to people: errors, warnings and hints of all commands, cleaned of what a
 * terminal would obey, in ASCII where the terminal shows no UTF-8. */
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "term/style.h"
#include "term/text.h"
#include "term/tty.h"

enum { TEXT_SHOWN_MAX = 4096, HINT_COLUMNS = 100 };

/* The characters beyond ASCII in our own texts, and their transcription. */
static const struct {
	const char *utf8;
	const char *ascii;
} plain_words[] = {
	{ "…", "..." },
	{ "–", "-" },
	{ "→", "->" },
};

/* Writes a character that is not ASCII, and returns how many bytes it has. */
static size_t speak_put_plain(FILE *stream, struct str text)
{
	for (size_t i = 0; i < COUNT(plain_words); i++) {
		struct str word = str_from(plain_words[i].utf8);
		if (str_has_prefix(text, word)) {
			fputs(plain_words[i].ascii, stream);
			return word.len;
		}
	}
	size_t len = 1;
	while (len < text.len && ((unsigned char)text.data[len] & 0xC0) == 0x80)
		len++;
	fputc('?', stream);
	return len;
}

/* The stream of cli/ui/stderr_outlet.h has no descriptor: it leads to stderr. */
static bool speak_is_terminal(FILE *stream)
{
	int fd = fileno(stream);
	return isatty(fd < 0 ? STDERR_FILENO : fd);
}

int cli_put(FILE *stream, const char *text)
{
	if (cli_shows_utf8(stream))
		return fputs(text, stream) < 0;
	struct str rest = str_from(text);
	while (rest.len) {
		size_t len = 1;
		if ((unsigned char)rest.data[0] < 0x80)
			fputc(rest.data[0], stream);
		else
			len = speak_put_plain(stream, rest);
		rest = (struct str){ rest.data + len, rest.len - len };
	}
	return ferror(stream) != 0;
}

void cli_pass(FILE *stream, struct str text)
{
	_cleanup_(buf_free) struct buf seen = { 0 };
	if (!text.len)
		return;
	if (!speak_is_terminal(stream))
		fwrite(text.data, 1, text.len, stream);
	else if (utf8_append_seen(&seen, text.data, text.len) == 0 && buf_terminate(&seen) == 0)
		cli_put(stream, seen.data);
}

bool cli_pass_json(FILE *stream, struct str json)
{
	_cleanup_(buf_free) struct buf seen = { 0 };
	if (speak_is_terminal(stream) && utf8_append_seen_json(&seen, json.data, json.len) == 0)
		json = (struct str){ seen.data, seen.len };
	return !json.len || fwrite(json.data, 1, json.len, stream) == json.len;
}

int cli_tell(FILE *stream, const char *format, ...)
{
	_cleanup_free_ char *words = NULL;
	_cleanup_(buf_free) struct buf seen = { 0 };
	va_list args;
	va_start(args, format);
	int len = vasprintf(&words, format, args);
	va_end(args);
	if (len < 0)
		words = NULL;
	if (!words || utf8_append_seen(&seen, words, (size_t)len) < 0 || buf_terminate(&seen) < 0)
		return 1;
	return cli_put(stream, seen.data);
}

void cli_put_text(FILE *stream, struct str text)
{
	const struct look look = { .utf8 = cli_shows_utf8(stream) };
	_cleanup_(buf_free) struct buf clean = { 0 };
	text_append(&clean, &look, text, TEXT_SHOWN_MAX);
	buf_write_to(&clean, stream);
}

/* Whose options say how errors look; NULL before they are read. */
static const struct cli *speaker;

void cli_speak_for(const struct cli *cli)
{
	speaker = cli;
}

bool cli_colors(FILE *stream)
{
	static const struct cli nobody = { 0 };
	return cli_wants_color(speaker ? speaker : &nobody, stream);
}

static size_t speak_columns(void)
{
	size_t columns = 0;
	size_t rows;
	if (isatty(STDERR_FILENO))
		tty_size(STDERR_FILENO, &columns, &rows);
	return columns;
}

/* A message may quote what a user typed or what a file contains: nothing of it moves the cursor.
 * cli_put transcribes to ASCII later. */
static void speak_append_line(
	struct buf *out, enum style style, const char *label, const char *text)
{
	const struct look look = { .colored = cli_colors(stderr) };
	buf_append_text(out, style_begin(&look, style));
	buf_append_text(out, label);
	buf_append_text(out, style_end(&look, style));
	buf_append_char(out, ' ');
	message_append(out, text, strlen(label) + 1, speak_columns());
}

static void speak_print_error(const char *hint, const char *format, va_list args)
{
	_cleanup_free_ char *words = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	if (vasprintf(&words, format, args) < 0)
		words = NULL;
	speak_append_line(&text, STYLE_ERROR, "error:", words ? words : "out of memory");
	if (words)
		message_append_place(&text, words, speak_columns());
	if (!hint && words)
		hint = advice_on(words);
	if (hint)
		speak_append_line(&text, STYLE_PLAIN, " ", hint);
	cli_put(stderr, buf_terminate(&text) == 0 ? text.data : "error: out of memory\n");
}

void cli_error(const char *hint, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	speak_print_error(hint, format, args);
	va_end(args);
}

int cli_no_memory(void)
{
	cli_error(NULL, "out of memory");
	return EXIT_HOST;
}

void cli_warning(const char *text)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	speak_append_line(&line, STYLE_WARN, "warning:", text);
	cli_put(stderr, buf_terminate(&line) == 0 ? line.data : "warning: out of memory\n");
}

/* Whether a hint may be broken at this blank: behind a comma or a semicolon, and on a terminal
 * behind a command to be copied, of which it says what it would do. */
static bool speak_may_break(struct str text, size_t at, bool is_terminal)
{
	struct str behind = { text.data + at, text.len - at };
	return strchr(",;", text.data[at - 1]) ||
		(is_terminal && str_has_prefix(behind, STR(" would ")) &&
			memmem(text.data, at, "perch ", strlen("perch ")));
}

/* Up to where it may be broken, or the end; not between quotes, where a new line would make another
 * word of it. */
static struct str speak_cut_clause(struct str *rest, bool is_terminal)
{
	size_t len = 1;
	bool is_quoted = rest->data[0] == '\'';
	while (len < rest->len &&
		(is_quoted || rest->data[len] != ' ' || !speak_may_break(*rest, len, is_terminal)))
		is_quoted ^= rest->data[len++] == '\'';
	struct str clause = { rest->data, len };
	size_t used = len < rest->len ? len + 1 : len;
	*rest = (struct str){ rest->data + used, rest->len - used };
	return clause;
}

void cli_hint(struct str text)
{
	static const char head[] = "hint:";
	size_t column = sizeof(head) - 1;
	size_t most = speak_columns();
	bool is_terminal = most;
	bool was_command = false;
	most = most && most < HINT_COLUMNS ? most : HINT_COLUMNS;
	fputs(head, stderr);
	for (bool is_first = true; text.len; is_first = false) {
		struct str clause = speak_cut_clause(&text, is_terminal);
		bool is_command = str_has_prefix(text, STR("would "));
		size_t width = utf8_width(clause.data, clause.len);
		bool fits = !is_command && !was_command && (is_first || column + 1 + width <= most);
		was_command = is_command;
		fputs(fits ? " " : "\n  ", stderr);
		cli_put_text(stderr, clause);
		column = width + (fits ? column + 1 : 2);
	}
	fputc('\n', stderr);
}

/* The hint of a usage error that has no better one. */
static char usual_hint[96] = "see: perch help";

void cli_speak_of(const char *command, const char *subcommand)
{
	snprintf(usual_hint, sizeof(usual_hint), "see: perch %s%s%s --help", command,
		subcommand ? " " : "", subcommand ? subcommand : "");
}

static int usage_code = EXIT_USAGE;

void cli_speak_as(const char *program, int code)
{
	snprintf(usual_hint, sizeof(usual_hint), "see: %s --help", program);
	usage_code = code;
}

int cli_usage_error(const char *hint, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	speak_print_error(hint ? hint : usual_hint, format, args);
	va_end(args);
	return usage_code;
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

static bool speak_is_set(const char *variable)
{
	const char *value = getenv(variable);
	return value && value[0];
}

bool cli_wants_color(const struct cli *cli, FILE *stream)
{
	if (cli->color && strcmp(cli->color, "auto") != 0)
		return strcmp(cli->color, "always") == 0;
	if (speak_is_set("NO_COLOR"))
		return false;
	const char *force = getenv("CLICOLOR_FORCE");
	if (force && force[0] && strcmp(force, "0") != 0)
		return true;
	const char *term = getenv("TERM");
	return speak_is_terminal(stream) && !(term && strcmp(term, "dumb") == 0);
}

bool cli_forbids_asking(const struct cli *cli)
{
	static const char *const words[] = { "1", "true", "yes", "y", "on" };
	const char *value = getenv("FLEDGE_NON_INTERACTIVE");
	if (cli->non_interactive)
		return true;
	for (size_t i = 0; value && i < COUNT(words); i++) {
		if (strcasecmp(value, words[i]) == 0)
			return true;
	}
	return false;
}

/* The locale is asked once, and set back: the rest of perch formats numbers as C does. */
bool cli_is_utf8(void)
{
	static int is_utf8 = -1;
	if (is_utf8 >= 0)
		return is_utf8;
	setlocale(LC_CTYPE, "");
	is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	setlocale(LC_CTYPE, "C");
	return is_utf8;
}

bool cli_shows_utf8(FILE *stream)
{
	return !speak_is_terminal(stream) || cli_is_utf8();
}

int cli_print_json(struct buf *out)
{
	bool is_written = !out->failed && cli_pass_json(stdout, (struct str){ out->data, out->len });
	if (out->failed)
		cli_no_memory();
	buf_free(out);
	return is_written ? EXIT_SUCCESS : EXIT_HOST;
}

int cli_print(struct buf *out)
{
	bool is_written = !out->failed && buf_write_to(out, stdout);
	if (out->failed)
		cli_no_memory();
	buf_free(out);
	return is_written ? EXIT_SUCCESS : EXIT_HOST;
}

int cli_print_text(struct buf *out)
{
	if (!out->failed)
		cli_pass(stdout, (struct str){ out->data, out->len });
	else
		cli_no_memory();
	bool is_written = !out->failed && !ferror(stdout);
	buf_free(out);
	return is_written ? EXIT_SUCCESS : EXIT_HOST;
}

int cli_check_output(int error, int code)
{
	if (error < 0 && error != -EPIPE)
		cli_error(NULL, "the output could not be written: %s", perch_strerror(error));
	return error < 0 && code == 0 ? EXIT_FAILURE : code;
}
