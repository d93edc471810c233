/* The options of one turn, as they are given on a command line. */
#ifndef CLI_AGENT_AGENT_WORDS_H
#define CLI_AGENT_AGENT_WORDS_H

#include "agent/turn.h"
#include "base/arena.h"
#include "cli/cli.h"

struct agent_words {
	const char *profile;
	const char *prompt;
	bool from_stdin;
	const char *session;
	const char *session_name;
	bool is_new;
	const char *from;
	struct option_list images, files, audios, videos;
	const char *cwd;
	struct option_list env;
	const char *timeout;
	const char *line_limit;
	const char *output_limit;
	bool no_stream;
	bool no_store;
	bool allow_shell_message;
};

/* Reads them, and what goes for every command (--json, -v, -q, --trace …). Returns
 * 0, or an exit code after having said what is wrong. */
int agent_words_read(struct agent_words *words, struct cli *cli, int argc, char **argv);
void agent_words_free(struct agent_words *words);

/* Fills in the options of the turn: message, attachments, environment, limits.
 * Texts live in the arena and in the words. Returns 0; -EINVAL when the words are wrong,
 * other errors when it is not their fault. */
int agent_words_apply(const struct agent_words *words, const struct agent_profile *profile,
	struct arena *arena, struct agent_turn_options *options, perch_err *err);

#endif
