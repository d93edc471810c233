/* The options of one turn, as they are given on a command line. */
#include "base/clock.h"
#include "cli/agent/agent_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/macros.h"

#define SECONDS_MAX 1e9
#define LIMIT_MIN 1024.0
#define LIMIT_MAX (200.0 * 1024 * 1024)

/* Whether there is a text on stdin; a terminal, or nothing at all, is none. */
static bool agent_words_are_piped(void)
{
	struct stat info;
	return fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode));
}

/* ---- reading them ------------------------------------------------------------ */

static int agent_words_check_rest(const struct agent_words *words)
{
	if (!words->profile)
		return cli_usage_error(
			"write its name or its file behind the command", "which agent? --profile is missing");
	if (words->session && words->is_new)
		return cli_usage_error(NULL, "--session and --new say different things");
	for (size_t i = 0; i < words->env.count; i++) {
		const char *equals = strchr(words->env.items[i], '=');
		if (!equals || equals == words->env.items[i])
			return cli_usage_error("write: --env NAME=VALUE",
				"--env needs a name and a value, not '%s'", words->env.items[i]);
	}
	return 0;
}

static int agent_words_check(const struct agent_words *words, const struct cli *cli)
{
	const char *help = cli->is_agentproc
		? "write: --prompt TEXT, or --stdin"
		: "write it behind the agent, in quotes: perch agent run bot 'hello'";
	if (cli->is_agentproc && !words->profile)
		return cli_usage_error("write: agentproc --profile FILE", "--profile is missing");
	if (words->profile && !words->prompt == !words->from_stdin)
		return cli_usage_error(help,
			words->prompt ? "--prompt and --stdin cannot both be the message"
						  : "what is the message? --prompt is missing");
	return agent_words_check_rest(words);
}
/* What stands without an option: the profile and the message, where no option gives them. */
static int agent_words_place(
	struct agent_words *words, const struct option_list *given, const char *command)
{
	size_t i = 0;
	if (i < given->count && !words->profile)
		words->profile = given->items[i++];
	if (i < given->count && !words->prompt && !words->from_stdin)
		words->prompt = given->items[i++];
	if (i < given->count)
		return cli_usage_error("a message of several words needs quotes", "%s takes no '%s'",
			command, given->items[i]);
	if (!words->prompt && !words->from_stdin)
		words->from_stdin = agent_words_are_piped();
	return 0;
}

static int agent_words_parse(
	struct agent_words *words, const struct option_spec *specs, int argc, char **argv)
{
	struct option_list given = { 0 };
	int r = options_parse_words(specs, argc, argv, &given);
	if (r == 0)
		r = agent_words_place(words, &given, argv[0]);
	free(given.items);
	return r;
}

static int agent_words_check_thinking(const char *word)
{
	bool is_known = !word || strcmp(word, "show") == 0 || strcmp(word, "fold") == 0 ||
		strcmp(word, "hide") == 0;
	return is_known ? 0 : cli_usage_error(NULL, "--thinking is show, fold or hide, not '%s'", word);
}

/* The options that run and chat have. */
#define AGENT_WORDS_SHARED(words, cli)                                                           \
	{ "profile", 'p', OPTION_TEXT, &(words)->profile },                                          \
		{ "protocol", 0, OPTION_TEXT, &(words)->protocol },                                      \
		{ "session", 0, OPTION_TEXT, &(words)->session },                                        \
		{ "session-name", 0, OPTION_TEXT, &(words)->session_name },                              \
		{ "new", 0, OPTION_FLAG, &(words)->is_new }, { "from", 0, OPTION_TEXT, &(words)->from }, \
		{ "image", 0, OPTION_LIST, &(words)->images },                                           \
		{ "file", 0, OPTION_LIST, &(words)->files },                                             \
		{ "audio", 0, OPTION_LIST, &(words)->audios },                                           \
		{ "video", 0, OPTION_LIST, &(words)->videos }, { "cwd", 0, OPTION_TEXT, &(words)->cwd }, \
		{ "env", 0, OPTION_LIST, &(words)->env },                                                \
		{ "timeout", 0, OPTION_TEXT, &(words)->timeout },                                        \
		{ "line-limit", 0, OPTION_TEXT, &(words)->line_limit },                                  \
		{ "output-limit", 0, OPTION_TEXT, &(words)->output_limit },                              \
		{ "no-stream", 0, OPTION_FLAG, &(words)->no_stream },                                    \
		{ "no-store", 0, OPTION_FLAG, &(words)->no_store },                                      \
		{ "allow-shell-message", 0, OPTION_FLAG, &(words)->allow_shell_message },                \
		{ "sandbox", 0, OPTION_MAYBE, &(cli)->sandbox },                                         \
		{ "thinking", 0, OPTION_TEXT, &(words)->thinking },                                      \
		{ "quiet", 'q', OPTION_FLAG, &(cli)->quiet },                                            \
		{ "verbose", 'v', OPTION_FLAG, &(cli)->verbose },                                        \
		{ "trace", 0, OPTION_TEXT, &(cli)->trace },                                              \
	{                                                                                            \
		"trace-secrets", 0, OPTION_FLAG, &(cli)->trace_secrets                                   \
	}

static int agent_words_check_shared(const struct agent_words *words, const struct cli *cli)
{
	int r = agent_words_check_thinking(words->thinking);
	if (r == 0)
		r = cli_check_sandbox(cli);
	return r ? r : agent_check_protocol(words->protocol);
}

int agent_words_read_chat(struct agent_words *words, struct cli *cli, int argc, char **argv)
{
	const struct option_spec specs[] = {
		AGENT_WORDS_SHARED(words, cli),
		{ "plain", 0, OPTION_FLAG, &words->is_plain },
		{ 0 },
	};
	struct option_list given = { 0 };
	int r = options_parse_words(specs, argc, argv, &given);
	size_t i = 0;
	if (r == 0 && i < given.count && !words->profile)
		words->profile = given.items[i++];
	if (r == 0 && i < given.count)
		r = cli_usage_error("see: perch agent chat --help", "chat takes no '%s'", given.items[i]);
	free(given.items);
	if (r == 0)
		r = agent_words_check_shared(words, cli);
	if (r == 0)
		r = agent_words_check_rest(words);
	return r;
}

int agent_words_read(struct agent_words *words, struct cli *cli, int argc, char **argv)
{
	if (cli->is_agentproc) {
		int r = agentproc_read(words, cli, argc, argv);
		return r ? r : agent_words_check(words, cli);
	}
	const struct option_spec specs[] = {
		{ "prompt", 0, OPTION_TEXT, &words->prompt },
		{ "stdin", 0, OPTION_FLAG, &words->from_stdin },
		{ "json", 0, OPTION_FLAG, &cli->json },
		AGENT_WORDS_SHARED(words, cli),
		{ 0 },
	};
	int r = agent_words_parse(words, specs, argc, argv);
	if (r == 0)
		r = agent_words_check_shared(words, cli);
	return r ? r : agent_words_check(words, cli);
}

void agent_words_free(struct agent_words *words)
{
	free(words->images.items);
	free(words->files.items);
	free(words->audios.items);
	free(words->videos.items);
	free(words->env.items);
}

/* ---- what they mean ------------------------------------------------------------ */

static int agent_words_read_number(const char *option, const char *text, double lowest,
	double highest, double *ret_number, perch_err *err)
{
	char *end;
	double number = strtod(text, &end); /* the command sets no locale: a '.' is a '.' */
	if (end == text || *end || !(number >= lowest && number <= highest))
		return err_set(err, -EINVAL, "%s must be a number from %g to %g, not '%.64s'", option,
			lowest, highest, text);
	*ret_number = number;
	return 0;
}

static int agent_words_read_limit(
	const char *option, const char *text, size_t *ret_limit, perch_err *err)
{
	double number = 0;
	int r = text ? agent_words_read_number(option, text, LIMIT_MIN, LIMIT_MAX, &number, err) : 0;
	*ret_limit = (size_t)number;
	return r;
}

/* All of stdin, without the newline that ends it; a text that is too long for a message is refused
 * later. */
static int agent_words_read_message(struct arena *arena, struct str *ret_message, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = fd_read_all(STDIN_FILENO, 0, PERCH_AGENT_MESSAGE_MAX, &text);
	if (r < 0 && r != -EFBIG)
		return err_set(err, -EIO, "the message cannot be read from stdin: %s", perch_strerror(r));
	if (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	const char *kept = arena_dup(arena, (struct str){ text.data, text.len });
	*ret_message = (struct str){ kept, text.len };
	return kept ? 0 : err_no_memory(err);
}

/* The last part of a URL, without query and fragment; a file may have these characters in its
 * name. */
static const char *agent_words_name_of(const char *url, struct arena *arena)
{
	size_t len = strncmp(url, "file://", 7) == 0 ? strlen(url) : strcspn(url, "?#");
	const char *slash = len ? memrchr(url, '/', len) : NULL;
	size_t start = slash ? (size_t)(slash - url) + 1 : 0;
	return arena_dup(arena, (struct str){ url + start, len - start });
}

static int agent_words_apply_attachments(const struct agent_words *words, struct arena *arena,
	perch_job_request *request, perch_err *err)
{
	const struct option_list *const lists[] = {
		[PERCH_ATTACHMENT_IMAGE] = &words->images,
		[PERCH_ATTACHMENT_FILE] = &words->files,
		[PERCH_ATTACHMENT_AUDIO] = &words->audios,
		[PERCH_ATTACHMENT_VIDEO] = &words->videos,
	};
	size_t total =
		words->images.count + words->files.count + words->audios.count + words->videos.count;
	perch_attachment *list = arena_alloc(arena, (total + 1) * sizeof(*list));
	if (!list)
		return err_no_memory(err);
	size_t count = 0;
	for (perch_attachment_kind kind = 0; kind < COUNT(lists); kind++) {
		for (size_t i = 0; i < lists[kind]->count; i++) {
			const char *url = lists[kind]->items[i];
			list[count] = (perch_attachment){ kind, url, agent_words_name_of(url, arena) };
			if (!list[count++].name)
				return err_no_memory(err);
		}
	}
	request->attachments = list;
	request->attachment_count = count;
	return 0;
}

static int agent_words_apply_env(const struct agent_words *words, struct arena *arena,
	perch_job_request *request, perch_err *err)
{
	const char **env = arena_alloc(arena, (words->env.count + 1) * sizeof(*env));
	if (!env)
		return err_no_memory(err);
	if (words->env.count)
		memcpy(env, words->env.items, words->env.count * sizeof(*env));
	env[words->env.count] = NULL;
	request->env = env;
	return 0;
}

static int agent_words_apply_numbers(
	const struct agent_words *words, perch_agent_turn_options *options, perch_err *err)
{
	double seconds = 0;
	int r = 0;
	if (words->timeout)
		r = agent_words_read_number("--timeout", words->timeout, 0, SECONDS_MAX, &seconds, err);
	options->has_timeout = words->timeout != NULL;
	options->timeout_ns = clock_from_seconds(seconds);
	if (r == 0)
		r = agent_words_read_limit("--line-limit", words->line_limit, &options->line_limit, err);
	return r
		? r
		: agent_words_read_limit("--output-limit", words->output_limit, &options->total_limit, err);
}

int agent_words_apply(const struct agent_words *words, struct arena *arena,
	perch_job_request *request, perch_agent_turn_options *turn, perch_err *err)
{
	struct str message = str_from(words->prompt);
	request->kind = PERCH_ENTRY_AGENT;
	request->profile = words->profile;
	request->protocol = words->protocol;
	request->session = words->session_name;
	request->from = words->from;
	request->is_new = words->is_new;
	request->cwd = words->cwd;
	request->no_stream = words->no_stream;
	request->allow_shell_message = words->allow_shell_message;
	request->turn = turn;
	turn->session_id = words->session;
	int r = agent_words_apply_numbers(words, turn, err);
	if (r == 0)
		r = agent_words_apply_attachments(words, arena, request, err);
	if (r == 0)
		r = agent_words_apply_env(words, arena, request, err);
	if (r == 0 && words->from_stdin)
		r = agent_words_read_message(arena, &message, err);
	request->message = message.len ? message.data : "";
	request->message_len = message.len;
	return r;
}
