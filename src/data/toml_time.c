/* Dates and times as RFC 3339 has them. */
#include "data/toml_reader.h"

#include <stdio.h>

/* One number of fixed width, and the character that stands before it. */
struct field {
	const char *name;
	char before;
	unsigned digits;
	unsigned low, high;
};

enum { FIELDS_MAX = 3 };

static const struct field date_fields[] = {
	{ "year", 0, 4, 0, 9999 },
	{ "month", '-', 2, 1, 12 },
	{ "day", '-', 2, 1, 31 },
};

static const struct field time_fields[] = {
	{ "hour", 0, 2, 0, 23 }, { "minute", ':', 2, 0, 59 },
	{ "second", ':', 2, 0, 60 }, /* 60 in a leap second */
};

static const struct field offset_fields[] = {
	{ "hour", 0, 2, 0, 23 },
	{ "minute", ':', 2, 0, 59 },
};

static bool toml_time_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static int toml_time_read_field(struct toml_reader *r, const struct field *field, unsigned *ret)
{
	char what[64];
	snprintf(what, sizeof(what), "`%c` and the %s", field->before, field->name);
	if (field->before && !toml_take(r, field->before))
		return toml_expected(r, what);
	struct toml_place at = toml_here(r);
	snprintf(what, sizeof(what), "%u digits of the %s", field->digits, field->name);
	unsigned number = 0;
	for (unsigned i = 0; i < field->digits; i++, r->at++) {
		if (!toml_time_is_digit(toml_peek(r)))
			return toml_expected(r, what);
		number = number * 10 + (unsigned)(toml_peek(r) - '0');
	}
	if (number < field->low || number > field->high)
		return toml_fail(r, at, "expected the %s to be from %u to %u, found %u", field->name,
			field->low, field->high, number);
	*ret = number;
	return 0;
}

static int toml_time_read_fields(
	struct toml_reader *r, const struct field *fields, size_t count, unsigned ret[FIELDS_MAX])
{
	for (size_t i = 0; i < count; i++) {
		int result = toml_time_read_field(r, &fields[i], &ret[i]);
		if (result < 0)
			return result;
	}
	return 0;
}

static unsigned toml_time_days_in_month(unsigned year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return days[month - 1] + (month == 2 && is_leap ? 1u : 0u);
}

static int toml_time_read_date(struct toml_reader *r, struct toml_value *value)
{
	unsigned parts[FIELDS_MAX];
	int result = toml_time_read_fields(r, date_fields, 3, parts);
	if (result < 0)
		return result;
	unsigned days = toml_time_days_in_month(parts[0], parts[1]);
	if (parts[2] > days)
		return toml_fail(r, value->at, "expected a day that exists, found day %u of a month of %u",
			parts[2], days);
	value->time.year = (uint16_t)parts[0];
	value->time.month = (uint8_t)parts[1];
	value->time.day = (uint8_t)parts[2];
	return 0;
}

static int toml_time_read_fraction(struct toml_reader *r, uint32_t *ret_nanosecond)
{
	if (!toml_take(r, '.'))
		return 0;
	if (!toml_time_is_digit(toml_peek(r)))
		return toml_expected(r, "digits of a second behind the point");
	uint32_t unit = 100000000;
	for (; toml_time_is_digit(toml_peek(r)); r->at++, unit /= 10)
		*ret_nanosecond += unit * (uint32_t)(toml_peek(r) - '0');
	return 0;
}

static int toml_time_read_clock(struct toml_reader *r, struct toml_value *value)
{
	unsigned parts[FIELDS_MAX];
	int result = toml_time_read_fields(r, time_fields, 3, parts);
	if (result < 0)
		return result;
	value->time.hour = (uint8_t)parts[0];
	value->time.minute = (uint8_t)parts[1];
	value->time.second = (uint8_t)parts[2];
	return toml_time_read_fraction(r, &value->time.nanosecond);
}

static int toml_time_read_offset(struct toml_reader *r, struct toml_value *value)
{
	if (toml_take(r, 'Z') || toml_take(r, 'z')) {
		value->type = TOML_OFFSET_DATETIME;
		return 0;
	}
	bool is_west = toml_take(r, '-');
	if (!is_west && !toml_take(r, '+'))
		return 0;
	unsigned parts[FIELDS_MAX];
	int result = toml_time_read_fields(r, offset_fields, 2, parts);
	if (result < 0)
		return result;
	int minutes = (int)(parts[0] * 60 + parts[1]);
	value->type = TOML_OFFSET_DATETIME;
	value->time.offset_minutes = (int16_t)(is_west ? -minutes : minutes);
	return 0;
}

static bool toml_time_has_digits_then(const struct toml_reader *r, size_t digits, char behind)
{
	if (r->text.len - r->at <= digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (!toml_time_is_digit((unsigned char)r->text.data[r->at + i]))
			return false;
	}
	return r->text.data[r->at + digits] == behind;
}

bool toml_is_time(const struct toml_reader *r)
{
	return toml_time_has_digits_then(r, 4, '-') || toml_time_has_digits_then(r, 2, ':');
}

/* A date and a time are joined by T or by one blank; a blank may also just
 * end the value. */
static bool toml_time_take_joint(struct toml_reader *r)
{
	if (toml_take(r, 'T') || toml_take(r, 't'))
		return true;
	bool is_joint = toml_peek(r) == ' ' && r->at + 1 < r->text.len &&
		toml_time_is_digit((unsigned char)r->text.data[r->at + 1]);
	r->at += is_joint;
	return is_joint;
}

int toml_read_time(struct toml_reader *r, struct toml_value *value)
{
	value->time = (struct toml_time){ 0 };
	value->type = TOML_LOCAL_TIME;
	if (toml_time_has_digits_then(r, 2, ':'))
		return toml_time_read_clock(r, value);
	value->type = TOML_LOCAL_DATE;
	int result = toml_time_read_date(r, value);
	if (result < 0 || !toml_time_take_joint(r))
		return result;
	value->type = TOML_LOCAL_DATETIME;
	result = toml_time_read_clock(r, value);
	return result < 0 ? result : toml_time_read_offset(r, value);
}
