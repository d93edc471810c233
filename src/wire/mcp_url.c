/* MCP: the address of a remote server. */
#include "wire/mcp_url.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/err.h"
#include "wire/http_text.h"

static const struct str mcp_url_plain = STR("http://"), mcp_url_tls = STR("https://");

bool mcp_url_is(const char *word)
{
	return str_has_prefix(str_from(word), mcp_url_plain) ||
		str_has_prefix(str_from(word), mcp_url_tls);
}

static bool mcp_url_is_visible(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] <= 0x20 || text.data[i] > 0x7e)
			return false;
	return true;
}

static bool mcp_url_is_port(struct str text)
{
	uint64_t number;
	return http_read_number(text, &number) && number > 0 && number < 65536;
}

static bool mcp_url_is_host(struct str host)
{
	for (size_t i = 0; i < host.len; i++)
		if (!http_is_alnum(host.data[i]) && !memchr("-._", host.data[i], 3))
			return false;
	return host.len;
}

/* Host and port. */
static bool mcp_url_split(struct str authority, struct mcp_url *url)
{
	char address[INET6_ADDRSTRLEN];
	struct in6_addr bytes;
	struct str rest = authority;
	if (authority.len && authority.data[0] != '[') {
		url->host = str_cut(&rest, ':');
		bool has_port = url->host.len < authority.len;
		return mcp_url_is_host(url->host) && (!has_port || mcp_url_is_port(rest));
	}
	url->host = str_cut(&rest, ']');
	bool is_closed = authority.len && url->host.len < authority.len && url->host.len > 1;
	if (!is_closed || url->host.len > sizeof(address))
		return false;
	url->host = (struct str){ url->host.data + 1, url->host.len - 1 };
	memcpy(address, url->host.data, url->host.len);
	address[url->host.len] = '\0';
	struct str port = { rest.data + 1, rest.len ? rest.len - 1 : 0 };
	return inet_pton(AF_INET6, address, &bytes) == 1 &&
		(!rest.len || (rest.data[0] == ':' && mcp_url_is_port(port)));
}

static bool mcp_url_is_here(struct str host)
{
	char address[INET_ADDRSTRLEN];
	struct in_addr bytes;
	if (http_same_word(host, STR("localhost")) || str_is(host, "::1"))
		return true;
	if (host.len >= sizeof(address))
		return false;
	memcpy(address, host.data, host.len);
	address[host.len] = '\0';
	return inet_pton(AF_INET, address, &bytes) == 1 && ntohl(bytes.s_addr) >> 24 == 127;
}

int mcp_url_read(const char *text, struct mcp_url *ret_url, perch_err *err)
{
	struct mcp_url url = { .is_tls = str_has_prefix(str_from(text), mcp_url_tls) };
	struct str rest = str_from(text);
	if (!mcp_url_is(text) || rest.len > MCP_URL_MAX || !mcp_url_is_visible(rest))
		return err_set(
			err, -EINVAL, "the address of a server is https://HOST/PATH, not '%.100s'", text);
	size_t begin = url.is_tls ? mcp_url_tls.len : mcp_url_plain.len;
	rest = (struct str){ rest.data + begin, rest.len - begin };
	struct str authority = { rest.data, strcspn(rest.data, "/?#") };
	if (memchr(authority.data, '@', authority.len))
		return err_set(
			err, -EINVAL, "an address has no name or password in it: --token FILE is for that");
	if (memchr(rest.data, '#', rest.len))
		return err_set(err, -EINVAL, "the address of a server has no '#' in it");
	if (!mcp_url_split(authority, &url))
		return err_set(err, -EINVAL, "'%.*s' is no host",
			(int)(authority.len < 200 ? authority.len : 200), authority.data);
	if (!url.is_tls && !mcp_url_is_here(url.host))
		return err_set(err, -EINVAL,
			"write https://: http is for servers on this machine (127.0.0.1, localhost)");
	*ret_url = url;
	return 0;
}
