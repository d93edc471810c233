/* Whether a text that a user entered is of the kind that was asked for. */
#include "validate.h"

#include "base/macros.h"

#include <limits.h>
#include <strings.h>
#include <unistd.h>

static const char *validate_non_empty(struct str text)
{
	return str_trim(text).len ? NULL : "please enter something";
}

/* Digits are added up below zero, because the negative range has one number more. */
static const char *validate_integer(struct str text)
{
	bool is_negative = str_has_prefix(text, STR("-"));
	size_t at = is_negative || str_has_prefix(text, STR("+")) ? 1 : 0;
	if (at == text.len)
		return "please enter a whole number";
	long long value = 0;
	bool is_too_large = false;
	for (; at < text.len; at++) {
		if (text.data[at] < '0' || text.data[at] > '9')
			return "please enter a whole number";
		is_too_large |= __builtin_mul_overflow(value, 10, &value);
		is_too_large |= __builtin_sub_overflow(value, text.data[at] - '0', &value);
	}
	is_too_large |= !is_negative && value == LLONG_MIN;
	return is_too_large ? "please enter a smaller number: it must fit into 64 bits" : NULL;
}

static const char *validate_path_exists(struct str text)
{
	char path[PATH_MAX];
	bool fits = text.len && text.len < sizeof(path) && !memchr(text.data, '\0', text.len);
	if (fits) {
		memcpy(path, text.data, text.len);
		path[text.len] = '\0';
	}
	return fits && access(path, F_OK) == 0 ? NULL : "there is no such file or directory";
}

static bool validate_has_prefix_ignoring_case(struct str text, struct str prefix)
{
	return text.len >= prefix.len && strncasecmp(text.data, prefix.data, prefix.len) == 0;
}

/* Where the host begins, or 0 when the text is no web address. */
static size_t validate_scheme_length(struct str text)
{
	static const struct str schemes[] = { { "http://", 7 }, { "https://", 8 } };
	for (size_t i = 0; i < COUNT(schemes); i++) {
		if (validate_has_prefix_ignoring_case(text, schemes[i]))
			return schemes[i].len;
	}
	return 0;
}

static bool validate_has_blank_or_control(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if ((unsigned char)text.data[i] <= ' ' || text.data[i] == 0x7F)
			return true;
	}
	return false;
}

/* The host of "user:password@host:port/path" alone. */
static struct str validate_url_host(struct str url, size_t begin)
{
	struct str host = { url.data + begin, 0 };
	while (begin + host.len < url.len && !strchr("/?#", host.data[host.len]))
		host.len++;
	const char *at = host.len ? memrchr(host.data, '@', host.len) : NULL;
	if (at) {
		host.len -= (size_t)(at + 1 - host.data);
		host.data = at + 1;
	}
	if (host.len && host.data[0] == '[')
		return host;
	return str_cut(&host, ':');
}

static const char *validate_url(struct str text)
{
	size_t begin = validate_scheme_length(text);
	if (!begin || validate_has_blank_or_control(text) || !validate_url_host(text, begin).len)
		return "please enter a web address such as https://example.org";
	return NULL;
}

static const struct {
	const char *name;
	perch_validator validator;
} validators[] = {
	{ "non_empty", PERCH_VALIDATE_NON_EMPTY },
	{ "integer", PERCH_VALIDATE_INTEGER },
	{ "path_exists", PERCH_VALIDATE_PATH_EXISTS },
	{ "url", PERCH_VALIDATE_URL },
};

const char *validator_name(perch_validator validator)
{
	for (size_t i = 0; i < COUNT(validators); i++) {
		if (validators[i].validator == validator)
			return validators[i].name;
	}
	return NULL;
}

bool validator_from_name(struct str name, perch_validator *ret_validator)
{
	for (size_t i = 0; i < COUNT(validators); i++) {
		if (str_is(name, validators[i].name)) {
			*ret_validator = validators[i].validator;
			return true;
		}
	}
	return false;
}

const char *validate(perch_validator validator, struct str text)
{
	switch (validator) {
	case PERCH_VALIDATE_NON_EMPTY:
		return validate_non_empty(text);
	case PERCH_VALIDATE_INTEGER:
		return validate_integer(text);
	case PERCH_VALIDATE_PATH_EXISTS:
		return validate_path_exists(text);
	case PERCH_VALIDATE_URL:
		return validate_url(text);
	case PERCH_VALIDATE_NOTHING:
		break;
	}
	return NULL;
}

bool option_find(const perch_question *question, struct str text, size_t *ret_index)
{
	for (size_t i = 0; i < question->option_count; i++) {
		if (str_eq(str_of(question->options[i]), text)) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}
