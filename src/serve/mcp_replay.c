/* Messages of MCP sessions that a client may ask for again: a connection that broke may have lost
 * the last of them, and a call goes on without its client. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/mcp_guests.h"
#include "wire/http_sse.h"
#include "wire/http_text.h"

/* A message that was sent. */
struct replay {
	struct link link;
	uint64_t stream, number;
	bool is_last; /* of its stream */
	size_t len;
	char text[];
};

/* ---- ids ------------------------------------------------------------------------ */

static struct str replay_id(uint64_t stream, uint64_t number, char room[REPLAY_ID_SIZE])
{
	snprintf(room, REPLAY_ID_SIZE, "%" PRIu64 "-%" PRIu64, stream, number);
	return str_from(room);
}

bool replay_read_id(struct str id, uint64_t *ret_stream, uint64_t *ret_number)
{
	const char *dash = memchr(id.data, '-', id.len);
	if (!dash)
		return false;
	size_t len = (size_t)(dash - id.data);
	return http_read_number((struct str){ id.data, len }, ret_stream) &&
		http_read_number((struct str){ dash + 1, id.len - len - 1 }, ret_number);
}

/* ---- keeping ------------------------------------------------------------------------ */

static size_t replay_size(const struct replay *item)
{
	return sizeof(*item) + item->len;
}

static void replay_drop(struct mcp_guest *guest, struct replay *item)
{
	guest->kept_bytes -= replay_size(item);
	guest->who->mcp_kept -= replay_size(item);
	list_remove(&guest->kept, item);
	free(item);
}

void replay_forget(struct mcp_guest *guest)
{
	struct replay *item;
	while ((item = list_first(&guest->kept)))
		replay_drop(guest, item);
}

/* Without memory, or where it is too large alone, it is sent all the same. */
static void replay_keep(
	struct mcp_guest *guest, uint64_t stream, uint64_t number, struct str line, bool is_last)
{
	size_t size = sizeof(struct replay) + line.len;
	struct replay *item = size <= GUEST_KEPT_MAX ? malloc(size) : NULL;
	if (!item)
		return;
	*item =
		(struct replay){ .stream = stream, .number = number, .is_last = is_last, .len = line.len };
	memcpy(item->text, line.data, line.len);
	list_append(&guest->kept, item);
	guest->kept_bytes += size;
	guest->who->mcp_kept += size;
	while (guest->kept.count &&
		(guest->kept_bytes > GUEST_KEPT_MAX || guest->who->mcp_kept > GUEST_KEPT_ALL_MAX))
		replay_drop(guest, list_first(&guest->kept));
}

/* ---- telling ------------------------------------------------------------------------- */

void replay_write(
	struct mcp_guest *guest, uint64_t stream, struct str line, bool is_last, struct buf *out)
{
	char room[REPLAY_ID_SIZE];
	struct str id = { 0 };
	if (guest->id[0]) {
		uint64_t number = ++guest->last_number;
		id = replay_id(stream, number, room);
		replay_keep(guest, stream, number, line, is_last);
	}
	http_sse_event(out, id, STR("message"), line);
}

void replay_prime(const struct mcp_guest *guest, uint64_t stream, struct buf *out)
{
	char room[REPLAY_ID_SIZE];
	http_sse_event(out, replay_id(stream, guest->last_number, room), (struct str){ 0 }, STR(""));
}

bool replay_again(const struct mcp_guest *guest, uint64_t stream, uint64_t after, struct buf *out)
{
	char room[REPLAY_ID_SIZE];
	bool has_ended = false;
	for (const struct replay *item = list_first(&guest->kept); item; item = list_next(item)) {
		if (item->stream != stream)
			continue;
		has_ended = item->is_last;
		if (item->number > after)
			http_sse_event(out, replay_id(stream, item->number, room), STR("message"),
				(struct str){ item->text, item->len });
	}
	return has_ended;
}
