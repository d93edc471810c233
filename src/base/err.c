/* Errors: a code for programs, a text for people. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/utf8.h"

/* Of an error's text; the rest says what is wrong. */
enum { ERR_ADVICE_MAX = PERCH_ERR_TEXT_MAX - 128 };

static const struct {
	int code;
	const char *text;
} own_codes[] = {
	{ PERCH_ESYNTAX, "syntax error" },
	{ PERCH_ELIMIT, "a limit was crossed" },
	{ PERCH_ESANDBOX, "the sandbox policy cannot be enforced here" },
	{ PERCH_EGUARD, "perch-guard could not be started" },
	{ PERCH_EBUSY, "not allowed from inside this callback" },
	{ PERCH_EINTERPRETER, "the interpreter of the script is missing" },
};

/* A constant table: no locale, no shared buffer. musl's strerror is one. */
static const char *err_of_system(int number)
{
#ifdef __GLIBC__
	return strerrordesc_np(number);
#else
	/* For what it does not know it has the words that it has for 0. */
	const char *text = strerror(number);
	if (strcmp(text, strerror(-1)) != 0)
		return text;
	return number == 0 ? "Success" : NULL;
#endif
}

const char *perch_strerror(int code)
{
	for (size_t i = 0; i < COUNT(own_codes); i++) {
		if (own_codes[i].code == code)
			return own_codes[i].text;
	}
	const char *text = code <= 0 && code > -4096 ? err_of_system(-code) : NULL;
	return text ? text : "unknown error";
}

/* Written into a buffer first, because the arguments may point into err. A cut text must not end in
 * half a character: it may land in JSON. */
static void err_set_text(
	perch_err *err, int code, unsigned line, unsigned column, const char *format, va_list args)
{
	if (!err)
		return;
	char text[PERCH_ERR_TEXT_MAX];
	int wanted = vsnprintf(text, sizeof(text), format, args);
	size_t len = strlen(text);
	if (wanted < 0 || (size_t)wanted > len)
		len = utf8_whole_prefix(text, len);
	err->code = code;
	err->line = line;
	err->column = column;
	err->stage = NULL;
	memcpy(err->text, text, len);
	err->text[len] = '\0';
}

int err_set(perch_err *err, int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	err_set_text(err, code, 0, 0, format, args);
	va_end(args);
	return code;
}

int err_set_at(perch_err *err, int code, unsigned line, unsigned column, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	err_set_text(err, code, line, column, format, args);
	va_end(args);
	return code;
}

int err_set_advised(perch_err *err, int code, const char *advice, const char *format, ...)
{
	perch_err words = { 0 };
	va_list args;
	va_start(args, format);
	err_set_text(&words, code, 0, 0, format, args);
	va_end(args);
	size_t room = sizeof(words.text) - 1;
	bool is_told = strlen(advice) <= ERR_ADVICE_MAX;
	size_t len = strnlen(words.text, is_told ? room - strlen(advice) : room);
	return err_set(err, code, "%.*s%s", (int)utf8_whole_prefix(words.text, len), words.text,
		is_told ? advice : "");
}

int err_no_memory(perch_err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}
