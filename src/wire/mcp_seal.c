/* MCP: what we give out and want back unchanged. */
#include "wire/mcp_seal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* ---- numbers in texts ------------------------------------------------------ */

/* A number as we write it: digits, no zero before them. */
static bool mcp_seal_number(struct str text, uint64_t *ret_number)
{
	uint64_t number = 0;
	if (!text.len || text.len > 20 || (text.len > 1 && text.data[0] == '0'))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
		uint64_t digit = (uint64_t)(text.data[i] - '0');
		if (number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	*ret_number = number;
	return true;
}

static void mcp_seal_add_number(struct hmac *hmac, uint64_t number)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%" PRIu64, number);
	hmac_add_field(hmac, text, (size_t)len);
}

static void mcp_seal_add(struct hmac *hmac, struct str text)
{
	hmac_add_field(hmac, text.data ? text.data : "", text.len);
}

/* ---- tickets --------------------------------------------------------------- */

static void mcp_ticket_seal(
	const struct mcp_ticket *ticket, const uint8_t key[MCP_KEY_SIZE], char ret_hex[SHA256_HEX_SIZE])
{
	struct hmac hmac;
	hmac_begin(&hmac, key, MCP_KEY_SIZE);
	mcp_seal_add(&hmac, STR("ticket"));
	mcp_seal_add_number(&hmac, ticket->handle);
	mcp_seal_add_number(&hmac, ticket->question);
	mcp_seal_add_number(&hmac, ticket->expires_ns);
	mcp_seal_add(&hmac, ticket->method);
	mcp_seal_add(&hmac, ticket->name);
	mcp_seal_add(&hmac, str_from(ticket->arguments));
	mcp_seal_add(&hmac, ticket->principal);
	hmac_end(&hmac, ret_hex);
}

void mcp_ticket_write(const struct mcp_ticket *ticket, const uint8_t key[MCP_KEY_SIZE],
	char ret_text[MCP_TICKET_SIZE])
{
	char seal[SHA256_HEX_SIZE];
	mcp_ticket_seal(ticket, key, seal);
	snprintf(ret_text, MCP_TICKET_SIZE, "%" PRIu64 ".%" PRIu64 ".%" PRIu64 ".%s", ticket->handle,
		ticket->question, ticket->expires_ns, seal);
}

bool mcp_ticket_read(struct mcp_ticket *ticket, const uint8_t key[MCP_KEY_SIZE], struct str text)
{
	struct str rest = text;
	if (text.len >= MCP_TICKET_SIZE || !mcp_seal_number(str_cut(&rest, '.'), &ticket->handle) ||
		!mcp_seal_number(str_cut(&rest, '.'), &ticket->question) ||
		!mcp_seal_number(str_cut(&rest, '.'), &ticket->expires_ns) ||
		rest.len != SHA256_HEX_SIZE - 1)
		return false;
	char given[SHA256_HEX_SIZE] = { 0 }, seal[SHA256_HEX_SIZE];
	memcpy(given, rest.data, rest.len);
	mcp_ticket_seal(ticket, key, seal);
	return hmac_is(given, seal);
}

/* ---- tags and cursors ------------------------------------------------------ */

void mcp_tag(const char *purpose, uint64_t number, const uint8_t key[MCP_KEY_SIZE],
	char ret_tag[MCP_TAG_SIZE])
{
	struct hmac hmac;
	char hex[SHA256_HEX_SIZE];
	hmac_begin(&hmac, key, MCP_KEY_SIZE);
	mcp_seal_add(&hmac, STR("tag"));
	mcp_seal_add(&hmac, str_from(purpose));
	mcp_seal_add_number(&hmac, number);
	hmac_end(&hmac, hex);
	memcpy(ret_tag, hex, MCP_TAG_SIZE - 1);
	ret_tag[MCP_TAG_SIZE - 1] = '\0';
}

void mcp_cursor_write(
	const char *list, size_t from, const uint8_t key[MCP_KEY_SIZE], char ret_text[MCP_CURSOR_SIZE])
{
	char tag[MCP_TAG_SIZE];
	mcp_tag(list, from, key, tag);
	snprintf(ret_text, MCP_CURSOR_SIZE, "%zu.%s", from, tag);
}

bool mcp_cursor_read(
	const char *list, const uint8_t key[MCP_KEY_SIZE], struct str text, size_t *ret_from)
{
	struct str rest = text;
	uint64_t from;
	char ours[MCP_CURSOR_SIZE];
	if (!mcp_seal_number(str_cut(&rest, '.'), &from) || from > SIZE_MAX)
		return false;
	mcp_cursor_write(list, (size_t)from, key, ours);
	if (!str_is(text, ours))
		return false;
	*ret_from = (size_t)from;
	return true;
}

/* ---- the digest of a value ------------------------------------------------- */

struct mcp_member {
	struct str name;
	const perch_json_value *value;
};

static int mcp_digest_value(struct sha256 *sha, const perch_json_value *value);

static int mcp_member_order(const void *a, const void *b)
{
	return str_compare(((const struct mcp_member *)a)->name, ((const struct mcp_member *)b)->name);
}

/* A kind and a length before each piece: no two values give the same bytes. */
static void mcp_digest_piece(struct sha256 *sha, char kind, struct str piece)
{
	char head[32];
	int len = snprintf(head, sizeof(head), "%c%zu:", kind, piece.len);
	sha256_add(sha, head, (size_t)len);
	sha256_add(sha, piece.data, piece.len);
}

static int mcp_digest_object(struct sha256 *sha, const perch_json_value *object)
{
	size_t count = 0;
	_cleanup_free_ struct mcp_member *members =
		malloc((perch_json_count(object) + 1) * sizeof(*members));
	if (!members)
		return -ENOMEM;
	perch_json_iter iter = perch_json_iterate(object);
	for (const perch_json_value *value; (value = perch_json_next(&iter));)
		members[count++] = (struct mcp_member){ json_str(iter.name), value };
	qsort(members, count, sizeof(*members), mcp_member_order);
	sha256_add(sha, "{", 1);
	for (size_t i = 0; i < count; i++) {
		mcp_digest_piece(sha, 's', members[i].name);
		int r = mcp_digest_value(sha, members[i].value);
		if (r < 0)
			return r;
	}
	sha256_add(sha, "}", 1);
	return 0;
}

static int mcp_digest_array(struct sha256 *sha, const perch_json_value *array)
{
	sha256_add(sha, "[", 1);
	perch_json_iter iter = perch_json_iterate(array);
	for (const perch_json_value *value; (value = perch_json_next(&iter));) {
		int r = mcp_digest_value(sha, value);
		if (r < 0)
			return r;
	}
	sha256_add(sha, "]", 1);
	return 0;
}

/* A client may write 1.0 the first time and 1 the second. */
static void mcp_digest_number(struct sha256 *sha, const perch_json_value *number)
{
	char text[JSON_DOUBLE_MAX];
	struct str piece = { text, 0 };
	int64_t whole;
	double real;
	if (perch_json_whole_int64(number, &whole) == 0)
		piece.len = (size_t)snprintf(text, sizeof(text), "%" PRId64, whole);
	else if (perch_json_double(number, &real) == 0)
		piece.len = json_format_double(real, text);
	else
		piece.data = perch_json_raw(number, &piece.len);
	mcp_digest_piece(sha, 'n', piece);
}

/* As deep as the reader lets a value be. */
static int mcp_digest_value(struct sha256 *sha, const perch_json_value *value)
{
	struct str raw;
	switch (perch_json_type_of(value)) {
	case PERCH_JSON_OBJECT:
		return mcp_digest_object(sha, value);
	case PERCH_JSON_ARRAY:
		return mcp_digest_array(sha, value);
	case PERCH_JSON_STRING:
		mcp_digest_piece(sha, 's', json_str(value));
		return 0;
	case PERCH_JSON_NUMBER:
		mcp_digest_number(sha, value);
		return 0;
	default:
		raw.data = perch_json_raw(value, &raw.len);
		mcp_digest_piece(sha, 'w', raw);
		return 0;
	}
}

int mcp_digest(const perch_json_value *value, char ret_hex[SHA256_HEX_SIZE])
{
	struct sha256 sha;
	sha256_begin(&sha);
	int r = 0;
	if (value)
		r = mcp_digest_value(&sha, value);
	else
		sha256_add(&sha, "{}", 2);
	if (r == 0)
		sha256_end(&sha, ret_hex);
	return r;
}
