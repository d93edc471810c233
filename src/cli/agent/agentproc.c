/* perch, called by the name agentproc: that tool's command line and output. It
 * stores no sessions: it says the id, and the caller gives that back. */
#include <string.h>

#include "base/cleanup.h"
#include "cli/agent/agent_commands.h"
#include "data/json.h"

static const char help[] =
	"usage: agentproc --profile FILE (--prompt TEXT | --stdin) [OPTIONS]\n"
	"\n"
	"One turn of an agent. The body of the reply on stdout; on stderr each partial,\n"
	"and then agentproc:session:ID and, where it failed, agentproc:error:TEXT. The\n"
	"exit code is the turn's.\n"
	"\n"
	"  -p, --profile FILE       how the agent is started\n"
	"  --prompt TEXT, --stdin   the message\n"
	"  --session ID             go on where that one ended; without, a new one begins\n"
	"  --session-name NAME      what the agent is told it is called (default)\n"
	"  --cwd DIR, --env NAME=VALUE, --timeout SECS   instead of the profile's\n"
	"  --no-stream              the body alone, no partials\n"
	"  --verbose, --quiet       with the agent's stderr; without the partials\n"
	"\n"
	"example:\n"
	"  agentproc --profile bot.yaml --prompt 'What is new?'\n";

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

void agentproc_partial(const struct cli *cli, struct str text, struct str raw)
{
	if (cli->quiet)
		return;
	if (raw.len) {
		agentproc_print_line("", raw);
		return;
	}
	_cleanup_(buf_free) struct buf json = { 0 };
	struct perch_json_writer writer = json_writer_on(&json);
	perch_json_write_string_n(&writer, text.len ? text.data : "", text.len);
	agentproc_print_line("AGENT_PARTIAL:", (struct str){ json.data, json.len });
}

void agentproc_error(struct buf *error, struct str text)
{
	if (!error->len)
		buf_append(error, text.data, text.len);
}

void agentproc_end(const perch_agent_end *end, const struct buf *error)
{
	if (end->session_id[0])
		agentproc_print_line("agentproc:session:", str_from(end->session_id));
	if (error->len)
		agentproc_print_line("agentproc:error:", (struct str){ error->data, error->len });
}

int cli_agentproc(int argc, char **argv)
{
	struct cli cli = { .color = "auto", .is_agentproc = true };
	const char *first = argc > 1 ? argv[1] : "--help";
	if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
		return fputs(help, stdout) < 0;
	if (strcmp(first, "--version") == 0)
		return printf("agentproc 0.4 (perch %s)\n", perch_version()) < 0;
	return agent_run_command.run(&cli, argc, argv);
}
