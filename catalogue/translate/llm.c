/* llm: it prints the reply as text. Which conversation that was stands in its log alone. */
#include "translate.h"

#include "data/json.h"

static bool llm_begin(struct translation *translation)
{
	if (translation->session[0])
		translate_add_joined(translation, "--cid=", translation->session);
	translate_add(translation, "--");
	translate_add(translation, translation->message);
	return true;
}

static void llm_line(struct translation *translation, struct str line)
{
	translate_say_line(translation, line);
}

/* All lines of the log are one document. */
static void llm_log_line(struct translation *translation, struct str line)
{
	buf_append(&translation->said, line.data, line.len);
}

static const struct format llm_log = { .name = "llm-log", .line = llm_log_line };

/* The newest entry with this very message: another llm may run beside us. */
static void llm_find_conversation(struct translation *translation)
{
	struct str log = { translation->said.data, translation->said.len };
	perch_json_iter at = perch_json_iterate(translate_parse(translation, log));
	const perch_json_value *entry;
	while ((entry = perch_json_next(&at))) {
		if (!str_is(translate_text(entry, "prompt"), translation->message))
			continue;
		translate_session(translation, translate_text(entry, "conversation_id"));
		return;
	}
}

/* With --usage it says that on stderr, as "Token usage: 1,010 input, 20 output". */
static void llm_count(struct translation *translation)
{
	struct str rest = { translation->gossip.data, translation->gossip.len };
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (str_has_prefix(line, STR("Token usage: ")))
			translate_use_words(translation, line, "input", "output");
	}
}

static void llm_end(struct translation *translation, int status)
{
	llm_count(translation);
	if (status != 0 || translation->session[0])
		return;
	translation->argc = 1; /* the program stays */
	translate_add(translation, "logs");
	translate_add(translation, "list");
	translate_add(translation, "--count=5");
	translate_add(translation, "--json");
	buf_clear(&translation->said);
	translation->format = &llm_log;
	if (translate_run(translation) == 0)
		llm_find_conversation(translation);
}

const struct format format_llm = {
	.name = "llm",
	.begin = llm_begin,
	.line = llm_line,
	.end = llm_end,
};
