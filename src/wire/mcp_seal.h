/* MCP: texts that we give out and want back unchanged. A seal is an HMAC with the key of this
 * process; no other process can make one, and none outlives the process. */
#ifndef WIRE_MCP_SEAL_H
#define WIRE_MCP_SEAL_H

#include "base/sha256.h"
#include "data/json.h"

enum { MCP_KEY_SIZE = 32, MCP_TAG_SIZE = 33 };

/* A run that waits for an answer, as a client carries it (requestState): which run and
 * question it is stands in the text; what it was asked for and by whom is in the seal alone,
 * and must be the same when it comes back. */
struct mcp_ticket {
	uint64_t handle;
	uint64_t question;
	uint64_t expires_ns;
	/* In the seal alone. */
	struct str method;
	struct str name;       /* the tool, prompt or resource */
	const char *arguments; /* their digest */
	struct str principal;  /* the caller: a token's name */
};

/* Room for the text of a ticket, with its NUL. */
enum { MCP_TICKET_SIZE = 3 * 21 + SHA256_HEX_SIZE };

void mcp_ticket_write(const struct mcp_ticket *ticket, const uint8_t key[MCP_KEY_SIZE],
	char ret_text[MCP_TICKET_SIZE]);

/* Reads handle, question and expiry into a ticket whose other fields the caller has filled
 * in. Whether the text is one of ours, for just that. */
bool mcp_ticket_read(struct mcp_ticket *ticket, const uint8_t key[MCP_KEY_SIZE], struct str text);

/* SHA-256 of a value however it is laid out: members are in the order of their names,
 * numbers and strings are as they read. No value is like an empty object. -ENOMEM. */
int mcp_digest(const perch_json_value *value, char ret_hex[SHA256_HEX_SIZE]);

/* The place where a page of a list begins, as a client carries it (cursor). */
enum { MCP_CURSOR_SIZE = 21 + MCP_TAG_SIZE };
void mcp_cursor_write(
	const char *list, size_t from, const uint8_t key[MCP_KEY_SIZE], char ret_text[MCP_CURSOR_SIZE]);
bool mcp_cursor_read(
	const char *list, const uint8_t key[MCP_KEY_SIZE], struct str text, size_t *ret_from);

/* 32 hex digits that cannot be guessed, others for each purpose and number. */
void mcp_tag(const char *purpose, uint64_t number, const uint8_t key[MCP_KEY_SIZE],
	char ret_tag[MCP_TAG_SIZE]);

#endif
