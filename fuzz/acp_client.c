/* ACP's client side against any agent: every message that it sends is one line of valid JSON, a
 * prompt ends once, and in the end nothing is left. A line that begins with '!' is ours: its
 * letters are what we do. */
#include "fuzz.h"

#include <string.h>

#include "wire/acp_client.h"
#include "wire/acp_form.h"

static struct {
	struct acp_client *client;
	struct acp_talk *talk;
	perch_json *json;
	uint64_t number;
	struct acp_form *form;
	uint64_t form_number;
	bool is_busy;
	struct buf kept; /* lines of the talk while it is held */
} world;

static void fuzz_send(void *data, struct str line)
{
	const perch_json_value *root;
	(void)data;
	check(line.data[line.len] == '\n' && !memchr(line.data, '\n', line.len));
	check(perch_json_parse(world.json, line.data, line.len, &root, NULL) == 0);
	check(perch_json_is(perch_json_get(root, "jsonrpc"), "2.0"));
}

static void fuzz_said(void *data, const struct acp_said *said)
{
	(void)data;
	if (said->kind == ACP_SAID_PERMISSION) {
		check(said->wanted->option_count > 0);
		world.number = said->wanted->number;
	}
	if (said->kind == ACP_SAID_FORM) {
		acp_form_free(world.form);
		world.form = NULL;
		world.form_number = said->number;
		if (acp_form_new(said->value, STR("bot"), &world.form, NULL) < 0)
			acp_talk_refuse(said->talk, said->number, -32602, STR("no"));
	}
	if (said->kind == ACP_SAID_ASKED)
		world.number = said->number;
	if (said->kind == ACP_SAID_TEXT || said->kind == ACP_SAID_STOPPED)
		check(world.is_busy);
	if (said->kind == ACP_SAID_STOPPED || said->kind == ACP_SAID_ERROR)
		world.is_busy = false;
}

static void fuzz_keep(void *data, struct acp_talk *talk, struct str line)
{
	(void)data;
	check(talk == world.talk);
	buf_append(&world.kept, line.data, line.len);
	buf_append_char(&world.kept, '\n');
}

/* What was kept is given again, and kept no more. */
static void fuzz_let_go(void)
{
	struct str rest = { world.kept.data, world.kept.len };
	while (rest.len)
		acp_talk_again(world.talk, str_cut(&rest, '\n'));
	acp_talk_hold(world.talk, false);
	buf_free(&world.kept);
}

/* Whatever the answers are, the result is an object, and the questions end. */
static void fuzz_fill(char letter)
{
	static const char *const texts[] = { "", "7", "-1.5", "a@b", "2026-01-31", "x:y" };
	const size_t chosen[] = { (size_t)(letter & 3), (size_t)(letter & 3) + 1 };
	struct mcp_question question;
	const struct mcp_answer answer = {
		.action = letter == '9' ? MCP_DECLINED : MCP_ANSWERED,
		.text = str_from(texts[letter % 6]),
		.yes = letter & 1,
		.chosen = chosen,
		.chosen_count = 1 + (letter >= '5'),
	};
	if (!world.form || !acp_form_question(world.form, &question))
		return;
	check(question.message.len > 0);
	acp_form_take(world.form, &answer, NULL);
	if (acp_form_question(world.form, &question))
		return;
	struct buf result = { 0 };
	acp_form_write(world.form, &result);
	acp_form_free(world.form);
	world.form = NULL;
	if (world.talk)
		acp_talk_answer(world.talk, world.form_number, (struct str){ result.data, result.len });
	buf_free(&result);
}

static void fuzz_act(char letter)
{
	if (letter >= '0' && letter <= '9')
		fuzz_fill(letter);
	const struct acp_talk_options options = { .cwd = STR("/"),
		.id = letter == 'l' ? STR("s") : STR("") };
	if (!world.talk && (letter == 'o' || letter == 'l'))
		acp_talk_open(world.client, &options, &world.talk);
	if (!world.talk)
		return;
	if (letter == 'p')
		world.is_busy = acp_talk_prompt(world.talk, STR("[]")) == 0 || world.is_busy;
	else if (letter == 'c')
		acp_talk_cancel(world.talk);
	else if (letter == 'y')
		acp_talk_permit(world.talk, world.number, STR("y"));
	else if (letter == 'a')
		acp_talk_answer(world.talk, world.number, STR("{}"));
	else if (letter == 'n')
		acp_talk_refuse(world.talk, world.number, -1, STR("no"));
	else if (letter == 'h')
		acp_talk_hold(world.talk, true);
	else if (letter == 'g')
		fuzz_let_go();
	if (letter != 'x')
		return;
	buf_free(&world.kept);
	acp_talk_close(world.talk);
	world.talk = NULL;
	world.is_busy = false;
}

static const struct acp_client_table fuzz_table = {
	.send = fuzz_send, .said = fuzz_said, .keep = fuzz_keep
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = { (const char *)data, size };
	memset(&world, 0, sizeof(world));
	check(perch_json_new(NULL, &world.json) == 0);
	const struct acp_client_options options = { STR("perch"), STR("1"), true, true, true };
	check(acp_client_new(&options, &fuzz_table, NULL, &world.client) == 0);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (!str_has_prefix(line, STR("!")))
			acp_client_line(world.client, line, false);
		for (size_t i = 1; i < line.len && line.data[0] == '!'; i++)
			fuzz_act(line.data[i]);
	}
	buf_free(&world.kept);
	acp_form_free(world.form);
	acp_client_free(world.client);
	perch_json_free(world.json);
	return 0;
}
