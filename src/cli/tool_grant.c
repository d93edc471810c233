/* What a plugin requests, and what is granted of it. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "cli/tool_add.h"

static void show_list(const char *title, const char *const *list)
{
	for (size_t i = 0; list && list[i]; i++) {
		fprintf(stderr, "  %-13s", i ? "" : title);
		cli_put_text(stderr, str_from(list[i]));
		fputc('\n', stderr);
	}
}

static void show_text(const char *title, const char *text)
{
	show_list(title, (const char *const[]){ text, NULL });
}

static void show_tools(const struct adding *adding)
{
	for (size_t i = 0; i < adding->binding->tool_count; i++) {
		const struct tool_known *tool = &adding->binding->tools[i];
		const struct bundle_tool *said = tool_source_tool(&adding->source, str_from(tool->name));
		fprintf(stderr, "  %-13s", i ? "" : "tools");
		cli_put_text(stderr, str_from(tool->name));
		fputs(said && said->is_mutating ? "  (says that it changes things)" : "", stderr);
		fputs(tool->description[0] ? "  " : "", stderr);
		cli_put_text(stderr, str_from(tool->description));
		fputc('\n', stderr);
	}
}

static void show_request(const struct adding *adding)
{
	const struct tool_binding *binding = adding->binding;
	fputs("plugin ", stderr);
	cli_put_text(stderr, str_from(binding->name));
	fputc(' ', stderr);
	cli_put_text(stderr, str_from(adding->version));
	fputc('\n', stderr);
	show_text("runs", binding->command);
	show_list("with", binding->args);
	show_list("sets", binding->env);
	show_tools(adding);
	if (adding->requested[0])
		show_list("requests", adding->requested);
	else
		show_text("requests", "no capabilities");
	if (binding->widening.is_off)
		show_text("sandbox", "OFF: it runs with all your rights");
	show_list("reads", binding->widening.read);
	show_list("writes", binding->widening.write);
	show_list("gets", binding->widening.env);
	if (binding->widening.net == WIDENING_NET_FULL)
		show_text("network", "full");
}

static int refuse_grant(const struct adding *adding, const char *word)
{
	const char *near = str_nearest(
		word, adding->requested, list_count(adding->requested), sizeof(*adding->requested));
	char hint[256];
	snprintf(hint, sizeof(hint), "did you mean: %.200s", near ? near : "");
	return cli_usage_error(near ? hint : "grant what it requests, or some of it",
		"the plugin does not request the capability '%s'", word);
}

/* How many words --grant a,b --grant c can have. */
static size_t count_grants(const struct option_list *grants)
{
	size_t most = 0;
	for (size_t i = 0; i < grants->count; i++) {
		most++;
		for (const char *c = grants->items[i]; *c; c++)
			most += *c == ',';
	}
	return most;
}

/* They must be a part of what is requested. */
static int read_grants(struct adding *adding, perch_err *err)
{
	struct arena *arena = &adding->session->arena;
	const struct option_list *grants = &adding->words->grants;
	const char **granted = arena_alloc(arena, (count_grants(grants) + 1) * sizeof(*granted));
	size_t count = 0;
	if (!granted)
		return err_no_memory(err);
	for (size_t i = 0; i < grants->count; i++) {
		struct str rest = str_from(grants->items[i]);
		while (rest.len) {
			const char *word = arena_dup(arena, str_trim(str_cut(&rest, ',')));
			if (!word)
				return err_no_memory(err);
			if (!list_has(adding->requested, word))
				return refuse_grant(adding, word);
			granted[count++] = word;
		}
	}
	granted[count] = NULL;
	adding->binding->capabilities = granted;
	return 0;
}

int add_decide(struct adding *adding, perch_err *err)
{
	const struct add_words *words = adding->words;
	bool is_decided = words->yes || words->grants.count;
	if (!adding->session->cli->quiet && (!is_decided || adding->session->cli->verbose))
		show_request(adding);
	if (words->grants.count)
		return read_grants(adding, err);
	adding->binding->capabilities = adding->requested;
	if (words->yes)
		return 0;
	int r = tool_ask(adding->session->cli, "Bind it, and grant what it requests?", err);
	if (r > 0)
		return 0;
	if (r == -ENOTTY)
		err_set(err, -EACCES,
			"nobody is there to say whether that is allowed: --yes grants what the plugin "
			"requests, --grant A,B a part of it");
	if (r == 0) { /* an answer, and no error */
		fputs("not bound: nothing was changed\n", stderr);
		return tool_exit_code(TOOL_INVALID_REQUEST);
	}
	return r == -ENOTTY || r == -ECANCELED ? add_refuse(adding, err) : r;
}
