/* Whether a shell would read the message, or another text of a stranger's, as code.
 *
 * A shell may stand anywhere in an argv: env, timeout, busybox and their like run it
 * from there. Which of its arguments is the code depends on how many of those before it
 * belong to its options. When in doubt, an argument counts as code. Behind the code are positional
 * parameters, where a message is only text. */
#include <string.h>

#include "agent/agent_launch.h"
#include "base/macros.h"

/* ---- programs that run others ------------------------------------------------------------ */

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

enum kind {
	KIND_SHELL,
	KIND_ENV,    /* variables stand before its operand, and its "code" is a whole command */
	KIND_RUNNER, /* has no code, and runs what stands behind its own operands */
};

/* Lists end with NULL; of short options the letters. */
static const struct program {
	enum kind kind;
	const char *const *names;
	const char *code; /* options that say: there is code */
	const char *const *long_code;
	const char *takes; /* options that have an argument of their own */
	const char *const *long_takes;
	bool attaches;   /* the rest of a word behind such a letter is the argument */
	size_t operands; /* of a runner, before the program */
} programs[] = {
	{ KIND_SHELL,
		LIST("sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "lksh", "oksh", "yash",
			"posh", "rbash", "csh", "tcsh"),
		"c", LIST(NULL), "oOR", LIST("rcfile", "init-file", "emulate", "profile"), false, 0 },
	{ KIND_SHELL, LIST("fish"), "cC", LIST("command", "init-command"), "cCdDfop",
		LIST("command", "init-command", "debug", "debug-output", "features", "profile",
			"profile-startup"),
		true, 0 },
	{ KIND_ENV, LIST("env"), "S", LIST("split-string"), "SuCa",
		LIST("split-string", "unset", "chdir", "argv0"), true, 0 },
	{ KIND_RUNNER, LIST("nice"), "", LIST(NULL), "n", LIST("adjustment"), true, 0 },
	{ KIND_RUNNER, LIST("timeout"), "", LIST(NULL), "ks", LIST("kill-after", "signal"), true, 1 },
	{ KIND_RUNNER, LIST("stdbuf"), "", LIST(NULL), "ioe", LIST("input", "output", "error"), true,
		0 },
	{ KIND_RUNNER, LIST("nohup", "setsid", "busybox", "toybox"), "", LIST(NULL), "", LIST(NULL),
		true, 0 },
};

static const struct program *shell_guard_find_program(struct str token)
{
	const char *slash = token.len ? memrchr(token.data, '/', token.len) : NULL;
	size_t skip = slash ? (size_t)(slash - token.data) + 1 : 0;
	const struct str name = { token.data + skip, token.len - skip };
	for (size_t i = 0; i < COUNT(programs); i++) {
		if (list_has_str(programs[i].names, name))
			return &programs[i];
	}
	return NULL;
}

/* ---- options ------------------------------------------------------------------ */

/* The effect of an option on the words behind it. */
struct option {
	size_t arguments; /* how many of those are its own, at most */
	bool has_code;
	bool has_stdin; /* -s: the script is on stdin */
};

/* Also -, -- and +: the words behind them may still be the code. */
static bool shell_guard_is_option(struct str token)
{
	return token.len && (token.data[0] == '-' || token.data[0] == '+');
}

/* Whether it is one of these options, perhaps shortened. */
static bool shell_guard_may_be(struct str name, const char *const *list)
{
	for (; name.len && *list; list++) {
		if (str_has_prefix(str_from(*list), name))
			return true;
	}
	return false;
}

/* --name or --name=value */
static struct option shell_guard_read_name(const struct program *program, struct str text)
{
	bool has_value = memchr(text.data, '=', text.len);
	struct str name = str_cut(&text, '=');
	return (struct option){
		.arguments = !has_value && shell_guard_may_be(name, program->long_takes),
		.has_code = shell_guard_may_be(name, program->long_code),
	};
}

/* -letters; bash reads a long name behind a single - as well. */
static struct option shell_guard_read_letters(const struct program *program, struct str letters)
{
	struct option option = { .arguments = list_has_str(program->long_takes, letters) };
	for (size_t i = 0; i < letters.len; i++) {
		char letter = letters.data[i];
		option.has_code = option.has_code || strchr(program->code, letter);
		option.has_stdin = option.has_stdin || letter == 's';
		bool takes = strchr(program->takes, letter);
		option.arguments += takes && (!program->attaches || i + 1 == letters.len);
		if (takes && program->attaches)
			break;
	}
	return option;
}

static struct option shell_guard_read_option(const struct program *program, struct str token)
{
	bool is_long = token.len > 1 && token.data[1] == '-';
	size_t skip = is_long ? 2 : 1;
	const struct str rest = { token.data + skip, token.len - skip };
	return is_long ? shell_guard_read_name(program, rest) : shell_guard_read_letters(program, rest);
}

/* ---- the message --------------------------------------------------------------- */

/* NAME=…, which no message can make an option or a program. */
static bool shell_guard_is_assignment(const struct argv_words *words, struct str token)
{
	const char *equals = token.len ? memchr(token.data, '=', token.len) : NULL;
	const struct str name = { token.data, equals ? (size_t)(equals - token.data) : 0 };
	return name.len && !words->uses(name);
}

/* An author who wrote quotes into a command that is split meant all words behind them. */
static bool shell_guard_begins_quote(struct str token)
{
	return token.len && (token.data[0] == '"' || token.data[0] == '\'');
}

/* Behind the last word that uses the message; 0 = none does. */
static size_t shell_guard_find_last_message(const struct argv_words *words)
{
	size_t end = words->count;
	while (end && !words->uses(words->items[end - 1]))
		end--;
	return end;
}

/* No author writes more of them before an operand; behind so many, all the rest may be code. */
enum { ARGUMENTS_READ = 256 };

/* How a program reads the arguments behind it. */
struct reading {
	size_t first;   /* of them */
	size_t operand; /* the first that is no option's; count = there is none */
	bool has_code;
	bool has_stdin;
	bool has_message; /* in what may be code, an option or the program */
};

static struct reading shell_guard_read_arguments(
	const struct program *program, const struct argv_words *words, size_t at, size_t message_end)
{
	struct reading reading = { .first = at + 1 };
	size_t pending = 0;
	bool is_operand = false;
	for (size_t i = reading.first; i < words->count && !is_operand; i++) {
		const struct str word = words->items[i];
		if (i - reading.first == ARGUMENTS_READ) {
			reading.has_code = true;
			reading.has_message = message_end > reading.first;
			break;
		}
		if (shell_guard_is_option(word)) {
			const struct option option = shell_guard_read_option(program, word);
			pending += option.arguments;
			reading.has_code = reading.has_code || option.has_code;
			reading.has_stdin = reading.has_stdin || option.has_stdin;
		} else if (pending) {
			pending--;
		} else if (program->kind == KIND_ENV && shell_guard_is_assignment(words, word)) {
			continue;
		} else {
			is_operand = true;
			reading.operand = i;
		}
		reading.has_message = reading.has_message || words->uses(word);
	}
	if (!reading.operand)
		reading.operand = words->count;
	return reading;
}

/* Of a program that is run for certain, every argument up to the operand counts: a message there
 * may be an option, or a script. A word that only may be a program must also announce code. */
static bool shell_guard_reads_message(const struct program *program, const struct reading *reading,
	const struct argv_words *words, size_t message_end, bool is_run)
{
	bool has_operand = reading->operand < words->count;
	bool is_script_missing = !reading->has_code && (reading->has_stdin || !has_operand);
	if (program->kind == KIND_RUNNER)
		return false;
	if (program->kind == KIND_SHELL && is_run && is_script_missing && words->message_on_stdin)
		return true;
	if (reading->has_message && (is_run || reading->has_code))
		return true;
	bool takes_all = program->kind == KIND_ENV ||
		(has_operand && shell_guard_begins_quote(words->items[reading->operand]));
	return reading->has_code && takes_all && message_end > reading->first;
}

bool shell_reads_message(const struct argv_words *words)
{
	const size_t message_end = shell_guard_find_last_message(words);
	size_t run = 0; /* where a program stands that is run for certain */
	for (size_t i = 0; i < words->count; i++) {
		const struct program *program = shell_guard_find_program(words->items[i]);
		if (!program)
			continue;
		const struct reading reading = shell_guard_read_arguments(program, words, i, message_end);
		if (shell_guard_reads_message(program, &reading, words, message_end, i == run))
			return true;
		if (i == run && program->kind != KIND_SHELL)
			run = reading.operand + program->operands;
	}
	return false;
}
