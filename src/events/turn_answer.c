/* The answer to a question of an agent, as a line of JSON. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "data/json.h"
#include "events/turn_request.h"

static int turn_answer_choose(
	const perch_json_value *value, size_t *chosen, size_t *count, perch_err *err)
{
	int64_t index = 0;
	if (perch_json_whole_int64(value, &index) < 0 || index < 0)
		return err_set(err, -EINVAL, "an option is given by its number, from 0");
	chosen[(*count)++] = (size_t)index;
	return 0;
}

static int turn_answer_read_value(
	const perch_json_value *value, struct arena *arena, struct turn_answer *given, perch_err *err)
{
	perch_answer *answer = &given->answer;
	given->type = perch_json_type_of(value);
	bool is_list = given->type == PERCH_JSON_ARRAY;
	if (given->type == PERCH_JSON_STRING) {
		answer->text = arena_dup(arena, json_str(value));
		answer->text_len = json_str(value).len;
		return answer->text ? 0 : err_no_memory(err);
	}
	if (given->type == PERCH_JSON_BOOL)
		return perch_json_bool(value, &answer->yes);
	if (!is_list && given->type != PERCH_JSON_NUMBER)
		return err_set(err, -EINVAL, "\"value\" is a text, true or false, or numbers of options");
	size_t *chosen = arena_alloc(arena, (perch_json_count(value) + 1) * sizeof(*chosen));
	if (!chosen)
		return err_no_memory(err);
	answer->chosen = chosen;
	if (!is_list)
		return turn_answer_choose(value, chosen, &answer->chosen_count, err);
	perch_json_iter iter = perch_json_iterate(value);
	int r = 0;
	for (const perch_json_value *item; r == 0 && (item = perch_json_next(&iter));)
		r = turn_answer_choose(item, chosen, &answer->chosen_count, err);
	return r;
}

int turn_answer_read(const perch_json_value *root, struct arena *arena,
	struct turn_answer *ret_answer, perch_err *err)
{
	const perch_json_value *turn = perch_json_get(root, "answer");
	const perch_json_value *value = perch_json_get(root, "value");
	struct turn_answer given = { .answer = PERCH_ANSWER_INIT };
	int64_t ask = 0;
	int r = 0;
	bool is_id = perch_json_type_of(turn) == PERCH_JSON_STRING && json_str(turn).len &&
		json_str(turn).len <= REQUEST_ID_MAX && !memchr(json_str(turn).data, 0, json_str(turn).len);
	given.answer.cancel = json_flag(root, "cancel");
	if (!is_id || perch_json_whole_int64(perch_json_get(root, "ask"), &ask) < 0 || ask < 1 ||
		!value == !given.answer.cancel)
		return err_set(err, -EINVAL,
			"\"answer\" is the id of a turn; beside it stand \"ask\", the number of the question, "
			"and \"value\", or \"cancel\":true");
	given.ask = (uint64_t)ask;
	if (value)
		r = turn_answer_read_value(value, arena, &given, err);
	given.turn = arena_dup(arena, json_str(turn));
	if (r == 0 && !given.turn)
		r = err_no_memory(err);
	if (r == 0)
		*ret_answer = given;
	return r;
}
