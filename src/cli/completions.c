/* perch completions: scripts by which a shell completes our words. They contain no words
 * themselves: they ask `perch __complete`, so that a new command needs no new script. */
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/cli.h"

/* %q: a name that contains shell code must not be run when the user presses Enter. */
static const char bash_script[] =
	"# perch completions bash\n"
	"_perch() {\n"
	"    local word\n"
	"    COMPREPLY=()\n"
	"    while IFS=$'\\t' read -r word _; do\n"
	"        printf -v word %q \"$word\"\n"
	"        COMPREPLY+=(\"$word\")\n"
	"    done < <(\"${COMP_WORDS[0]}\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
	"2>/dev/null)\n"
	"}\n"
	"complete -o bashdefault -o default -F _perch perch\n";

static const char zsh_script[] =
	"#compdef perch\n"
	"# perch completions zsh\n"
	"_perch() {\n"
	"    local -a found\n"
	"    local line\n"
	"    while IFS= read -r line; do\n"
	"        found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
	"    done < <(\"${words[1]}\" __complete \"${(@)words[2,CURRENT]}\" "
	"2>/dev/null)\n"
	"    if (( $#found )); then\n"
	"        _describe perch found\n"
	"    else\n"
	"        _files\n"
	"    fi\n"
	"}\n"
	"# As a file of zsh's own it is called when somebody asks for the first time.\n"
	"if [[ ${funcstack[1]} == _perch ]]; then\n"
	"    _perch \"$@\"\n"
	"else\n"
	"    compdef _perch perch\n"
	"fi\n";

static const char fish_script[] =
	"# perch completions fish\n"
	"complete -c perch -a '(perch __complete (commandline -opc)[2..-1] (commandline -ct) "
	"2>/dev/null)'\n";

const struct completion_shell completion_shells[] = {
	{ "bash", bash_script },
	{ "zsh", zsh_script },
	{ "fish", fish_script },
	{ 0 },
};
enum { SHELLS = COUNT(completion_shells) - 1 };

/* "bash, zsh, fish", for a text of ours. */
static void completions_list_shells(struct buf *ret_list)
{
	for (const struct completion_shell *shell = completion_shells; shell->name; shell++)
		buf_printf(ret_list, "%s%s", ret_list->len ? ", " : "", shell->name);
	buf_terminate(ret_list);
}

static int completions_refuse(const char *name)
{
	_cleanup_(buf_free) struct buf list = { 0 };
	const char *near = name
		? str_nearest(name, &completion_shells[0].name, SHELLS, sizeof(completion_shells[0]))
		: NULL;
	completions_list_shells(&list);
	if (list.failed)
		return cli_no_memory();
	if (!name)
		return cli_usage_error("see: perch help completions", "which shell? %s", list.data);
	char hint[64];
	snprintf(hint, sizeof(hint), "did you mean: %s", near ? near : list.data);
	return cli_usage_error(hint, "there are no completions for '%s'", name);
}

static int completions_run(struct cli *cli, int argc, char **argv)
{
	int at = 1;
	int r = cli_read_globals(cli, argc, argv, &at);
	if (r)
		return r;
	if (at + 1 != argc)
		return completions_refuse(NULL);
	for (const struct completion_shell *shell = completion_shells; shell->name; shell++) {
		if (strcmp(shell->name, argv[at]) == 0)
			return fputs(shell->script, stdout) < 0;
	}
	return completions_refuse(argv[at]);
}

const struct command command_completions = {
	.name = "completions",
	.summary = "make a shell complete perch's words",
	.group = GROUP_BEGIN,
	.help = "usage: perch completions bash|zsh|fish\n"
			"\n"
			"Prints a script that completes commands, options, and what is installed: plugin\n"
			"commands, plugins and tools.\n"
			"\n"
			"  bash  ~/.bashrc: eval \"$(perch completions bash)\"\n"
			"  zsh   ~/.zshrc:  eval \"$(perch completions zsh)\"\n"
			"  fish  once:      perch completions fish >~/.config/fish/completions/perch.fish\n"
			"\n"
			"example:\n"
			"  eval \"$(perch completions bash)\"\n",
	.words = WORDS_SHELLS,
	.run = completions_run,
};
