/* What a plain scalar means, by the core schema of YAML 1.2. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/str.h"
#include "data/json.h"
#include "data/yaml.h"

static const struct {
	const char *text;
	enum yaml_type type;
	double number;
} words[] = {
	{ "", YAML_NULL, 0 },
	{ "~", YAML_NULL, 0 },
	{ "null", YAML_NULL, 0 },
	{ "Null", YAML_NULL, 0 },
	{ "NULL", YAML_NULL, 0 },
	{ "true", YAML_BOOL, 1 },
	{ "True", YAML_BOOL, 1 },
	{ "TRUE", YAML_BOOL, 1 },
	{ "false", YAML_BOOL, 0 },
	{ "False", YAML_BOOL, 0 },
	{ "FALSE", YAML_BOOL, 0 },
	{ ".inf", YAML_FLOAT, INFINITY },
	{ ".Inf", YAML_FLOAT, INFINITY },
	{ ".INF", YAML_FLOAT, INFINITY },
	{ "+.inf", YAML_FLOAT, INFINITY },
	{ "+.Inf", YAML_FLOAT, INFINITY },
	{ "+.INF", YAML_FLOAT, INFINITY },
	{ "-.inf", YAML_FLOAT, -INFINITY },
	{ "-.Inf", YAML_FLOAT, -INFINITY },
	{ "-.INF", YAML_FLOAT, -INFINITY },
	{ ".nan", YAML_FLOAT, NAN },
	{ ".NaN", YAML_FLOAT, NAN },
	{ ".NAN", YAML_FLOAT, NAN },
};

static bool yaml_scalar_resolve_word(struct yaml_value *scalar)
{
	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(scalar->text, words[i].text) != 0)
			continue;
		scalar->type = words[i].type;
		scalar->number = words[i].number;
		scalar->boolean = words[i].type == YAML_BOOL && words[i].number != 0;
		return true;
	}
	return false;
}

/* 0o17 and 0x1F; what is beyond a double's precision is rounded. */
static bool yaml_scalar_resolve_with_base(
	struct yaml_value *scalar, const char *prefix, unsigned base)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = scalar->text + 2;
	if (strncmp(scalar->text, prefix, 2) != 0 || !*at)
		return false;
	double number = 0;
	for (; *at; at++) {
		const char *found = strchr(digits, *at);
		unsigned digit = found ? (unsigned)(found - digits) % 16 : base;
		if (digit >= base)
			return false;
		number = number * base + digit;
	}
	scalar->type = YAML_INT;
	scalar->number = number;
	return true;
}

static size_t yaml_scalar_span_digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* The parts of a decimal number; false when the text is none. */
struct decimal_parts {
	bool is_negative;
	bool is_whole; /* written with neither point nor exponent */
	struct str whole;
	struct str fraction;
	struct str exponent; /* with its sign */
};

static bool yaml_scalar_split_decimal(const char *text, struct decimal_parts *parts)
{
	*parts = (struct decimal_parts){ .is_negative = *text == '-', .is_whole = true };
	text += *text == '-' || *text == '+';
	parts->whole = (struct str){ text, yaml_scalar_span_digits(text) };
	text += parts->whole.len;
	if (*text == '.') {
		parts->is_whole = false;
		parts->fraction = (struct str){ text + 1, yaml_scalar_span_digits(text + 1) };
		text += 1 + parts->fraction.len;
	}
	if (!parts->whole.len && !parts->fraction.len)
		return false;
	if (*text == 'e' || *text == 'E') {
		parts->is_whole = false;
		size_t sign = text[1] == '-' || text[1] == '+';
		parts->exponent = (struct str){ text + 1, sign + yaml_scalar_span_digits(text + 1 + sign) };
		if (parts->exponent.len == sign)
			return false;
		text += 1 + parts->exponent.len;
	}
	return !*text;
}

enum { DECIMAL_MAX = 128 };

/* Said again as JSON, whose reader knows no locale. A number that is longer than people write them
 * stays a string. */
static bool yaml_scalar_resolve_decimal(struct yaml_value *scalar)
{
	struct decimal_parts parts;
	if (strlen(scalar->text) > DECIMAL_MAX || !yaml_scalar_split_decimal(scalar->text, &parts))
		return false;
	while (parts.whole.len > 1 && parts.whole.data[0] == '0') {
		parts.whole.data++;
		parts.whole.len--;
	}
	char text[DECIMAL_MAX + 16];
	int len = snprintf(text, sizeof(text), "%s%.*s.%.*se%.*s", parts.is_negative ? "-" : "",
		parts.whole.len ? (int)parts.whole.len : 1, parts.whole.len ? parts.whole.data : "0",
		parts.fraction.len ? (int)parts.fraction.len : 1,
		parts.fraction.len ? parts.fraction.data : "0",
		parts.exponent.len ? (int)parts.exponent.len : 1,
		parts.exponent.len ? parts.exponent.data : "0");
	const perch_json_value value = {
		.text = text,
		.length = (unsigned)len & JSON_LENGTH_MASK,
		.type = PERCH_JSON_NUMBER,
	};
	scalar->number = parts.is_negative ? -INFINITY : INFINITY;
	perch_json_double(&value, &scalar->number);
	scalar->type = parts.is_whole ? YAML_INT : YAML_FLOAT;
	return true;
}

void yaml_resolve(struct yaml_value *scalar)
{
	scalar->type = YAML_STRING;
	if (!yaml_scalar_resolve_word(scalar) && !yaml_scalar_resolve_with_base(scalar, "0o", 8) &&
		!yaml_scalar_resolve_with_base(scalar, "0x", 16))
		yaml_scalar_resolve_decimal(scalar);
}
