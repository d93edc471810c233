/* The target of a request in its forms: origin, absolute, asterisk; and the name of a host. */
#include "wire/http_request.h"

/* How far path or query characters and whole percent signs go. */
static size_t target_span(struct str text, bool is_query)
{
	size_t at = 0;
	while (at < text.len) {
		char c = text.data[at];
		if (c == '%') {
			if (text.len - at < 3 || http_hex_value(text.data[at + 1]) < 0 ||
				http_hex_value(text.data[at + 2]) < 0)
				return at;
			at += 3;
		} else if (http_is_path_char(c) || (is_query && c == '?')) {
			at++;
		} else {
			return at;
		}
	}
	return at;
}

/* "/path" or "/path?query". */
static int target_read_path(struct http_request *request, struct str text, struct http_fault *fault)
{
	size_t path_len = target_span(text, false);
	struct str rest = { text.data + path_len, text.len - path_len };
	request->path = (struct str){ text.data, path_len };
	request->query = (struct str){ 0 };
	if (rest.len && rest.data[0] == '?') {
		request->query = (struct str){ rest.data + 1, rest.len - 1 };
		size_t query_len = target_span(request->query, true);
		rest = (struct str){ request->query.data + query_len, request->query.len - query_len };
	}
	if (rest.len)
		return http_fault_set(fault, 400, "a character that must not be in a target");
	return 0;
}

/* "http://host/path", as a client writes it to a proxy. */
static int target_read_absolute(
	struct http_request *request, struct str text, struct http_fault *fault)
{
	static const struct str schemes[] = { STR("http://"), STR("https://") };
	struct str rest = { 0 };
	for (size_t i = 0; i < 2 && !rest.data; i++)
		if (text.len > schemes[i].len &&
			http_same_word((struct str){ text.data, schemes[i].len }, schemes[i]))
			rest = (struct str){ text.data + schemes[i].len, text.len - schemes[i].len };
	if (!rest.data)
		return http_fault_set(fault, 400, "the target is neither a path nor a http: URL");
	size_t host_len = 0;
	while (host_len < rest.len && rest.data[host_len] != '/' && rest.data[host_len] != '?')
		host_len++;
	request->host = (struct str){ rest.data, host_len };
	if (!http_is_host(request->host))
		return http_fault_set(fault, 400, "the host in the target is none");
	rest = (struct str){ rest.data + host_len, rest.len - host_len };
	int r = target_read_path(request, rest, fault);
	if (r == 0 && request->path.len == 0)
		request->path = STR("/");
	return r;
}

int http_target_read(struct http_request *request, struct http_fault *fault)
{
	struct str target = request->target;
	if (target.len && target.data[0] == '/')
		return target_read_path(request, target, fault);
	if (!str_is(target, "*"))
		return target_read_absolute(request, target, fault);
	if (request->method != HTTP_OPTIONS)
		return http_fault_set(fault, 400, "the target * is for OPTIONS alone");
	request->path = target;
	return 0;
}

static bool target_is_port(struct str text)
{
	uint64_t port;
	return text.len <= 5 && http_read_number(text, &port) && port <= 65535;
}

/* The length of "[…]", 0 when it is none. What is in it is looked at no closer. */
static size_t target_bracketed_len(struct str text)
{
	size_t at = 1;
	while (at < text.len &&
		(http_hex_value(text.data[at]) >= 0 || text.data[at] == ':' || text.data[at] == '.'))
		at++;
	return at > 2 && at < text.len && text.data[at] == ']' ? at + 1 : 0;
}

static bool target_is_name_char(char c)
{
	return http_is_alnum(c) || c == '-' || c == '.' || c == '_';
}

static size_t target_name_len(struct str text)
{
	size_t at = 0;
	while (at < text.len && target_is_name_char(text.data[at]))
		at++;
	return at;
}

bool http_is_host(struct str text)
{
	if (text.len == 0)
		return false;
	size_t len = text.data[0] == '[' ? target_bracketed_len(text) : target_name_len(text);
	if (len == 0 || len == text.len)
		return len > 0;
	struct str port = { text.data + len + 1, text.len - len - 1 };
	return text.data[len] == ':' && target_is_port(port);
}
