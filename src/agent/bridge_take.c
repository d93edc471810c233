/* Taking turns into a bridge: is there room, and a copy of all that was asked. */
#include <errno.h>
#include <stdlib.h>

#include "agent/bridge_parts.h"
#include "base/cleanup.h"
#include "base/err.h"

DEFINE_POINTER_CLEANUP(cleanup_bridge_turn, struct bridge_turn, bridge_turn_free)

static struct bridge_turn *bridge_take_find_where(const struct bridge *bridge,
	bool (*is_it)(const struct bridge_turn *turn, const void *wanted), const void *wanted)
{
	for (int stage = 0; stage < STAGES_OF_BRIDGE; stage++) {
		struct bridge_turn *turn = list_first(&bridge->turns[stage]);
		for (; turn; turn = list_next(turn)) {
			if (is_it(turn, wanted))
				return turn;
		}
	}
	return NULL;
}

struct wanted_id {
	const char *id;
	uint32_t hash;
};

static bool bridge_take_has_id(const struct bridge_turn *turn, const void *data)
{
	const struct wanted_id *wanted = data;
	return turn->id_hash == wanted->hash && strcmp(turn->id, wanted->id) == 0;
}

static bool bridge_take_is_same_session(const struct bridge_turn *turn, const void *wanted)
{
	const struct bridge_turn *other = wanted;
	return turn->key_hash == other->key_hash && session_key_is(&turn->key, &other->key);
}

struct bridge_turn *bridge_find(const struct bridge *bridge, const char *id)
{
	const struct wanted_id wanted = { id, str_hash(STR_HASH, id) };
	return bridge_take_find_where(bridge, bridge_take_has_id, &wanted);
}

bool bridge_has(const struct bridge *bridge, const char *id)
{
	return id && bridge_find(bridge, id);
}

static const char *bridge_take_copy(struct bridge_turn *turn, const char *text)
{
	return arena_dup(&turn->arena, str_from(text));
}

static int bridge_take_copy_attachments(
	struct bridge_turn *turn, const struct bridge_request *request)
{
	size_t count = request->attachment_count;
	perch_attachment *copies = arena_alloc(&turn->arena, count * sizeof(*copies));
	for (size_t i = 0; copies && i < count; i++) {
		const perch_attachment *given = &request->attachments[i];
		copies[i] = (perch_attachment){ given->kind, bridge_take_copy(turn, given->url),
			bridge_take_copy(turn, given->name) };
		if (!copies[i].url || !copies[i].name)
			return -ENOMEM;
	}
	turn->options.attachments = copies;
	turn->options.attachment_count = count;
	return copies ? 0 : -ENOMEM;
}

static int bridge_take_amend_profile(struct bridge_turn *turn, perch_err *err)
{
	const struct bridge_options *options = &turn->bridge->options;
	turn->options.profile = kept_profile(turn->profile);
	if (!options->amend)
		return 0;
	struct agent_profile *own = arena_alloc(&turn->arena, sizeof(*own));
	if (!own)
		return err_no_memory(err);
	*own = *turn->options.profile;
	turn->options.profile = own;
	return options->amend(options->data, &turn->arena, own, err);
}

static int bridge_take_copy_request(struct bridge_turn *turn, const struct bridge_request *request)
{
	struct agent_turn_options *options = &turn->options;
	options->message.data = arena_dup(&turn->arena, request->message);
	options->message.len = request->message.len;
	options->session_name =
		bridge_take_copy(turn, request->session_name ? request->session_name : "default");
	options->from = bridge_take_copy(turn, request->from ? request->from : "");
	options->no_stream = request->no_stream;
	options->allow_shell_message = request->allow_shell_message;
	turn->id = bridge_take_copy(turn, request->id);
	turn->is_new = request->is_new;
	turn->key =
		(struct session_key){ options->profile->path, options->from, options->session_name };
	if (!options->message.data || !options->session_name || !options->from || !turn->id)
		return -ENOMEM;
	turn->id_hash = str_hash(STR_HASH, turn->id);
	turn->key_hash = session_key_hash(&turn->key);
	return bridge_take_copy_attachments(turn, request);
}

static size_t bridge_take_request_bytes(const struct bridge_request *request)
{
	size_t bytes = request->message.len;
	for (size_t i = 0; i < request->attachment_count; i++)
		bytes += strlen(request->attachments[i].url) + strlen(request->attachments[i].name);
	return bytes;
}

/* A turn that can run at once takes a place among those that run; any other one
 * among those that wait. */
static int bridge_take_find_room(struct bridge *bridge, struct bridge_turn *turn, perch_err *err)
{
	const struct list *turns = bridge->turns;
	size_t waiting = turns[STAGE_QUEUED].count + turns[STAGE_ALLOWED].count - bridge->expected;
	size_t places = turns[STAGE_RUNNING].count + bridge->ending + bridge->expected;
	turn->is_expected = places < bridge->options.max_turns && !turns[STAGE_ALLOWED].count &&
		!bridge_take_find_where(bridge, bridge_take_is_same_session, turn);
	bool has_memory = turn->bytes <= BRIDGE_BYTES_MAX - bridge->bytes;
	if (has_memory && (turn->is_expected || waiting < bridge->options.queue))
		return 0;
	if (!has_memory)
		return err_set(err, -EBUSY, "too much text is waiting (at most %zu MiB)",
			BRIDGE_BYTES_MAX / 1024 / 1024);
	return err_set(err, -EBUSY, "%zu turns run and %zu wait, as many as may", places, waiting);
}

static int bridge_take_fail_in(perch_err *err, const char *stage, int r)
{
	if (err)
		err->stage = stage;
	return r;
}

static int bridge_take_make_turn(struct bridge *bridge, const struct bridge_request *request,
	struct bridge_turn **ret_turn, perch_err *err)
{
	_cleanup_(cleanup_bridge_turn) struct bridge_turn *turn = calloc(1, sizeof(*turn));
	if (!turn)
		return err_no_memory(err);
	turn->bridge = bridge;
	turn->bytes = bridge_take_request_bytes(request);
	if (turn->bytes > BRIDGE_BYTES_MAX)
		return err_set(err, -EBUSY, "the message is too long");
	int r = profiles_take(&bridge->profiles, request->profile, &turn->profile, err);
	if (r == 0)
		r = bridge_take_amend_profile(turn, err);
	if (r < 0)
		return bridge_take_fail_in(err, "profile", r);
	if (bridge_take_copy_request(turn, request) < 0)
		return err_no_memory(err);
	r = bridge_take_find_room(bridge, turn, err);
	if (r == 0)
		*ret_turn = steal(&turn);
	return r;
}

int bridge_take(struct bridge *bridge, const struct bridge_request *request, perch_err *err)
{
	if (bridge_find(bridge, request->id))
		return err_set(err, -EEXIST, "a turn with the id %.64s has not ended yet", request->id);
	_cleanup_(cleanup_bridge_turn) struct bridge_turn *turn = NULL;
	int r = bridge_take_make_turn(bridge, request, &turn, err);
	if (r == 0)
		r = session_turn_begin(
			bridge->options.sessions, &turn->key, bridge_turn_ready, turn, &turn->session, err);
	if (r < 0)
		return turn ? bridge_take_fail_in(err, "session", r) : r;
	bridge->expected += turn->is_expected;
	bridge->bytes += turn->bytes;
	list_append(&bridge->turns[STAGE_QUEUED], turn);
	steal(&turn);
	return 0;
}
