/* The address of a remote MCP server: which ones are taken, and the words for those that are not;
 * text as a part of one. */
#include "harness/suite.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/macros.h"
#include "base/uri.h"
#include "wire/mcp_url.h"

START_TEST(what_is_an_address)
{
	static const struct {
		const char *text, *host;
		bool is_tls;
	} good[] = {
		{ "https://example.org", "example.org", true },
		{ "https://example.org/mcp?x=1", "example.org", true },
		{ "https://a-b.c_d:8443/", "a-b.c_d", true },
		{ "https://[2001:db8::1]:443/mcp", "2001:db8::1", true },
		{ "http://localhost:3000/mcp", "localhost", false },
		{ "http://LocalHost?x", "LocalHost", false },
		{ "http://127.1.2.3/", "127.1.2.3", false },
		{ "http://[::1]:80", "::1", false },
	};
	for (size_t i = 0; i < COUNT(good); i++) {
		struct mcp_url url = { 0 };
		perch_err err = { 0 };
		ck_assert(mcp_url_is(good[i].text));
		ck_assert_msg(mcp_url_read(good[i].text, &url, &err) == 0, "%s", err.text);
		ck_assert_msg(str_is(url.host, good[i].host), "%s", good[i].text);
		ck_assert_int_eq(url.is_tls, good[i].is_tls);
	}
}
END_TEST

START_TEST(what_is_none)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "ftp://example.org", "is https://HOST/PATH" },
		{ "https://exa mple.org", "is https://HOST/PATH" },
		{ "https://\xc3\xa4.org", "is https://HOST/PATH" },
		{ "https://me:secret@example.org/", "no name or password" },
		{ "https://example.org/#part", "no '#'" },
		{ "https:///mcp", "is no host" },
		{ "https://exa,mple.org", "'exa,mple.org' is no host" },
		{ "https://example.org:/", "is no host" },
		{ "https://example.org:0/", "is no host" },
		{ "https://example.org:65536/", "is no host" },
		{ "https://[::1", "is no host" },
		{ "https://[]/", "is no host" },
		{ "https://[example.org]/", "is no host" },
		{ "https://[::1]x/", "is no host" },
		{ "https://[::1]:0/", "is no host" },
		{ "https://[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]/", "is no host" },
		{ "http://example.org/", "write https://" },
		{ "http://128.0.0.1/", "write https://" },
		{ "http://[2001:db8::1]/", "write https://" },
		{ "http://a.name.that.is.longer.than.any.address/", "write https://" },
	};
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct mcp_url url;
		perch_err err = { 0 };
		ck_assert_int_eq(mcp_url_read(bad[i].text, &url, &err), -EINVAL);
		ck_assert_msg(strstr(err.text, bad[i].why), "%s: %s", bad[i].text, err.text);
	}
}
END_TEST

START_TEST(an_address_has_a_limit)
{
	char text[MCP_URL_MAX + 2] = "https://example.org/";
	struct mcp_url url;
	memset(text + strlen(text), 'x', sizeof(text) - 1 - strlen(text));
	ck_assert_int_eq(mcp_url_read(text, &url, NULL), -EINVAL);
	text[MCP_URL_MAX] = '\0';
	ck_assert_int_eq(mcp_url_read(text, &url, NULL), 0);
}
END_TEST

START_TEST(text_in_an_address)
{
	struct buf out = { 0 };
	uri_append(&out, STR("aZ09-._~/ \xff\0"));
	buf_append_char(&out, '|');
	uri_append_path(&out, STR("a/b c"));
	buf_terminate(&out);
	ck_assert_str_eq(out.data, "aZ09-._~%2F%20%FF%00|a/b%20c");
	buf_free(&out);
}
END_TEST

SUITE_MAIN(
	"wire-mcp-url", what_is_an_address, what_is_none, an_address_has_a_limit, text_in_an_address)
