/* The letters of HTTP: what may stand in a token, a field, a path; words that are alike
 * whatever their case; lists. And the fault that every reader of HTTP reports. */
#ifndef WIRE_HTTP_TEXT_H
#define WIRE_HTTP_TEXT_H

#include "base/str.h"
#include "perch/base.h"

/* What is wrong with a request: the status to answer with, and words for people. */
struct http_fault {
	int status;
	const char *text; /* a constant */
};

/* For `return http_fault_set(fault, 400, "…")`. Returns PERCH_ESYNTAX, which always means
 * that a fault was told. */
static inline int http_fault_set(struct http_fault *fault, int status, const char *text)
{
	*fault = (struct http_fault){ status, text };
	return PERCH_ESYNTAX;
}

static inline bool http_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool http_is_alnum(char c)
{
	return http_is_digit(c) || (unsigned)(c | 0x20) - 'a' < 26;
}

static inline bool http_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What may stand in a line: everything but controls. A tab is a blank. */
static inline bool http_is_line_char(char c)
{
	return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

/* How many of these are such letters, up to the first that is none. */
size_t http_line_span(const char *text, size_t len);

/* The value of a hexadecimal digit, or -1. */
int http_hex_value(char c);

/* tchar of RFC 9110. */
bool http_is_token_char(char c);

/* At least one, and nothing else. */
bool http_is_token(struct str text);

/* pchar of RFC 3986 without the percent sign, and '/'. */
bool http_is_path_char(char c);

/* Alike but for the case of ASCII letters, in every locale. */
bool http_same_word(struct str a, struct str b);

/* The text without blanks around it. */
struct str http_trim(struct str text);

/* The next member of a list with commas, which may be empty. False behind the last. Begin
 * with `*rest` as the whole value; its data is NULL when all was given. */
bool http_list_next(struct str *rest, struct str *ret_member);

/* Whether one member of the list is this word. */
bool http_list_has(struct str list, struct str word);

/* Digits alone, one at least. What does not fit is UINT64_MAX. */
bool http_read_number(struct str text, uint64_t *ret_number);

#endif
