/* perch trace: recordings, shown and played again. */
#include "cli/trace/trace_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"

enum { RECORD_LEAST = 1024 };

/* --line-limit; 0 = the default. */
static int trace_commands_read_limit(const char *text, size_t *ret_limit)
{
	*ret_limit = 0;
	if (!text)
		return 0;
	char *end;
	long long bytes = strtoll(text, &end, 10);
	if (end == text || *end || bytes < RECORD_LEAST || bytes > PERCH_JSON_TEXT_CEILING)
		return cli_usage_error(NULL, "--line-limit takes bytes, from %d to %d, not '%s'",
			RECORD_LEAST, PERCH_JSON_TEXT_CEILING, text);
	*ret_limit = (size_t)bytes;
	return 0;
}

int trace_words(const struct option_spec *specs, struct cli *cli, int argc, char **argv,
	const char *usage, struct trace_source *ret_source)
{
	struct option_list words = { 0 };
	int r = options_parse_words(specs, argc, argv, &words);
	if (r == 0 && words.count != 1)
		r = words.count ? cli_usage_error(usage, "'%s' is one word too many", words.items[1])
						: cli_usage_error(usage, "which recording?");
	if (r == 0)
		r = trace_commands_read_limit(cli->line_limit, &ret_source->record_max);
	if (r == 0)
		ret_source->file = words.items[0];
	free(words.items);
	return r;
}

int trace_read_source(const struct trace_source *source,
	int (*take)(void *data, const struct trace_record *record), void *data, perch_err *err)
{
	const struct trace_reader_options options = {
		.record_max = source->record_max,
		.take = take,
		.data = data,
	};
	if (strcmp(source->file, "-") == 0)
		return trace_read(STDIN_FILENO, &options, err);
	char shown[FILE_SHOWN_MAX];
	_cleanup_fd_ int fd = open(source->file, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno, "cannot open %s: %s", file_shown(source->file, shown),
			perch_strerror(-errno));
	return trace_read(fd, &options, err);
}

static const struct command *const verbs[] = {
	&trace_verb_show,
	&trace_verb_replay,
	NULL,
};

const struct command command_trace = {
	.name = "trace",
	.summary = "show what --trace has recorded; play it again",
	.help = "usage: perch trace WORD FILE\n"
			"\n"
			"perch --trace FILE run …, tool call and agent run record every line in both\n"
			"directions and what the host did about it.\n"
			"\n",
	.example = "perch --trace t.ndjson run deploy staging; perch trace show t.ndjson",
	.subcommands = verbs,
};
