/* Plays the steps of a case. */
#include "conformance/case_player.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

enum { FILL_AT_ONCE = 64 * 1024 };

void player_init(
	struct player *player, const struct conformance_case *test, const struct variable *variables)
{
	*player = (struct player){ .test = test, .variables = variables };
}

void player_free(struct player *player)
{
	buf_free(&player->last);
	buf_free(&player->out);
	buf_free(&player->problem);
}

static const struct step *case_player_current(const struct player *player)
{
	return player->at < player->test->step_count ? &player->test->steps[player->at] : NULL;
}

static void case_player_advance(struct player *player)
{
	player->at++;
	player->filled = 0;
}

static void case_player_fail_of_memory(struct player *player)
{
	player->has_failed = true;
	player->is_out_of_memory = true;
}

/* "step 3: …"; more may be appended to the problem. */
static void PERCH_PRINTF(2, 3) case_player_fail(struct player *player, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	player->has_failed = true;
	buf_printf(&player->problem, "step %zu: %s", player->at + 1, text);
	player->is_out_of_memory = player->is_out_of_memory || player->problem.failed;
}

/* ---- doing ---------------------------------------------------------------------- */

/* `send` with a newline, `put` without. */
static struct act case_player_write_line(struct player *player, const struct step *step)
{
	buf_clear(&player->out);
	int r = pattern_expand(step->text, player->variables,
		(struct str){ player->last.data, player->last.len }, &player->out);
	if (r == 0 && step->kind == STEP_SEND)
		r = buf_append_char(&player->out, '\n');
	if (r < 0) {
		case_player_fail_of_memory(player);
		return (struct act){ .kind = ACT_DONE };
	}
	case_player_advance(player);
	return (struct act){ ACT_WRITE, { player->out.data, player->out.len }, 0 };
}

static struct act case_player_write_fill(struct player *player, const struct step *step)
{
	int64_t left = step->number - player->filled;
	size_t len = left < FILL_AT_ONCE ? (size_t)left : FILL_AT_ONCE;
	buf_clear(&player->out);
	for (size_t i = 0; i < len; i++)
		buf_append_char(&player->out, 'x');
	if (player->out.failed) {
		case_player_fail_of_memory(player);
		return (struct act){ .kind = ACT_DONE };
	}
	if (left <= FILL_AT_ONCE)
		case_player_advance(player);
	else
		player->filled += FILL_AT_ONCE;
	return (struct act){ ACT_WRITE, { player->out.data, len }, 0 };
}

static struct act case_player_do_simply(struct player *player, const struct step *step)
{
	static const enum act_kind kinds[] = {
		[STEP_BYTES] = ACT_WRITE,
		[STEP_SAY] = ACT_SAY,
		[STEP_SIGNAL] = ACT_SIGNAL,
		[STEP_IGNORE] = ACT_IGNORE,
		[STEP_HANG] = ACT_HANG,
		[STEP_EXIT] = ACT_EXIT,
		[STEP_DIE] = ACT_DIE,
	};
	enum act_kind kind = kinds[step->kind];
	if (step->kind == STEP_CLOSE)
		kind = step->number ? ACT_CLOSE_STDOUT : ACT_CLOSE_STDIN;
	case_player_advance(player);
	return (struct act){ kind, step->text, (int)step->number };
}

struct act player_next(struct player *player)
{
	const struct step *step = case_player_current(player);
	if (player->has_failed)
		return (struct act){ .kind = ACT_DONE };
	if (player->has_answer) {
		player->has_answer = false;
		return (struct act){ ACT_WRITE, { player->out.data, player->out.len }, 0 };
	}
	if (!step)
		return (struct act){ .kind = ACT_DONE };
	switch (step->kind) {
	case STEP_SEND:
	case STEP_PUT:
		return case_player_write_line(player, step);
	case STEP_FILL:
		return case_player_write_fill(player, step);
	case STEP_READ:
	case STEP_AWAIT:
	case STEP_PASS:
	case STEP_EOF:
	case STEP_DRAIN:
		return (struct act){ .kind = ACT_WAIT };
	case STEP_SERVE:
		if (!step->number || player->filled < step->number)
			return (struct act){ .kind = ACT_WAIT };
		case_player_advance(player);
		return player_next(player);
	default:
		return case_player_do_simply(player, step);
	}
}

/* ---- hearing -------------------------------------------------------------------- */

/* Other lines may come before the one that is waited for; requests among them are answered. */
static void case_player_pass_over(struct player *player, struct str line)
{
	if (!player->has_answer)
		buf_clear(&player->out);
	int r = answer_acp_request(line, &player->out);
	player->has_answer = player->out.len > 0;
	if (r < 0)
		case_player_fail_of_memory(player);
}

static bool case_player_is_waiting(const struct step *step)
{
	return step && (step->kind == STEP_READ || step->kind == STEP_AWAIT || step->kind == STEP_PASS);
}

static void case_player_hear_wanted(struct player *player, const struct step *step, struct str line)
{
	struct buf pattern = { 0 };
	struct buf why = { 0 };
	int r = pattern_expand(step->text, player->variables,
		(struct str){ player->last.data, player->last.len }, &pattern);
	if (r == 0)
		r = pattern_match((struct str){ pattern.data, pattern.len }, line, &why);
	if (step->kind == STEP_READ || (step->kind == STEP_AWAIT && r == 1))
		buf_clear(&player->last);
	if (r == 1 && step->kind != STEP_PASS && buf_append(&player->last, line.data, line.len) < 0)
		r = -ENOMEM;
	if (r == -ENOMEM) {
		case_player_fail_of_memory(player);
	} else if (r == 1) {
		case_player_advance(player);
	} else if (step->kind != STEP_READ) {
		case_player_pass_over(player, line);
	} else {
		case_player_fail(player, "a line came that is wrong here: ");
		buf_append(&player->problem, why.data, why.len);
	}
	buf_free(&pattern);
	buf_free(&why);
}

static void case_player_hear_request(
	struct player *player, const struct step *step, struct str line)
{
	if (!player->has_answer)
		buf_clear(&player->out);
	int r = answer_request(step->manner, line, &player->out);
	player->has_answer = player->out.len > 0;
	player->filled += r > 0;
	if (r < 0)
		case_player_fail_of_memory(player);
}

static void case_player_hear_unwanted(struct player *player, struct str line)
{
	case_player_fail(player, "nothing more should come, but this did: ");
	buf_append(&player->problem, line.data, (size_t)utf8_quoted(line));
}

void player_hear(struct player *player, struct str line)
{
	const struct step *step = case_player_current(player);
	if (player->has_failed)
		return;
	if (case_player_is_waiting(step))
		case_player_hear_wanted(player, step, line);
	else if (step && step->kind == STEP_SERVE)
		case_player_hear_request(player, step, line);
	else if (!step || step->kind == STEP_EOF)
		case_player_hear_unwanted(player, line);
}

void player_hear_end(struct player *player)
{
	const struct step *step = case_player_current(player);
	if (player->has_failed || !step)
		return;
	if (case_player_is_waiting(step)) {
		case_player_fail(player, "the other side has ended, where this line should come: ");
		buf_append(&player->problem, step->text.data, (size_t)utf8_quoted(step->text));
		return;
	}
	case_player_advance(player);
	if (step->kind == STEP_EOF)
		return;
	player->ended_early = case_player_current(player) != NULL;
	player->at = player->test->step_count;
}
