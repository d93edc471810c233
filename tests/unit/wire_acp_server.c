/* MCP servers as ACP has them: which fit, and that no more is written than is known. */
#include "harness/suite.h"

#include <string.h>

#include "base/cleanup.h"
#include "data/json.h"
#include "wire/acp_server.h"

static const struct {
	const char *read, *written; /* NULL = it does not fit */
} rows[] = {
	{ "{\"name\":\"n\",\"command\":\"c\",\"args\":[],\"env\":[]}",
		"{\"name\":\"n\",\"command\":\"c\",\"args\":[],\"env\":[]}" },
	{ "{\"type\":\"stdio\",\"name\":\"n\",\"command\":\"c\",\"args\":[\"a\",\"b c\"],"
	  "\"env\":[{\"name\":\"A\",\"value\":\"1\",\"more\":2}],\"_meta\":{}}",
		"{\"name\":\"n\",\"command\":\"c\",\"args\":[\"a\",\"b c\"],"
		"\"env\":[{\"name\":\"A\",\"value\":\"1\"}]}" },
	{ "{\"type\":\"http\",\"name\":\"n\",\"url\":\"u\",\"headers\":[{\"name\":\"H\",\"value\":"
	  "\"\\u0001\\\"\"}],\"args\":[\"a\"]}",
		"{\"type\":\"http\",\"name\":\"n\",\"url\":\"u\",\"headers\":[{\"name\":\"H\",\"value\":"
		"\"\\u0001\\\"\"}]}" },
	{ "{\"type\":\"sse\",\"name\":\"n\",\"url\":\"u\",\"headers\":[]}",
		"{\"type\":\"sse\",\"name\":\"n\",\"url\":\"u\",\"headers\":[]}" },
	{ "{\"type\":\"pigeon\",\"name\":\"n\",\"url\":\"u\",\"headers\":[]}", NULL },
	{ "{\"type\":\"http\",\"name\":\"n\",\"command\":\"c\",\"headers\":[]}", NULL },
	{ "{\"command\":\"c\",\"args\":[],\"env\":[]}", NULL },
	{ "{\"name\":\"n\",\"command\":\"c\",\"args\":[1],\"env\":[]}", NULL },
	{ "{\"name\":\"n\",\"command\":\"c\",\"args\":\"a\",\"env\":[]}", NULL },
	{ "{\"name\":\"n\",\"command\":\"c\",\"args\":[],\"env\":{}}", NULL },
	{ "{\"name\":\"n\",\"command\":\"c\",\"args\":[],\"env\":[{\"name\":\"A\"}]}", NULL },
	{ "{\"name\":\"n\",\"command\":\"c\",\"args\":[],\"env\":[1]}", NULL },
	{ "1", NULL },
};

static void try_row(const char *read, const char *written)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	struct perch_json_writer writer = json_writer_on(&out);
	const perch_json_value *server;
	perch_json *json;
	ck_assert_int_eq(perch_json_new(NULL, &json), 0);
	ck_assert_int_eq(perch_json_parse(json, read, strlen(read), &server, NULL), 0);
	ck_assert_msg(acp_server_fits(server) == (written != NULL), "%s", read);
	if (written) {
		acp_server_write(&writer, server);
		ck_assert_int_eq(buf_terminate(&out), 0);
		ck_assert_str_eq(out.data, written);
	}
	perch_json_free(json);
}

START_TEST(what_fits_is_written_anew)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_row(rows[i].read, rows[i].written);
}
END_TEST

SUITE_MAIN("wire-acp-server", what_fits_is_written_anew)
