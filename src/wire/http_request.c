/* The rules for the head of a request, after RFC 9112: the line, the host, how the body is
 * framed, whether the connection goes on. */
#include "wire/http_request.h"

#include "base/macros.h"

size_t http_request_get(const struct http_request *request, const char *name, struct str *ret_value)
{
	size_t count = 0;
	for (size_t i = 0; i < request->field_count; i++) {
		const struct http_field *field = &request->fields[i];
		if (!http_same_word(field->name, str_from(name)))
			continue;
		if (count++ == 0)
			*ret_value = field->value;
	}
	return count;
}

bool http_request_has(const struct http_request *request, const char *name, const char *word)
{
	for (size_t i = 0; i < request->field_count; i++) {
		const struct http_field *field = &request->fields[i];
		if (http_same_word(field->name, str_from(name)) &&
			http_list_has(field->value, str_from(word)))
			return true;
	}
	return false;
}

/* "text/html;q=0.5" of a list fits text/html; so do "text/" and a star, and two stars. */
static bool request_range_fits(struct str range, struct str type)
{
	const char *end = memchr(range.data, ';', range.len);
	if (end)
		range.len = (size_t)(end - range.data);
	range = http_trim(range);
	if (http_same_word(range, STR("*/*")) || http_same_word(range, type))
		return true;
	const char *slash = memchr(type.data, '/', type.len);
	size_t family = slash ? (size_t)(slash - type.data) + 1 : 0;
	return family && range.len == family + 1 && range.data[family] == '*' &&
		http_same_word((struct str){ range.data, family }, (struct str){ type.data, family });
}

bool http_request_accepts(const struct http_request *request, const char *type)
{
	for (size_t i = 0; i < request->field_count; i++) {
		struct str member, list = request->fields[i].value;
		if (!http_same_word(request->fields[i].name, STR("Accept")))
			continue;
		while (http_list_next(&list, &member)) {
			if (request_range_fits(member, str_from(type)))
				return true;
		}
	}
	return false;
}

/* ---- the line ---------------------------------------------------------------- */

static int request_read_version(
	struct http_request *request, struct str version, struct http_fault *fault)
{
	const size_t at = sizeof("HTTP/") - 1;
	if (version.len != at + 3 || !str_has_prefix(version, STR("HTTP/")) ||
		!http_is_digit(version.data[at]) || version.data[at + 1] != '.' ||
		!http_is_digit(version.data[at + 2]))
		return http_fault_set(fault, 400, "no HTTP version at the end of the request line");
	if (version.data[at] != '1')
		return http_fault_set(fault, 505, "this server speaks HTTP/1.1");
	request->minor = version.data[at + 2] != '0';
	return 0;
}

/* Cuts *rest at its first space; fails when there is none or nothing before it. */
static bool request_cut_word(struct str *rest, struct str *ret_word)
{
	const char *space = memchr(rest->data, ' ', rest->len);
	if (!space || space == rest->data)
		return false;
	*ret_word = str_cut(rest, ' ');
	return true;
}

int http_request_read_line(
	struct http_request *request, struct str line, size_t target_max, struct http_fault *fault)
{
	struct str method, rest = line;
	if (!request_cut_word(&rest, &method) || !http_is_token(method))
		return http_fault_set(fault, 400, "the request line does not begin with a method");
	if (!request_cut_word(&rest, &request->target))
		return http_fault_set(fault, 400, "the request line is not METHOD TARGET VERSION");
	int r = request_read_version(request, rest, fault);
	if (r < 0)
		return r;
	request->method = http_method_find(method);
	if (request->method == HTTP_NO_METHOD)
		return http_fault_set(fault, 501, "this method is not implemented");
	if (request->target.len > target_max)
		return http_fault_set(fault, 414, "the target is too long");
	return http_target_read(request, fault);
}

/* ---- the fields --------------------------------------------------------------- */

static const struct str request_framing_names[] = {
	STR("content-length"),
	STR("transfer-encoding"),
	STR("host"),
};

bool http_is_framing_name(struct str name)
{
	char plain[32];
	if (name.len > sizeof(plain))
		return false;
	for (size_t i = 0; i < name.len; i++)
		plain[i] = name.data[i] == '_' ? '-' : name.data[i];
	for (size_t i = 0; i < COUNT(request_framing_names); i++)
		if (http_same_word((struct str){ plain, name.len }, request_framing_names[i]))
			return true;
	return false;
}

/* A name that only looks like one of those. */
static int request_check_names(const struct http_request *request, struct http_fault *fault)
{
	for (size_t i = 0; i < request->field_count; i++) {
		struct str name = request->fields[i].name;
		if (memchr(name.data, '_', name.len) && http_is_framing_name(name))
			return http_fault_set(fault, 400, "a framing field written with an underscore");
	}
	return 0;
}

static int request_read_host(struct http_request *request, struct http_fault *fault)
{
	struct str host = { 0 };
	size_t count = http_request_get(request, "host", &host);
	if (count > 1)
		return http_fault_set(fault, 400, "more than one Host");
	if (count == 0)
		return request->minor ? http_fault_set(fault, 400, "no Host") : 0;
	if (!http_is_host(host))
		return http_fault_set(fault, 400, "the Host is none");
	if (request->host.len && !http_same_word(request->host, host))
		return http_fault_set(fault, 400, "the Host is not the target's");
	request->host = host;
	return 0;
}

/* The codings of all Transfer-Encoding fields in their order: chunked, once and last. */
static int request_read_codings(const struct http_request *request, struct http_fault *fault)
{
	bool is_chunked = false, has_other = false;
	for (size_t i = 0; i < request->field_count; i++) {
		struct str coding, list = request->fields[i].value;
		if (!http_same_word(request->fields[i].name, STR("transfer-encoding")))
			continue;
		while (http_list_next(&list, &coding)) {
			if (is_chunked || !http_is_token(coding))
				return http_fault_set(fault, 400, "chunked must come once, bare and last");
			is_chunked = http_same_word(coding, STR("chunked"));
			has_other = has_other || !is_chunked;
		}
	}
	if (!is_chunked)
		return http_fault_set(fault, 400, "a Transfer-Encoding that does not end with chunked");
	if (has_other)
		return http_fault_set(fault, 501, "chunked is the only transfer coding here");
	return 0;
}

static int request_read_length(struct http_request *request, size_t count, struct str value,
	uint64_t body_max, struct http_fault *fault)
{
	if (count > 1)
		return http_fault_set(fault, 400, "more than one Content-Length");
	if (!http_read_number(value, &request->body_len))
		return http_fault_set(fault, 400, "the Content-Length is no number");
	if (request->body_len > body_max)
		return http_fault_set(fault, 413, "the body is too long");
	request->body = request->body_len ? HTTP_BODY_SIZED : HTTP_BODY_NONE;
	return 0;
}

static int request_read_body(
	struct http_request *request, uint64_t body_max, struct http_fault *fault)
{
	struct str length = { 0 }, coding = { 0 };
	size_t lengths = http_request_get(request, "content-length", &length);
	size_t codings = http_request_get(request, "transfer-encoding", &coding);
	if (lengths && codings)
		return http_fault_set(fault, 400, "both Content-Length and Transfer-Encoding");
	if (lengths)
		return request_read_length(request, lengths, length, body_max, fault);
	if (!codings)
		return 0;
	if (!request->minor)
		return http_fault_set(fault, 400, "HTTP/1.0 has no Transfer-Encoding");
	request->body = HTTP_BODY_CHUNKED;
	return request_read_codings(request, fault);
}

static int request_read_expect(struct http_request *request, struct http_fault *fault)
{
	struct str value = { 0 };
	size_t count = http_request_get(request, "expect", &value);
	if (count == 0 || !request->minor)
		return 0;
	if (count > 1 || !http_same_word(value, STR("100-continue")))
		return http_fault_set(fault, 417, "100-continue is all that can be expected");
	request->wants_continue = request->body != HTTP_BODY_NONE;
	return 0;
}

int http_request_read_fields(
	struct http_request *request, uint64_t body_max, struct http_fault *fault)
{
	int r = request_check_names(request, fault);
	if (r == 0)
		r = request_read_host(request, fault);
	if (r == 0)
		r = request_read_body(request, body_max, fault);
	if (r == 0)
		r = request_read_expect(request, fault);
	if (r < 0)
		return r;
	request->persists = !http_request_has(request, "connection", "close") &&
		(request->minor || http_request_has(request, "connection", "keep-alive"));
	return 0;
}
