/* Tables of methods and statuses; the calendar of dates. */
#include "wire/http_words.h"

#include <errno.h>
#include <stdio.h>

#include "base/macros.h"

static const char *const words_methods[HTTP_METHOD_COUNT] = {
	[HTTP_GET] = "GET",
	[HTTP_HEAD] = "HEAD",
	[HTTP_POST] = "POST",
	[HTTP_PUT] = "PUT",
	[HTTP_PATCH] = "PATCH",
	[HTTP_DELETE] = "DELETE",
	[HTTP_OPTIONS] = "OPTIONS",
};

enum http_method http_method_find(struct str name)
{
	enum http_method method = 0;
	while (method < HTTP_METHOD_COUNT && !str_is(name, words_methods[method]))
		method++;
	return method;
}

int http_methods_write(struct buf *out, unsigned methods)
{
	const char *between = "";
	for (enum http_method method = 0; method < HTTP_METHOD_COUNT; method++) {
		if (!(methods & HTTP_BIT(method)))
			continue;
		buf_append_text(out, between);
		buf_append_text(out, words_methods[method]);
		between = ", ";
	}
	return out->failed ? -ENOMEM : 0;
}

static const struct words_status {
	int status;
	const char *text;
} words_statuses[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 303, "See Other" },
	{ 304, "Not Modified" },
	{ 307, "Temporary Redirect" },
	{ 308, "Permanent Redirect" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 411, "Length Required" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 417, "Expectation Failed" },
	{ 421, "Misdirected Request" },
	{ 422, "Unprocessable Content" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
	{ 505, "HTTP Version Not Supported" },
	{ 507, "Insufficient Storage" },
};

const char *http_status_text(int status)
{
	for (size_t i = 0; i < COUNT(words_statuses); i++)
		if (words_statuses[i].status == status)
			return words_statuses[i].text;
	return "";
}

static bool words_is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static unsigned words_days_in(unsigned month, unsigned year)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	return month == 1 && words_is_leap(year) ? 29 : days[month];
}

void http_date_write(char out[HTTP_DATE_SIZE], uint64_t seconds)
{
	static const char weekdays[] = "ThuFriSatSunMonTueWed";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const uint64_t last = 253402300799; /* the end of the year 9999 */
	const unsigned rest = (unsigned)((seconds < last ? seconds : last) % 86400);
	unsigned day = (unsigned)((seconds < last ? seconds : last) / 86400);
	const unsigned weekday = day % 7;
	unsigned year = 1970, month = 0;
	for (; day >= (words_is_leap(year) ? 366u : 365u); year++)
		day -= words_is_leap(year) ? 366 : 365;
	for (; day >= words_days_in(month, year); month++)
		day -= words_days_in(month, year);
	snprintf(out, HTTP_DATE_SIZE, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", weekdays + weekday * 3,
		day % 31 + 1, months + month * 3, year % 10000, rest / 3600, rest / 60 % 60, rest % 60);
}
