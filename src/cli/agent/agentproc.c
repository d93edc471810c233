/* perch, called by the name agentproc: that tool's command line and output. It
 * stores no sessions: it says the id, and the caller gives that back. */
#include <string.h>

#include "agent/dialect.h"
#include "base/cleanup.h"
#include "cli/agent/agent_run.h"
#include "data/json.h"

/* What that tool ends with when its words are wrong. */
enum { AGENTPROC_USAGE = 2 };

static const char help[] =
	"usage: agentproc --profile FILE (--prompt TEXT | --stdin) [OPTIONS]\n"
	"       agentproc hub list|show|run|install …\n"
	"\n"
	"One turn of an agent. The body of the reply on stdout; on stderr what the agent\n"
	"says on the way, as its protocol has it: events in JSON (0.4), or lines\n"
	"AGENT_PARTIAL:, AGENT_SESSION:, AGENT_ERROR: (0.1); and at the end\n"
	"agentproc:session:ID and, where it failed, agentproc:error:TEXT. A profile\n"
	"without `protocol` speaks 0.4.\n"
	"\n"
	"  -p, --profile FILE       how the agent is started\n"
	"  --prompt TEXT, --stdin   the message\n"
	"  --session ID             go on where that one ended; without, a new one begins\n"
	"  --session-name NAME      what the agent is told it is called (default)\n"
	"  --image-url URL, --file-url URL   what is attached\n"
	"  --cwd DIR                relative: from the profile's directory\n"
	"  --env NAME=VALUE, --timeout SECS   instead of the profile's\n"
	"  --protocol 0.1|0.4|acp   how the agent speaks, whatever the profile says\n"
	"  --no-stream              the body alone, no partials\n"
	"  --verbose, --quiet       with the agent's stderr; without what is said on the way\n"
	"  --raw                    the body alone, nothing on stderr\n"
	"\n"
	"Different from the tool of that name: the exit code is the turn's (the agent's\n"
	"own, 124 for a timeout, 127 no such command, 125 profile or host), not 1 for\n"
	"all of them. agentproc hub --help tells of the hub.\n"
	"\n"
	"example:\n"
	"  agentproc --profile bot.yaml --prompt 'What is new?'\n";

/* ---- what is said ---------------------------------------------------------------- */

/* Line breaks are escaped, so that a line stays a line. */
static void agentproc_print_line(const char *label, struct str text)
{
	_cleanup_(buf_free) struct buf line = { 0 };
	buf_append_text(&line, label);
	for (size_t i = 0; i < text.len; i++)
		buf_append_char(&line, text.data[i] == '\n' || text.data[i] == '\r' ? ' ' : text.data[i]);
	buf_append_char(&line, '\n');
	if (!line.failed)
		cli_pass(stderr, (struct str){ line.data, line.len });
}

static void agentproc_print_string(const char *label, struct str text)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	struct perch_json_writer writer = json_writer_on(&json);
	perch_json_write_string_n(&writer, text.len ? text.data : "", text.len);
	agentproc_print_line(label, (struct str){ json.data, json.len });
}

static void agentproc_print_event(const char *type, const char *member, struct str text)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	struct perch_json_writer writer = json_writer_on(&json);
	perch_json_begin_object(&writer);
	json_write_text(&writer, "type", str_from(type));
	json_write_text(&writer, member, text);
	perch_json_end_object(&writer);
	agentproc_print_line("", (struct str){ json.data, json.len });
}

static bool agentproc_is_silent(const struct cli *cli)
{
	return cli->quiet || cli->is_raw;
}

void agentproc_partial(
	const struct cli *cli, enum agent_dialect dialect, struct str text, struct str raw)
{
	if (agentproc_is_silent(cli))
		return;
	if (dialect == AGENT_0_4)
		agentproc_print_line("", raw);
	else
		agentproc_print_string("AGENT_PARTIAL:", text);
}

void agentproc_session(const struct cli *cli, enum agent_dialect dialect, struct str id)
{
	if (agentproc_is_silent(cli))
		return;
	if (dialect == AGENT_0_4)
		agentproc_print_event("session", "id", id);
	else
		agentproc_print_line("AGENT_SESSION:", id);
}

void agentproc_error(const struct cli *cli, enum agent_dialect dialect, struct str text)
{
	if (agentproc_is_silent(cli))
		return;
	if (dialect == AGENT_0_4)
		agentproc_print_event("error", "message", text);
	else
		agentproc_print_string("AGENT_ERROR:", text);
}

void agentproc_keep_error(struct buf *error, struct str text)
{
	if (!error->len)
		buf_append(error, text.data, text.len);
}

void agentproc_end(const struct cli *cli, const perch_agent_end *end, const struct buf *error)
{
	if (cli->is_raw)
		return;
	if (end->session_id[0])
		agentproc_print_line("agentproc:session:", str_from(end->session_id));
	if (error->len)
		agentproc_print_line("agentproc:error:", (struct str){ error->data, error->len });
}

/* ---- the words --------------------------------------------------------------------- */

int agentproc_read(struct agent_words *words, struct cli *cli, int argc, char **argv)
{
	const struct option_spec specs[] = {
		{ "profile", 'p', OPTION_TEXT, &words->profile },
		{ "prompt", 0, OPTION_TEXT, &words->prompt },
		{ "stdin", 0, OPTION_FLAG, &words->from_stdin },
		{ "session", 0, OPTION_TEXT, &words->session },
		{ "session-name", 0, OPTION_TEXT, &words->session_name },
		{ "image-url", 0, OPTION_LIST, &words->images },
		{ "file-url", 0, OPTION_LIST, &words->files },
		{ "cwd", 0, OPTION_TEXT, &words->cwd },
		{ "env", 0, OPTION_LIST, &words->env },
		{ "timeout", 0, OPTION_TEXT, &words->timeout },
		{ "protocol", 0, OPTION_TEXT, &words->protocol },
		{ "no-stream", 0, OPTION_FLAG, &words->no_stream },
		{ "verbose", 'v', OPTION_FLAG, &cli->verbose },
		{ "quiet", 'q', OPTION_FLAG, &cli->quiet },
		{ "raw", 0, OPTION_FLAG, &cli->is_raw },
		{ 0 },
	};
	int at = 1;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error(
			"the message stands behind --prompt", "agentproc takes no '%s'", argv[at]);
	words->no_store = true;
	return r ? r : agent_check_protocol(words->protocol);
}

void agentproc_settle(
	struct agent_words *words, struct arena *arena, enum agent_dialect *ret_dialect)
{
	struct agent_profile profile;
	if (agent_profile_read(words->profile, arena, &profile, NULL) < 0)
		return;
	if (!words->protocol && profile.evidence != DIALECT_SAID)
		words->protocol = dialect_0_4.version;
	*ret_dialect = profile.dialect;
	if (words->protocol)
		agent_dialect_find(words->protocol, ret_dialect);
	const char *cwd = words->cwd;
	if (cwd && cwd[0] != '/')
		cwd = arena_join(arena, profile.directory, "/", cwd, NULL);
	words->cwd = cwd ? cwd : words->cwd;
}

int cli_agentproc(int argc, char **argv)
{
	struct cli cli = { .color = "auto", .is_agentproc = true };
	const char *first = argc > 1 ? argv[1] : "";
	cli_speak_as("agentproc", AGENTPROC_USAGE);
	if (argc < 2)
		return fputs(help, stderr) < 0 ? EXIT_HOST : AGENTPROC_USAGE;
	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
		return fputs(help, stdout) < 0;
	if (strcmp(first, "--version") == 0)
		return printf("agentproc 0.4 (perch %s)\n", perch_version()) < 0;
	if (strcmp(first, "hub") == 0)
		return agentproc_hub(&cli, argc - 1, argv + 1);
	return agent_run_command.run(&cli, argc, argv);
}
