/* Commands that a message advises. */
#include "base/shell_word.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* What is no more than itself in every shell, wherever it stands. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
							"/._-+:@,";

/* A quote inside of quotes. */
static const char quote[] = "'\\''";

/* Whether a reader can tell exactly which bytes it has. */
static bool shell_word_is_seen(const char *text, size_t len)
{
	bool is_seen = len && text[0] != '-' && utf8_is_seen(text, len);
	for (size_t at = 0; is_seen && at < len;) {
		uint32_t character;
		at += utf8_decode(text + at, len - at, &character);
		is_seen = utf8_character_width(character) > 0;
	}
	return is_seen;
}

/* How long it is in quotes, and a NUL behind it. */
static size_t shell_word_quoted_size(const char *text)
{
	size_t size = sizeof("''");
	for (; *text; text++)
		size += *text == '\'' ? strlen(quote) : 1;
	return size;
}

const char *shell_word(const char *text, char out[SHELL_WORD_MAX])
{
	out[0] = '\0';
	if (!shell_word_is_seen(text, strlen(text)) || shell_word_quoted_size(text) > SHELL_WORD_MAX)
		return out;
	if (text[strspn(text, plain)] == '\0')
		return strcpy(out, text);
	char *end = stpcpy(out, "'");
	for (; *text; text++)
		end = stpcpy(end, *text == '\'' ? quote : (const char[]){ *text, '\0' });
	stpcpy(end, "'");
	return out;
}

const char *shell_advice(char out[SHELL_ADVICE_MAX], const char *word, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = word[0] ? vsnprintf(out, SHELL_ADVICE_MAX, format, args) : -1;
	va_end(args);
	if (len < 0 || len >= SHELL_ADVICE_MAX)
		out[0] = '\0';
	return out;
}

const char *shell_command(
	struct arena *arena, const char *before, const char *name, const char *behind)
{
	char word[SHELL_WORD_MAX];
	return shell_word(name, word)[0] ? arena_join(arena, before, word, behind, NULL) : "";
}
