/* aider with --message: it says what it is, then the reply, then what that has cost. A session is
 * the file of its history, beside those that aider itself keeps in the project. */
#include "translate.h"

#include "base/macros.h"

static bool aider_begin(struct translation *translation)
{
	if (!translation->session[0])
		translate_new_session(translation);
	const char *file =
		arena_join(&translation->arena, ".aider.perch.", translation->session, ".md", NULL);
	translate_add_joined(translation, "--chat-history-file=", file ? file : "");
	translate_add(translation, "--restore-chat-history");
	translate_add_joined(translation, "--message=", translation->message);
	return file;
}

/* What it prints before it answers; where a line begins so. */
static const char *const preamble[] = {
	"Aider v",
	"Main model:",
	"Model:",
	"Weak model:",
	"Editor model:",
	"Git repo:",
	"Repo-map:",
	"Added ",
	"Restored previous conversation history",
	"Use /help ",
	"Warning: Input is not a terminal",
	"https://aider.chat/",
	"You can skip this check",
	"Analytics have been",
	"Creating empty file",
	"───",
	"---",
};

static bool aider_is_preamble(struct str line)
{
	if (!str_trim(line).len)
		return true;
	for (size_t i = 0; i < COUNT(preamble); i++) {
		if (str_has_prefix(line, str_from(preamble[i])))
			return true;
	}
	return false;
}

static void aider_line(struct translation *translation, struct str line)
{
	if (!translation->is_in_reply && aider_is_preamble(line))
		return;
	translation->is_in_reply = true;
	if (str_has_prefix(line, STR("Tokens: ")))
		translate_use_words(translation, line, "sent", "received");
	else
		translate_say_line(translation, line);
}

const struct format format_aider = {
	.name = "aider",
	.begin = aider_begin,
	.line = aider_line,
};
